"""Facts that only the game logs hold: times, evidence of fouls, sandboxes, machines.

They differ each time an event is played, and not each time they are read. Only the games that the
ledger has are read, so that a report can be made and checked again while the event goes on. Damaged
lines are left out; `verify` names them.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena.logs.checksummed import grep_prefix
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
from protocol.records import (
    FoulClass,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    RoundRecord,
    Sitting,
    SpentRecord,
)
from tournaments.report.same_bots import PlayedGames
from tournaments.report.timing import Times, TimingTotals
from tournaments.storage.folder import Folder

RECORDS = (Sitting, GameRecord, FoulRecord, RoundRecord, SpentRecord, Result)
"""The records to read; a log has hundreds of others."""
STARTS = tuple(line_start(kind) for kind in RECORDS)
EXAMPLES = 3
"""The largest number of examples of one class of foul by one entrant."""
LAST_WORDS = 1000
"""The largest length of an example's stderr, in characters; the end is kept."""


def files_with_facts(folder: Folder) -> tuple[Path, ...]:
    """Return the report's files that show them."""
    return folder.page, folder.times


class Evidence(Struct, frozen=True, kw_only=True):
    """A foul as the log has it."""

    board: int
    game: str
    seat: int
    """The seat that fouled."""
    entrant: str
    """The entrant in this seat."""
    foul: FoulClass
    detail: str
    """A sentence for the bot's author."""
    line: str
    """The offending line, cut and escaped."""
    stderr: str
    """The end of the bot's stderr, cut and escaped."""
    ms: float
    """Time since the question, in ms."""


class Machine(Struct, frozen=True, order=True):
    """A machine that played sittings."""

    machine: str
    """System, processor, cores and Python; empty if it is not known."""
    boneyard: str
    """Version of the program."""


_Level = tuple[str, tuple[str, ...]]


class SandboxSummary(Struct, frozen=True):
    """The sittings that were played at one sandbox level."""

    level: str
    """The sandbox level: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The guarantees that it lacked, in sentences."""
    sittings: int
    """Sittings at this level, wholly or in part."""
    of: int
    """All sittings that were played."""
    workers: tuple[str, ...] = ()
    """Names of the workers with this level; empty for the event's own machine."""


class Levels:
    """A sum of sandbox levels over sittings."""

    def __init__(self) -> None:
        self._sittings = Counter[_Level]()
        self._workers: dict[_Level, set[str]] = {}
        self._of = 0

    def add(self, parts: Collection[Sitting]) -> None:
        """Add a sitting that was played in these parts; ignore one without any."""
        for part in parts:
            workers = self._workers.setdefault(_level(part), set())
            workers.update([part.worker] if part.worker else [])
        self._sittings.update({_level(part) for part in parts})
        self._of += bool(parts)

    def summaries(self) -> tuple[SandboxSummary, ...]:
        """Return the levels, most frequent first."""
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
    """All facts from the logs."""

    times: Times
    """The bots' use of time."""
    evidence: tuple[Evidence, ...]
    """The first fouls of each entrant and class, in this order, by board and game."""
    sandboxes: tuple[SandboxSummary, ...]
    """The sandbox levels of the sittings."""
    rounds: dict[str, tuple[RoundRecord, ...]]
    """The rounds of each game, by its name."""
    machines: tuple[tuple[Machine, int], ...]
    """The machines and their numbers of sittings; most frequent first."""


class _Finished(NamedTuple):
    """The records of a game that counts."""

    result: Result
    spent: SpentRecord | None
    fouls: tuple[FoulRecord, ...]
    rounds: tuple[RoundRecord, ...]


def log_facts(folder: Folder, games: Collection[str] | None = None) -> LogFacts:
    """Collect the facts of these games, or of all games in the logs."""
    watch = TimingTotals()
    evidence: dict[tuple[str, FoulClass], list[Evidence]] = {}
    levels = Levels()
    rounds: dict[str, tuple[RoundRecord, ...]] = {}
    machines: Counter[Machine] = Counter()
    played = PlayedGames()
    for path in folder.logs():
        here: list[Sitting] = []
        for part, game in _told(path):
            if games is None or game.result.game in games:
                if part and (not here or here[-1] is not part):
                    here.append(part)
                watch.add(game.result, game.spent, part)
                _keep(evidence, game)
                rounds[game.result.game] = game.rounds
                played.add(game.result, game.rounds, path)
        levels.add(here)
        machines.update({Machine(part.machine, part.boneyard) for part in here})
    return LogFacts(
        times=replace(watch.times(), same_bots=played.same_bots()),
        evidence=tuple(one for key in sorted(evidence) for one in evidence[key]),
        sandboxes=levels.summaries(),
        rounds=rounds,
        machines=tuple(sorted(machines.items(), key=lambda one: (-one[1], one[0]))),
    )


def _keep(evidence: dict[tuple[str, FoulClass], list[Evidence]], game: _Finished) -> None:
    """Add a game's fouls to those of its entrants; keep only a few examples of each class."""
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
    """Yield each finished game with the record of the part of its sitting."""
    part: Sitting | None = None
    fouls: list[FoulRecord] = []
    rounds: list[RoundRecord] = []
    spent: SpentRecord | None = None
    for record in _records(path):
        if isinstance(record, Sitting):
            part = record
        elif isinstance(record, GameRecord):
            fouls, rounds, spent = [], [], None
        elif isinstance(record, FoulRecord):
            fouls.append(record)
        elif isinstance(record, RoundRecord):
            rounds.append(record)
        elif isinstance(record, SpentRecord):
            spent = record
        elif isinstance(record, Result):
            yield part, _Finished(record, spent, tuple(fouls), tuple(rounds))


def _records(path: Path) -> Iterator[LogRecord]:
    """Yield the records about time, fouls and machines."""
    for line in grep_prefix(path, STARTS):
        with suppress(DamagedRecordError):
            yield decode_record(strip_checksum(line))
