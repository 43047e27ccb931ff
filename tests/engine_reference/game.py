"""The engine's public functions: start a game, deal a round, list the legal options, act."""

from typing import assert_never

from msgspec.structs import replace

from protocol.messages import (
    Bid,
    Call,
    Draw,
    GoOn,
    Guess,
    Keep,
    Option,
    Pass,
    Passed,
    Play,
    Played,
    PlayTwo,
    Refuse,
)
from protocol.messages import End as Where
from protocol.ruleset import Ruleset, check_seats, target
from protocol.tiles import Tile
from tests.engine_reference import boneyard, deal, lead, round_end, scoring, turn
from tests.engine_reference.deal import begin, chance_decides
from tests.engine_reference.round_end import places
from tests.engine_reference.state import Game, Round

Placing = tuple[tuple[Tile, Where], ...]
"""Tiles, each with the end of the line that it goes to."""

__all__ = [
    "IllegalOptionError",
    "act",
    "act_unchecked",
    "begin",
    "chance_decides",
    "legal",
    "needs_deal",
    "new_game",
    "pips",
    "places",
]


def new_game(rules: Ruleset, seats: int) -> Game:
    """Return a game before its first round.

    Raises ImpossibleRulesError if the game has no table of this size.
    """
    check_seats(rules, seats)
    none = (0,) * seats
    step = 1 if rules.deal.direction == "clockwise" else -1
    return Game(rules, seats, target(rules, seats), step, none, 0, None, none)


def needs_deal(game: Game) -> bool:
    """Tell whether chance must decide something before a seat can move."""
    state = game.round
    return state is None or state.over is not None or state.aside.phase == "deal"


def legal(game: Game) -> tuple[Option, ...]:
    """Return the options of the seat to move: at least one until the round is over."""
    state = game.round
    if state is None or state.over:
        return ()
    match state.aside.phase:
        case "play":
            return turn.options(game, state)
        case "keep":
            return deal.keep_or_refuse(game, state)
        case "call":
            return round_end.CALL_OR_GO_ON
        case "guess":
            return lead.ODD_OR_EVEN
        case "auction":
            return boneyard.legal_bids(game, state)
        case "deal":
            return ()


class IllegalOptionError(ValueError):
    """An option that the seat to move does not have: a mistake of the calling program."""


def act(game: Game, option: Option) -> Game:
    """Take one of the legal options of the seat to move.

    Raises IllegalOptionError for any other.
    """
    if option not in legal(game):
        raise IllegalOptionError(f"Not a legal option now: {option}. Take one of legal(game).")
    return act_unchecked(game, option)


def act_unchecked(game: Game, option: Option) -> Game:
    """Do as `act` with an option that was taken from `legal` of this very game.

    The referee and rollouts have just listed the options; to list them again would take long.
    The effect of any other option is not defined.
    """
    state = game.playing
    match option:
        case Play():
            return round_end.next_turn(game, _played(game, state, ((option.tile, option.end),)))
        case Draw():
            return _drew(game, state)
        case Pass():
            return round_end.next_turn(game, _passed(game, state))
        case PlayTwo():
            pair: Placing = ((option.left, "left"), (option.right, "right"))
            return round_end.next_turn(game, _played(game, state, pair))
        case Keep() | Refuse():
            return deal.apply_keep(game, state, option)
        case Call() | GoOn():
            after = round_end.apply_answer(state, option)
            return round_end.end_round(game, after) if after.over else replace(game, round=after)
        case Guess():
            return deal.apply_guess(game, state, option)
        case Bid():
            after_bid = boneyard.apply_bid(game, state, option)
            done = after_bid.playing.aside.auctioned
            return round_end.settle(after_bid, after_bid.playing) if done else after_bid
        case _:
            assert_never(option)


def _played(game: Game, state: Round, tiles: Placing) -> Round:
    """Return the round after one tile was played, or two, and the turn has passed on.

    The whole struct is written out: `replace` would cost more than the move.
    """
    seat, line, events, hand = state.turn, state.line, state.events, state.hands[state.turn]
    for tile, where in tiles:
        line, lies = turn.place(line, tile, where)
        events = (*events, Played(seat, lies, where))
        at = hand.index(tile)
        hand = hand[:at] + hand[at + 1 :]
    return Round(
        state.number,
        state.leader,
        (seat + game.step) % game.seats,
        (*state.hands[:seat], hand, *state.hands[seat + 1 :]),
        state.stock,
        state.drawable,
        line,
        0,
        0,
        events,
        state.aside,
        None,
        None if hand else seat,
    )


def _passed(game: Game, state: Round) -> Round:
    return replace(
        state,
        turn=game.after(state.turn),
        drawn=0,
        passes=state.passes + 1,
        events=(*state.events, Passed(state.turn)),
    )


def _drew(game: Game, state: Round) -> Game:
    """Draw a tile and pay for it; the turn goes on unless drawing ends it (E play)."""
    after = boneyard.draw_tile(game, state, state.turn)
    if game.rules.stakes.fee:
        game = scoring.pay(game, state.turn, game.rules.stakes.fee)
    blocked = round_end.is_blocked(game, after)
    # An auction of the last two tiles may unblock the round. The drawer can only pass now, so the
    # turn ends without that question.
    if game.rules.turn.draw_ends_turn or (blocked and boneyard.auction_opens(game, after)):
        return round_end.next_turn(game, replace(after, turn=game.after(state.turn), drawn=0))
    if blocked:
        return round_end.end_round(game, replace(after, over="blocked"))
    return round_end.with_round(game, after)


def pips(game: Game) -> tuple[int, ...]:
    """Return the pips that each hand of the round counts."""
    return scoring.pips_held(game, game.playing)
