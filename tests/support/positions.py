"""Positions of a game written compactly, for the tests of single clauses.

A tile in a hand is "64", in the line it is written as it lies: "46 63" is a line of two whose ends
are 4 and 3 (tiles of larger sets: "12-3"). An option is one of

    "64 lead"  "64 left"  "64 right"  "64 + 51" (left + right)  "draw"  "pass"
    "call"  "go_on"  "keep"  "refuse"  "odd"  "even"  "bid 3"

The boneyard is written from its front. At a table of two, seat 0 draws from the front and seat 1
from the back; in a "row" everybody draws from the front.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from arena.engine import deal, values, view
from arena.engine.shuffle import board_seed
from arena.engine.state import Dealt, Game, Phase, Round
from arena.engine.turn import drawable
from arena.rules.variants import derive, find_variant
from protocol.messages import (
    Bid,
    Call,
    Draw,
    Event,
    GoOn,
    Guess,
    Keep,
    Lot,
    Option,
    Pass,
    Play,
    PlayTwo,
    Refuse,
)
from protocol.ruleset import Ruleset, Tile, high_first, set_of_tiles

REST = "rest"
"""For a boneyard: every tile of the set that lies nowhere else, in ascending order."""

WORDS: dict[str, Option] = {
    "draw": Draw(),
    "pass": Pass(),
    "call": Call(),
    "go_on": GoOn(),
    "keep": Keep(),
    "refuse": Refuse(),
    "odd": Guess("odd"),
    "even": Guess("even"),
}


def rules(name: str, **differs: Any) -> Ruleset:
    """Return a named game with single choices overridden, as `draw_limit=2`."""
    return derive(find_variant(name), name, differs)


def snapshot(game: Game) -> tuple[Any, ...]:
    """Return a game as a value: every tile's place, every count, every event."""
    settings = (game.rules, game.seats, game.target, game.scores, game.pot, game.points, game.over)
    state = game.round
    if state is None:
        return settings
    tiles = (state.hands, state.stock, state.drawable, state.line)
    turn = (state.number, state.leader, state.turn, state.drawn, state.passes, state.over)
    ends = (state.out, state.winner)
    return (*settings, *tiles, *turn, *ends, state.events, *msgspec.structs.astuple(state.phase))


# --- tiles ---


def lying(text: str) -> tuple[Tile, ...]:
    """Tiles exactly as they are written: "46 64" is (4, 6), (6, 4)."""
    return tuple(_tile(word) for word in text.split())


def tiles(text: str) -> tuple[Tile, ...]:
    """Tiles as a hand shows them, (high, low), in the order written."""
    return tuple(high_first(tile) for tile in lying(text))


def tile(text: str) -> Tile:
    """Return a tile as a hand shows it."""
    (only_tile,) = tiles(text)
    return only_tile


def _tile(word: str) -> Tile:
    left, right = word.split("-") if "-" in word else tuple(word)
    return int(left), int(right)


def _tile_text(tile: Tile) -> str:
    high, low = tile
    return f"{high}{low}" if max(tile) < 10 else f"{high}-{low}"


# --- setting up ---


def position(
    rules: Ruleset | str,
    *,
    hands: Sequence[str],
    line: str = "",
    stock: str = "",
    turn: int = 0,
    leader: int | None = None,
    scores: Sequence[int] = (),
    pot: int = 0,
    number: int = 1,
    drawn: int = 0,
    passes: int = 0,
    must_lead: str = "",
    events: Sequence[Event] = (),
) -> Game:
    """Return a round in the middle of play: this seat is to move. Nothing is settled or called yet.

    Tiles that are named nowhere are out of the game; `stock=REST` puts them into the boneyard.
    """
    ruleset = _ruleset(rules)
    game = values.new_game(ruleset, len(hands))
    hand_tiles = tuple(map(tiles, hands))
    lies = lying(line)
    for left, right in pairwise(lies):
        assert left[1] == right[0], f"The line is broken between {left} and {right}."
    rows = _rows(ruleset, hand_tiles, lies, stock)
    size = sum(map(len, rows))
    phase = Phase(
        deal=1,
        method=deal.method(game),
        next_seat=turn,
        must_lead=tile(must_lead) if must_lead else None,
    )
    table = game.settings.table
    bits = [[table.bit[tile] for tile in hand] for hand in hand_tiles]
    state = Round(
        table=table,
        number=number,
        leader=turn if leader is None else leader,
        hand_bits=bits,
        hand_masks=[sum(hand) for hand in bits],
        rows=[[table.bit[tile] for tile in row] for row in rows],
        stock_size=size,
        drawable=drawable(ruleset.boneyard, ruleset.turn, size),
        history=list(events),
        phase=phase,
    )
    state.turn, state.drawn, state.passes = turn, drawn, passes
    if lies:
        state.lay(lies)
    game.round, game.pot, game.scores = state, pot, tuple(scores) or game.scores
    return game


