"""Facts that only the game logs hold: times, evidence of fouls, sandboxes, machines.

They differ each time an event is played, and not each time they are read. Only the games that the
ledger has count, so that a report can be made and checked again while the event goes on. Damaged
lines are left out; `verify` names them. A report keeps the facts of each log for the next one.
"""

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, combinations, compress, groupby, islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from arena.files import DamagedFileError
from arena.logs.catalog import GAMES_FOLDER, LOG_SUFFIX
from arena.logs.checksummed import FileState, SealedLog, grep_prefix, state_of
from arena.logs.gamelog import read_games
from arena.rules.english import join_words
from protocol import __version__
from protocol.codec import (
    DamagedRecordError,
    decode_record,
    decoder_for,
    encode_json,
    line_start,
    strip_checksum,
)
from protocol.errors import UserError
from protocol.messages import MAX_INFO, WhyRound
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


class RoundScores(Struct, frozen=True, array_like=True):
    """The end of a round."""

    why: WhyRound
    scores: tuple[int, ...]
    """Points of each seat after it."""


class GameCourse(Struct, frozen=True, array_like=True):
    """A finished game: who played it, and how it went."""

    game: str
    board: int
    seats: Seats
    scores: tuple[int, ...]
    rounds: Raw
    """A list of `RoundScores`, which few readers need."""

    @property
    def all_rounds(self) -> list[RoundScores]:
        """Its rounds, decoded."""
        return _decode_rounds(bytes(self.rounds))


_decode_rounds = decoder_for(list[RoundScores])


class LogPart(NamedTuple):
    """Games of a log in a row in which the same entrants have the same seats."""

    log: str
    seats: Seats
    boards: "array[int]"


