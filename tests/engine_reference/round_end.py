"""The end of a turn, a round and a game: the next turn, blocked rounds, points and places."""

from typing import assert_never

from msgspec.structs import replace

from protocol.messages import Call, Called, GoOn, Option, WhyGame
from protocol.ruleset import Deal, Ruleset, count_sides, side_of
from tests.engine_reference import boneyard, turn
from tests.engine_reference import scoring as score
from tests.engine_reference.state import Game, Round

CALL_OR_GO_ON: tuple[Option, ...] = (Call(), GoOn())


def is_blocked(game: Game, state: Round) -> bool:
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


def next_turn(game: Game, state: Round) -> Game:
    """End a turn: a seat went out, or the last tiles are auctioned, or the next seat moves."""
    if state.out is not None:
        return end_round(game, replace(state, over="out"))
    if boneyard.auction_opens(game, state):
        return replace(game, round=boneyard.auction(game, state))
    return settle(game, state)


def settle(game: Game, state: Round) -> Game:
    """Begin a turn: first see whether the round is blocked, or a seat may call it so."""
    if is_blocked(game, state):
        return end_round(game, replace(state, over="blocked"))
    if state.line and can_be_called(game, state):
        state = ask_everybody(game, state)
    return with_round(game, state)


def with_round(game: Game, state: Round) -> Game:
    """Return the game with another state of its round; `replace` would cost more than the move."""
    return Game(
        game.rules,
        game.seats,
        game.target,
        game.step,
        game.scores,
        game.pot,
        state,
        game.points,
    )


def places(game: Game, fouled: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Return the place of each seat, 1 for the highest score; equal scores share a place.

    So do partners.

    Seats that fouled, and their partners, share the last place.
    """
    partners = game.rules.deal.partners
    last = {side_of(partners, seat) for seat in fouled}
    ranks = [
        (-1, 0) if side_of(partners, seat) in last else (0, score)
        for seat, score in enumerate(game.scores)
    ]
    sides = ranks[: count_sides(partners, game.seats)]
    return tuple(1 + sum(other > own for other in sides) for own in ranks)


def end_round(game: Game, finished: Round) -> Game:
    """End a round: credit its points and the pot to the winner."""
    before, winner = game.scores, score.winner(game, finished)
    if winner is not None:
        worth = score.round_points(game, finished, winner) + game.pot
        game = replace(game, scores=score.credit(game, before, winner, worth), pot=0)
    points = tuple(new - old for old, new in zip(before, game.scores, strict=True))
    over = _game_over(game, finished.number)
    return replace(game, round=replace(finished, winner=winner), points=points, over=over)


def _game_over(game: Game, rounds: int) -> WhyGame | None:
    """Return why the game is over, or None: the target needs a single best score (C score)."""
    limits = game.rules.game
    if limits.rounds:
        return "rounds" if rounds >= limits.rounds else None
    sides = game.scores[: count_sides(game.rules.deal.partners, game.seats)]
    best = max(sides)
    if best >= game.target and sides.count(best) == 1:
        return "target"
    return "max_rounds" if rounds >= limits.max_rounds else None
