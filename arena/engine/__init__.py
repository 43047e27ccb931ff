"""The engine's public functions: start a game, deal a round, list the legal options, act.

They change the game that they are given; `arena.engine.values` has them for games as values.
"""

from typing import assert_never

from arena.engine import deal, scoring, turn
from arena.engine.state import Game, Round
from arena.engine.tables import Settings
from protocol.messages import (
    Bid,
    Call,
    Draw,
    GoOn,
    Guess,
    Keep,
    Option,
    Pass,
    Play,
    PlayTwo,
    Refuse,
)
from protocol.ruleset import Ruleset, check_seats, count_sides, side_of, target


def new_game(rules: Ruleset, seats: int) -> Game:
    """Return a game before its first round.

    Raises ImpossibleRulesError if the game has no table of this size.
    """
    check_seats(rules, seats)
    return Game(rules, seats, target(rules, seats), Settings(rules, seats))


def needs_deal(game: Game) -> bool:
    """Tell whether chance must decide something before a seat can move."""
    state = game.round
    return state is None or state.over is not None or state.phase.name == "deal"


def legal(game: Game) -> tuple[Option, ...]:
    """Return the options of the seat to move: at least one until the round is over."""
    state = game.round
    if state is None or state.over:
        return ()
    match state.phase.name:
        case "play":
            return turn.options(game, state)
        case "keep":
            return deal.keep_or_refuse(game, state)
        case "call":
            return turn.CALL_OR_GO_ON
        case "guess":
            return deal.ODD_OR_EVEN
        case "auction":
            return turn.legal_bids(game, state)
        case "deal":
            return ()


def is_game_over(game: Game, rounds: int) -> bool:
    """Tell whether a game with these scores is over after so many rounds."""
    return turn.why_over(game, rounds) is not None


class IllegalOptionError(ValueError):
    """An option that the seat to move does not have: a mistake of the calling program."""


def act(game: Game, option: Option) -> None:
    """Take one of the legal options of the seat to move.

    Raises IllegalOptionError for any other.
    """
    if option not in legal(game):
        raise IllegalOptionError(f"Not a legal option now: {option}. Take one of legal(game).")
    act_unchecked(game, option)


def act_unchecked(game: Game, option: Option) -> None:
    """Do as `act` with an option that was taken from `legal` of this very game.

    The referee and rollouts have just listed the options; to list them again would take long.
    The effect of any other option is not defined.
    """
    state = game.round
    assert state is not None, "A seat is to move."
    match option:
        case Play():
            turn.put_tile(state, option.tile, option.end)
            turn.next_turn(game, state)
        case Draw():
            _draw(game, state)
        case Pass():
            turn.pass_turn(game, state)
            turn.next_turn(game, state)
        case PlayTwo():
            turn.put_tile(state, option.left, "left")
            turn.put_tile(state, option.right, "right")
            turn.next_turn(game, state)
        case Keep() | Refuse():
            deal.apply_keep(game, state, option)
        case Call() | GoOn():
            turn.apply_answer(game, state, option)
        case Guess():
            deal.apply_guess(game, state, option)
        case Bid():
            turn.apply_bid(game, state, option)
            if state.phase.auctioned:
                turn.settle(game, state)
        case _:
            assert_never(option)


def _draw(game: Game, state: Round) -> None:
    """Draw a tile and pay for it; the turn goes on unless drawing ends it (E play)."""
    settings, seat = game.settings, state.turn
    turn.draw_tile(game, state, seat)
    if settings.fee:
        scoring.pay(game, seat, settings.fee)
    blocked = turn.is_blocked(game, state)
    # An auction of the last two tiles may unblock the round. The drawer can only pass now, so the
    # turn ends without that question.
    auction = blocked and settings.auction and turn.auction_opens(state)
    if settings.draw_ends_turn or auction:
        turn.next_turn(game, state)
    elif blocked:
        turn.end_round(game, state, "blocked")


def pips(game: Game) -> tuple[int, ...]:
    """Return the pips that each hand of the round counts."""
    return scoring.pips_held(game, game.playing)


def places(game: Game, fouled: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Return the place of each seat, 1 for the highest score; equal scores share a place.

    So do partners.

    Seats that fouled, and their partners, share the last place.
    """
    partners = game.rules.deal.partners
    last = {side_of(partners, seat) for seat in fouled}
    rank_of = [
        (-1, 0) if side_of(partners, seat) in last else (0, score)
        for seat, score in enumerate(game.scores)
    ]
    ranks = rank_of[: count_sides(partners, game.seats)]
    return tuple(1 + sum(rank > own_rank for rank in ranks) for own_rank in rank_of)
