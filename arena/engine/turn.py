"""A turn: what the seat to move may do. Legality is written here and nowhere else."""

from arena.engine.state import Hand, Round
from protocol.messages import Draw, Option, Pass, Play
from protocol.rules import Ruleset, Turn

DRAW = Draw()
PASS = Pass()


def options(rules: Ruleset, state: Round) -> tuple[Option, ...]:
    """Everything the seat to move may do: plays, then a draw, then (with neither) a pass."""
    found: list[Option] = _plays(state)
    if _may_draw(rules, state, able=bool(found)):
        found.append(DRAW)
    return tuple(found) or (PASS,)


def can_play(hand: Hand, left: int, right: int) -> bool:
    """Whether any tile of a hand fits either end."""
    return any(a == left or b == left or a == right or b == right for a, b in hand)


def _plays(state: Round) -> list[Option]:
    hand = state.hands[state.turn]
    if not state.line:
        return [Play(tile, "lead") for tile in hand]
    left, right = state.line[0][0], state.line[-1][1]
    plays: list[Option] = []
    for tile in hand:
        if left in tile:
            plays.append(Play(tile, "left"))
        # Equal ends are one place to play, not two.
        if right in tile and right != left:
            plays.append(Play(tile, "right"))
    return plays


def _may_draw(rules: Ruleset, state: Round, able: bool) -> bool:
    if not state.drawable:
        return False
    turn = rules.turn
    if able and not _may_draw_when_able(turn, leading=not state.line):
        return False
    limit = turn.draw_limit
    return limit == "unlimited" or state.drawn < limit


def _may_draw_when_able(turn: Turn, leading: bool) -> bool:
    """C.22 and C.23; before the first tile only where the leader may (B, C; not D)."""
    return turn.draw_when_able and (turn.leader_may_draw or not leading)
