"""The referee of one game: lines in, lines and records out. No clock, no processes, no I/O.

The table gives it each line of a seat, and the ms that the seat took; it gives the table the lines
to send, the records to log, and the seat that must answer next.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Set

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from arena import engine
from arena.engine import view
from arena.engine.deal import begin, chance_decides
from arena.engine.shuffle import chance_of_bot, commitment
from arena.engine.state import Dealt, Game, Opening
from arena.engine.view import LineWriter
from arena.match.clock import bank_left_ms
from protocol import __version__
from protocol.codec import Fault, decode_line, encode_line, printable
from protocol.messages import (
    PROTOCOL,
    BotHello,
    Bye,
    Choose,
    Clock,
    FromBot,
    Hello,
    Option,
    RefereeMessage,
    Unavailable,
    WhyGame,
)
from protocol.records import (
    ChoiceRecord,
    DealRecord,
    FoulPolicy,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    RoundRecord,
    SeatFoul,
    SentRecord,
    UsageSum,
)
from protocol.ruleset import Ruleset, count_sides, side_of

# The structs of the referee: the setup of a game, and the open question.


class GameSetup(Struct, frozen=True):
    """The setup of a game: its entrants and seats, its board, its rules and its clock."""

    game: str
    """The game's name in the event."""
    number: int
    """The game's number on the bots' pipes."""
    board: int
    seats: tuple[str, ...]
    """The entrant in each seat."""
    rules: Ruleset
    clock: Clock
    """The clock of each seat that has none of its own."""
    fouls: FoulPolicy = FoulPolicy()
    forfeited: tuple[int, ...] = ()
    """Seats that have lost the game before it begins; no bot sits there."""
    clocks: tuple[Clock, ...] = ()
    """The clock of each seat, if bots have clocks of their own."""
    opening: Opening | None = None
    """The position from which the game goes on; None: it begins with its first round."""

    def clock_of(self, seat: int) -> Clock:
        """Return the clock of a seat."""
        return self.clocks[seat] if self.clocks else self.clock


class OpenQuestion(Struct, frozen=True):
    """The open question to a seat."""

    seat: int
    id: int
    options: tuple[Option, ...]
    time_ms: int
    is_effort: bool = False
    """True if the time is counted in million instructions, by the host of a sealed bot."""

    @property
    def limit_ms(self) -> int:
        """The limit on our own clock, in ms; a sealed bot exceeds it only if its host is broken."""
        return max(600_000, 1000 * self.time_ms) if self.is_effort else self.time_ms


# --- the referee ---


STALE_LINES = 16
"""The most answers to closed questions that a seat may send in one game."""
QUESTIONS_A_GAME = 1_000_000
"""The question numbers of game n on a pipe begin at n times this, so that each names its game."""

DealSource = Callable[[Game, bytes], Dealt]
"""The source of the next deal of a game: the board's seed, or deals that are known."""


