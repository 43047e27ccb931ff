"""The engine's face: start a game, deal a round, list what is legal, act. Pure functions."""

from typing import assert_never

from msgspec.structs import replace

from arena.engine import boneyard, closing, deal, lead, opening, stakes, turn
from arena.engine import round_end as end
from arena.engine import scoring as score
from arena.engine.closing import places
from arena.engine.opening import begin, chance_decides
from arena.engine.state import Game, Round
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

Placing = tuple[tuple[Tile, Where], ...]
"""Tiles and the ends that they go to."""

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
    """A game before its first round.

    Raises ImpossibleRulesError when the game is not played at such a table.
    """
    check_seats(rules, seats)
    none = (0,) * seats
    step = 1 if rules.deal.direction == "clockwise" else -1
    return Game(rules, seats, target(rules, seats), step, none, 0, None, none)


def needs_deal(game: Game) -> bool:
    """Whether chance must decide something before anybody can move."""
    state = game.round
    return state is None or state.over is not None or state.aside.phase == "deal"


def legal(game: Game) -> tuple[Option, ...]:
    """What the seat to move may do: at least one option until the round is over."""
    state = game.round
    if state is None or state.over:
        return ()
    match state.aside.phase:
        case "play":
            return turn.options(game, state)
        case "keep":
            return deal.keep_or_refuse(game, state)
        case "call":
            return end.CALL_OR_GO_ON
        case "guess":
            return lead.ODD_OR_EVEN
        case "auction":
            return boneyard.legal_bids(game, state)
        case "deal":
            return ()


class IllegalOptionError(ValueError):
    """An option that the seat to move does not have: a mistake of the program that takes it."""


def act(game: Game, option: Option) -> Game:
    """Take one of the legal options of the seat to move.

    Raises IllegalOptionError for any other.
    """
    if option not in legal(game):
        raise IllegalOptionError(f"Not a legal option now: {option}. Take one of legal(game).")
    return act_unchecked(game, option)


def act_unchecked(game: Game, option: Option) -> Game:
    """Do as `act` with an option that was taken from `legal` of this very game.

    For whoever has just listed the options, and for rollouts: to list them again would take long.
    What any other option does to the game is not defined.
    """
    state = game.playing
    match option:
        case Play():
            return closing.next_turn(game, _played(game, state, ((option.tile, option.end),)))
        case Draw():
            return _drew(game, state)
        case Pass():
            return closing.next_turn(game, _passed(game, state))
        case PlayTwo():
            pair: Placing = ((option.left, "left"), (option.right, "right"))
            return closing.next_turn(game, _played(game, state, pair))
        case Keep() | Refuse():
            return opening.apply_keep(game, state, option)
        case Call() | GoOn():
            after = end.apply_answer(state, option)
            return closing.scored(game, after) if after.over else replace(game, round=after)
        case Guess():
            return opening.apply_guess(game, state, option)
        case Bid():
            after_bid = boneyard.apply_bid(game, state, option)
            done = after_bid.playing.aside.auctioned
            return closing.settle(after_bid, after_bid.playing) if done else after_bid
        case _:
            assert_never(option)


def _played(game: Game, state: Round, tiles: Placing) -> Round:
    """The round after one tile was played, or two, and the turn has passed on."""
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
    """A tile was drawn and paid for; the turn goes on unless drawing ends it (E play)."""
    after = boneyard.draw_tile(game, state, state.turn)
    if game.rules.stakes.fee:
        game = stakes.pay(game, state.turn, game.rules.stakes.fee)
    blocked = end.blocked(game, after)
    # The last two tiles may unblock it where they are auctioned; the drawer's pass is not asked.
    if game.rules.turn.draw_ends_turn or (blocked and boneyard.auction_opens(game, after)):
        return closing.next_turn(game, replace(after, turn=game.after(state.turn), drawn=0))
    if blocked:
        return closing.scored(game, replace(after, over="blocked"))
    return closing.decide_turn(game, after)


def pips(game: Game) -> tuple[int, ...]:
    """What each hand of the round counts."""
    return score.pips_held(game, game.playing)
