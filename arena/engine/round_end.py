"""The end of a round in which nobody went out: it is blocked, or a seat calls it so."""

from typing import assert_never

from msgspec.structs import replace

from arena.engine import turn
from arena.engine.state import Game, Round
from protocol.messages import Call, Called, GoOn, Option
from protocol.ruleset import Deal, Ruleset

CALL_OR_GO_ON: tuple[Option, ...] = (Call(), GoOn())


def blocked(game: Game, state: Round) -> bool:
    """Tell whether the round is over although every seat still holds tiles (C play, C.20)."""
    rules = game.rules
    if not state.line:
        return False
    if rules.turn.draw_optional and state.passes >= game.seats:
        return True
    match rules.end.blocked:
        case "play_on" | "call":
            return _nobody_can_go_on(rules, state)
        case "at_once":
            return _nobody_can_go_on(rules, state) or _dead_ends(rules.deal, state) == 2
        case _:
            assert_never(rules.end.blocked)


def _nobody_can_go_on(rules: Ruleset, state: Round) -> bool:
    """Tell whether no seat can play or draw; then no seat is asked to pass, either."""
    if state.drawable:
        return False
    if rules.turn.tiles == 2:
        return not any(turn.plays(rules.turn, state, hand) for hand in state.hands)
    left, right = state.line[0][0], state.line[-1][1]
    return not any(left in tile or right in tile for hand in state.hands for tile in hand)


def _dead_ends(deal: Deal, state: Round) -> int:
    """Return the number of ends whose number is dead: all its tiles have been played."""
    whole = deal.highest_pip + deal.doubles
    ends = (state.line[0][0], state.line[-1][1])
    return sum(sum(end in tile for tile in state.line) == whole for end in ends)


def can_be_called(game: Game, state: Round) -> bool:
    """Tell whether a seat may call the round blocked (E play).

    With two tiles a turn one dead end is enough, for nobody can play a pair any more.
    """
    if game.rules.end.blocked != "call":
        return False
    return _dead_ends(game.rules.deal, state) >= (1 if game.rules.turn.tiles == 2 else 2)


def ask_everybody(game: Game, state: Round) -> Round:
    """Ask every seat whether it calls the round blocked, the next to move first."""
    aside = replace(state.aside, phase="call", queue=game.order(state.turn), then=state.turn)
    return replace(state, aside=aside)


def apply_answer(state: Round, answer: Call | GoOn) -> Round:
    """Return the round after a seat has called, or has not."""
    if isinstance(answer, Call):
        return replace(state, events=(*state.events, Called(state.turn)), over="blocked")
    aside = state.aside
    queue = aside.queue[1:]
    if queue:
        return replace(state, turn=queue[0], aside=replace(aside, queue=queue))
    return replace(state, turn=aside.then, aside=replace(aside, phase="play", queue=()))
