"""Alternative deals: others with which one seat would have seen the same round.

What-if analyses and tests use them. This module states a second time, without the view, what is
public, because these deals test the view. The deals form a Markov chain of small changes, each
kept if the seat cannot tell the difference; each kind of change is as likely as its reverse, so in
the long run every deal that the seat cannot tell from the true one is equally frequent
(Metropolis).
"""

import random
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from arena import engine
from arena.engine.deal import begin
from arena.engine.state import Dealt, Game, Hand, Round
from protocol.messages import Call, Drew, GoOn, Keep, Lot, Option, Refuse
from protocol.ruleset import Ruleset, Tile, high_first, set_of_tiles

SILENT = ("keep", "call")
"""Phases in which the usual answer leaves no event, so that it is not public."""
SILENT_ANSWERS = (Keep, GoOn)
"""The usual answers in those phases."""
MOVED_TILES = (2, 2, 2, 2, 3, 3, 4, 6)
"""Numbers of tiles that change places in a small change; repeated ones are more frequent."""
LARGE_SHARE = 0.2
"""The share of large changes: all tiles that nobody has shown, or the order within hands."""


class PublicMove(NamedTuple):
    """A seat's action that everybody saw."""

    seat: int
    option: Option
    fallback: bool = False
    """True if the seat has fouled, or fouls now: its first option is taken."""


class SeatQuestion(NamedTuple):
    """A state of a round, and the choice of the seat to move."""

    game: Game
    choice: int | None
    fallback: bool = False


class StopAt(NamedTuple):
    """A question to a seat, identified by public facts."""

    seat: int
    acts: int
    """The number of public moves in this round before it."""
    phase: str


class RoundHistory(NamedTuple):
    """A round: hidden deals and public moves."""

    start: Game
    deals: tuple[Dealt, ...]
    """The deals, annulled ones first."""
    acts: tuple[PublicMove, ...]


class Sample(NamedTuple):
    """A deal that a seat cannot tell from the true one, and the state that it leads to."""

    deal: RoundHistory
    game: Game


class InconsistentDealError(Exception):
    """An alternative deal with which the public moves could not have been played."""


# --- a round as everybody sees it ---


def replay_round(deal: RoundHistory, until: StopAt | None = None) -> Iterator[SeatQuestion]:
    """Yield every state of a round with its choice; stop before a question, or at the round's end.

    Raises InconsistentDealError if the moves cannot be played.
    """
    return (turn._replace(game=turn.game.copy()) for turn in _walk(deal, until))


def _walk(deal: RoundHistory, until: StopAt | None) -> Iterator[SeatQuestion]:
    """Yield as `replay_round` does, but always the same game, which goes on."""
    game, deals, done = deal.start.copy(), deque(deal.deals), 0
    while True:
        while engine.needs_deal(game) and deals:
            begin(game, deals.popleft())
        state, options = game.playing, engine.legal(game)
        if until == (state.turn, done, state.phase.name) and options:
            yield SeatQuestion(game, None)
            return
        if engine.needs_deal(game):
            if until or done < len(deal.acts) or not state.over:
                raise InconsistentDealError
            yield SeatQuestion(game, None)
            return
        act = deal.acts[done] if done < len(deal.acts) else None
        choice, loud = _choice(state, options, act)
        yield SeatQuestion(game, choice, bool(loud and act and act.fallback))
        engine.act_unchecked(game, options[choice])
        done += loud


def _choice(state: Round, options: tuple[Option, ...], act: PublicMove | None) -> tuple[int, bool]:
    """Return the index of the next choice, and whether everybody sees it."""
    due = act is not None and act.seat == state.turn
    if state.phase.name in SILENT and not (act and due and isinstance(act.option, Refuse | Call)):
        return options.index(Keep() if state.phase.name == "keep" else GoOn()), False
    if act is None or not due or act.option not in options[: 1 if act.fallback else None]:
        raise InconsistentDealError
    return options.index(act.option), True


