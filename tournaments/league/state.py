"""The state of a league, read from its files: register, rounds, results, benches, journal."""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.files import append_atomic, open_append, read_file
from arena.logs.checksummed import read_plain, truncate_torn_line
from arena.rules.english import count_in_digits
from protocol.codec import DamagedRecordError, decode_json, encode_json, printable_lines
from protocol.errors import UserError
from protocol.records import Hex32, Result
from protocol.ruleset import Ruleset
from tournaments.event.book import results_of
from tournaments.event.facts import Times
from tournaments.event.folder import Folder, content, load_event
from tournaments.formats.base import VersionName, first_version
from tournaments.league.settings import (
    CLOSED_FILE,
    PLAN,
    TRIES_FILE,
    DivisionSettings,
    LeagueFolder,
    LeagueSettings,
    division_rules,
    load_settings,
)
from tournaments.plan.event import EntrantName, Event
from tournaments.rating.tables import fouls_committed, own_fouls

# The records of a league: the lines of its register, and the plans of its rounds.
#
# Times are UTC in ISO 8601 to the second, such as 2026-11-22T20:00:00Z.


TIME = "%Y-%m-%dT%H:%M:%SZ"
"""The form of times, for strftime."""
UtcTime = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?!\n)$")]
LONGEST_WORDS = 20_000
"""Characters of a text in a record."""
Words = Annotated[str, Meta(max_length=LONGEST_WORDS)]
"""A text of ours or of an author; whoever shows it escapes it."""


