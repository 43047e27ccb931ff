"""The table of one game: it connects bots, clock and log with a referee, and decides nothing."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from arena.logs.gamelog import Log
from arena.machine import cores
from arena.match.bot_process import STDOUT_KEPT
from arena.match.clock import LagError, Timer, TimeUsage
from arena.match.player import Evidence, Player
from arena.match.poller import Poller, ReplyWaiter
from arena.match.referee import OpenQuestion, Referee
from protocol.codec import Fault, printable
from protocol.messages import FromBot
from protocol.records import ChoiceRecord, FoulRecord, LogRecord, Result

LOG_EVERY = 64
"""The most records that wait to be written: one system call for many is cheaper."""
LOG_WITHIN_S = 0.2
"""The longest time in s that a record may wait to be written: onlookers follow the log."""
HELD_PROCESSORS = max(1.5, cores() / 2)
"""Processors that a bot must keep busy to be blamed for a lag: a bot that only thinks takes one."""
LOGGED_STDERR_LENGTH = 2**17
"""The most characters of stderr that a game's log keeps with its answers, on request."""


class Table(ReplyWaiter):
    """One game being played: a referee, a bot in each seat, the clock, the log."""

    def __init__(
        self, poller: Poller, referee: Referee, bots: Sequence[Player | None], log: Log
    ) -> None:
        """Seat the bots; None for a forfeited seat."""
        super().__init__(poller)
        self._referee = referee
        self._bots = bots
        self._log = log
        self._unlogged = Timer(self._log_now)
        self._question: OpenQuestion | None = None
        self._cpu_before: float | None = None
        self._lateness: dict[str, Any] = {}
        self._stderr: dict[tuple[int, int], str] = {}
        self._stderr_room = LOGGED_STDERR_LENGTH
        self._spending = TimeUsage(len(bots))
        self._judged = [record for record in referee.unlogged if isinstance(record, FoulRecord)]
        """Fouls before a game that was cut off went on, with their evidence."""
        self._evidence = [bot.evidence() if bot else Evidence() for bot in bots]
        self._keeps_stderr = any(evidence.keeps_stderr for evidence in self._evidence)
        self._cpu_began = [evidence.cpu_seen_ms() for evidence in self._evidence]

    async def play(self) -> Result:
        """Play the game to its end.

        Raises our own bugs here and not in the poller, so that they void this game and no other.
        Raises LagError.
        """
        for bot in self._bots:
            if bot:
                bot.set_listener(self)
        self._poller.add_timer(self._unlogged)
        try:
            self.guard(self._deliver)
            self.hear()
            await self.wait()
        finally:
            self._poller.remove_timer(self._unlogged)
            # The log shows a game that is cut off as far as it was played.
            self._log_now()
        if self.error:
            raise self.error
        assert self._referee.result
        return self._referee.result

    def on_line(self, line: bytes, ms: float, message: FromBot | None = None) -> None:
        """Give the referee a line of the seat that is asked."""
        referee, question = self._referee, self._question
        assert question, "A seat is listened to only while it is asked."
        if self._keeps_stderr:
            self._keep_stderr(question)
        ms, given_back_ms = self._charged(question, ms)
        referee.receive(question.seat, line, ms, given_back_ms, message)
        self._deliver(at_once=referee.has_fouled(question.seat))

    def on_fault(self, fault: Fault, ms: float) -> None:
        """Forfeit the game for the seat that is asked: it is late or gone."""
        question = self._question
        assert question, "A seat is listened to only while it is asked."
        if fault.foul == "late" and not question.is_effort:
            # Evidence besides the times: it decides nothing.
            self._lateness = {"limit_ms": question.time_ms, "cpu_ms": self._cpu_of(question)}
        ms, given_back_ms = self._charged(question, ms)
        self._referee.forfeit(question.seat, fault, ms=ms, given_back_ms=given_back_ms)
        self._deliver(at_once=True)

    def _charged(self, question: OpenQuestion, ms: float) -> tuple[float, float]:
        """Return the time charged, and given back: of a sealed bot its work, by its host."""
        if question.is_effort:
            return self._evidence[question.seat].effort_ms(), 0.0
        return ms, self._deadline.given_back_ms

    def late(self) -> Fault:
        """Return the fault of a bot that did not reply in time. Raises OSError if it is sealed."""
        if self._question and self._question.is_effort:
            limit_s = self._deadline.limit_ms / 1000
            raise TimeoutError(f"the host of a sealed bot took more than {limit_s:,.0f} s")
        return super().late()

    def fail(self, error: Exception) -> None:
        """End the game without a result; but a bot that causes a lag in a resumed game is late."""
        if isinstance(error, LagError) and self._referee.went_on and self._holds_processors():
            words = "The game was stopped before; now its processes kept the referee from its pipe"
            fault = Fault("late", f"{words} for {self._deadline.given_back_ms:.0f} ms.")
            return self.guard(lambda: self.on_fault(fault, float(self._deadline.limit_ms)))
        return super().fail(error)

    def _holds_processors(self) -> bool:
        """Tell whether the seat that is asked has used most of the CPU since its question."""
        used_ms = self._cpu_of(self._question) if self._question else None
        deadline = self._deadline
        passed_ms = deadline.charged_ms(self._poller.now()) + deadline.given_back_ms
        return used_ms is not None and used_ms > HELD_PROCESSORS * passed_ms

    def _cpu_of(self, question: OpenQuestion) -> float | None:
        """Return the CPU time that the asked seat has used since its question, in ms."""
        before, now = self._cpu_before, self._evidence[question.seat].cpu_ms()
        return None if before is None or now is None else now - before

    def _deliver(self, *, at_once: bool = False) -> None:
        """Send the referee's lines, begin the deadline of a new question, log enough records."""
        referee, bots = self._referee, self._bots
        now = self._poller.now()
        for seat, line in referee.take_outgoing():
            if bot := bots[seat]:
                bot.send(line)
        question = referee.awaiting
        if question is None:
            self.finish()
        # The clock of an open question runs on, whatever else its seat has sent meanwhile.
        elif question is not self._question:
            self._ask(question, now)
        unlogged = len(referee.unlogged)
        if at_once or unlogged >= LOG_EVERY or question is None:
            self._write(referee.take_records())
        elif unlogged and self._unlogged.at == math.inf:
            self._unlogged.at = now + LOG_WITHIN_S
            self._poller.wake_by(self._unlogged.at)

    def _log_now(self) -> None:
        """Log the records that have waited long enough, though they are few."""
        # After a bug nothing is written: writing may be what failed. After a lag all is kept.
        if self._referee.unlogged and (not self.error or isinstance(self.error, LagError)):
            self.guard(lambda: self._write(self._referee.take_records()))

    def _ask(self, question: OpenQuestion, now: float) -> None:
        bot = self._bots[question.seat]
        assert bot, "Nobody is asked where nobody sits."
        self._question = question
        self._cpu_before = self._evidence[question.seat].cpu_seen_ms()
        self.expect(bot, question.limit_ms, now)

    def _write(self, records: Sequence[LogRecord]) -> None:
        self._unlogged.end()
        complete: list[LogRecord] = [
            self._with_evidence(record) if isinstance(record, FoulRecord) else record
            for record in records
        ]
        if self._stderr:
            complete = [
                replace(record, stderr=self._stderr.get((record.seat, record.id), ""))
                if isinstance(record, ChoiceRecord)
                else record
                for record in complete
            ]
            self._stderr.clear()
        self._spending.add(complete)
        if self._referee.result:
            # The result stays last: a log with the result has all records of the game.
            lag_ms, paused_ms = self._deadline.worst_lag_ms, self._deadline.paused_ms
            spent = self._spending.record(tuple(self._cpu_used()), lag_ms, paused_ms)
            voids = tuple(evidence.take_voids() for evidence in self._evidence)
            complete.insert(-1, replace(spent, voids=voids) if any(voids) else spent)
        self._log.append(complete)

    def _keep_stderr(self, question: OpenQuestion) -> None:
        """Note what a bot wrote to stderr since its last answer, as far as there is room."""
        words = self._evidence[question.seat].new_stderr()[: self._stderr_room]
        self._stderr_room -= len(words)
        key = question.seat, question.id
        self._stderr[key] = self._stderr.get(key, "") + words

    def _with_evidence(self, record: FoulRecord) -> FoulRecord:
        """Add the bot's stderr to a foul; kill the bot, which is not used again."""
        bot = self._bots[record.seat]
        if bot is None or record in self._judged:
            return record
        if record.foul == "malformed":
            record = self._with_death(record)
        bot.disqualify(Fault(record.foul, record.detail))
        figures = self._lateness if record.foul == "late" else {}
        return replace(record, stderr=self._evidence[record.seat].stderr_tail(), **figures)

    def _with_death(self, record: FoulRecord) -> FoulRecord:
        """Report the end of the bot's process, if a crash wrote the line that is not a message."""
        death, rest = self._evidence[record.seat].last_words()
        if not death:
            return record
        detail = f"It {death}, after a line that is not a message. {record.detail}"
        stdout = printable(record.line.encode() + b"\n" + rest, STDOUT_KEPT)
        return replace(record, detail=detail, stdout=stdout)

    def _cpu_used(self) -> Iterator[float | None]:
        """Yield the CPU time that each bot has used since the end of its last game, in ms."""
        for began, evidence in zip(self._cpu_began, self._evidence, strict=True):
            now = evidence.cpu_ms()
            yield None if began is None or now is None else now - began
