"""The clock of a table: deadlines, charged time, time given back. Callers tell it the moment.

The referee is itself a process on a shared machine. A time in which it did not look at the pipes
(it was busy, or got no processor) is a lag. A lag moves the deadline of every open question by its
own length, once, and is charged to nobody. A stop of the whole program (see `Pulse`)
is a pause: after it every open question begins anew, however long it was. A bot is late if and only
if the referee looked at its pipe at or after the deadline and found no whole line there.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET

from arena.logs.gamelog import ANSWER_RECORDS
from protocol.messages import MAX_INFO
from protocol.records import ChoiceRecord, InfoSum, LogRecord, SpentRecord

MIN_LAG_S = 0.005
"""The shortest lag that is given back, in s: a busy poller often looks this much later."""
MOST_GIVEN_BACK_MS = 10_000.0
"""The most time given back for one question, in ms, or the question's own limit if that is more.

Beyond it nobody can say what time the bot had, so the game is stopped instead of scored.
"""


class LagError(Exception):
    """A lag of the referee that is longer than may be given back for one question."""

    def __init__(self, ms: float, most_ms: float) -> None:
        super().__init__(
            "this machine cannot keep time: while a bot was asked, the referee got no time to look "
            f"at its pipe for {ms:.0f} ms, and at most {most_ms:.0f} ms may be given back "
            "(is the machine too busy?)"
        )


class Timer:
    """A moment at which the poller calls a function."""

    def __init__(self, due: Callable[[], None]) -> None:
        self.due = due
        """The function; the poller calls it at its first look at or after the moment."""
        self.at = math.inf
        """The moment, in s of the monotonic clock; infinity: nothing is due."""

    def end(self) -> None:
        """Stop the timer: nothing is due any more."""
        self.at = math.inf

    def add_lag(self, seconds: float, now: float) -> None:
        """Ignore a lag of this many s that ended now: it moves deadlines only."""

    def begin_anew(self, seconds: float, now: float) -> None:
        """Ignore a pause of this many s that ended now: it moves deadlines only."""


class Deadline(Timer):
    """The deadline of the present question or hello, and then of the next; a lag moves it once."""

    def __init__(self, due: Callable[[], None], stop: Callable[[LagError], None]) -> None:
        super().__init__(due)
        self.limit_ms = 0
        """The time that the bot has, in ms."""
        self.given_back_ms = 0.0
        """The time by which lags moved this deadline, in ms."""
        self.worst_lag_ms = 0.0
        """The longest lag since the first question was asked, in ms."""
        self.paused_ms = 0.0
        """The time of pauses since the first question was asked, in ms."""
        self._stop = stop
        self._began = 0.0
        self._before_pause_ms = 0.0

    def begin(self, now: float, limit_ms: int) -> None:
        """Charge the bot from now on."""
        self._began = now
        self.limit_ms = limit_ms
        self.given_back_ms = self._before_pause_ms = 0.0
        self.at = now + limit_ms / 1000

    def add_lag(self, seconds: float, now: float) -> None:
        """Give back a lag of this many s that ended now, but no time from before the question.

        Calls `stop` if more was given back than may be.
        """
        if self.at == math.inf:
            return
        lag = max(0.0, min(seconds, now - self._began))
        self.at += lag
        self.given_back_ms = round(self.given_back_ms + 1000 * lag, 3)
        self.worst_lag_ms = max(self.worst_lag_ms, 1000 * lag)
        most, lags_ms = max(MOST_GIVEN_BACK_MS, self.limit_ms), self.given_back_ms
        lags_ms -= self._before_pause_ms
        if lags_ms > most:
            self._stop(LagError(lags_ms, most))

    def begin_anew(self, seconds: float, now: float) -> None:
        """Give back all time until now, the end of a pause of this many s, without a bound.

        An answer that is in the pipe now costs nothing.
        """
        if self.at == math.inf:
            return
        self.at = now + self.limit_ms / 1000
        self.given_back_ms = self._before_pause_ms = round(1000 * max(0.0, now - self._began), 3)
        self.paused_ms += 1000 * seconds

    def charged_ms(self, moment: float) -> float:
        """Return the time charged for an answer found at that moment, in ms, at most the limit.

        An answer that the bot wrote before the question costs nothing.
        """
        ms = (moment - self._began) * 1000 - self.given_back_ms
        if ms <= 0.0:
            return 0.0
        # To whole µs, as `round` does it in four times the time.
        return int(ms * 1000 + 0.5) / 1000 if ms < self.limit_ms else float(self.limit_ms)


def bank_left_ms(bank_ms: float, move_ms: int, ms: float) -> float:
    """Return the time left in a seat's bank after an answer that took `ms`."""
    return max(0.0, bank_ms - max(0.0, ms - move_ms))


class TimeUsage:
    """The time that each seat has used in one game, and its own numbers, from its records."""

    def __init__(self, seats: int) -> None:
        self._questions = [0] * seats
        self._ms = [0.0] * seats
        self._worst_ms = [0.0] * seats
        self._given_back_ms = [0.0] * seats
        self._info: list[dict[str, list[Any]]] = [{} for _ in range(seats)]
        """The fields of an `InfoSum` for each name."""

    def add(self, records: Iterable[LogRecord]) -> None:
        """Add records that go into the log."""
        for record in records:
            if isinstance(record, ANSWER_RECORDS):
                seat, ms = record.seat, record.ms
                self._questions[seat] += 1
                self._ms[seat] += ms
                if ms > self._worst_ms[seat]:
                    self._worst_ms[seat] = ms
                if record.given_back_ms:
                    self._given_back_ms[seat] += record.given_back_ms
                if isinstance(record, ChoiceRecord) and record.info:
                    self._add_info(self._info[seat], record.info)

    @staticmethod
    def _add_info(sums: dict[str, list[Any]], info: Mapping[str, float]) -> None:
        """Add numbers to sums, of which a game has `MAX_INFO`: a bot may name many."""
        for name, number in info.items():
            if fields := sums.get(name):
                fields[0] += 1
                fields[1] += number
                if number < fields[2]:
                    fields[2] = number
                elif number > fields[3]:
                    fields[3] = number
            elif len(sums) < MAX_INFO:
                sums[name] = [1, number, number, number]

    def record(
        self, cpu_ms: tuple[float | None, ...], worst_lag_ms: float, paused_ms: float = 0.0
    ) -> SpentRecord:
        """Return the use as one record, with CPU time, lag and pauses, which other records lack."""
        return SpentRecord(
            questions=tuple(self._questions),
            ms=tuple(round(ms, 3) for ms in self._ms),
            worst_ms=tuple(self._worst_ms),
            given_back_ms=tuple(round(ms, 3) for ms in self._given_back_ms),
            cpu_ms=cpu_ms,
            worst_lag_ms=round(worst_lag_ms, 3),
            paused_ms=round(paused_ms, 3) or UNSET,
            info=tuple(
                {name: InfoSum(*fields) for name, fields in sums.items()} for sums in self._info
            )
            if any(self._info)
            else UNSET,
        )
