"""The engine's face: start a game, deal a round, list what is legal, act. Pure functions."""

from msgspec.structs import replace

from arena.engine import boneyard, chance, deal, end, lead, score, turn
from arena.engine.state import Game, Hand, Round, Row
from protocol.messages import (
    Draw,
    Drew,
    Event,
    Leads,
    Option,
    Pass,
    Passed,
    Play,
    Played,
    WhyGame,
)
from protocol.rules import Ruleset, by_seats, check_seats
from protocol.tiles import Tile, turned


def new_game(rules: Ruleset, seats: int) -> Game:
    """A game before its first round.

    Raises ImpossibleRulesError when the set is too small for the table.
    """
    check_seats(rules, seats)
    none = (0,) * seats
    return Game(rules, seats, by_seats(rules.game.target, seats), none, None, none)


def next_round(game: Game, seed: bytes) -> Game:
    """Deal the next round of a board (C deal); its seed fixes it."""
    number = 1 if game.round is None else game.round.number + 1
    rules = game.rules
    hands, stock = deal.dealt(rules.deal, game.seats, chance.words(seed, number, "tiles"))
    lots: lead.Lots = ()
    if game.round is None:
        stream = chance.words(seed, number, "lead")
        leader, lots = lead.first_leader(rules.lead, rules.deal, game.seats, stream)
    else:
        leader = lead.later_leader(rules.lead, game.round.leader, game.seats)
    return dealt_round(game, number, leader, hands, stock, lots)


def dealt_round(
    game: Game,
    number: int,
    leader: int,
    hands: tuple[Hand, ...],
    stock: tuple[Row, ...],
    lots: lead.Lots = (),
) -> Game:
    """The game at the beginning of a round that was dealt so; a log needs no seed for it."""
    left = boneyard.drawable(game.rules.boneyard, game.rules.turn, stock)
    begun = Round(number, leader, leader, hands, stock, left, (), 0, (*lots, Leads(leader)))
    return replace(game, round=begun)


def legal(game: Game) -> tuple[Option, ...]:
    """What the seat to move may do: at least one option until the round is over."""
    state = game.round
    if state is None or state.over:
        return ()
    return turn.options(game.rules, state)


def act(game: Game, option: Option) -> Game:
    """The game after the seat to move has taken one of its legal options."""
    state = _playing(game)
    match option:
        case Play():
            after = _play(state, option, game.seats)
        case Draw():
            after = _draw(game.rules, state)
        case Pass():
            after = _moved_on(state, Passed(state.turn), game.seats)
    if after.out is not None:
        return _scored(game, replace(after, over="out"))
    if end.blocked(game.rules, after):
        return _scored(game, replace(after, over="blocked"))
    return _at(game, after)


def places(scores: tuple[int, ...]) -> tuple[int, ...]:
    """Place of each seat, 1 for the highest score; equal scores share a place."""
    return tuple(1 + sum(other > own for other in scores) for own in scores)


def pips(game: Game) -> tuple[int, ...]:
    """What each hand of the round counts."""
    return tuple(score.pips(game.rules.score, hand) for hand in _playing(game).hands)


def _playing(game: Game) -> Round:
    assert game.round is not None, "No round has been dealt."
    return game.round


def _at(game: Game, state: Round) -> Game:
    """The same game at another moment of its round; `replace` would cost more than the move."""
    return Game(game.rules, game.seats, game.target, game.scores, state, game.points)


def _play(state: Round, option: Play, seats: int) -> Round:
    seat = state.turn
    line, lies = _placed(state.line, option)
    held = state.hands[seat]
    at = held.index(option.tile)
    hand = held[:at] + held[at + 1 :]
    hands = (*state.hands[:seat], hand, *state.hands[seat + 1 :])
    events = (*state.events, Played(seat, lies, option.end))
    out = None if hand else seat
    following = (seat + 1) % seats
    return Round(
        state.number,
        state.leader,
        following,
        hands,
        state.stock,
        state.drawable,
        line,
        0,
        events,
        None,
        out,
    )


def _placed(line: tuple[Tile, ...], option: Play) -> tuple[tuple[Tile, ...], Tile]:
    """The line with the tile on it, and the tile as it lies."""
    tile = option.tile
    match option.end:
        case "lead":
            return (tile,), tile
        case "left":
            lies = tile if tile[1] == line[0][0] else turned(tile)
            return (lies, *line), lies
        case "right":
            lies = tile if tile[0] == line[-1][1] else turned(tile)
            return (*line, lies), lies


def _draw(rules: Ruleset, state: Round) -> Round:
    seat = state.turn
    tile, stock = boneyard.draw(seat, state.stock)
    hands = (*state.hands[:seat], (*state.hands[seat], tile), *state.hands[seat + 1 :])
    return Round(
        state.number,
        state.leader,
        seat,
        hands,
        stock,
        boneyard.drawable(rules.boneyard, rules.turn, stock),
        state.line,
        state.drawn + 1,
        (*state.events, Drew(seat, tile)),
    )


def _moved_on(state: Round, event: Event, seats: int) -> Round:
    following = (state.turn + 1) % seats
    return replace(state, turn=following, drawn=0, events=(*state.events, event))


def _scored(game: Game, finished: Round) -> Game:
    held = tuple(score.pips(game.rules.score, hand) for hand in finished.hands)
    points = score.points(game.rules.score, held, finished.out)
    scores = tuple(map(sum, zip(game.scores, points, strict=True)))
    over = _game_over(game, scores, finished.number)
    return replace(game, round=finished, points=points, scores=scores, over=over)


def _game_over(game: Game, scores: tuple[int, ...], rounds: int) -> WhyGame | None:
    """The target ends the game for a single best score; equal scores play on."""
    best = max(scores)
    if best >= game.target and scores.count(best) == 1:
        return "target"
    return "max_rounds" if rounds >= game.rules.game.max_rounds else None
