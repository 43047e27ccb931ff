"""Two worlds that a seat cannot tell apart, and referees that leak one thing each."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from arena import engine
from arena.analysis.alternative_deals import RoundHistory, SeatQuestion, StopAt, replay_round
from arena.engine import view
from arena.engine.deal import chance_decides
from arena.engine.shuffle import board_seed
from arena.engine.state import Dealt, Game
from arena.engine.view import LineWriter
from arena.match.referee import DealSource, GameSetup, OpenQuestion, Referee, bye, needs_answer
from arena.rules.variants import derive, find_variant
from protocol.codec import Fault, encode_json, encode_line
from protocol.messages import (
    Bye,
    Choose,
    Clock,
    GameStarts,
    Keep,
    Option,
    RefereeMessage,
    RoundOver,
)
from protocol.records import FoulRecord
from protocol.ruleset import Ruleset
from tests.support.games import Asks, questions, random_game, resampled

# Plays the same public game in two worlds, and compares what one seat hears and when.
#
# A world is all that is hidden from the seat: hands, boneyard, lots that are not shown, seed,
# names, board, the others' thinking times, notes, fouls and stray lines.


Forced = Literal["skip", "ask"]
Begin = Callable[[GameSetup, bytes, DealSource], Referee]
"""A function that begins a game, with an honest referee or with one that leaks."""
FOULS = 0.1
"""Share of questions that are answered with nonsense, to compare what is said of that."""
STALE = 0.02
"""Share of questions before which another seat answers a closed one."""


class World(NamedTuple):
    """All that a seat cannot see, and the rounds so far."""

    setup: GameSetup
    seed: bytes
    rounds: tuple[RoundHistory, ...]
    luck: int
    """The seed of the others' times and notes."""


class HeardLine(NamedTuple):
    """A line to the watched seat, and when it came."""

    moment: tuple[int, int]
    """Numbers of answers of others and of its own that the referee had taken before."""
    line: bytes


def elsewhere(world: World, rounds: Sequence[RoundHistory], rng: random.Random) -> World:
    """Return a world with these rounds in which everything else differs too."""
    names = tuple(f"{rng.getrandbits(32):08x}" for _ in world.setup.seats)
    board = rng.randrange(1, 1000)
    setup = replace(world.setup, game=f"{board}.{names[0]}", board=board, seats=names)
    return World(setup, rng.randbytes(32), tuple(rounds), rng.getrandbits(32))


# --- what the seat hears ---


