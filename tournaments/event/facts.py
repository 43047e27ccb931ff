"""Facts that only the game logs hold: times, evidence of fouls, sandboxes, machines.

They differ each time an event is played, and not each time they are read. Only the games that the
ledger has are read, so that a report can be made and checked again while the event goes on. Damaged
lines are left out; `verify` names them.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from arena.files import DamagedFileError
from arena.logs.checksummed import grep_prefix
from arena.logs.gamelog import read_games
from arena.rules.english import join_words
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
from protocol.messages import MAX_INFO
from protocol.records import (
    ChoiceRecord,
    FoulClass,
    FoulRecord,
    GameRecord,
    InfoSum,
    LogRecord,
    Result,
    RoundRecord,
    Sitting,
    SpentRecord,
)
from tournaments.event.folder import Folder
from tournaments.formats.base import Entrant

LEAST_QUESTIONS = 50
"""Questions that bots must have answered alike before they are called the same."""
MOST_BOTS = 100
"""Entrants up to which all pairs are compared."""
COMPARED_GAMES = 100
"""Most games of a bot whose answers are compared one by one: to read a game takes some ms."""

Seats = tuple[str, ...]
"""The entrant in each seat."""
Key = tuple[int, Seats]
"""A game: its board and its entrants."""


class SameBots(Struct, frozen=True):
    """Entrants that answered every question alike."""

    names: tuple[str, ...]
    questions: int


MAX_EQUAL_NAMED = 20
"""Bots with equal files that are named: a test of a thousand may have one."""


def describe_same_files(entrants: Iterable[Entrant]) -> Iterator[str]:
    """Yield a sentence for each group of bots that play with equal files and the same clock."""
    groups: defaultdict[object, list[str]] = defaultdict(list)
    for bot in entrants:
        if not bot.retired:
            groups[bot.fingerprint, bot.clock].append(bot.name)
    for names in groups.values():
        more = len(names) - MAX_EQUAL_NAMED
        shown = [*names[:MAX_EQUAL_NAMED], f"{more} more"] if more > 1 else names
        if len(names) > 1:
            yield f"{join_words(shown)} are the same bot: their files are equal."


def describe_same_answers(groups: Iterable[SameBots], entrants: Iterable[Entrant]) -> Iterator[str]:
    """Yield a sentence for each group that answered alike, unless its files are equal anyway."""
    files = {bot.name: bot.fingerprint for bot in entrants}
    for group in groups:
        if len({files.get(name, name) for name in group.names}) > 1:
            yield (
                f"{join_words(group.names)} play as the same bot: they answered all "
                f"{group.questions:,} questions that can be compared alike."
            )


class LogPart(NamedTuple):
    """Games of a log in a row in which the same entrants have the same seats."""

    path: Path
    seats: Seats
    boards: "array[int]"


class PlayedGames:
    """The games of an event: what came of each, and the log that has it."""

    def __init__(self) -> None:
        # An event has a million games, but few seatings: each game takes some 80 bytes so.
        self._outlines: defaultdict[Seats, dict[int, int]] = defaultdict(dict)
        self._of: defaultdict[str, list[LogPart]] = defaultdict(list)
        self._between: defaultdict[frozenset[str], list[LogPart]] = defaultdict(list)
        self._answers: dict[Key, list[tuple[int, int]]] = {}
        self._boards: dict[int, int] = {}
        self._part = LogPart(Path(), (), array("i"))

    def add(self, result: Result, rounds: Sequence[RoundRecord], path: Path) -> None:
        """Add a game."""
        if len(self._of) > MOST_BOTS:
            return  # Nobody is compared.
        seats, board = result.seats, self._boards.setdefault(result.board, result.board)
        if (path, seats) != self._part[:2]:
            self._part = LogPart(path, seats, array("i"))
            names = frozenset(seats)
            self._between[names].append(self._part)
            for name in names:
                self._of[name].append(self._part)
        self._part.boards.append(board)
        outline = hash((result.scores, tuple((round.why, round.points) for round in rounds)))
        self._outlines[seats][board] = outline

    def same_bots(self) -> tuple[SameBots, ...]:
        """Return the groups of entrants that answered every question alike.

        Two are compared in each two games of a board in which one sits where the other sat and all
        else is the same, up to the first answer of a third bot that differs.
        """
        groups: list[tuple[set[str], int]] = []
        if len(self._of) > MOST_BOTS:
            return ()
        for bot, other in combinations(sorted(self._of), 2):
            if not any({bot, other} <= names for names, _ in groups):
                questions = self._compare(bot, other)
                if questions >= LEAST_QUESTIONS:
                    joined = next((group for group in groups if bot in group[0]), ({bot}, 0))
                    groups = [group for group in groups if group is not joined]
                    groups.append((joined[0] | {other}, max(joined[1], questions)))
        return tuple(SameBots(tuple(sorted(names)), count) for names, count in groups)

    def _compare(self, bot: str, other: str) -> int:
        """Count the questions that both answered alike; 0 as soon as an answer differs."""
        swap = {bot: other, other: bot}
        # First duels: elsewhere a third bot may cause the difference, and logs are slow to read.
        duels = self._between.get(frozenset(swap), ())
        meetings = self._of[bot] if next(self._twins(duels, swap), None) is None else duels
        twins = self._twins(meetings, swap)
        if any(self._outline(key) != self._outline(twin) for key, twin in twins):
            return 0
        pairs = dict(islice(self._twins(self._of[bot], swap), COMPARED_GAMES))
        self._read({*pairs, *pairs.values()}.difference(self._answers))
        questions = 0
        for key, twin in pairs.items():
            seats = [seat for seat, name in enumerate(key[1]) if name in swap]
            for first, second in zip(self._answers[key], self._answers[twin], strict=False):
                if first != second:
                    if first[0] in seats or second[0] in seats:
                        return 0
                    break
                questions += key[1][first[0]] == bot
        return questions

    def _twins(
        self, parts: Iterable[LogPart], swap: Mapping[str, str]
    ) -> Iterator[tuple[Key, Key]]:
        """Yield each of these games with that which differs only by the swap, if it was played."""
        for part in parts:
            twin = tuple(swap.get(name, name) for name in part.seats)
            boards = self._outlines.get(twin, ())
            yield from (((n, part.seats), (n, twin)) for n in part.boards if n in boards)

    def _outline(self, key: Key) -> int:
        board, seats = key
        return self._outlines[seats][board]

    def _read(self, wanted: set[Key]) -> None:
        """Read the answers of games from their logs, each once for all bots that it is of."""
        self._answers |= {key: [] for key in wanted}
        boards = defaultdict[Seats, set[int]](set)
        for board, seats in wanted:
            boards[seats].add(board)
        parts = (part for seats in boards for part in self._of[seats[0]] if part.seats == seats)
        paths = {part.path for part in parts if not boards[part.seats].isdisjoint(part.boards)}
        for path in sorted(paths):
            with suppress(DamagedFileError):
                for logged in read_games(path):
                    key = logged.game.board, logged.sitting.seats
                    if key in wanted and logged.result:
                        choices = (r for r in logged.choices() if isinstance(r, ChoiceRecord))
                        self._answers[key] = [(choice.seat, choice.choice) for choice in choices]


class InfoStats(Struct, frozen=True):
    """The numbers of one name that an entrant sent with its answers."""

    answers: int
    mean: float
    least: float
    most: float


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
    """Total lag of the referee while this entrant was asked, in ms: the deadlines moved by as much,
    and the entrant was not charged."""
    cpu_ms: float | None
    """Mean CPU time a question, in ms; games of which it is not known are left out."""
    voids: int = 0
    """Starts that did not count, because its bot said that it was unavailable."""
    is_effort: bool | UnsetType = UNSET
    """True for a sealed bot: its mean and worst are million instructions; else left out."""
    info: dict[str, InfoStats] | UnsetType = UNSET
    """Its own numbers, by name; left out if it sent none."""


class WorkerGames(Struct, frozen=True, kw_only=True):
    """The games of one worker; the first line of each part of a game log names it too."""

    worker: str
    sandbox: tuple[str, ...]
    """The confinements of bots there."""
    games: int


class Times(Struct, frozen=True, kw_only=True):
    """The content of times.json."""

    entrants: tuple[TimeStats, ...]
    worst_lag_ms: float
    """The longest lag of the referee while a bot was asked, in ms."""
    workers: tuple[WorkerGames, ...] = ()
    """The games of each worker, by name; empty for the event's own machine."""
    same_bots: tuple[SameBots, ...] = ()