def one_line(words: str, longest: int) -> str:
    """Return words on one line, cut to `longest` characters, without any that steers a terminal."""
    line = " ".join(printable_lines(words).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class CheckedStep(Struct, frozen=True, forbid_unknown_fields=True):
    """A step of the check of a bot."""

    name: str
    """The step's name, as `boneyard check --list` has it; if it failed, with its title."""
    verdict: str
    """passed, failed, warned or skipped."""
    words: Words
    """Its explanation for the author; empty if it passed."""


class CheckSummary(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The check of a version, in words for its author."""

    verdict: str
    """The verdict of all steps together."""
    steps: tuple[CheckedStep, ...]
    sandbox: str
    """Sandbox level in which the bot ran."""
    seconds: float
    question_ms: float = 0.0
    """Mean time for a question, in ms, of a sealed bot in million instructions; 0: not measured."""

    @property
    def groups(self) -> list[tuple[str, str, list[str]]]:
        """Verdict, words and names of the steps that ended alike; those that failed stand first."""
        groups: dict[tuple[str, str], list[str]] = {}
        for step in self.steps:
            groups.setdefault((step.verdict, step.words), []).append(step.name)
        rows = [(*alike, names) for alike, names in groups.items()]
        return sorted(rows, key=lambda row: row[0] != "failed")

    @property
    def outcome(self) -> str:
        """Its result in a line."""
        counted = Counter(step.verdict for step in self.steps if step.verdict != "warned")
        steps = count_in_digits(counted["passed"], "step")
        if failed := counted["failed"]:
            return f"Failed the check ({failed} of {count_in_digits(counted.total(), 'step')})"
        if self.verdict != "passed":
            return f"Did not finish the check ({steps} passed)"
        # A bot that takes long is asked in some steps for as long as there is time.
        late = sum("time was up" in step.words for step in self.steps)
        idle = f"; {skipped} do not apply" if (skipped := counted["skipped"] - late) else ""
        return f"Passed the check ({steps}{idle}{f'; time was up in {late}' if late else ''})"


class RegisterEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A line of the register."""

    time: UtcTime
    """Time at which it was written."""
    bot: EntrantName
    """The bot: the name of its folder."""


class Admitted(RegisterEntry, frozen=True, tag="admitted", kw_only=True):
    """A new version that plays from now on, in place of the bot's earlier one."""

    version: VersionName
    """Its name in all tables: `mine`, then `mine@2`."""
    fingerprint: Hex32
    """SHA-256 of all files of the push."""
    house: bool = False
    """True for a sample bot that always plays."""
    about: Annotated[str, Meta(max_length=200)] = ""
    """A line of description, by the author."""
    author: Annotated[str, Meta(max_length=80)] = ""
    """The author's name."""
    divisions: tuple[EntrantName, ...] = ()
    """The divisions that it enters; none: all."""
    check: CheckSummary | None = None
    """Its check; None for a house bot."""


class Refused(RegisterEntry, frozen=True, tag="refused", kw_only=True):
    """A push that does not play; the bot's earlier version plays on."""

    fingerprint: str
    """SHA-256 of all files of the push, or of the reason where they cannot be read; empty if they
    were not read, because the bot changes too often."""
    why: Words
    check: CheckSummary | None = None
    """The check that it failed; None if it came to no check."""


class Withdrawn(RegisterEntry, frozen=True, tag="withdrawn", kw_only=True):
    """A bot whose folder is gone, or that says that it is withdrawn."""

    version: VersionName
    """The version that plays no more."""


AnyEntry = Admitted | Refused | Withdrawn


class ChosenTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a round, and the reason for it."""

    entrants: tuple[VersionName, ...]
    """The versions that meet, sorted by name."""
    why: str
    """The reason in words for readers."""
    gain: float
    """The estimated shrinking of the intervals that matter, by which it was chosen."""


FINAL_METHOD = "final 1"
"""Name of the method that lets the first of the standings all meet each other."""


PRACTICE_METHOD = "practice 1"
"""Name of the method that seats a new version with the bots that its author asks for."""


class RoundPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan of a round: the inputs of the choice that are in no ledger, and its outcome."""

    method: str
    """Name of the method by which the tables were chosen."""
    number: Annotated[int, Meta(ge=1, le=10_000_000)]
    """Number of the round in its division, from 1."""
    division: EntrantName
    time: UtcTime
    active: tuple[VersionName, ...]
    """Versions that could be chosen, sorted by name."""
    held: dict[VersionName, str]
    """Versions that were held out, and why."""
    boards: Annotated[int, Meta(ge=1, le=1000)]
    most_tables: Annotated[int, Meta(ge=1)]
    """The most tables that the round could have."""
    until: float | None
    """Half width in Elo at which an interval was narrow enough; None: there was no such bound."""
    register: Hex32
    """SHA-256 of the register as it was."""
    anchor: EntrantName
    """The version over which ratings are given."""
    tables: tuple[ChosenTable, ...]
    newcomers: tuple[VersionName, ...] = ()
    """Versions of which each table has at least one, since only they had boards left, or are slow;
    none: any table could be chosen."""

    @property
    def title(self) -> str:
        """Its division and number."""
        if self.is_practice:
            return f"{self.division} practice of {self.newcomers[0]}"
        return f"{self.division} round {self.number}{' (final)' if self.is_final else ''}"

    @property
    def is_final(self) -> bool:
        """True for the final of a league that is closed."""
        return self.method == FINAL_METHOD

    @property
    def is_practice(self) -> bool:
        """True for games that are rated for nobody, which the first of the newcomers asked for."""
        return self.method == PRACTICE_METHOD


class EarlyEnd(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The end of a round that could not be played to its end, or of a version that fouls."""

    time: UtcTime
    why: Words


# The log of a league, league.log: one readable line for each event.


MAX_LOG_BYTES = 2**22
"""Size of the log, in bytes, from which on it becomes league.log.1 and a new one begins."""
MAX_WORDS_LENGTH = 400
"""Most characters of an event's words: some come from authors."""
KIND_COLUMNS = 9
"""Columns for the kind of an event."""


class Journal:
    """The log, which the terminal shows too."""

    def __init__(
        self, path: Path, clock: Callable[[], datetime], show: Callable[[str], None]
    ) -> None:
        self._path = path
        self._clock = clock
        self._show = show
        self._states: dict[str, str] = {}

    def note(self, kind: str, words: str) -> None:
        """Add a line. A disk that is full loses the line, not the league."""
        text = one_line(words, MAX_WORDS_LENGTH)
        line = f"{self._clock():%Y-%m-%d %H:%M:%S} {kind:<{KIND_COLUMNS}} {text}"
        with suppress(OSError):
            if self._path.exists() and self._path.stat().st_size > MAX_LOG_BYTES:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            with open_append(self._path) as descriptor:
                append_atomic(descriptor, f"{line}\n".encode())
        # Last: whoever has seen a line finds it in the log.
        self._show(line)

    def note_state(self, kind: str, words: str) -> None:
        """Add a line about a state that lasts, if it is new; without words the state is over."""
        if words and self._states.get(kind) != words:
            self.note(kind, words)
        self._states[kind] = words


def describe_entry(entry: AnyEntry) -> tuple[str, str]:
    """Return the kind of an entry of the register, and its words."""
    match entry:
        case Admitted():
            author = f" by {entry.author}" if entry.author else ""
            checked = f": {entry.check.outcome}" if entry.check else " (house bot)"
            return "admitted", f"{entry.version}{author}{checked}"
        case Refused():
            return "refused", f"{entry.bot}: {entry.why}"
    return "withdrawn", entry.version


# The register of a league: its lines, the history of each bot in them, and its growth.


NOT_READ = ""
"""The fingerprint in a refusal of a push that was not read, because its author pushes too often."""


class BotHistory:
    """All that the register has about a bot."""

    def __init__(self) -> None:
        self.admitted: list[Admitted] = []
        self.refused: dict[str, Refused] = {}
        """The last refusal of each push, by fingerprint, the latest last."""
        self.present: Admitted | None = None
        """The version that plays, or would if it were not benched; None: the bot has withdrawn."""
        self.last: AnyEntry | None = None
        """The last line about it."""
        self.times: list[str] = []
        """The times of all lines about pushes that were read."""

    def add(self, entry: AnyEntry) -> None:
        """Take in the next line."""
        self.last = entry
        if not isinstance(entry, Refused) or entry.fingerprint != NOT_READ:
            self.times.append(entry.time)
        match entry:
            case Refused():
                self.refused.pop(entry.fingerprint, None)
                self.refused[entry.fingerprint] = entry
            case Admitted():
                self.admitted.append(entry)
                self.present = entry
            case Withdrawn():
                self.present = None

    @property
    def is_house(self) -> bool:
        """True for a sample bot that plays in the league's name."""
        return bool(self.admitted) and self.admitted[0].house


def bot_histories(entries: Iterable[AnyEntry]) -> defaultdict[str, BotHistory]:
    """Return the history of each bot of a register; any other bot has an empty one."""
    histories = defaultdict[str, BotHistory](BotHistory)
    for entry in entries:
        histories[entry.bot].add(entry)
    return histories


def active_versions(
    histories: Mapping[str, BotHistory], house: Collection[str], division: str
) -> list[str]:
    """Return the versions that play in a division by the bots' histories, sorted by name."""
    present = (history.present for history in histories.values())
    return sorted(
        entry.version
        for entry in present
        if entry
        and (not entry.house or entry.bot in house)
        and (not entry.divisions or division in entry.divisions)
    )


def read_register(path: Path) -> Iterator[AnyEntry]:
    """Yield the lines of a register, the oldest first. Raises DamagedFileError."""
    # A kill may have cut the last line short; who appends next removes it.
    return read_plain(path, decode_entry, torn=True)


def register_digests(path: Path) -> list[str]:
    """Return the SHA-256 of the register after each of its whole lines; the first is of none."""
    running = sha256()
    digests = [running.hexdigest()]
    for line in content(path).splitlines(keepends=True):
        if line.endswith(b"\n"):
            running.update(line)
            digests.append(running.hexdigest())
    return digests


def decode_entry(line: bytes) -> AnyEntry:
    """Read a line of a register. Raises DamagedRecordError."""
    kind: Any = AnyEntry
    entry: AnyEntry = decode_json(line, kind)
    return entry


def append_entry(path: Path, entry: AnyEntry) -> AnyEntry:
    """Append a line to a register and wait until the disk has it; return what was written.

    The register is public, so the folders of the league and of its Python are left out where a bot
    or a compiler names them. Raises OSError, and DamagedRecordError for an entry that nobody could
    read again.
    """
    line = encode_json(entry)
    for folder in (path.parent.resolve(), Path(sys.executable).parent):
        line = line.replace(encode_json(f"{folder}/").strip(b'"'), b"")
    public_entry = decode_entry(line)
    truncate_torn_line(path)
    with open_append(path) as descriptor:
        append_atomic(descriptor, line + b"\n")
        os.fsync(descriptor)
    return public_entry


# The state of a league, read from its files: the register, the rounds and their results.


R = TypeVar("R")
ROUNDS_TIMED = 100
"""The number of last rounds whose times are added up."""


class PlayedRound(Struct, frozen=True, kw_only=True):
    """A round of a division, over or not."""

    plan: RoundPlan
    """The inputs and the outcome of the choice of its tables."""
    folder: Folder
    event: Event
    is_over: bool
    """True if no game of it will be played any more."""
    closed: EarlyEnd | None
    """The reason why it ended before all its games were played; None if it did not."""
    results: list[Result]
    """Results that count, in the order of its ledger, with boards as numbered there."""
    first_board: int
    """Number that is added to its boards to tell them from those of other rounds."""

    @property
    def day(self) -> str:
        """Day on which it was chosen, such as 2026-11-22."""
        return self.plan.time[:10]

    @property
    def is_tried(self) -> bool:
        """True if it is being played, or was when this program was killed."""
        return (self.folder.path / TRIES_FILE).exists()

    @property
    def week(self) -> str:
        """ISO week in which it was chosen, such as 2026-W47."""
        return week_of(parse_time(self.plan.time))


class DivisionData(Struct, frozen=True, kw_only=True):
    """A division with all its rounds."""

    settings: DivisionSettings
    rules: Ruleset
    seats: int
    rounds: list[PlayedRound]
    """Its rounds, in order; only the last may be still played."""

    @property
    def over(self) -> list[PlayedRound]:
        """Its rounds that are over."""
        return [round for round in self.rounds if round.is_over]

    @property
    def playing(self) -> PlayedRound | None:
        """Its round that is not over."""
        return next((round for round in self.rounds if not round.is_over), None)

    @property
    def final(self) -> PlayedRound | None:
        """Its final, over or not; None if none was begun since the league closed."""
        return next((round for round in self.rounds[-1:] if round.plan.is_final), None)

    def results(self) -> Iterator[Result]:
        """Yield the results of all rounds that are over; no board number stands for two boards."""
        for round in self.over:
            for result in round.results:
                yield replace(result, board=result.board + round.first_board)

    def thinking(self) -> Mapping[str, tuple[float, float]]:
        """Return each version's mean ms for a question, and its share of all time, of late."""
        questions, spent = Counter[str](), defaultdict[str, float](float)
        for round in self.over[-ROUNDS_TIMED:]:
            # A round that was closed may have no reports.
            with suppress(OSError, DamagedRecordError):
                for row in decode_json(read_file(round.folder.times), Times).entrants:
                    questions[row.name] += row.questions
                    spent[row.name] += row.questions * row.mean_ms
        total = sum(spent.values())
        return {name: (ms / questions[name], ms / total) for name, ms in spent.items() if ms}

    def copies(self) -> Mapping[frozenset[str], int]:
        """Return each two versions of two bots that answered all comparable questions alike.

        The number is that of the questions. Two that met at a table in a round whose files do not
        say so answered otherwise there.
        """
        questions, differ = Counter[frozenset[str]](), set[frozenset[str]]()
        for round in self.over:
            with suppress(OSError, DamagedRecordError):
                times = decode_json(read_file(round.folder.times), Times)
                alike = {pair: g.questions for g in times.same_bots for pair in _pairs(g.names)}
                # A single board may ask too few questions to tell.
                tables = round.plan.tables if round.plan.boards > 1 else ()
                differ |= {pair for t in tables for pair in _pairs(t.entrants)} - alike.keys()
                questions.update(alike)
        return {pair: questions[pair] for pair in questions.keys() - differ}

    def boards_in(self, week: str) -> int:
        """Count the boards that the rounds of a week play: one for each table and deal."""
        return sum(
            len(round.plan.tables) * round.plan.boards
            for round in self.rounds
            if round.week == week
        )


class LeagueData(Struct, frozen=True, kw_only=True, dict=True):
    """A league as its files tell it."""

    folder: LeagueFolder
    settings: LeagueSettings
    register: list[AnyEntry]
    """Its register, the oldest line first."""
    divisions: Mapping[str, DivisionData]
    """Its divisions, in the order of the settings."""

    @cached_property
    def histories(self) -> Mapping[str, BotHistory]:
        """The history of each bot in the register, in the order in which the bots came."""
        return bot_histories(self.register)

    @cached_property
    def emblems(self) -> Mapping[str, int]:
        """Number of the emblem of each bot and of its versions: it never changes."""
        numbers = {bot: number for number, bot in enumerate(self.histories)}
        return {name: numbers[entry.bot] for name, entry in self.versions.items()} | numbers

    @cached_property
    def versions(self) -> Mapping[str, Admitted]:
        """Every version that was ever admitted, by name, the oldest first."""
        return {entry.version: entry for entry in self.register if isinstance(entry, Admitted)}

    @property
    def rounds(self) -> list[PlayedRound]:
        """The rounds of all divisions."""
        return [round for division in self.divisions.values() for round in division.rounds]

    @property
    def last_rounds(self) -> list[PlayedRound]:
        """The last round of each division that has one."""
        return [round for division in self.divisions.values() for round in division.rounds[-1:]]

    @property
    def latest(self) -> str:
        """The latest time in its files; empty if there is none."""
        rounds = self.rounds
        times = [record.time for record in (*self.register, *(each.plan for each in rounds))]
        return max([*times, *(round.closed.time for round in rounds if round.closed)], default="")

    def active(self, division: str) -> list[str]:
        """Return the versions that play in a division, sorted by name: the present one of each bot.

        Benched ones are among them.
        """
        return active_versions(self.histories, self.settings.house, division)


def _pairs(names: Iterable[str]) -> Iterator[frozenset[str]]:
    """Yield each two of these versions that are of two bots."""
    for pair in combinations(names, 2):
        if len({*map(first_version, pair)}) > 1:
            yield frozenset(pair)


def read_league(
    path: Path, earlier: LeagueData | None = None, settings: LeagueSettings | None = None
) -> LeagueData:
    """Read a league; with `settings` these hold, whatever its file says now.

    Rounds that were over in `earlier`, what was read of it before, are not read again.
    Raises UserError, DamagedFileError.
    """
    folder = LeagueFolder(path)
    if settings is None:
        if not folder.settings.is_file():
            raise UserError(f"{path} has no league: {folder.settings.name} is missing.")
        settings = load_settings(folder.settings)
    return LeagueData(
        folder=folder,
        settings=settings,
        register=list(read_register(folder.register)),
        divisions={
            division.name: _read_division(
                folder, division, earlier.divisions.get(division.name) if earlier else None
            )
            for division in settings.divisions
        },
    )


def _read_division(
    folder: LeagueFolder, settings: DivisionSettings, earlier: DivisionData | None
) -> DivisionData:
    rules, seats = division_rules(settings, folder.path)
    over = {r.folder.path: r for r in (earlier.rounds if earlier else ()) if r.is_over}
    rounds: list[PlayedRound] = []
    first = 0
    for path in folder.rounds_of(settings.name):
        rounds.append(over.get(path) or read_round(path, first))
        first += rounds[-1].event.all_boards
    if rounds and (rounds[-1].event.rules, rounds[-1].event.seats) != (rules, seats):
        raise UserError(
            f"{folder.settings}: the rules or seats of division {settings.name} have changed since "
            "it was first played. Give a game of other rules a division of another name."
        )
    return DivisionData(settings=settings, rules=rules, seats=seats, rounds=rounds)


def read_round(path: Path, first_board: int) -> PlayedRound:
    """Read a round's folder. Raises UserError, DamagedFileError."""
    plan = _read_record(path / PLAN, RoundPlan)
    closed = _read_record(path / CLOSED_FILE, EarlyEnd) if (path / CLOSED_FILE).exists() else None
    folder = Folder(path)
    event = load_event(folder)
    results = list(results_of(folder.ledger, event))
    games = len(plan.tables) * event.boards * _seatings(event)
    return PlayedRound(
        plan=plan,
        folder=folder,
        event=event,
        is_over=closed is not None or len(results) >= games,
        closed=closed,
        results=_of_whole_boards(event, results) if closed else results,
        first_board=first_board,
    )


def _read_record(path: Path, kind: type[R]) -> R:
    try:
        return decode_json(read_file(path), kind)
    except DamagedRecordError as error:
        raise UserError(f"{path}: {error}.") from error


def _of_whole_boards(event: Event, results: list[Result]) -> list[Result]:
    """Return the results of boards that their table has played in every seating.

    Otherwise a bot that can stop us would choose the rotations that count.
    """
    seatings = _seatings(event)
    played = Counter((result.board, frozenset(result.seats)) for result in results)
    return [r for r in results if played[r.board, frozenset(r.seats)] == seatings]


def _seatings(event: Event) -> int:
    """Return in how many seatings a table plays each board."""
    mixed = event.rules.deal.partners and not event.teams
    return event.seats * (3 if mixed else 1)


# --- times ---


def write_utc(moment: datetime) -> str:
    """Write a time as the records have it."""
    return moment.astimezone(UTC).strftime(TIME)


def parse_time(text: str) -> datetime:
    """Read a time of a record."""
    return datetime.strptime(text, TIME).replace(tzinfo=UTC)


def shown_time(moment: datetime | str, zone: str) -> str:
    """Return a time, perhaps of a record, for readers in a time zone: 22 Nov 2026, 21:00 CET."""
    moment = parse_time(moment) if isinstance(moment, str) else moment
    moment = moment.astimezone(ZoneInfo(zone))
    # Windows has no sign for a day without its zero.
    return f"{moment.day} {moment:%b %Y, %H:%M %Z}"


def week_of(moment: datetime) -> str:
    """Return the ISO week of a time in UTC, such as 2026-W47."""
    return f"{moment.astimezone(UTC):%G-W%V}"


# Benches for fouls. They follow from the rounds that are over, so they can be computed again.
#
# A version is benched in a division once it has fouled in so many sittings in a row, in the order
# of the ledgers, and stays so until its bot changes. Only fouls of its own count: neither games
# that it had forfeited before, nor what the machine spoils, which is void and in no ledger, nor
# `late` in a round in which a house bot was late too, since the machine was too slow for anybody. A
# foul loses its game, so it spares no bot a strong opponent; and a benched version has no rank, so
# that nobody keeps a lucky rating by fouling on purpose. House bots are never held: they carry the
# ratings.


BENCHED = "benched until it changes"
"""The last words of the reason for a bench."""
FOUL_VERBS = {"gone": "crashed", "no_hello": "did not start", "late": "was late"}
"""Fouls in words for authors; others are "fouled"."""


def held_versions(league: LeagueData, division: DivisionData) -> dict[str, str]:
    """Return the active versions that a division must not choose now, each with the reason."""
    quota, house = league.settings.quota, league.settings.house
    ends = benched_versions(division.rounds, quota.foul_sittings, house)
    return {name: ends[name].why for name in league.active(division.settings.name) if name in ends}


def benched_versions(
    rounds: Iterable[PlayedRound], sittings: int, house: Collection[str]
) -> dict[str, EarlyEnd]:
    """Return versions that fouled in `sittings` sittings in a row, with the last round's time."""
    streak = defaultdict[str, list[str]](list)
    benches: dict[str, EarlyEnd] = {}
    count = count_in_digits(sittings, "sitting", "sittings in a row")
    for round in rounds:
        for name, foul in _sittings(round, house) if round.is_over else ():
            # Of a house bot, which is never benched, no more is kept than counts.
            streak[name] = (
                [*streak[name], FOUL_VERBS.get(foul, "fouled")][-sittings:] if foul else []
            )
            if len(streak[name]) >= sittings and first_version(name) not in house:
                words = streak[name][0] if len({*streak[name]}) == 1 else "fouled"
                why = f"{words} in {count}, the last in round {round.plan.number}: {BENCHED}"
                benches.setdefault(name, EarlyEnd(time=round.plan.time, why=why))
    return benches


def describe_fouls(round: PlayedRound) -> Iterator[str]:
    """Yield in how many games of a round each version fouled, those of most games first."""
    games = Counter(
        name
        for result in round.results
        for name in {result.seats[seat] for seat in own_fouls(result)}
    )
    for name, count in games.most_common():
        yield f"{name} fouled in {count_in_digits(count, 'game')}"


def _sittings(round: PlayedRound, house: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield for each sitting of a round its entrants, and their first foul in it, or nothing."""
    committed = [
        (result.seats, result.seats[foul.seat], foul.foul)
        for result in round.results
        for foul in fouls_committed(result)
    ]
    slow = any(foul == "late" and first_version(name) in house for _, name, foul in committed)
    fouls = {result.seats: dict[str, str]() for result in round.results}
    for seats, name, foul in committed:
        if not (slow and foul == "late"):
            fouls[seats].setdefault(name, foul)
    for seats, classes in fouls.items():
        yield from ((name, classes.get(name, "")) for name in dict.fromkeys(seats))
