"""Plays the same public game in two worlds, and compares what one seat sees and when.

A world is all that is hidden from the seat: hands, boneyard, lots that are not shown, seed, names,
board, the others' thinking times and notes. What is public is defined here a second time, without
the view: the view is what is tested.
"""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import pytest
from msgspec.structs import replace

from arena import referee as rulings
from arena.engine import game as engine
from arena.engine.chance import board_seed
from arena.engine.state import Dealt, Game, Hand
from arena.referee import Question, Referee, Seating
from protocol.codec import encode_line
from protocol.messages import Call, Choose, Clock, Drew, Event, GoOn, Keep, Lot, Option, Refuse
from protocol.records import FoulRecord
from protocol.rules import Game as Limits
from protocol.rules import Ruleset, the_set
from protocol.tiles import Tile

Forced = Literal["skip", "ask"]
SILENT = ("keep", "call")
"""Phases in which the usual answer leaves no event: that it was given is not public."""
CHANCE = engine.chance_decides
TRIES = 8
"""Other worlds that are tried for each question; each that fits is the next one's beginning."""
FOULS = 0.1
"""How often a question is answered with nonsense, to compare what is said of that."""
STALE = 0.02
"""How often another seat answers a closed question first."""


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


class World(NamedTuple):
    """What a seat cannot see, and the rounds so far."""

    seating: Seating
    seed: bytes
    rounds: tuple[Deal, ...]
    luck: int
    """Fixes the others' times and notes."""


class Heard(NamedTuple):
    """A line to the watched seat, and when it came."""

    moment: tuple[int, int]
    """How many answers of others and of its own the referee had taken before."""
    line: bytes


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
    seen = {*map(_held, state.line), *(tile for hand in open_hands for tile in hand)}
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


def _held(tile: Tile) -> Tile:
    return (max(tile), min(tile))


def _shuffled(
    deals: tuple[Dealt, ...], seat: int, seen: set[Tile], luck: random.Random, number: int
) -> tuple[Dealt, ...]:
    """All that nobody has shown in the first tries, then fewer and fewer tiles of any kind."""
    at = luck.randrange(len(deals)) if number else len(deals) - 1
    if deals[at].deal == 0:
        return (*deals[:at], _other_lots(deals[at], luck), *deals[at + 1 :])
    flat = [tile for row in (*deals[at].hands, *deals[at].stock) for tile in row]
    size = len(deals[at].hands[0])
    own = range(seat * size, (seat + 1) * size)
    free = [place for place in range(len(flat)) if place not in own]
    if number < 2:
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


def elsewhere(world: World, rounds: Sequence[Deal], luck: random.Random) -> World:
    """A world with these rounds in which the rest is other too."""
    names = tuple(f"{luck.getrandbits(32):08x}" for _ in world.seating.seats)
    board = luck.randrange(1, 1000)
    seating = replace(world.seating, game=f"{board}.{names[0]}", board=board, seats=names)
    return World(seating, luck.randbytes(32), tuple(rounds), luck.getrandbits(32))


# --- what the seat hears ---


def heard(
    world: World, seat: int, until: tuple[int, Moment] | None, *, foul: bool = False
) -> list[Heard]:
    """All that is said to a seat up to a question, or up to the end of the game.

    With `foul` it breaks the protocol at that question, and hears what it is told of that.
    """
    deals = iter([dealt for deal in world.rounds for dealt in deal.deals])
    with pytest.MonkeyPatch.context() as patch:
        # After a foul the others may play on into deals that nobody wrote.
        patch.setattr(
            engine, "chance_decides", lambda game, seed: next(deals, None) or CHANCE(game, seed)
        )
        referee = Referee(world.seating, world.seed)
        ears = _Ears(referee, world, seat)
        for number, deal in enumerate(world.rounds):
            last = until if number == len(world.rounds) - 1 else None
            for turn in walk(deal, last):
                ears.answer(turn)
        if foul:
            ears.foul()
        return ears.heard