def public(game: Game, seat: int) -> tuple[object, ...]:
    """Return all that the seat may know of a state, besides the moves that led there."""
    state = game.playing
    hands = tuple(map(sorted, state.hands)) if state.over else state.sizes
    return (
        state.number,
        state.line,
        state.over,
        state.winner,
        state.drawable,
        state.stock_size,
        state.hand(seat),
        hands,
        game.scores,
        game.points,
        game.pot,
        game.over,
        [
            ("drew", event.seat) if isinstance(event, Drew) and event.seat != seat else event
            for event in state.history
        ],
    )


# --- alternative deals ---


def alternative_deals(
    deal: RoundHistory, seat: int, rng: random.Random, until: StopAt | None = None
) -> Iterator[Sample]:
    """Yield deals without end that the seat cannot tell from this one; each is close to the last.

    Raises InconsistentDealError if the moves cannot be played with the given deals.
    """
    acts = deal.acts[: until.acts] if until else deal.acts
    truth = _last(deal, until)
    facts, seen_tiles = public(truth, seat), _find_seen_tiles(truth, seat)
    deals = tuple(dealt for dealt in deal.deals if dealt.deal <= truth.playing.phase.deal)
    sample = Sample(RoundHistory(deal.start, deals, acts), truth)
    while True:
        tried = sample.deal._replace(deals=_changed(sample.deal.deals, seat, seen_tiles, rng))
        if tried.deals != sample.deal.deals:
            try:
                reached = _last(tried, until)
                sample = Sample(tried, reached) if public(reached, seat) == facts else sample
            except InconsistentDealError:
                pass
        yield sample


def _find_seen_tiles(truth: Game, seat: int) -> set[Tile]:
    state = truth.playing
    hands = state.hands if state.over else (state.hand(seat),)
    return {*map(high_first, state.line), *(tile for hand in hands for tile in hand)}


def _last(deal: RoundHistory, until: StopAt | None) -> Game:
    game = deal.start
    for turn in _walk(deal, until):
        game = turn.game
    return game


def _changed(
    deals: tuple[Dealt, ...], seat: int, seen_tiles: set[Tile], rng: random.Random
) -> tuple[Dealt, ...]:
    index = rng.randrange(len(deals))
    dealt = deals[index]
    if dealt.deal == 0:
        changed = _other_lots(dealt, rng)
    elif rng.random() < LARGE_SHARE / 2:
        changed = _other_order(dealt, seat, rng)
    else:
        changed = _other_places(dealt, seat, seen_tiles, rng)
    return (*deals[:index], changed, *deals[index + 1 :])


def _other_lots(dealt: Dealt, rng: random.Random) -> Dealt:
    tiles = rng.sample(set_of_tiles(Ruleset(name="any").deal), len(dealt.lots))
    lots = tuple(Lot(lot.seat, tile) for lot, tile in zip(dealt.lots, tiles, strict=True))
    return replace(dealt, lots=lots)


def _other_order(dealt: Dealt, seat: int, rng: random.Random) -> Dealt:
    hands = tuple(
        hand if other == seat else tuple(rng.sample(hand, len(hand)))
        for other, hand in enumerate(dealt.hands)
    )
    return replace(dealt, hands=hands)


def _other_places(dealt: Dealt, seat: int, seen_tiles: set[Tile], rng: random.Random) -> Dealt:
    """Return the deal with a few tiles of any kind moved, or all tiles that nobody has shown."""
    flat = [tile for row in (*dealt.hands, *dealt.stock) for tile in row]
    size = len(dealt.hands[0])
    own_places = range(seat * size, (seat + 1) * size)
    free = [place for place in range(len(flat)) if place not in own_places]
    if rng.random() < LARGE_SHARE:
        free = [place for place in free if flat[place] not in seen_tiles]
    else:
        free = rng.sample(free, min(len(free), rng.choice(MOVED_TILES)))
    tiles = rng.sample([flat[place] for place in free], len(free))
    for place, tile in zip(free, tiles, strict=True):
        flat[place] = tile
    left = iter(flat)

    def fill(rows: tuple[Hand, ...]) -> tuple[Hand, ...]:
        return tuple(tuple(next(left) for _ in row) for row in rows)

    return replace(dealt, hands=fill(dealt.hands), stock=fill(dealt.stock))