def hear(
    world: World, seat: int, until: StopAt | None, begin: Begin, *, foul: bool = False
) -> list[HeardLine]:
    """Return all lines to a seat up to a question, or up to the end of the game.

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
    return ears.lines


class _Ears:
    """Speaks for all seats, and listens for the watched seat."""

    def __init__(self, referee: Referee, world: World, seat: int) -> None:
        self.lines: list[HeardLine] = []
        self._referee = referee
        self._seat = seat
        self._rng = random.Random(world.luck)
        self._answers = [0, 0]
        self._listen()

    def answer(self, turn: SeatQuestion) -> None:
        """Answer for the seat to move, if it is asked."""
        question, options = self._referee.awaiting, engine.legal(turn.game)
        is_due = question and (question.seat, question.options) == (turn.game.playing.turn, options)
        if question is None or not is_due or turn.choice is None:
            return
        is_watched = question.seat == self._seat
        self._answers[is_watched] += 1
        if is_watched:
            reply = Choose(id=question.id, choice=turn.choice)
            self._referee.receive(self._seat, encode_line(reply)[:-1], self._answers[1] * 37 % 1500)
        elif turn.fallback:
            self._referee.receive(question.seat, self._rng.randbytes(8) + b"\xff", 1.0)
        else:
            self._other(question, turn.choice)
        self._listen()

    def _other(self, question: OpenQuestion, choice: int) -> None:
        """Answer for another seat, with its own time and its own note."""
        ms, note = self._rng.uniform(0, 2500), f"{self._rng.getrandbits(64):x}"
        if self._rng.random() < STALE:
            stale = Choose(id=question.id - 1, choice=0, note=note)
            self._referee.receive(question.seat, encode_line(stale)[:-1], ms)
        reply = Choose(id=question.id, choice=choice, note=note)
        self._referee.receive(question.seat, encode_line(reply)[:-1], ms)

    def foul(self) -> None:
        """Answer nonsense for the watched seat; the referee forfeits it."""
        question = self._referee.awaiting
        if question is None or question.seat != self._seat:
            return
        self._referee.take_records()
        reply = Choose(id=question.id, choice=9999)
        self._referee.receive(self._seat, encode_line(reply)[:-1], 1.0)
        # Else the fallback plays on: whether that ends a round may depend on what is hidden.
        if self._referee.result and self._referee.result.why == "foul":
            self._listen()
        (why,) = [
            record for record in self._referee.take_records() if isinstance(record, FoulRecord)
        ]
        self._hear(bye(why.detail))

    def _listen(self) -> None:
        for seat, line in self._referee.take_outgoing():
            if seat == self._seat:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        self.lines.append(HeardLine((self._answers[0], self._answers[1]), line))


# --- the comparison ---


class Difference(NamedTuple):
    """Something that the seat could tell two worlds apart by."""

    kind: str
    """"bytes" or "moments"."""
    first: object
    second: object


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
    # Where an only option is not asked, the fouler would foul at another moment in another world.
    fouls = forced == "ask" and seats > 2 and not rules.deal.partners and rng.random() < 0.25
    rounds = random_game(rules, seats, seed, rng, (seat + 1) % seats if fouls else None)
    setup = GameSetup("1.a", 1, 1, tuple("abcdefgh"[:seats]), rounds[0].start.rules, clock)
    truth = World(setup, seed, tuple(rounds), 0)
    lines = hear(truth, seat, None, begin)
    ends = iter([number for number, line in enumerate(lines, 1) if b'"type":"ask"' in line.line])
    before: list[RoundHistory] = []
    for index, deal in enumerate(rounds):
        for moment in questions(deal, seat, clock, asks):
            world = elsewhere(truth, [*before, resampled(deal, seat, rng, moment)], rng)
            yield from _compared(lines[: next(ends)], hear(world, seat, moment, begin))
            if rng.random() < FOULS:
                past = truth._replace(rounds=tuple(rounds[: index + 1]))
                pair = [hear(version, seat, moment, begin, foul=True) for version in (past, world)]
                yield from _compared(*pair)
        before.append(resampled(deal, seat, rng))
    yield from _compared(lines, hear(elsewhere(truth, before, rng), seat, None, begin))


def _compared(first: Sequence[HeardLine], second: Sequence[HeardLine]) -> Iterator[Difference]:
    first_bytes, second_bytes = [line.line for line in first], [line.line for line in second]
    if first_bytes != second_bytes:
        yield Difference("bytes", *_first(first_bytes, second_bytes))
    elif [line.moment for line in first] != [line.moment for line in second]:
        yield Difference("moments", *_first(first, second))


def _first(first: Sequence[object], second: Sequence[object]) -> tuple[object, object]:
    """Return the first pair that differs."""
    for left, right in zip(first, second, strict=False):
        if left != right:
            return left, right
    return len(first), len(second)


# Referees that leak one thing each: every measure of secrecy has one that lacks it.


class Leak(NamedTuple):
    """A referee that leaks a secret, and the place where that shows."""

    kind: str
    """"bytes" or "moments"."""
    begin: Begin
    rules: Ruleset = find_variant("draw")
    seats: int = 3
    forced: Forced = "ask"
    asks: Asks = needs_answer


def in_question(tell: Callable[[Game, int], dict[str, Any]]) -> Begin:
    """Return a leak in the view: fields of a question that tell what the seat may not know."""

    class Telling(LineWriter):
        def question(self, seat: int, *rest: Any, **more: Any) -> bytes:
            ask = json.loads(super().question(seat, *rest, **more))
            return encode_json(ask | tell(self._game, seat)) + b"\n"

    return partial(Referee, writer=Telling)


def instead(method: str) -> Callable[[Callable[..., None]], Begin]:
    """Return a leak in the referee: a function that is called in the place of one of its
    methods."""

    def decorated(leaking: Callable[..., None]) -> Begin:
        honest = getattr(Referee, method)

        def wrapper(self: Referee, *words: Any, **more: Any) -> None:
            leaking(self, honest, *words, **more)

        return type(leaking.__name__, (Referee,), {method: wrapper})

    return decorated


def after(game: Game, seat: int) -> Game:
    """Return the same game with the next seat to move."""
    copy = game.copy()
    copy.playing.turn = (seat + 1) % game.seats
    return copy


def reordered(game: Game, seat: int) -> dict[str, Any]:
    events = [view.seen_by_others(event) for event in game.playing.events]
    heaviest = max(game.playing.hands[(seat + 1) % game.seats], default=(0, 0))
    return {"events": events[::-1] if heaviest == (6, 6) else events}


class ShowsHandsAsTheyWereDrawn(LineWriter):
    """A leak in the view of a round's end."""

    def round_over(self) -> list[bytes]:
        fields = {"hands": self._game.playing.hands}
        return [encode_json(json.loads(line) | fields) + b"\n" for line in super().round_over()]