class Referee:
    """The referee of one game: its rules, its time accounts and its protocol."""

    def __init__(
        self,
        setup: GameSetup,
        seed: bytes,
        chance: DealSource = chance_decides,
        writer: Callable[[Game, int], LineWriter] = LineWriter,
    ) -> None:
        """Begin the game.

        `seed` is the board's; it fixes every deal. `chance` deals from it, or from a log.
        `writer` makes the writer of the questions and round ends.
        Raises ImpossibleRulesError if the rules have no table of this size.
        """
        seats = len(setup.seats)
        self.awaiting: OpenQuestion | None = None
        self.result: Result | None = None
        self.setup = setup
        self._seed = seed
        self._chance = chance
        opening = setup.opening
        self._game = opening.start.copy() if opening else engine.new_game(setup.rules, seats)
        self._dealt = deque(opening.deals if opening else ())
        self._taken = deque(opening.options if opening else ())
        self._lines = writer(self._game, setup.number)
        clocks = self._clocks = [setup.clock_of(seat) for seat in range(seats)]
        self._move_ms = [clock.move_ms for clock in clocks]
        self._bank_ms = [float(clock.bank_ms) for clock in clocks]
        self._asked = [setup.number * QUESTIONS_A_GAME] * seats
        self._stale = [0] * seats
        self._usage: list[UsageSum] = []
        self._fouls = [SeatFoul(seat, "forfeit") for seat in setup.forfeited]
        self._outgoing: list[tuple[int, bytes]] = []
        self.unlogged: list[LogRecord] = []
        """The records that wait for `take_records`."""
        self.went_on = False
        """True if the game was cut off before, and goes on from its log."""
        self._sent = [hashlib.sha256() for _ in range(seats)]
        self._begin()

    def receive(
        self,
        seat: int,
        line: bytes,
        ms: float,
        given_back_ms: float = 0.0,
        message: FromBot | None = None,
    ) -> None:
        """Take a line from the seat that is asked, and charge it `ms`.

        `given_back_ms`: the time by which its deadline was moved; it is logged, not charged.
        `message`: the message in the line, if it was decoded before.
        """
        question = self.awaiting
        assert question is not None, "A seat is listened to only while it is asked."
        assert question.seat == seat, "Another seat is asked."
        answer = judge_answer(question, decode_line(line) if message is None else message)
        fault = self._count_stale(seat) if answer is None else answer
        if isinstance(answer, Choose):
            self._accept(question, answer, ms, given_back_ms)
        elif isinstance(fault, Fault):
            self.forfeit(seat, fault, ms=ms, line=line, given_back_ms=given_back_ms)

    def forfeit(
        self,
        seat: int,
        fault: Fault,
        *,
        ms: float = 0.0,
        line: bytes = b"",
        given_back_ms: float = 0.0,
    ) -> None:
        """Forfeit the game for the seat that is asked; of three or more the others may play on.

        The fouls of a bot that is not asked count when it must answer, so that the result does not
        depend on timing.
        """
        foul, detail = fault
        record = FoulRecord(seat=seat, foul=foul, detail=detail, line=printable(line))
        self.unlogged.append(replace(record, ms=ms, given_back_ms=given_back_ms))
        self._fouls.append(SeatFoul(seat, foul))
        self.awaiting = None
        if self._is_decided():
            self._finish("foul")
        else:
            self._go_on()

    def _is_decided(self) -> bool:
        fouls = self.setup.fouls
        return decided_by_fouls(self._game, fouls, {foul.seat for foul in self._fouls})

    def take_outgoing(self) -> list[tuple[int, bytes]]:
        """Return the lines to send since the last call, each with its seat."""
        lines, self._outgoing = self._outgoing, []
        return lines

    def take_records(self) -> list[LogRecord]:
        """Return the records to log since the last call."""
        records, self.unlogged = self.unlogged, []
        return records

    def send_again(
        self, lines: list[tuple[int, bytes]], records: list[LogRecord], repeated: Iterable[int]
    ) -> None:
        """Set the next lines to send and records to log, of a game that was cut off and goes on.

        `repeated`: the seats of the answered questions among the lines, which will answer again.
        """
        self._outgoing, self.unlogged, self.went_on = lines, records, True
        for seat in repeated:
            self._stale[seat] -= 1

    def has_fouled(self, seat: int) -> bool:
        """Tell whether a seat has fouled, so that the referee plays its first legal option."""
        return bool(self._fouls) and any(foul.seat == seat for foul in self._fouls)

    def _begin(self) -> None:
        setup, seal = self.setup, commitment(self._seed)
        chances = self._draw_chances()
        self.unlogged.append(
            GameRecord(setup.game, setup.number, setup.board, seal, setup.forfeited, chances)
        )
        if self._is_decided():
            self._close("foul")
        else:
            for seat in range(len(setup.seats)):
                clock = self._clocks[seat]
                starts = view.starting_events(self._game, setup.number, seat, clock, chances)
                self._say(seat, starts)
            self._deal()
            self._go_on()

    def _draw_chances(self) -> tuple[str, ...] | UnsetType:
        seats = range(len(self._clocks)) if any(clock.effort for clock in self._clocks) else ()
        return tuple(chance_of_bot(self._seed, self.setup.game, seat) for seat in seats) or UNSET

    def _deal(self) -> None:
        new = self._dealt.popleft() if self._dealt else None
        dealt = new or self._chance(self._game, self._seed)
        begin(self._game, dealt)
        self.unlogged.append(DealRecord(**asdict(dealt)))

    def _go_on(self) -> None:
        game, clock = self._game, self.setup.clock
        while True:
            state = game.round
            assert state is not None, "The first round was dealt."
            if state.over or state.phase.name == "deal":
                if state.over:
                    self._round_over()
                    if game.over:
                        return self._finish(game.over)
                self._deal()
                continue
            if self._taken:
                engine.act_unchecked(game, self._taken.popleft())
                continue
            options, seat = engine.legal(game), state.turn
            fouled = bool(self._fouls) and self.has_fouled(seat)
            if needs_answer(clock, options, fouled=fouled):
                return self._ask(seat, options)
            engine.act_unchecked(game, options[0])

    def _ask(self, seat: int, options: tuple[Option, ...]) -> None:
        number = self._asked[seat] = self._asked[seat] + 1
        time_ms = self._move_ms[seat] + int(self._bank_ms[seat])
        is_effort = bool(self._clocks[seat].effort)
        self.awaiting = OpenQuestion(seat, number, options, time_ms, is_effort)
        self._send(seat, self._lines.question(seat, options, number, time_ms))

    def _count_stale(self, seat: int) -> Fault | None:
        """Count a late answer to a closed question, which is ignored; too many are a flood."""
        self._stale[seat] += 1
        # A sealed bot cannot be too slow for its question, and its host counts a line as an answer.
        most = 0 if self._clocks[seat].effort else STALE_LINES
        if self._stale[seat] <= most:
            return None
        detail = f"More than {most} answers to questions that were not open."
        return Fault("flooding", detail)

    def _accept(
        self, question: OpenQuestion, message: Choose, ms: float, given_back_ms: float
    ) -> None:
        seat = question.seat
        if ms > self._move_ms[seat]:
            self._bank_ms[seat] = bank_left_ms(self._bank_ms[seat], self._move_ms[seat], ms)
        self.unlogged.append(
            ChoiceRecord(
                seat=seat,
                id=message.id,
                choice=message.choice,
                ms=ms,
                given_back_ms=given_back_ms,
                note=message.note,
                usage=message.usage,
                info=message.info,
            )
        )
        if message.usage is not UNSET:
            self._usage = self._usage or [UsageSum()] * len(self.setup.seats)
            self._usage[seat] = self._usage[seat].plus(message.usage)
        self.awaiting = None
        engine.act_unchecked(self._game, question.options[message.choice])
        self._go_on()

    def _round_over(self) -> None:
        game, state = self._game, self._game.playing
        assert state.over is not None
        for seat, line in enumerate(self._lines.round_over()):
            self._send(seat, line)
        self.unlogged.append(
            RoundRecord(round=state.number, why=state.over, points=game.points, scores=game.scores)
        )

    def _finish(self, why: WhyGame) -> None:
        over = view.game_over(self.setup.number, why, self._game.scores, self._places())
        for seat in range(self._game.seats):
            self._say(seat, over)
        self._close(why)

    def _places(self) -> tuple[int, ...]:
        return engine.places(self._game, frozenset(foul.seat for foul in self._fouls))

    def _close(self, why: WhyGame) -> None:
        """Record the result; a game that forfeits decided before it began has no round."""
        game, setup = self._game, self.setup
        self.result = Result(
            game=setup.game,
            board=setup.board,
            seats=setup.seats,
            scores=game.scores,
            places=self._places(),
            rounds=game.round.number if game.round else 0,
            why=why,
            fouls=tuple(self._fouls),
            usage=tuple(self._usage) or UNSET,
        )
        digests = tuple(digest.hexdigest() for digest in self._sent)
        self.unlogged += SentRecord(sha256=digests), self.result

    def _say(self, seat: int, message: RefereeMessage) -> None:
        self._send(seat, encode_line(message))

    def _send(self, seat: int, line: bytes) -> None:
        if seat in self.setup.forfeited:
            return  # Nobody sits there.
        self._sent[seat].update(line)
        self._outgoing.append((seat, line))


