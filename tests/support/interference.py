"""Plays the same public game in two worlds, and compares what one seat hears and when.

A world is all that is hidden from the seat: hands, boneyard, lots that are not shown, seed, names,
board, the others' thinking times, notes, fouls and stray lines.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from arena import engine
from arena.analysis.alternative_deals import RoundHistory, SeatQuestion, StopAt, replay_round
from arena.engine.deal import chance_decides
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.match.referee import Chance, GameSetup, OpenQuestion, Referee, bye, needs_answer
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import FoulRecord
from protocol.ruleset import Ruleset
from tests.support.random_rounds import Asks, played, questions, resampled

Forced = Literal["skip", "ask"]
Begin = Callable[[GameSetup, bytes, Chance], Referee]
"""Begins a game with an honest referee, or with one that leaks."""
FOULS = 0.1
"""How often a question is answered with nonsense, to compare what is said of that."""
STALE = 0.02
"""How often another seat answers a closed question first."""


class World(NamedTuple):
    """What a seat cannot see, and the rounds so far."""

    setup: GameSetup
    seed: bytes
    rounds: tuple[RoundHistory, ...]
    luck: int
    """Fixes the others' times and notes."""


class Heard(NamedTuple):
    """A line to the watched seat, and when it came."""

    moment: tuple[int, int]
    """How many answers of others and of its own the referee had taken before."""
    line: bytes


def elsewhere(world: World, rounds: Sequence[RoundHistory], rng: random.Random) -> World:
    """Return a world with these rounds in which everything else differs too."""
    names = tuple(f"{rng.getrandbits(32):08x}" for _ in world.setup.seats)
    board = rng.randrange(1, 1000)
    setup = replace(world.setup, game=f"{board}.{names[0]}", board=board, seats=names)
    return World(setup, rng.randbytes(32), tuple(rounds), rng.getrandbits(32))


# --- what the seat hears ---


def heard(
    world: World, seat: int, until: StopAt | None, begin: Begin, *, foul: bool = False
) -> list[Heard]:
    """Return all that is said to a seat up to a question, or up to the end of the game.

    With `foul` it breaks the protocol at that question, and hears what it is told of that.
    """
    deals = iter([dealt for deal in world.rounds for dealt in deal.deals])

    def dealt(game: Game, seed: bytes) -> Dealt:
        # After a foul the others may play on into deals that nobody wrote.
        return next(deals, None) or chance_decides(game, seed)

    ears = _Ears(begin(world.setup, world.seed, dealt), world, seat)
    for number, deal in enumerate(world.rounds):
        last = until if number == len(world.rounds) - 1 else None
        for turn in replay_round(deal, last):
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
        self._rng = random.Random(world.luck)
        self._answers = [0, 0]
        self._listen()

    def answer(self, turn: SeatQuestion) -> None:
        """Answer for the seat to move, if it is asked."""
        question, options = self._referee.awaiting, engine.legal(turn.game)
        asked = question and (question.seat, question.options) == (turn.game.playing.turn, options)
        if question is None or not asked or turn.choice is None:
            return
        own = question.seat == self._seat
        self._answers[own] += 1
        if own:
            said = Choose(id=question.id, choice=turn.choice)
            self._referee.receive(self._seat, encode_line(said)[:-1], self._answers[1] * 37 % 1500)
        elif turn.fallback:
            self._referee.receive(question.seat, self._rng.randbytes(8) + b"\xff", 1.0)
        else:
            self._other(question, turn.choice)
        self._listen()

    def _other(self, question: OpenQuestion, choice: int) -> None:
        """Another seat answers, in its own time and in its own words."""
        ms, note = self._rng.uniform(0, 2500), f"{self._rng.getrandbits(64):x}"
        if self._rng.random() < STALE:
            stale = Choose(id=question.id - 1, choice=0, note=note)
            self._referee.receive(question.seat, encode_line(stale)[:-1], ms)
        said = Choose(id=question.id, choice=choice, note=note)
        self._referee.receive(question.seat, encode_line(said)[:-1], ms)

    def foul(self) -> None:
        """Answer nonsense for the watched seat; the referee forfeits it."""
        question = self._referee.awaiting
        if question is None or question.seat != self._seat:
            return
        self._referee.take_records()
        said = Choose(id=question.id, choice=9999)
        self._referee.receive(self._seat, encode_line(said)[:-1], 1.0)
        # Else the fallback plays on: whether that ends a round may depend on what is hidden.
        if self._referee.result and self._referee.result.why == "foul":
            self._listen()
        (why,) = [one for one in self._referee.take_records() if isinstance(one, FoulRecord)]
        self._hear(bye(why.detail))

    def _listen(self) -> None:
        for seat, line in self._referee.take_outgoing():
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
    rules: Ruleset,
    seats: int,
    number: int,
    rng: random.Random,
    *,
    forced: Forced = "ask",
    begin: Begin = Referee,
    asks: Asks = needs_answer,
) -> Iterator[Difference]:
    """Yield every way in which a seat could tell worlds apart, at each question and at the end."""
    seed = board_seed(b"secret", "event", number)
    seat = rng.randrange(seats)
    clock = Clock(forced=forced)
    # One that fouls when it is asked would not foul at the same moment in a world where it is not.
    fouls = forced == "ask" and seats > 2 and not rules.deal.partners and rng.random() < 0.25
    rounds = played(rules, seats, seed, rng, (seat + 1) % seats if fouls else None)
    setup = GameSetup("1.a", 1, 1, tuple("abcdefgh"[:seats]), rounds[0].start.rules, clock)
    truth = World(setup, seed, tuple(rounds), 0)
    whole = heard(truth, seat, None, begin)
    ends = iter([at for at, one in enumerate(whole, 1) if b'"type":"ask"' in one.line])
    before: list[RoundHistory] = []
    for at, deal in enumerate(rounds):
        for moment in questions(deal, seat, clock, asks):
            there = elsewhere(truth, [*before, resampled(deal, seat, rng, moment)], rng)
            yield from _compared(whole[: next(ends)], heard(there, seat, moment, begin))
            if rng.random() < FOULS:
                here = truth._replace(rounds=tuple(rounds[: at + 1]))
                told = [heard(one, seat, moment, begin, foul=True) for one in (here, there)]
                yield from _compared(*told)
        before.append(resampled(deal, seat, rng))
    yield from _compared(whole, heard(elsewhere(truth, before, rng), seat, None, begin))


def _compared(here: Sequence[Heard], there: Sequence[Heard]) -> Iterator[Difference]:
    bytes_here, bytes_there = [one.line for one in here], [one.line for one in there]
    if bytes_here != bytes_there:
        yield Difference("bytes", *_first(bytes_here, bytes_there))
    elif [one.moment for one in here] != [one.moment for one in there]:
        yield Difference("moments", *_first(here, there))


def _first(here: Sequence[object], there: Sequence[object]) -> tuple[object, object]:
    """Return the first pair that differs."""
    for one, other in zip(here, there, strict=False):
        if one != other:
            return one, other
    return len(here), len(there)