class _Ears:
    """Speaks for all seats, and listens for one."""

    def __init__(self, referee: Referee, world: World, seat: int) -> None:
        self.heard: list[Heard] = []
        self._referee = referee
        self._seat = seat
        self._luck = random.Random(world.luck)
        self._answers = [0, 0]
        self._listen()

    def answer(self, turn: Turn) -> None:
        """The seat to move answers, if it is asked."""
        question, options = self._referee.awaiting, engine.legal(turn.game)
        asked = question and (question.seat, question.options) == (turn.game.playing.turn, options)
        if question is None or not asked or turn.choice is None:
            return
        own = question.seat == self._seat
        self._answers[own] += 1
        if own:
            said = Choose(id=question.id, choice=turn.choice)
            self._referee.received(self._seat, encode_line(said)[:-1], self._answers[1] * 37 % 1500)
        elif turn.fallback:
            self._referee.received(question.seat, self._luck.randbytes(8) + b"\xff", 1.0)
        else:
            self._other(question, turn.choice)
        self._listen()

    def _other(self, question: Question, choice: int) -> None:
        """Another seat answers, in its own time and in its own words."""
        ms, note = self._luck.uniform(0, 2500), f"{self._luck.getrandbits(64):x}"
        if self._luck.random() < STALE:
            stale = Choose(id=question.id - 1, choice=0, note=note)
            self._referee.received(question.seat, encode_line(stale)[:-1], ms)
        said = Choose(id=question.id, choice=choice, note=note)
        self._referee.received(question.seat, encode_line(said)[:-1], ms)

    def foul(self) -> None:
        """The watched seat answers nonsense, and the referee says why it does not go on."""
        question = self._referee.awaiting
        if question is None or question.seat != self._seat:
            return
        self._referee.records()
        said = Choose(id=question.id, choice=9999)
        self._referee.received(self._seat, encode_line(said)[:-1], 1.0)
        # Else the fallback plays on: whether that ends a round may depend on what is hidden.
        if self._referee.result and self._referee.result.why == "foul":
            self._listen()
        (why,) = [one for one in self._referee.records() if isinstance(one, FoulRecord)]
        self._hear(rulings.bye(why.detail))

    def _listen(self) -> None:
        for seat, line in self._referee.outgoing():
            if seat == self._seat:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        self.heard.append(Heard((self._answers[0], self._answers[1]), line))


# --- the comparison ---


class Difference(NamedTuple):
    """Something that the seat could tell two worlds apart by."""

    what: str
    """"bytes" or "moments"."""
    one: object
    other: object


def differences(
    rules: Ruleset, seats: int, number: int, luck: random.Random, *, forced: Forced = "ask"
) -> Iterator[Difference]:
    """Every way in which a seat could tell worlds apart, at each question and at the end."""
    seed = board_seed(b"secret", "event", number)
    seat = luck.randrange(seats)
    clock = Clock(forced=forced)
    # One that fouls when it is asked would not foul at the same moment in a world where it is not.
    fouls = forced == "ask" and seats > 2 and not rules.deal.partners and luck.random() < 0.25
    rounds = played(rules, seats, seed, luck, (seat + 1) % seats if fouls else None)
    seating = Seating("1.a", 1, 1, ("a", "b", "c", "d")[:seats], rounds[0].start.rules, clock)
    truth = World(seating, seed, tuple(rounds), 0)
    whole = heard(truth, seat, None)
    asks = iter([at for at, one in enumerate(whole, 1) if b'"type":"ask"' in one.line])
    before: list[Deal] = []
    for at, deal in enumerate(rounds):
        for moment in questions(deal, seat, clock):
            until = (seat, moment)
            there = elsewhere(truth, [*before, resampled(deal, seat, luck, until)], luck)
            yield from _compared(whole[: next(asks)], heard(there, seat, until))
            if luck.random() < FOULS:
                here = truth._replace(rounds=tuple(rounds[: at + 1]))
                told, elsewhere_told = (heard(one, seat, until, foul=True) for one in (here, there))
                yield from _compared(told, elsewhere_told)
        before.append(resampled(deal, seat, luck))
    yield from _compared(whole, heard(elsewhere(truth, before, luck), seat, None))


def _compared(here: Sequence[Heard], there: Sequence[Heard]) -> Iterator[Difference]:
    bytes_here, bytes_there = [one.line for one in here], [one.line for one in there]
    if bytes_here != bytes_there:
        yield Difference("bytes", *_first(bytes_here, bytes_there))
    elif [one.moment for one in here] != [one.moment for one in there]:
        yield Difference("moments", *_first(here, there))


def _first(here: Sequence[object], there: Sequence[object]) -> tuple[object, object]:
    """The first pair that differs."""
    for one, other in zip(here, there, strict=False):
        if one != other:
            return one, other
    return len(here), len(there)