def judge_answer(question: OpenQuestion, message: FromBot | Fault) -> Choose | Fault | None:
    """Return the answer to a question, or the fault in it; None: it answers an earlier question."""
    count = len(question.options)
    if isinstance(message, Choose) and message.id == question.id and message.choice < count:
        return message
    if isinstance(message, Fault):
        return message
    if isinstance(message, BotHello):
        return Fault("malformed", "A hello belongs to the first line.")
    if isinstance(message, Unavailable):
        # It has seen its hand: what it gives up now is lost.
        return Fault("gone", f"It said too late that it is unavailable: {printable(message.why)}")
    if message.id < question.id:
        return None
    if message.id > question.id:
        return Fault("illegal", f"Question {message.id} was never asked; {question.id} is open.")
    detail = f"Choice {message.choice} of {count}, counted from 0."
    return Fault("illegal", detail)


def decided_by_fouls(game: Game, policy: FoulPolicy, fouled: Set[int]) -> bool:
    """Tell whether fouls of these seats end a game, or leave only one side that can win."""
    if fouled and policy.others == "stop":
        return True
    partners = game.rules.deal.partners
    sides = {side_of(partners, seat) for seat in fouled}
    return len(sides) >= count_sides(partners, game.seats) - 1


def needs_answer(clock: Clock, options: tuple[Option, ...], *, fouled: bool) -> bool:
    """Tell whether the seat to move is asked; if not, the referee takes its first option.

    With `forced = "skip"` a turn without a question shows that a seat had one option only: the next
    question comes sooner. With "ask" every turn is a question.
    """
    return not fouled and (len(options) > 1 or clock.forced == "ask")


def hello() -> bytes:
    """Return the first line to every bot."""
    return encode_line(Hello(protocol=PROTOCOL, referee=f"boneyard {__version__}"))


def bye(why: str = "") -> bytes:
    """Return the last line to every bot."""
    return encode_line(Bye(why=why))


def parse_hello(line: bytes) -> BotHello | Unavailable | Fault:
    """Return the hello in a bot's first line, or its excuse, or its fault. Never raise."""
    message = decode_line(line)
    if isinstance(message, Fault):
        # A line is overlong whether or not its end was read.
        return message if message.foul == "overlong" else Fault("no_hello", message.detail)
    if isinstance(message, Choose):
        return Fault("no_hello", "The first line must be a hello.")
    if isinstance(message, BotHello) and message.protocol != PROTOCOL:
        detail = f"It speaks protocol {message.protocol}; this referee speaks {PROTOCOL}."
        return Fault("no_hello", detail)
    return message