NO_INFO: Mapping[str, InfoSum] = {}


class TimeSum:
    """The time that an entrant used in its games so far."""

    def __init__(self) -> None:
        self._games = self._questions = self._voids = 0
        self._ms = self._worst_ms = self._given_back_ms = 0.0
        self._questions_with_cpu, self._cpu_ms = 0, 0.0
        self._info: dict[str, InfoSum] = {}

    def add(
        self,
        questions: int,
        ms: float,
        worst_ms: float,
        given_back_ms: float,
        cpu_ms: float | None,
        voids: int,
        info: Mapping[str, InfoSum],
    ) -> None:
        """Add a game, as `SpentRecord` has it."""
        self._games += 1
        self._questions += questions
        self._ms += ms
        self._worst_ms = max(self._worst_ms, worst_ms)
        self._given_back_ms += given_back_ms
        if cpu_ms is not None:
            self._questions_with_cpu += questions
            self._cpu_ms += cpu_ms
        self._voids += voids
        for name, new in info.items():
            if old := self._info.get(name):
                least, most = min(old.least, new.least), max(old.most, new.most)
                total = old.total + new.total
                self._info[name] = InfoSum(old.count + new.count, total, least, most)
            elif len(self._info) < MAX_INFO:  # The first names, as in each game.
                self._info[name] = new

    def stats(self, name: str, *, is_effort: bool) -> TimeStats:
        """Return the sums of the entrant of this name."""
        info = {word: _info_stats(part) for word, part in sorted(self._info.items())}
        timed = self._questions_with_cpu
        return TimeStats(
            name=name,
            games=self._games,
            questions=self._questions,
            mean_ms=round(self._ms / max(1, self._questions), 3),
            worst_ms=self._worst_ms,
            given_back_ms=round(self._given_back_ms, 3),
            cpu_ms=round(self._cpu_ms / timed, 3) if timed else None,
            voids=self._voids,
            is_effort=is_effort or UNSET,
            info=info or UNSET,
        )


