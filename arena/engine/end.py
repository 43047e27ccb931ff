"""The end of a round: when nobody goes out and nobody can go on."""

from typing import assert_never

from arena.engine.state import Round
from arena.engine.turn import can_play
from protocol.rules import Ruleset


def blocked(rules: Ruleset, state: Round) -> bool:
    """Whether the round is over although every seat still holds tiles (C play, C.20)."""
    match rules.end.blocked:
        case "play_on":
            return _nobody_can_go_on(state)
        case _:
            assert_never(rules.end.blocked)


def _nobody_can_go_on(state: Round) -> bool:
    """Nothing can be played and nothing drawn; empty passes round the table are not asked."""
    if state.drawable or not state.line:
        return False
    left, right = state.line[0][0], state.line[-1][1]
    return not any(can_play(hand, left, right) for hand in state.hands)