def dealing(
    rules: Ruleset | str,
    *,
    hands: Sequence[str],
    stock: str = REST,
    leader: int | None = None,
    lots: Sequence[Lot] = (),
    after: Game | None = None,
) -> Game:
    """Return a round begun by `engine.begin` from a deal that is given.

    `after` is the game before: a round that is over is followed by the next, a deal that was
    annulled by another of the same round. Without it the game is new. The leader is seat 0 in a
    new game, later whom the rules say; a double in the hands may decide otherwise.
    """
    ruleset = _ruleset(rules)
    game = after if after is not None else values.new_game(ruleset, len(hands))
    assert values.needs_deal(game), "Somebody is to move: nothing is to be dealt."
    hand_tiles = tuple(map(tiles, hands))
    rows = _rows(ruleset, hand_tiles, (), stock)
    before = game.round
    if before is None:
        number, deal, leads = 1, 1, 0
    elif before.over is None:
        number, deal, leads = before.number, before.phase.deal + 1, before.leader
    else:
        number, deal, leads = before.number + 1, 1, values.chance_decides(game, seed()).leader
    leads = leads if leader is None else leader
    return keeping(values.begin(game, Dealt(number, deal, leads, tuple(lots), hand_tiles, rows)))


def seed(number: int = 1) -> bytes:
    """Return the seed of a board."""
    return board_seed(b"positions", "test", number)


def shuffled(rules: Ruleset | str, seats: int, board: int = 1) -> Game:
    """Return the first round of a new game as a board's seed deals it."""
    game = values.new_game(_ruleset(rules), seats)
    return values.begin(game, values.chance_decides(game, seed(board)))


def next_round(game: Game) -> Game:
    """Return the next round, or the next deal of this one, from a seed."""
    return values.begin(game, values.chance_decides(game, seed()))


def _ruleset(rules: Ruleset | str) -> Ruleset:
    return find_variant(rules) if isinstance(rules, str) else rules


def _rows(
    rules: Ruleset, hands: tuple[tuple[Tile, ...], ...], line: tuple[Tile, ...], stock: str
) -> tuple[tuple[Tile, ...], ...]:
    """Return the boneyard in rows; no tile may lie in two places or outside the set."""
    elsewhere = [tile for hand in hands for tile in hand] + [high_first(tile) for tile in line]
    if stock == REST:
        left = tuple(tile for tile in set_of_tiles(rules.deal) if tile not in elsewhere)
    else:
        left = tiles(stock)
    all_tiles = [*elsewhere, *left]
    repeats = {tile for tile in all_tiles if all_tiles.count(tile) > 1}
    assert not repeats, f"These tiles lie in two places: {sorted(repeats)}."
    strange = set(all_tiles) - set(set_of_tiles(rules.deal))
    assert not strange, f"These tiles are not in the set: {sorted(strange)}."
    return deal.arrange_stock(rules.boneyard, left, len(hands))


# --- moving ---


def options(game: Game) -> tuple[str, ...]:
    """Return what the seat to move may do, written compactly, in the engine's order."""
    return tuple(map(option_text, values.legal(game)))


def do(game: Game, *moves: str) -> Game:
    """Return the game after the seats to move have taken these options, each of which must be
    legal."""
    for move in moves:
        able = options(game)
        assert move in able, f"{move!r} is not among {able}."
        game = keeping(values.act(game, values.legal(game)[able.index(move)]))
    return game


def keeping(game: Game) -> Game:
    """Return the game after every seat that could only keep the deal has done so."""
    while values.legal(game) == (Keep(),):
        game = values.act(game, Keep())
    return game


def option_text(option: Option) -> str:
    """Return an option written compactly."""
    match option:
        case Play():
            return f"{_tile_text(option.tile)} {option.end}"
        case PlayTwo():
            return f"{_tile_text(option.left)} + {_tile_text(option.right)}"
        case Bid():
            return f"bid {option.chips}"
        case _:
            return next(word for word, meaning in WORDS.items() if meaning == option)


# --- looking ---


def ask(game: Game, seat: int | None = None) -> dict[str, Any]:
    """Return the question to a seat (the one to move), decoded from the bytes that it would get."""
    state = game.playing
    seat = state.turn if seat is None else seat
    return _decoded(view.LineWriter(game, 1).question(seat, values.legal(game), 1, 1000))


def report(game: Game, seat: int = 0) -> dict[str, Any]:
    """Return the message to a seat about the finished round, decoded from its bytes."""
    return _decoded(view.LineWriter(game, 1).round_over()[seat])


def _decoded(line: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(line)
    return decoded


def turn(game: Game) -> int:
    """Return the seat to move."""
    return game.playing.turn


def over(game: Game) -> str | None:
    """Return why the round is over, if it is."""
    return game.playing.over


def hand(game: Game, seat: int) -> tuple[str, ...]:
    """Return what a seat holds, compactly, in the order of the hand."""
    return tuple(_tile_text(tile) for tile in game.playing.hands[seat])


def line(game: Game) -> str:
    return " ".join(_tile_text(tile) for tile in game.playing.line)