def may_refuse(clock: Clock, options: tuple[Option, ...], *, fouled: bool) -> bool:
    return options != (Keep(),) and needs_answer(clock, options, fouled=fouled)


@instead("_ask")
def asks_only_who_may_refuse(self: Any, honest: Any, seat: int, options: Any) -> None:
    if may_refuse(self.setup.clock, options, fouled=False):
        honest(self, seat, options)
    else:
        engine.act_unchecked(self._game, options[0])
        self._go_on()


@instead("_ask")
def shows_a_round_too_early(self: Any, honest: Any, seat: int, options: Any) -> None:
    state = self._game.playing
    nothing = (0,) * self._game.seats
    self._say(
        seat,
        RoundOver(
            game=1, round=state.number, why="blocked", hands=state.hands,
            pips=nothing, points=nothing, scores=nothing, events=[],
        ),
    )  # fmt: skip
    honest(self, seat, options)


@instead("_ask")
def numbers_all_questions_alike(self: Any, honest: Any, seat: int, options: Any) -> None:
    self._asked = [max(self._asked)] * len(self._asked)
    honest(self, seat, options)


@instead("_ask")
def shares_one_bank(self: Any, honest: Any, seat: int, options: Any) -> None:
    self._bank_ms = [min(self._bank_ms)] * len(self._bank_ms)
    honest(self, seat, options)


@instead("_send")
def pads_by_the_others_pips(self: Any, honest: Any, seat: int, line: bytes) -> None:
    if b'"type":"ask"' in line:
        hand = self._game.playing.hands[seat - 1]
        line = line[:-1] + b" " * sum(chain(*hand)) + b"\n"
    honest(self, seat, line)


@instead("_say")
def says_who_plays(self: Any, honest: Any, seat: int, message: RefereeMessage) -> None:
    if isinstance(message, GameStarts):
        message = replace(message, target=self.setup.seats)
    honest(self, seat, message)


@instead("_accept")
def tells_how_long_the_others_thought(
    self: Any, honest: Any, question: Any, choice: Any, ms: float, *rest: Any
) -> None:
    for seat in range(self._game.seats):
        self._say(seat, Bye(why=f"Seat {question.seat} thought for {ms} ms."))
    honest(self, question, choice, ms, *rest)


@instead("_accept")
def reads_notes_aloud(self: Any, honest: Any, question: Any, choice: Any, *rest: Any) -> None:
    for seat in range(self._game.seats):
        self._say(seat, Bye(why=choice.note))
    honest(self, question, choice, *rest)


