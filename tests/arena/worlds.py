"""A round as everybody sees it, and other deals with which the same round could be played.

What is public is defined here a second time, without the view: the view is what is tested.
"""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from arena import referee as rulings
from arena.engine import game as engine
from arena.engine.state import Dealt, Game, Hand
from protocol.messages import Call, Clock, Drew, Event, GoOn, Keep, Lot, Option, Refuse
from protocol.rules import Game as Limits
from protocol.rules import Ruleset, the_set
from protocol.tiles import Tile, as_held

SILENT = ("keep", "call")
"""Phases in which the usual answer leaves no event: that it was given is not public."""
TRIES = 8
"""Other deals that are tried for each question; each that fits is the next one's beginning."""


class Act(NamedTuple):
    """Something that everybody saw a seat do."""

    seat: int
    option: Option
    fallback: bool = False
    """The seat has fouled, or does now: its first option is taken."""


class Turn(NamedTuple):
    """A state of a round, and what the seat to move does."""

    game: Game
    choice: int | None
    """The index of its option; None where nobody moves."""
    fallback: bool = False


class Moment(NamedTuple):
    """A question to the watched seat, as everybody could name it."""

    acts: int
    """Acts of this round before it."""
    phase: str
    """What it is about."""


class Deal(NamedTuple):
    """A round: hidden deals and public acts."""

    start: Game
    """The game before it."""
    deals: tuple[Dealt, ...]
    acts: tuple[Act, ...]


class UnlikeError(Exception):
    """Another world in which the public game could not have been played."""


# --- one game ---


def played(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random, fouler: int | None = None
) -> list[Deal]:
    """A short game, played at random; one seat may foul at its first turn."""
    short = replace(rules, game=Limits(target=100_000, max_rounds=luck.randint(1, 2)))
    game, rounds = engine.new_game(short, seats), list[Deal]()
    while not game.over:
        deal, game = _round(game, seed, luck, fouler)
        rounds.append(deal)
    return rounds


def _round(game: Game, seed: bytes, luck: random.Random, fouler: int | None) -> tuple[Deal, Game]:
    """A round played at random, and the game after it."""
    start, deals, acts = game, list[Dealt](), list[Act]()
    while True:
        if engine.needs_deal(game):
            if deals and game.playing.over:
                return Deal(start, tuple(deals), tuple(acts)), game
            deals.append(engine.chance_decides(game, seed))
            game = engine.begin(game, deals[-1])
            continue
        options, turn = engine.legal(game), game.playing.turn
        option = options[0] if turn == fouler else luck.choice(options)
        if not isinstance(option, Keep | GoOn):
            acts.append(Act(turn, option, turn == fouler))
        game = engine.act(game, option)


def walk(deal: Deal, until: tuple[int, Moment] | None = None) -> Iterator[Turn]:
    """Every state of a round and the choice made in it; ends before a question, or with the round.

    Raises UnlikeError when the acts cannot be played.
    """
    game, deals, done = deal.start, deque(deal.deals), 0
    while True:
        while engine.needs_deal(game) and deals:
            game = engine.begin(game, deals.popleft())
        state = game.playing
        if until and done == until[1].acts and engine.legal(game):
            seat, moment = until
            if (state.turn, state.aside.phase) == (seat, moment.phase):
                yield Turn(game, None)
                return
        if engine.needs_deal(game):
            if until or done < len(deal.acts) or not state.over:
                raise UnlikeError
            yield Turn(game, None)
            return
        act = deal.acts[done] if done < len(deal.acts) else None
        choice, loud = _choice(game, act)
        yield Turn(game, choice, bool(loud and act and act.fallback))
        game = engine.act(game, engine.legal(game)[choice])
        done += loud


def _choice(game: Game, act: Act | None) -> tuple[int, bool]:
    """The index of what the seat to move does, and whether everybody sees it."""
    state, options = game.playing, engine.legal(game)
    own = act is not None and act.seat == state.turn
    if state.aside.phase in SILENT and not (act and own and isinstance(act.option, Refuse | Call)):
        return options.index(Keep() if state.aside.phase == "keep" else GoOn()), False
    if act is None or not own or act.option not in options[: 1 if act.fallback else None]:
        raise UnlikeError
    return options.index(act.option), True