class PlayedGames:
    """The games of an event: what came of each, and the log that has it."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        # An event has a million games, but few seatings: each game takes some 80 bytes so.
        self._outlines: defaultdict[Seats, dict[int, int]] = defaultdict(dict)
        self._of: defaultdict[str, list[LogPart]] = defaultdict(list)
        self._between: defaultdict[frozenset[str], list[LogPart]] = defaultdict(list)
        self._answers: dict[Key, list[tuple[int, int]]] = {}
        self._boards: dict[int, int] = {}

    def add(self, log: str, courses: Iterable[GameCourse]) -> None:
        """Add games of a log."""
        for seats, games in groupby(courses, attrgetter("seats")):
            if len(self._of) > MOST_BOTS:
                return  # Nobody is compared.
            part, names = LogPart(log, seats, array("i")), frozenset(seats)
            self._between[names].append(part)
            for name in names:
                self._of[name].append(part)
            outlines = self._outlines[seats]
            for course in games:
                board = self._boards.setdefault(course.board, course.board)
                part.boards.append(board)
                outlines[board] = hash((course.scores, bytes(course.rounds)))

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
        logs = {part.log for part in parts if not boards[part.seats].isdisjoint(part.boards)}
        for log in sorted(logs):
            with suppress(DamagedFileError):
                for logged in read_games(self._folder.log(log)):
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


class TimeSum(Struct, array_like=True):
    """The time that an entrant used in games."""

    games: int = 0
    questions: int = 0
    ms: float = 0.0
    worst_ms: float = 0.0
    given_back_ms: float = 0.0
    cpu_questions: int = 0
    """Questions of the games whose CPU time is known."""
    cpu_ms: float = 0.0
    voids: int = 0
    info: dict[str, InfoSum] = {}

    def add(self, more: "TimeSum", most_info: int = MAX_INFO) -> None:
        """Add the time of other games; keep the first so many names of numbers, as in each game."""
        self.games += more.games
        self.questions += more.questions
        self.ms += more.ms
        self.worst_ms = max(self.worst_ms, more.worst_ms)
        self.given_back_ms += more.given_back_ms
        self.cpu_questions += more.cpu_questions
        self.cpu_ms += more.cpu_ms
        self.voids += more.voids
        for name, new in more.info.items():
            if old := self.info.get(name):
                least, most = min(old.least, new.least), max(old.most, new.most)
                total = old.total + new.total
                self.info[name] = InfoSum(old.count + new.count, total, least, most)
            elif len(self.info) < most_info:
                self.info[name] = new

    def stats(self, name: str, *, is_effort: bool) -> TimeStats:
        """Return the sums of the entrant of this name."""
        info = {word: _info_stats(part) for word, part in sorted(self.info.items())}
        timed = self.cpu_questions
        return TimeStats(
            name=name,
            games=self.games,
            questions=self.questions,
            mean_ms=round(self.ms / max(1, self.questions), 3),
            worst_ms=self.worst_ms,
            given_back_ms=round(self.given_back_ms, 3),
            cpu_ms=round(self.cpu_ms / timed, 3) if timed else None,
            voids=self.voids,
            is_effort=is_effort or UNSET,
            info=info or UNSET,
        )


def _info_stats(part: InfoSum) -> InfoStats:
    # The log of a stranger may count no answer.
    mean = part.total / max(1, part.count)
    return InfoStats(part.count, round(mean, 6), part.least, part.most)


def _seat_times(result: Result, spent: SpentRecord) -> Iterator[tuple[str, TimeSum]]:
    """Yield the entrant in each seat of a game with the time that it used there."""
    columns = spent.questions, spent.ms, spent.worst_ms, spent.given_back_ms, spent.cpu_ms
    voids = spent.voids or repeat(0)
    info: Iterable[dict[str, InfoSum]] = spent.info or ({} for _ in result.seats)
    seats = zip(result.seats, *columns, voids, info, strict=False)
    for name, questions, ms, worst_ms, given_back_ms, cpu_ms, starts, numbers in seats:
        timed = 0 if cpu_ms is None else questions
        time_used = questions, ms, worst_ms, given_back_ms, timed, cpu_ms or 0.0
        yield name, TimeSum(1, *time_used, voids=starts, info=numbers)


def add_times(
    total: dict[str, TimeSum], times: Iterable[tuple[str, TimeSum]], most_info: int = MAX_INFO
) -> None:
    """Add times of entrants to their total; `most_info`: see `TimeSum.add`."""
    for name, seat_time in times:
        if name not in total:
            total[name] = TimeSum()
        total[name].add(seat_time, most_info)


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


FoulExamples = defaultdict[tuple[str, FoulClass], list[FoulExample]]
"""Fouls by entrant and class."""


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
    rounds: dict[str, list[RoundScores]]
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


class _LogSums(Struct, array_like=True):
    """The facts of some games of a log."""

    games: list[GameCourse] = []
    spent: dict[str, TimeSum] = {}
    """The time of each entrant."""
    worst_lag_ms: float = 0.0
    places: list[tuple[_Place, int]] = []
    """The places that played parts of the sitting, each with its number of games."""
    sealed: set[str] = set()
    """Entrants whose time is counted in instructions."""
    evidence: list[FoulExample] = []
    """The first fouls of each entrant and class."""


Games = Collection[str] | None


class _Facts:
    """The facts of logs so far."""

    def __init__(self, folder: Folder, listed: Games) -> None:
        """Begin with none; keep the rounds of games that are `listed` only, or of all."""
        self._listed = listed
        self._spent: dict[str, TimeSum] = {}
        self._worst_lag_ms = 0.0
        self._sealed: set[str] = set()
        # Not the sittings: each takes 3 kB, and an event may have a hundred thousand.
        self._places = Counter[frozenset[_Place]]()
        self._sandboxes = defaultdict[str, Counter[str]](Counter)
        self._rounds: dict[str, list[RoundScores]] = {}
        self._evidence = FoulExamples(list)
        self._played = PlayedGames(folder)

    def add(self, log: str, sums: _LogSums) -> None:
        """Add those of a log."""
        for course in sums.games:
            if self._listed is None or course.game in self._listed:
                self._rounds[course.game] = course.all_rounds
        self._played.add(log, sums.games)
        add_times(self._spent, sums.spent.items())
        self._worst_lag_ms = max(self._worst_lag_ms, sums.worst_lag_ms)
        if sums.places:
            self._places[frozenset(place for place, _ in sums.places)] += 1
        for place, games in sums.places:
            if place.worker:
                self._sandboxes[place.worker][place.sandbox] += games
        self._sealed |= sums.sealed
        _keep_first(self._evidence, sums.evidence)

    def collected(self) -> LogFacts:
        """Return them."""
        machines, fouls = Counter[Machine](), self._evidence
        for places, count in self._places.items():
            machines.update(dict.fromkeys({place.machine for place in places}, count))
        return LogFacts(
            times=self._times(),
            evidence=tuple(example for key in sorted(fouls) for example in fouls[key]),
            sandboxes=tuple(_sandboxes(self._places)),
            rounds=self._rounds,
            machines=tuple(sorted(machines.items(), key=lambda pair: (-pair[1], pair[0]))),
        )

    def _times(self) -> Times:
        workers = tuple(
            WorkerGames(worker=name, sandbox=tuple(sorted(states)), games=states.total())
            for name, states in sorted(self._sandboxes.items())
        )
        entrants = tuple(
            seat_time.stats(name, is_effort=name in self._sealed)
            for name, seat_time in sorted(self._spent.items())
        )
        return Times(
            entrants=entrants,
            worst_lag_ms=self._worst_lag_ms,
            workers=workers,
            same_bots=self._played.same_bots(),
        )


def log_facts(folder: Folder, games: Games = None, listed: Games = None) -> LogFacts:
    """Collect the facts of these games, or of all; the rounds only of those that are `listed`."""
    facts = _Facts(folder, listed)
    for log in sorted(folder.log_names()):
        facts.add(log, _read_log(folder.log(log), games))
    return facts.collected()


class _KeptLog(Struct, frozen=True):
    """A line of the file of kept facts: those of all games of a log."""

    log: str
    state: FileState
    sums: _LogSums


_decode_kept = decoder_for(_KeptLog)
KEPT_BY = crc32(__version__.encode() + Path(__file__).read_bytes())
"""The checksum before the first line of kept facts: those that other code collected do not fit."""


def keep_facts(folder: Folder, games: Collection[str], listed: Games) -> LogFacts:
    """Collect the same facts, but read only the logs that have changed since the last call.

    A file has those of the others; it is written anew from the first change on, and keeps lines of
    logs that are gone until then. Without it, as on a full disk, all are read.
    """
    facts = _Facts(folder, listed)
    # To read the logs of 100,000 games takes 4 to 10 s, and perhaps only twenty games are new.
    with suppress(OSError, UserError):
        lines = _kept_lines(folder, games, facts)
        for same, (log, is_same) in enumerate(lines):
            if not is_same:
                logs = chain([log], (log for log, _ in lines))
                _kept_file(folder).rewrite(logs, 0o600, sync=False, kept=same)
        return facts.collected()
    return log_facts(folder, games, listed)


def _kept_file(folder: Folder) -> SealedLog[_KeptLog]:
    return SealedLog(folder.facts, _decode_kept, first=KEPT_BY)


def _kept_lines(
    folder: Folder, games: Collection[str], facts: _Facts
) -> Iterator[tuple[_KeptLog, bool]]:
    """Yield the facts of each log, and whether the file has them in the same line.

    Add those of these games to the `facts`. Raises OSError.
    """
    before, place = _read_kept(folder), f"{folder.path / GAMES_FOLDER}"
    number, known = next(before, NO_LINE)
    for line, log in enumerate(sorted(folder.log_names())):
        # Anybody may have put a file there whose name is no text.
        name = log.encode(errors="replace").decode()
        state = state_of(f"{place}/{log}{LOG_SUFFIX}")
        while known and known.log < name:
            number, known = next(before, NO_LINE)
        kept, is_same = known, number == line
        if not kept or (kept.log, kept.state) != (name, state):
            kept, is_same = _KeptLog(name, state, _read_log(folder.log(log), None)), False
        yield kept, is_same
        counts = all(course.game in games for course in kept.sums.games)
        facts.add(log, kept.sums if counts else _read_log(folder.log(log), games))


NO_LINE = -1, None


def _read_kept(folder: Folder) -> Iterator[tuple[int, _KeptLog | None]]:
    """Yield the facts of logs that are kept, up to damage, with the numbers of their lines."""
    with suppress(OSError, DamagedFileError):
        yield from enumerate(_kept_file(folder).read())


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


def _examples(result: Result, fouls: Iterable[FoulRecord]) -> Iterator[FoulExample]:
    """Yield the fouls of a game as the report shows them."""
    for foul in fouls:
        if foul.seat >= len(result.seats):
            continue  # The log of a stranger; `verify` names it.
        yield FoulExample(
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


def _keep_first(evidence: FoulExamples, fouls: Iterable[FoulExample]) -> None:
    """Add fouls to those of their entrants and classes; keep only the first few of each."""
    for foul in fouls:
        examples = evidence[foul.entrant, foul.foul]
        examples.append(foul)
        examples.sort(key=lambda example: (example.board, example.game))
        del examples[EXAMPLES:]


def _read_log(path: Path, games: Games) -> _LogSums:
    """Return the facts of those games of a log that are among these, or of all."""
    sums, places, evidence = _LogSums(), Counter[_Place](), FoulExamples(list)
    place: _Place | None = None
    sealed: list[bool] = []
    lines = defaultdict[type, list[Any]](list)
    for record in _records(path):
        match record:
            case Sitting():
                place = _place_of(record)
                sealed = [clock.effort is not UNSET for clock in record.seat_clocks]
            case GameRecord():
                lines.clear()
            case Result() if games is None or record.game in games:
                if place:
                    places[place] += 1
                sums.sealed.update(compress(record.seats, sealed))
                for spent in lines[SpentRecord][-1:]:
                    sums.worst_lag_ms = max(sums.worst_lag_ms, spent.worst_lag_ms)
                    # All names of numbers: which are the first of all games, the total tells.
                    add_times(sums.spent, _seat_times(record, spent), sys.maxsize)
                sums.games.append(_course(record, lines[RoundRecord]))
                _keep_first(evidence, _examples(record, lines[FoulRecord]))
            case _:
                lines[type(record)].append(record)
    sums.places = [*places.items()]
    sums.evidence = [*chain.from_iterable(evidence.values())]
    return sums


def _course(result: Result, ends: Iterable[RoundRecord]) -> GameCourse:
    rounds = Raw(encode_json([RoundScores(end.why, end.scores) for end in ends]))
    return GameCourse(result.game, result.board, result.seats, result.scores, rounds)


def _place_of(sitting: Sitting) -> _Place:
    machine = Machine(sitting.machine, sitting.boneyard)
    return _Place(machine, sitting.sandbox, sitting.missing, sitting.worker)


def _records(path: Path) -> Iterator[LogRecord]:
    """Yield the records about time, fouls and machines."""
    for line in grep_prefix(path, STARTS):
        with suppress(DamagedRecordError):
            yield decode_record(strip_checksum(line))