def _info_stats(part: InfoSum) -> InfoStats:
    # The log of a stranger may count no answer.
    mean = part.total / max(1, part.count)
    return InfoStats(part.count, round(mean, 6), part.least, part.most)


class TimingTotals:
    """The time of all games, by entrant, and the games of each worker."""

    def __init__(self) -> None:
        self._spent = defaultdict[str, TimeSum](TimeSum)
        self._worst_lag_ms = 0.0
        self._sandboxes = defaultdict[str, Counter[str]](Counter)
        self._sealed: set[str] = set()

    def add(self, result: Result, spent: SpentRecord | None, sitting: Sitting | None) -> None:
        """Add a game and its worker."""
        if sitting and sitting.worker:
            self._sandboxes[sitting.worker][sitting.sandbox] += 1
        clocks = sitting.seat_clocks if sitting else ()
        self._sealed |= {
            name for name, clock in zip(result.seats, clocks, strict=False) if clock.effort
        }
        if spent is None:
            return
        self._worst_lag_ms = max(self._worst_lag_ms, spent.worst_lag_ms)
        columns = spent.questions, spent.ms, spent.worst_ms, spent.given_back_ms, spent.cpu_ms
        voids, info = spent.voids or repeat(0), spent.info or repeat(NO_INFO)
        for name, *seat_time in zip(result.seats, *columns, voids, info, strict=False):
            self._spent[name].add(*seat_time)

    def times(self) -> Times:
        """Return the totals."""
        workers = tuple(
            WorkerGames(worker=name, sandbox=tuple(sorted(states)), games=states.total())
            for name, states in sorted(self._sandboxes.items())
        )
        entrants = tuple(
            spent.stats(name, is_effort=name in self._sealed)
            for name, spent in sorted(self._spent.items())
        )
        return Times(entrants=entrants, worst_lag_ms=self._worst_lag_ms, workers=workers)


RECORDS = (Sitting, GameRecord, FoulRecord, RoundRecord, SpentRecord, Result)
"""The records to read; a log has hundreds of others."""
STARTS = tuple(line_start(kind) for kind in RECORDS)
EXAMPLES = 3
"""The largest number of examples of one class of foul by one entrant."""
LAST_WORDS = 1000
"""The largest length of an example's stderr, in characters; the end is kept."""


def files_with_facts(folder: Folder) -> tuple[Path, ...]:
    """Return the report's files that show facts of the logs."""
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


class SandboxSummary(Struct, frozen=True):
    """The sittings whose bots were confined alike."""

    state: str
    """The confinement of bots: sealed, locked or off."""
    missing: tuple[str, ...]
    """The guarantees that it lacked, in sentences."""
    sittings: int
    """Sittings of such bots, wholly or in part."""
    of: int
    """All sittings that were played."""
    workers: tuple[str, ...] = ()
    """Names of the workers that confined bots so; empty for the event's own machine."""


class LogFacts(Struct, frozen=True, kw_only=True):
    """All facts from the logs."""

    times: Times
    evidence: tuple[FoulExample, ...]
    """The first fouls of each entrant and class, in this order, by board and game."""
    sandboxes: tuple[SandboxSummary, ...]
    rounds: dict[str, tuple[RoundRecord, ...]]
    machines: tuple[tuple[Machine, int], ...]
    """The machines and their numbers of sittings; most frequent first."""
    names_copies: bool = True
    """True if the report names entrants that are the same bot."""

    @property
    def public(self) -> "LogFacts":
        """The facts as sites show them: copies are named to who runs the event, to nobody else."""
        return replace(self, times=replace(self.times, same_bots=()), names_copies=False)


