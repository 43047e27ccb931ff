"""A turn: the plays, draws and passes of the seat to move."""

from protocol.messages import Draw, Option, Pass, Play, PlayTwo
from protocol.ruleset import Turn
from protocol.tiles import Tile, flip
from tests.engine_reference import scoring
from tests.engine_reference.state import Game, Hand, Round

DRAW = Draw()
PASS = Pass()


def options(game: Game, state: Round) -> tuple[Option, ...]:
    """Return the options of the seat to move: plays, then a draw, then a pass.

    The order matters: the first option is the one that the referee takes for a seat that fouled.
    """
    required = state.aside.must_lead
    if required is not None and not state.line:
        return (Play(required, "lead"),)
    turn = game.rules.turn
    found = plays(turn, state, state.hands[state.turn])
    able = bool(found)
    if _may_draw(game, state, able):
        found.append(DRAW)
    if not found or (turn.draw_optional and not able):
        found.append(PASS)
    return tuple(found)


def plays(turn: Turn, state: Round, hand: Hand) -> list[Option]:
    """Return every play from a hand on the line as it lies."""
    if not state.line:
        return [Play(tile, "lead") for tile in hand]
    left, right = state.line[0][0], state.line[-1][1]
    if turn.tiles == 2 and not (len(hand) == 1 and state.drawable == 0):
        return _pairs(hand, left, right)
    found: list[Option] = []
    for tile in hand:
        if left in tile:
            found.append(Play(tile, "left"))
        # Equal ends are one place to play, not two.
        if right in tile and right != left:
            found.append(Play(tile, "right"))
    return found


def _pairs(hand: Hand, left: int, right: int) -> list[Option]:
    """Return every two tiles for opposite ends (E play); with equal ends each pair once."""
    found: list[Option] = []
    for at, one in enumerate(hand):
        if left in one:
            others: Hand = hand[at + 1 :] if left == right else hand
            found += [PlayTwo(one, two) for two in others if right in two and two != one]
    return found


def _may_draw(game: Game, state: Round, able: bool) -> bool:
    if not state.drawable:
        return False
    turn = game.rules.turn
    if able and not _may_draw_when_able(turn, leading=not state.line):
        return False
    limit = turn.draw_limit
    return (limit == "unlimited" or state.drawn < limit) and scoring.can_pay(game, state.turn)


def _may_draw_when_able(turn: Turn, leading: bool) -> bool:
    """Tell whether a seat that can play may draw (C.22, C.23).

    Before the first tile only if the leader may (B, C; not D).
    """
    return turn.draw_when_able and (turn.leader_may_draw or not leading)


def place(line: tuple[Tile, ...], tile: Tile, end: str) -> tuple[tuple[Tile, ...], Tile]:
    """Return the line with the tile on it, and the tile as it lies."""
    if end == "lead":
        return (tile,), tile
    if end == "left":
        lies = tile if tile[1] == line[0][0] else flip(tile)
        return (lies, *line), lies
    lies = tile if tile[0] == line[-1][1] else flip(tile)
    return (*line, lies), lies
