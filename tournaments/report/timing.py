"""The bots' use of time, summed up, in a file of its own: it differs each time. Pure."""

from collections import Counter

from msgspec import Struct

from protocol.records import Result, Sitting, SpentRecord
from tournaments.report.same_bots import SameBots


class TimeStats(Struct, frozen=True, kw_only=True):
    """The time of an entrant's bots in all its games that count."""

    name: str
    """The entrant."""
    games: int
    """Games with a record of their time."""
    questions: int
    """Questions that it answered."""
    mean_ms: float
    """Mean time charged for a question, in ms."""
    worst_ms: float
    """The most that was charged for a question, in ms."""
    given_back_ms: float
    """Time in which the referee did not look while this entrant was asked: it moved deadlines and
    was not charged, in ms, summed up."""
    cpu_ms: float | None
    """Mean CPU time a question, in ms; games of which it is not known are left out."""
    voids: int = 0
    """Starts that did not count, because its bot said that it was unavailable."""


class Share(Struct, frozen=True, kw_only=True):
    """The games of one worker; the first line of each part of a game log names it too."""

    worker: str
    sandbox: tuple[str, ...]
    """The sandbox levels at which the bots ran there."""
    games: int
    """Games that count."""


class Times(Struct, frozen=True, kw_only=True):
    """The content of times.json."""

    entrants: tuple[TimeStats, ...]
    """By name."""
    worst_lag_ms: float
    """The longest time for which the referee did not look while a bot was asked, in ms."""
    workers: tuple[Share, ...] = ()
    """The games of each worker, by name; empty for the event's own machine."""
    same_bots: tuple[SameBots, ...] = ()
    """Entrants that answered every question alike."""


class _Sum:
    """The time of one entrant so far."""

    def __init__(self) -> None:
        self.games = self.questions = self.timed = self.voids = 0
        self.ms = self.worst_ms = self.given_back_ms = self.cpu_ms = 0.0

    def add(
        self, questions: int, ms: float, worst_ms: float, given_back_ms: float, cpu_ms: float | None
    ) -> None:
        self.games += 1
        self.questions += questions
        self.ms += ms
        self.worst_ms = max(self.worst_ms, worst_ms)
        self.given_back_ms += given_back_ms
        if cpu_ms is not None:
            self.timed += questions
            self.cpu_ms += cpu_ms

    def used(self, name: str) -> TimeStats:
        return TimeStats(
            name=name,
            games=self.games,
            questions=self.questions,
            mean_ms=round(self.ms / max(1, self.questions), 3),
            worst_ms=self.worst_ms,
            given_back_ms=round(self.given_back_ms, 3),
            cpu_ms=round(self.cpu_ms / self.timed, 3) if self.timed else None,
            voids=self.voids,
        )


class TimingTotals:
    """The sums of time over games."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sum] = {}
        self._worst_lag_ms = 0.0
        self._shares: Counter[str] = Counter()
        self._levels: dict[str, set[str]] = {}

    def add(self, result: Result, spent: SpentRecord | None, sitting: Sitting | None) -> None:
        """Add a game and its worker."""
        if sitting and sitting.worker:
            self._shares[sitting.worker] += 1
            self._levels.setdefault(sitting.worker, set()).add(sitting.sandbox)
        if spent is None:
            return
        self._worst_lag_ms = max(self._worst_lag_ms, spent.worst_lag_ms)
        given_back = spent.given_back_ms
        columns = result.seats, spent.questions, spent.ms, spent.worst_ms, given_back, spent.cpu_ms
        for name, *used in zip(*columns, strict=False):
            self._sums.setdefault(name, _Sum()).add(*used)
        for name, voids in zip(result.seats, spent.voids or (), strict=False):
            self._sums[name].voids += voids

    def times(self) -> Times:
        """Return the totals."""
        workers = tuple(
            Share(worker=name, sandbox=tuple(sorted(self._levels[name])), games=games)
            for name, games in sorted(self._shares.items())
        )
        entrants = tuple(self._sums[name].used(name) for name in sorted(self._sums))
        return Times(entrants=entrants, worst_lag_ms=self._worst_lag_ms, workers=workers)