class _Place(NamedTuple):
    """The machine that played a part of a sitting, and the confinement of its bots."""

    machine: Machine
    sandbox: str
    missing: tuple[str, ...]
    worker: str | None

    @property
    def confinement(self) -> tuple[str, tuple[str, ...]]:
        """The state of the sandbox, and what it lacked."""
        return self.sandbox, self.missing


class _Finished(NamedTuple):
    """The records of a game that counts."""

    result: Result
    spent: SpentRecord | None
    fouls: tuple[FoulRecord, ...]
    rounds: tuple[RoundRecord, ...]


Games = Collection[str] | None


def log_facts(folder: Folder, games: Games = None, listed: Games = None) -> LogFacts:
    """Collect the facts of these games, or of all; the rounds only of those that are `listed`."""
    watch = TimingTotals()
    evidence: dict[tuple[str, FoulClass], list[FoulExample]] = {}
    # Not the sittings: each takes 3 kB, and an event may have a hundred thousand.
    places = Counter[frozenset[_Place]]()
    rounds: dict[str, tuple[RoundRecord, ...]] = {}
    played = PlayedGames()
    for path in folder.logs():
        sittings: list[Sitting] = []
        for part, game in _read_log(path):
            if games is None or game.result.game in games:
                if part and (not sittings or sittings[-1] is not part):
                    sittings.append(part)
                watch.add(game.result, game.spent, part)
                _keep(evidence, game)
                if listed is None or game.result.game in listed:
                    rounds[game.result.game] = game.rounds
                played.add(game.result, game.rounds, path)
        if sittings:
            places[frozenset(map(_place_of, sittings))] += 1
    machines = Counter[Machine]()
    for group, count in places.items():
        machines.update(dict.fromkeys({place.machine for place in group}, count))
    return LogFacts(
        times=replace(watch.times(), same_bots=played.same_bots()),
        evidence=tuple(example for key in sorted(evidence) for example in evidence[key]),
        sandboxes=tuple(_sandboxes(places)),
        rounds=rounds,
        machines=tuple(sorted(machines.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _place_of(part: Sitting) -> _Place:
    machine = Machine(part.machine, part.boneyard)
    return _Place(machine, part.sandbox, part.missing, part.worker)


def _sandboxes(sittings: Counter[frozenset[_Place]]) -> Iterator[SandboxSummary]:
    """Yield how the bots of sittings were confined, most frequent first."""
    workers = defaultdict[tuple[str, tuple[str, ...]], set[str]](set)
    counts = Counter[tuple[str, tuple[str, ...]]]()
    for places, count in sittings.items():
        counts.update(dict.fromkeys({place.confinement for place in places}, count))
        for place in places:
            workers[place.confinement].update([place.worker] if place.worker else [])
    for state in sorted(counts, key=lambda state: (-counts[state], state)):
        names = tuple(sorted(workers[state]))
        yield SandboxSummary(*state, counts[state], sittings.total(), names)


def _keep(evidence: dict[tuple[str, FoulClass], list[FoulExample]], game: _Finished) -> None:
    """Add a game's fouls to those of its entrants; keep only a few examples of each class."""
    result = game.result
    for foul in game.fouls:
        example = FoulExample(
            board=result.board,
            game=result.game,
            seat=foul.seat,
            entrant=result.seats[foul.seat],
            foul=foul.foul,
            detail=foul.detail,
            line=foul.line,
            stderr=("…" if len(foul.stderr) > LAST_WORDS else "") + foul.stderr[-LAST_WORDS:],
            ms=foul.ms,
        )
        examples = [*evidence.get((example.entrant, example.foul), ()), example]
        examples.sort(key=lambda item: (item.board, item.game))
        evidence[example.entrant, example.foul] = examples[:EXAMPLES]


def _read_log(path: Path) -> Iterator[tuple[Sitting | None, _Finished]]:
    """Yield each finished game with the record of the part of its sitting."""
    part: Sitting | None = None
    lines = defaultdict[type, list[Any]](list)
    for record in _records(path):
        match record:
            case Sitting():
                part = record
            case GameRecord():
                lines.clear()
            case Result():
                spent = (lines[SpentRecord] or [None])[-1]
                yield part, _Finished(record, spent, (*lines[FoulRecord],), (*lines[RoundRecord],))
            case _:
                lines[type(record)].append(record)


def _records(path: Path) -> Iterator[LogRecord]:
    """Yield the records about time, fouls and machines."""
    for line in grep_prefix(path, STARTS):
        with suppress(DamagedRecordError):
            yield decode_record(strip_checksum(line))
