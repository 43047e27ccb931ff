"""What the game logs alone know of an event: times, evidence of fouls, sandboxes, machines.

It differs each time an event is played, and not each time it is read: it follows from the logs, of
which only those games are read that the ledger has, so that a report can be made anew and checked
while more is played. Damaged lines are left out; `verify` names them.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from arena.logs.checksummed import grep_prefix
from protocol.codec import DamagedRecordError, decode_record, unsealed
from protocol.records import (
    FoulClass,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    Sitting,
    SpentRecord,
)
from tournaments.report.timing import Times, TimingTotals
from tournaments.storage.folder import Folder

TOLD = tuple(
    b'{"type":"%s",' % kind for kind in (b"sitting", b"game", b"foul", b"spent", b"result")
)
"""How the lines begin that are read; a log has hundreds of others."""
EXAMPLES = 3
"""Fouls of a class of which an entrant's evidence is kept."""
LAST_WORDS = 1000
"""Characters of a bot's stderr that are kept of an example, the last ones."""


class Evidence(Struct, frozen=True, kw_only=True):
    """A foul as the log has it."""

    board: int
    """The board."""
    game: str
    """The game."""
    seat: int
    """Which seat fouled."""
    entrant: str
    """Who sat there."""
    foul: FoulClass
    """What it did."""
    detail: str
    """A sentence for the bot's author."""
    line: str
    """The offending line, cut and escaped."""
    stderr: str
    """The last that the bot wrote to stderr, cut and escaped."""
    ms: float
    """Time since the question, in ms."""


class Machine(Struct, frozen=True, order=True):
    """Where sittings were played."""

    machine: str
    """System, processor, cores and Python; empty if it is not known."""
    boneyard: str
    """Version of the program."""


_Level = tuple[str, tuple[str, ...]]


class SandboxSummary(Struct, frozen=True):
    """How the bots of some sittings were kept."""

    level: str
    """The sandbox level: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The promises that it did not keep, in sentences."""
    sittings: int
    """Sittings that were played so, or in part,"""
    of: int
    """of so many that were played."""
    workers: tuple[str, ...] = ()
    """The workers on which that was, by name; none where it was the event's own machine."""


class Levels:
    """Sums up how one sitting after another was kept."""

    def __init__(self) -> None:
        self._sittings = Counter[_Level]()
        self._workers: dict[_Level, set[str]] = {}
        self._of = 0

    def add(self, parts: Collection[Sitting]) -> None:
        """A sitting that was played in these parts; one without any does not count."""
        for part in parts:
            workers = self._workers.setdefault(_level(part), set())
            workers.update([part.worker] if part.worker else [])
        self._sittings.update({_level(part) for part in parts})
        self._of += bool(parts)

    def kept(self) -> tuple[SandboxSummary, ...]:
        """The levels, the most frequent first."""
        order = sorted(self._sittings, key=lambda level: (-self._sittings[level], level))
        return tuple(
            SandboxSummary(
                *level, self._sittings[level], self._of, tuple(sorted(self._workers[level]))
            )
            for level in order
        )


def _level(part: Sitting) -> _Level:
    return part.sandbox, part.missing


class LogFacts(Struct, frozen=True, kw_only=True):
    """All of it."""

    times: Times
    """What the bots used of time."""
    evidence: tuple[Evidence, ...]
    """Of each entrant and class of foul the first few, in this order, by board and game."""
    kept: tuple[SandboxSummary, ...]
    """The levels of the sandbox at which it was played."""
    machines: tuple[tuple[Machine, int], ...]
    """Where it was played, and how many sittings; the most frequent first."""


class _Finished(NamedTuple):
    """What a log says of a game that counts."""

    result: Result
    spent: SpentRecord | None
    fouls: tuple[FoulRecord, ...]


def log_facts(folder: Folder, games: Collection[str] | None = None) -> LogFacts:
    """What the logs say of these games, or of all that they hold."""
    watch = TimingTotals()
    evidence: dict[tuple[str, FoulClass], list[Evidence]] = {}
    levels = Levels()
    machines: Counter[Machine] = Counter()
    for path in folder.logs():
        here: list[Sitting] = []
        for part, game in _told(path):
            if games is None or game.result.game in games:
                if part and (not here or here[-1] is not part):
                    here.append(part)
                watch.add(game.result, game.spent, part)
                _keep(evidence, game)
        levels.add(here)
        machines.update({Machine(part.machine, part.boneyard) for part in here})
    return LogFacts(
        times=watch.times(),
        evidence=tuple(one for key in sorted(evidence) for one in evidence[key]),
        kept=levels.kept(),
        machines=tuple(sorted(machines.items(), key=lambda one: (-one[1], one[0]))),
    )


def _keep(evidence: dict[tuple[str, FoulClass], list[Evidence]], game: _Finished) -> None:
    """Add the fouls of a game to those of its entrants, of which few are kept at any time."""
    for foul in game.fouls:
        one = _evidence(game.result, foul)
        kept = evidence.get((one.entrant, one.foul), [])
        few = islice(merge(kept, [one], key=lambda it: (it.board, it.game)), EXAMPLES)
        evidence[one.entrant, one.foul] = list(few)


def _evidence(result: Result, foul: FoulRecord) -> Evidence:
    words = foul.stderr
    return Evidence(
        board=result.board,
        game=result.game,
        seat=foul.seat,
        entrant=result.seats[foul.seat],
        foul=foul.foul,
        detail=foul.detail,
        line=foul.line,
        stderr=words if len(words) <= LAST_WORDS else "…" + words[-LAST_WORDS:],
        ms=foul.ms,
    )


def _told(path: Path) -> Iterator[tuple[Sitting | None, _Finished]]:
    """The games that came to a result, each with the line that says where it was played."""
    part: Sitting | None = None
    fouls: list[FoulRecord] = []
    spent: SpentRecord | None = None
    for record in _records(path):
        if isinstance(record, Sitting):
            part = record
        elif isinstance(record, GameRecord):
            fouls, spent = [], None
        elif isinstance(record, FoulRecord):
            fouls.append(record)
        elif isinstance(record, SpentRecord):
            spent = record
        elif isinstance(record, Result):
            yield part, _Finished(record, spent, tuple(fouls))


def _records(path: Path) -> Iterator[LogRecord]:
    """The lines that say something about time, fouls or the machine."""
    for line in grep_prefix(path, TOLD):
        with suppress(DamagedRecordError):
            yield decode_record(unsealed(line))
