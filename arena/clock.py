"""Time as a table keeps it: what is charged, what is disputed, what is spent. Moments come in.

The referee is itself a process on a shared machine. Whoever waits for a bot is told each time the
referee was late, so that a bot which seems late can be told from a referee which looked late.
"""

import math
from collections.abc import Callable

from protocol.records import ChoiceRecord, FoulRecord, LogRecord, SpentRecord

MARGIN_MS = 100.0
"""The referee may be late by so much during a question; by more, nobody can be called late."""

ANSWERS = (ChoiceRecord, FoulRecord)
"""Records of what a seat was charged for a question."""


class Wait:
    """The wait for one bot at a time: its deadline, and how late the referee was meanwhile."""

    def __init__(self, expired: Callable[[], None]) -> None:
        self.deadline = math.inf
        """When it ends, in seconds of the monotonic clock; infinity when nothing is waited for."""
        self.expired = expired
        """Called when the deadline has passed."""
        self.limit_ms = 0
        """How long the bot may take."""
        self.referee_ms = 0.0
        """By how much the referee was late at the worst since this wait began."""
        self.worst_ms = 0.0
        """The same since the first wait began."""
        self._began = 0.0

    def begin(self, now: float, limit_ms: int) -> None:
        """From now on the bot is charged."""
        self._began = now
        self.limit_ms = limit_ms
        self.referee_ms = 0.0
        self.deadline = now + limit_ms / 1000

    def end(self) -> None:
        """Nothing is waited for."""
        self.deadline = math.inf

    def stalled(self, seconds: float, now: float) -> None:
        """The referee looked so much later than it had planned; what was before does not count."""
        late = 1000 * min(seconds, now - self._began)
        if late > self.referee_ms:
            self.referee_ms = late
            self.worst_ms = max(self.worst_ms, late)

    def charged(self, moment: float) -> float:
        """What the bot is charged if it answers then, in ms; what it wrote before costs nothing."""
        return max(0.0, round((moment - self._began) * 1000, 3))

    def disputed(self, ms: float) -> bool:
        """Whether a bot that took so long cannot be called late, for the referee was late too."""
        explained = 0 < ms - self.limit_ms <= self.referee_ms
        return explained or self.referee_ms > MARGIN_MS

    def held_open(self, ms: float) -> bool:
        """Whether to wait a little longer: what comes in yet may be late by our doing alone."""
        if not ms - self.limit_ms < self.referee_ms <= MARGIN_MS:
            return False
        self.deadline = self._began + (self.limit_ms + self.referee_ms) / 1000
        return True


class Spending:
    """What each seat has used of time in one game, from what is logged."""

    def __init__(self, seats: int) -> None:
        self._questions = [0] * seats
        self._ms = [0.0] * seats
        self._worst_ms = [0.0] * seats

    def note(self, record: LogRecord) -> None:
        """A record goes into the log."""
        if isinstance(record, ANSWERS):
            seat, ms = record.seat, record.ms
            self._questions[seat] += 1
            self._ms[seat] += ms
            self._worst_ms[seat] = max(self._worst_ms[seat], ms)

    def record(self, cpu_ms: tuple[float | None, ...], referee_ms: float) -> SpentRecord:
        """All of it, with what only the machine knows."""
        return SpentRecord(
            questions=tuple(self._questions),
            ms=tuple(round(ms, 3) for ms in self._ms),
            worst_ms=tuple(self._worst_ms),
            cpu_ms=cpu_ms,
            referee_ms=round(referee_ms, 3),
        )
