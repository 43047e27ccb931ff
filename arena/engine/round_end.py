"""The end of a turn, a round and a game: the next turn, blocked rounds, points and places."""

from operator import sub

from msgspec.structs import replace

from arena.engine import boneyard, scoring, turn
from arena.engine.state import Game, Round
from protocol.messages import Call, Called, GoOn, Option, WhyGame, WhyRound
from protocol.ruleset import count_sides, side_of

CALL_OR_GO_ON: tuple[Option, ...] = (Call(), GoOn())


def is_blocked(game: Game, state: Round) -> bool:
    """Tell whether the round is over although every seat still holds tiles (C play, C.20).

    If no seat can play or draw, none is asked to pass, either.
    """
    settings = game.settings
    if not state.drawable:
        # Before the first tile every tile fits.
        if not state.held_mask & state.ends.fitting:
            return True
        if settings.two_tiles and not _anybody_can_play(game, state):
            return True
    return settings.blocks_early and _is_blocked_early(game, state)


def _anybody_can_play(game: Game, state: Round) -> bool:
    return any(turn.plays_of_two(state, seat) for seat in range(game.seats))


def _is_blocked_early(game: Game, state: Round) -> bool:
    """Tell whether a round ends in which a seat could still draw.

    Everybody has passed instead (C.27), or both ends are dead (C.20).
    """
    settings = game.settings
    if settings.draw_optional and state.layout and state.passes >= game.seats:
        return True
    return 0 < settings.dead_ends_to_end <= dead_ends(state)


def dead_ends(state: Round) -> int:
    """Return the number of ends whose number is dead: all its tiles have been played."""
    return sum(not suit & ~state.line_mask for suit in state.ends.suits)


def can_be_called(game: Game, state: Round) -> bool:
    """Tell whether a seat may call the round blocked, where the rules allow it (E play)."""
    return dead_ends(state) >= game.settings.dead_ends_to_call


def ask_everybody(game: Game, state: Round) -> None:
    """Ask every seat whether it calls the round blocked, the next to move first."""
    state.phase = replace(state.phase, name="call", queue=game.order(state.turn), then=state.turn)


def apply_answer(game: Game, state: Round, answer: Call | GoOn) -> None:
    """End the round if a seat has called; else ask the next, and go on after the last."""
    if isinstance(answer, Call):
        state.history.append(Called(state.turn))
        end_round(game, state, "blocked")
        return
    phase = state.phase
    queue = phase.queue[1:]
    if queue:
        state.turn, state.phase = queue[0], replace(phase, queue=queue)
    else:
        state.turn, state.phase = phase.then, replace(phase, name="play", queue=())


def next_turn(game: Game, state: Round) -> None:
    """End a turn: a seat went out, or the last tiles are auctioned, or the next seat moves."""
    settings, seat = game.settings, state.turn
    state.turn = settings.after[seat]
    state.drawn = 0
    if not state.hand_masks[seat]:
        state.out = seat
        end_round(game, state, "out")
    elif settings.plain_turns:
        # Most games: what `settle` does, without its questions.
        if not state.drawable and not state.held_mask & state.ends.fitting:
            end_round(game, state, "blocked")
    elif settings.auction and boneyard.auction_opens(state):
        boneyard.auction(game, state)
    else:
        settle(game, state)


def settle(game: Game, state: Round) -> None:
    """Begin a turn: first see whether the round is blocked, or a seat may call it so."""
    if is_blocked(game, state):
        end_round(game, state, "blocked")
    elif game.settings.dead_ends_to_call and can_be_called(game, state):
        ask_everybody(game, state)


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


def end_round(game: Game, state: Round, why: WhyRound) -> None:
    """End a round: credit its points and the pot to the winner."""
    before, pips = game.scores, scoring.pips_held(game, state)
    state.over, state.winner = why, scoring.winner(game, state, pips)
    if state.winner is not None:
        worth = scoring.round_points(game, state, state.winner, pips) + game.pot
        game.scores, game.pot = scoring.credit(game, state.winner, worth), 0
    game.points = tuple(map(sub, game.scores, before))
    game.over = _game_over(game, state.number)


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
