"""Facts that only the game logs hold: times, evidence of fouls, sandboxes, machines.

They differ each time an event is played, and not each time they are read. Only the games that the
ledger has are read, so that a report can be made and checked again while the event goes on. Damaged
lines are left out; `verify` names them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import merge
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena.logs.checksummed import DamagedFileError, grep_prefix
from arena.logs.gamelog import read_games
from arena.rules.english import join_words
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
from protocol.records import (
    ChoiceRecord,
    FoulClass,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    RoundRecord,
    Sitting,
    SpentRecord,
)
from tournaments.formats.base import Entrant
from tournaments.storage.folder import Folder

LEAST_QUESTIONS = 50
"""Questions that bots must have answered alike before they are called the same."""
MOST_BOTS = 100
"""Entrants up to which all pairs are compared."""
COMPARED_GAMES = 100
"""Most games of a bot whose answers are compared one by one: to read a game takes some ms."""

Key = tuple[int, tuple[str, ...]]
"""A game: its board, and the entrant in each seat."""


class SameBots(Struct, frozen=True):
    """Entrants that answered every question alike."""

    names: tuple[str, ...]
    questions: int


def describe_same_files(entrants: Iterable[Entrant]) -> Iterator[str]:
    """Yield a sentence for each group of bots that play with equal files and the same clock."""
    present = (one for one in entrants if not one.retired)
    return describe_equal((one.name, (one.fingerprint, one.clock)) for one in present)


def describe_equal(files: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield a sentence for each group of bots whose files are equal, given by name and files."""
    groups: defaultdict[object, list[str]] = defaultdict(list)
    for name, own in files:
        groups[own].append(name)
    for names in groups.values():
        if len(names) > 1:
            yield f"{join_words(names)} are the same bot: their files are equal."


def describe_same_answers(found: Iterable[SameBots], entrants: Iterable[Entrant]) -> Iterator[str]:
    """Yield a sentence for each group that answered alike, unless its files are equal anyway."""
    files = {one.name: one.fingerprint for one in entrants}
    for one in found:
        if len({files.get(name, name) for name in one.names}) > 1:
            yield (
                f"{join_words(one.names)} play as the same bot: they answered all "
                f"{one.questions:,} questions that can be compared alike."
            )


class PlayedGames:
    """The games of an event: what came of each, and the log that has it."""

    def __init__(self) -> None:
        self._games: dict[Key, tuple[int, Path]] = {}
        self._of: defaultdict[str, list[Key]] = defaultdict(list)
        self._between: defaultdict[frozenset[str], list[Key]] = defaultdict(list)

    def add(self, result: Result, rounds: Sequence[RoundRecord], path: Path) -> None:
        """Add a game."""
        key = result.board, result.seats
        outline = hash((result.scores, tuple((one.why, one.points) for one in rounds)))
        self._games[key] = outline, path
        names = frozenset(result.seats)
        self._between[names].append(key)
        for name in names:
            self._of[name].append(key)

    def same_bots(self) -> tuple[SameBots, ...]:
        """Return the groups of entrants that answered every question alike.

        Two are compared wherever one of them sat and the other sat there in another game on the
        same deals with the same others, until one of the others answers differently.
        """
        groups: list[tuple[set[str], int]] = []
        if len(self._of) > MOST_BOTS:
            return ()
        for one, other in combinations(sorted(self._of), 2):
            if not any({one, other} <= names for names, _ in groups):
                questions = self._compare(one, other)
                if questions >= LEAST_QUESTIONS:
                    joined = next((found for found in groups if one in found[0]), ({one}, 0))
                    groups = [found for found in groups if found is not joined]
                    groups.append((joined[0] | {other}, max(joined[1], questions)))
        return tuple(SameBots(tuple(sorted(names)), many) for names, many in groups)

    def _compare(self, one: str, other: str) -> int:
        """Count the questions that both answered alike; 0 as soon as an answer differs."""
        swap = {one: other, other: one}

        def swapped(key: Key) -> Key:
            return key[0], tuple(swap.get(name, name) for name in key[1])

        def pairs_of(keys: Iterable[Key]) -> dict[Key, Key]:
            return {key: again for key in keys if (again := swapped(key)) in self._games}

        # Games with others may differ by the others' doing; reading logs takes time.
        alone = pairs_of(self._between.get(frozenset(swap), ()))
        if any(self._games[key][0] != self._games[again][0] for key, again in alone.items()):
            return 0
        pairs = pairs_of(self._of[one])
        if not alone and any(self._games[key][0] != self._games[pairs[key]][0] for key in pairs):
            return 0
        pairs = dict(islice(pairs.items(), COMPARED_GAMES))
        answers = self._answers({*pairs, *pairs.values()})
        questions = 0
        for key, again in pairs.items():
            own = [seat for seat, name in enumerate(key[1]) if name in swap]
            for first, second in zip(answers.get(key, ()), answers.get(again, ()), strict=False):
                if first != second:
                    if first[0] in own or second[0] in own:
                        return 0
                    break
                questions += key[1][first[0]] == one
        return questions

    def _answers(self, wanted: set[Key]) -> dict[Key, list[tuple[int, int]]]:
        """Read the seats and choices of games from their logs."""
        found: dict[Key, list[tuple[int, int]]] = {}
        for path in sorted({self._games[key][1] for key in wanted}):
            with suppress(DamagedFileError):
                for logged in read_games(path):
                    key = logged.game.board, logged.sitting.seats
                    if key in wanted and logged.result:
                        choices = (one for one in logged.choices() if isinstance(one, ChoiceRecord))
                        found[key] = [(one.seat, one.choice) for one in choices]
        return found