@instead("receive")
def complains_of_the_others_lines(
    self: Any, honest: Any, seat: int, line: bytes, *rest: Any, **more: Any
) -> None:
    stale = self._stale[seat]
    honest(self, seat, line, *rest, **more)
    for listener in range(self._game.seats if self._stale[seat] > stale else 0):
        self._say(listener, Bye(why=line.decode()))


@instead("forfeit")
def names_a_tile_in_a_foul(self: Any, honest: Any, seat: int, fault: Fault, **more: Any) -> None:
    detail = f"{fault.detail} {self._game.playing.hands[seat - 1]}"
    honest(self, seat, Fault(fault.foul, detail), **more)


@instead("forfeit")
def tells_everybody_of_a_foul(self: Any, honest: Any, seat: int, fault: Fault, **more: Any) -> None:
    for listener in range(self._game.seats):
        self._say(listener, Bye(why=f"{fault.detail} {more['line']!r}"))
    honest(self, seat, fault, **more)


def numbers_games_by_the_seed(setup: GameSetup, seed: bytes, chance: DealSource) -> Referee:
    return Referee(replace(setup, number=int.from_bytes(seed[:3])), seed, chance)


def numbers_games_by_the_board(setup: GameSetup, seed: bytes, chance: DealSource) -> Referee:
    return Referee(replace(setup, number=setup.board), seed, chance)


REFUSING = derive(find_variant("draw"), "refusing", {"refuse_doubles": 2})
GUESSING = derive(find_variant("draw"), "guessing", {"first": "odd_even", "later": "lot"})

LEAKS: dict[str, Leak] = {
    "another seat's hand": Leak(
        "bytes", in_question(lambda game, _: {"hands": game.playing.hands})
    ),
    "the boneyard's next tile": Leak(
        "bytes", in_question(lambda game, _: {"pot": game.playing.stock[0][:1]})
    ),
    "the boneyard's order": Leak(
        "bytes",
        in_question(lambda game, _: {"pot": game.playing.stock[0] > game.playing.stock[0][::-1]}),
    ),
    "what the next seat could do": Leak(
        "bytes", in_question(lambda game, seat: {"pot": len(engine.legal(after(game, seat)))})
    ),
    "lots that are not shown": Leak(
        "bytes", in_question(lambda game, _: {"events": list(game.playing.phase.lots)}), GUESSING, 2
    ),
    "the order of events": Leak("bytes", in_question(reordered)),
    "a drawn tile": Leak("bytes", in_question(lambda game, _: {"events": game.playing.events})),
    "the order in which a hand was drawn": Leak(
        "bytes", partial(Referee, writer=ShowsHandsAsTheyWereDrawn)
    ),
    "a round before its end": Leak("bytes", shows_a_round_too_early),
    "question numbers across seats": Leak("bytes", numbers_all_questions_alike, forced="skip"),
    "another seat's bank": Leak("bytes", shares_one_bank),
    "another seat's thinking time": Leak("bytes", tells_how_long_the_others_thought),
    "another seat's note": Leak("bytes", reads_notes_aloud),
    "another seat's stray line": Leak("bytes", complains_of_the_others_lines),
    "another seat's foul": Leak("bytes", tells_everybody_of_a_foul),
    "another's name": Leak("bytes", says_who_plays),
    "the length of a line": Leak("bytes", pads_by_the_others_pips),
    "a tile in an error text": Leak("bytes", names_a_tile_in_a_foul),
    "the seed in an id": Leak("bytes", numbers_games_by_the_seed),
    "the board in an id": Leak("bytes", numbers_games_by_the_board),
    # Not the referee leaks here, but the setting.
    "an only option is not asked": Leak("moments", Referee, forced="skip"),
    "only who may refuse a deal is asked": Leak(
        "moments", asks_only_who_may_refuse, REFUSING, asks=may_refuse
    ),
}