def questions(deal: Deal, seat: int, clock: Clock) -> Iterator[Moment]:
    """Every moment of a round at which this seat is asked."""
    done = 0
    for game, choice, _ in walk(deal):
        if choice is None:
            return
        options = engine.legal(game)
        if game.playing.turn == seat and rulings.asks(clock, options, fouled=False):
            yield Moment(done, game.playing.aside.phase)
        done += not isinstance(options[choice], Keep | GoOn)


def public(game: Game, seat: int) -> tuple[object, ...]:
    """All that the seat may know of a state; that it is reached by the same acts says the rest."""
    state = game.playing
    shown = tuple(map(sorted, state.hands)) if state.over else tuple(map(len, state.hands))
    return (
        state.number,
        state.line,
        state.over,
        state.winner,
        state.drawable,
        sum(map(len, state.stock)),
        state.hands[seat],
        shown,
        game.scores,
        game.points,
        game.pot,
        game.over,
        [_seen(event, seat) for event in state.events],
    )


def _seen(event: Event, seat: int) -> object:
    return ("drew", event.seat) if isinstance(event, Drew) and event.seat != seat else event


# --- another world ---


def resampled(
    deal: Deal, seat: int, luck: random.Random, until: tuple[int, Moment] | None = None
) -> Deal:
    """The same public round with what the seat cannot see dealt anew, as far as it can be."""
    acts = deal.acts[: until[1].acts] if until else deal.acts
    expected = _last(deal, until)
    state = expected.playing
    open_hands = state.hands if state.over else (state.hands[seat],)
    seen = {*map(as_held, state.line), *(tile for hand in open_hands for tile in hand)}
    deals = tuple(dealt for dealt in deal.deals if dealt.deal <= state.aside.deal)
    best = Deal(deal.start, deals, acts)
    for number in range(TRIES):
        tried = best._replace(deals=_shuffled(best.deals, seat, seen, luck, number))
        try:
            reached = _last(tried, until)
        except UnlikeError:
            continue
        if public(reached, seat) == public(expected, seat):
            best = tried
    return best


def _last(deal: Deal, until: tuple[int, Moment] | None) -> Game:
    game = deal.start
    for turn in walk(deal, until):
        game = turn.game
    return game


def _shuffled(
    deals: tuple[Dealt, ...], seat: int, seen: set[Tile], luck: random.Random, number: int
) -> tuple[Dealt, ...]:
    """The order of the others' hands, all that nobody has shown, then fewer tiles of any kind."""
    at = luck.randrange(len(deals)) if number else len(deals) - 1
    if deals[at].deal == 0:
        return (*deals[:at], _other_lots(deals[at], luck), *deals[at + 1 :])
    if number == 0:
        hands = tuple(
            hand if other == seat else tuple(luck.sample(hand, len(hand)))
            for other, hand in enumerate(deals[at].hands)
        )
        return (*deals[:at], replace(deals[at], hands=hands), *deals[at + 1 :])
    flat = [tile for row in (*deals[at].hands, *deals[at].stock) for tile in row]
    size = len(deals[at].hands[0])
    own = range(seat * size, (seat + 1) * size)
    free = [place for place in range(len(flat)) if place not in own]
    if number < 3:
        free = [place for place in free if flat[place] not in seen]
    else:
        free = luck.sample(free, min(len(free), max(2, 12 >> (number // 2))))
    tiles = luck.sample([flat[place] for place in free], len(free))
    for place, tile in zip(free, tiles, strict=True):
        flat[place] = tile
    return (*deals[:at], _refilled(deals[at], flat), *deals[at + 1 :])


def _refilled(dealt: Dealt, flat: Sequence[Tile]) -> Dealt:
    """The deal with its tiles, hands first, replaced by these."""
    left = iter(flat)

    def same(rows: tuple[Hand, ...]) -> tuple[Hand, ...]:
        return tuple(tuple(next(left) for _ in row) for row in rows)

    return replace(dealt, hands=same(dealt.hands), stock=same(dealt.stock))


def _other_lots(dealt: Dealt, luck: random.Random) -> Dealt:
    tiles = luck.sample(the_set(Ruleset(name="any").deal), len(dealt.lots))
    lots = tuple(Lot(lot.seat, tile) for lot, tile in zip(dealt.lots, tiles, strict=True))
    return replace(dealt, lots=lots)
