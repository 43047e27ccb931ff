"""What the bots used of time, from the game logs: differs each time, so it has a file of its own.

The report follows from the ledger and has the same bytes at any number of jobs; this has not.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise

import msgspec
from msgspec import Struct

from arena.sealed import read_lines
from protocol.codec import DamagedRecordError, decode_record, unsealed
from protocol.records import LogRecord, Result, Sitting, SpentRecord, VoidRecord
from tournaments.folder import Folder

TOLD = (b'{"type":"sitting",', b'{"type":"spent",', b'{"type":"result",', b'{"type":"void",')
"""How the lines begin that say something about time; a log has hundreds of others."""


class Used(Struct, frozen=True, kw_only=True):
    """What an entrant's bots used in all its games that count."""

    name: str
    """The entrant."""
    games: int
    """Games that say what was used."""
    questions: int
    """Questions that it answered."""
    mean_ms: float
    """Mean time charged for a question, in ms."""
    worst_ms: float
    """The most that was charged for a question, in ms."""
    cpu_ms: float | None
    """Mean CPU time a question, in ms; games of which it is not known are left out."""


class Share(Struct, frozen=True, kw_only=True):
    """What was played on a worker; the first line of each part of a game log names it too."""

    worker: str
    """The worker."""
    sandbox: tuple[str, ...]
    """The sandbox levels at which the bots ran there."""
    games: int
    """Games that count."""


class Times(Struct, frozen=True, kw_only=True):
    """times.json."""

    entrants: tuple[Used, ...]
    """By name."""
    referee_ms: float
    """By how much the referee was late at the worst in a game that counts, in ms."""
    void: int
    """Games that were void and played again, for nobody could say whether a bot was late."""
    workers: tuple[Share, ...] = ()
    """What was played on which worker, by name; none where it was the event's own machine."""


class _Sum:
    """What one entrant used so far."""

    def __init__(self) -> None:
        self.games = self.questions = self.timed = 0
        self.ms = self.worst_ms = self.cpu_ms = 0.0

    def add(self, questions: int, ms: float, worst_ms: float, cpu_ms: float | None) -> None:
        self.games += 1
        self.questions += questions
        self.ms += ms
        self.worst_ms = max(self.worst_ms, worst_ms)
        if cpu_ms is not None:
            self.timed += questions
            self.cpu_ms += cpu_ms

    def used(self, name: str) -> Used:
        return Used(
            name=name,
            games=self.games,
            questions=self.questions,
            mean_ms=round(self.ms / max(1, self.questions), 3),
            worst_ms=self.worst_ms,
            cpu_ms=round(self.cpu_ms / self.timed, 3) if self.timed else None,
        )


class _Shares:
    """Counts the games of each worker, log after log."""

    def __init__(self) -> None:
        self._sitting: Sitting | None = None
        self._games: dict[str, int] = {}
        self._levels: dict[str, set[str]] = {}

    def add(self, record: LogRecord | None) -> None:
        if isinstance(record, Sitting):
            self._sitting = record
        elif isinstance(record, Result) and self._sitting and (name := self._sitting.worker):
            self._games[name] = self._games.get(name, 0) + 1
            self._levels.setdefault(name, set()).add(self._sitting.sandbox)

    def told(self) -> Iterator[Share]:
        for name, games in sorted(self._games.items()):
            yield Share(worker=name, sandbox=tuple(sorted(self._levels[name])), games=games)


def times(folder: Folder) -> Times:
    """What was used, by the logs of a folder; damaged lines are left out, `verify` names them."""
    sums: dict[str, _Sum] = {}
    referee_ms, void = 0.0, 0
    shares = _Shares()
    for before, record in pairwise((None, *_told(folder))):
        shares.add(record)
        void += isinstance(record, VoidRecord)
        if isinstance(record, Result) and isinstance(before, SpentRecord):
            referee_ms = max(referee_ms, before.referee_ms)
            for name, questions, ms, worst_ms, cpu_ms in _by_seat(record, before):
                sums.setdefault(name, _Sum()).add(questions, ms, worst_ms, cpu_ms)
    entrants = tuple(sums[name].used(name) for name in sorted(sums))
    return Times(entrants=entrants, referee_ms=referee_ms, void=void, workers=tuple(shares.told()))


def _by_seat(
    result: Result, spent: SpentRecord
) -> Iterable[tuple[str, int, float, float, float | None]]:
    columns = result.seats, spent.questions, spent.ms, spent.worst_ms, spent.cpu_ms
    return zip(*columns, strict=False)


def _told(folder: Folder) -> Iterator[LogRecord]:
    """The lines of all logs that say something about time."""
    for path in folder.logs():
        for line in read_lines(path):
            if line.data.startswith(TOLD):
                with suppress(DamagedRecordError):
                    yield decode_record(unsealed(line.data))


def as_json(times: Times) -> bytes:
    """times.json."""
    return msgspec.json.format(msgspec.json.encode(times), indent=1) + b"\n"