class TimeStats(Struct, frozen=True, kw_only=True):
    """The time of an entrant's bots in all its games that count."""

    name: str
    games: int
    """Games with a record of their time."""
    questions: int
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


class WorkerGames(Struct, frozen=True, kw_only=True):
    """The games of one worker; the first line of each part of a game log names it too."""

    worker: str
    sandbox: tuple[str, ...]
    """The sandbox levels at which the bots ran there."""
    games: int


class Times(Struct, frozen=True, kw_only=True):
    """The content of times.json."""

    entrants: tuple[TimeStats, ...]
    """By name."""
    worst_lag_ms: float
    """The longest time for which the referee did not look while a bot was asked, in ms."""
    workers: tuple[WorkerGames, ...] = ()
    """The games of each worker, by name; empty for the event's own machine."""
    same_bots: tuple[SameBots, ...] = ()


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
            WorkerGames(worker=name, sandbox=tuple(sorted(self._levels[name])), games=games)
            for name, games in sorted(self._shares.items())
        )
        entrants = tuple(self._sums[name].used(name) for name in sorted(self._sums))
        return Times(entrants=entrants, worst_lag_ms=self._worst_lag_ms, workers=workers)


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


class FoulExample(Struct, frozen=True, kw_only=True):
    """A foul as the log has it."""

    board: int
    game: str
    seat: int
    entrant: str
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
    evidence: tuple[FoulExample, ...]
    """The first fouls of each entrant and class, in this order, by board and game."""
    sandboxes: tuple[SandboxSummary, ...]
    rounds: dict[str, tuple[RoundRecord, ...]]
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
    evidence: dict[tuple[str, FoulClass], list[FoulExample]] = {}
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


def _keep(evidence: dict[tuple[str, FoulClass], list[FoulExample]], game: _Finished) -> None:
    """Add a game's fouls to those of its entrants; keep only a few examples of each class."""
    for foul in game.fouls:
        one = _evidence(game.result, foul)
        kept = evidence.get((one.entrant, one.foul), [])
        few = islice(merge(kept, [one], key=lambda it: (it.board, it.game)), EXAMPLES)
        evidence[one.entrant, one.foul] = list(few)


def _evidence(result: Result, foul: FoulRecord) -> FoulExample:
    words = foul.stderr
    return FoulExample(
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
