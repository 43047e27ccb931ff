"""The book of an event, to read: results, earlier plans; its ledger, to write; checks for losses.

A book has plan, results and logs as they were when it was opened; only its `Ledger` adds results.
"""

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, overload

from msgspec import Struct, msgpack

from arena.engine.shuffle import board_seed
from arena.files import DamagedFileError, read_file
from arena.logs import checksummed
from arena.logs.catalog import published_seeds
from arena.logs.checksummed import grep_prefix, read_lines, read_plain
from arena.logs.gamelog import GameLog, is_over, read_games, sitting_lines
from arena.machine import release_memory
from protocol.codec import (
    DamagedRecordError,
    decode_json,
    decode_record,
    decode_result,
    line_start,
    strip_checksum,
)
from protocol.errors import UserError, suggestion
from protocol.records import FoulClass, GameRecord, Result, Sitting, UsageSum
from tournaments.event.facts import Times, log_facts
from tournaments.event.folder import Folder, SeedOf, load_event, secret_of
from tournaments.event.luck import LuckStore, MapTasks
from tournaments.formats.base import Entrant, LuckSource
from tournaments.plan.event import Event
from tournaments.plan.schedule import (
    GameIndex,
    PlannedGame,
    PlannedSitting,
    Stage,
    count_all_games,
    count_coming_games,
    has_one_of,
    ledger_order,
    planned,
    retired_games,
    sittings,
    spent_out,
    stages,
    stopped_entrants,
    withdrawn_results,
)
from tournaments.rating.tables import Corrections, Ratings, add_usage, sum_usage

if TYPE_CHECKING:
    from tournaments.rating.tally import Tally

# Compact storage of results in memory: each is encoded, and decoded on demand.
#
# A Result takes about a kilobyte; here a game of two takes some 300 bytes.


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(Result).decode


class ResultStore(Mapping[str, Result]):
    """Results by game, in the order in which they were added; the first result of a game counts.

    It may be read while results are added.
    """

    def __init__(self, results: Iterable[Result] = (), luck: LuckSource | None = None) -> None:
        """Add these results; `luck` knows the luck of their games."""
        self._rows: dict[str, int] = {}
        self._encoded: list[bytes] = []
        self.repeats = 0
        """Results that do not count because their game had one."""
        self.take_luck(luck)
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """Add a result, unless its game has one."""
        if result.game not in self._rows:
            self._encoded.append(_encode(result))
            self._rows[result.game] = len(self._encoded) - 1
        else:
            self.repeats += 1

    def take_luck(self, luck: LuckSource | None) -> None:
        """Let this source tell the luck of the games from now on."""
        self.luck = luck
        if luck:
            luck.played = self.values

    def at(self, row: int) -> Result:
        """Return the result in a row; rows count from 0 in the order of arrival."""
        return _decode(self._encoded[row])

    def digest(self, rows: Iterable[int]) -> str:
        """Return the BLAKE2 hash of the results in these rows, in hex."""
        encoded = b"".join(self._encoded[row] for row in rows)
        return hashlib.blake2b(encoded, digest_size=16).hexdigest()

    def first(self, count: int | None = None) -> "Rows":
        """Return the first `count` results, or all results so far."""
        return Rows(self, range(len(self))[:count])

    def beginning(self, count: int) -> "ResultStore":
        """Return a store of the first `count` results."""
        return self if count >= len(self) else ResultStore(self.first(count), self.luck)

    def row_of(self, game: str) -> int:
        """Return the row of a game's result; KeyError without one."""
        return self._rows[game]

    def arranged(self, rows: Sequence[int], luck: LuckSource | None) -> "ResultStore":
        """Return a store of the results in these rows, in this order; it shares their memory.

        If they are all, the results here take this order too.
        """
        store, games = ResultStore(luck=luck), [*self._rows]
        store._rows = {games[row]: place for place, row in enumerate(rows)}
        store._encoded = [self._encoded[row] for row in rows]
        if len(store) == len(self):
            # The places of a million games take 110 MB.
            self._rows, self._encoded = store._rows, store._encoded
        return store

    def __getitem__(self, game: str) -> Result:
        """Return the result of a game; KeyError without one."""
        return self.at(self._rows[game])

    def __contains__(self, game: object) -> bool:
        return game in self._rows

    def __iter__(self) -> Iterator[str]:
        # A copy: results may be added meanwhile.
        return iter([*self._rows])

    def __len__(self) -> int:
        return len(self._rows)


class Rows(Sequence[Result]):
    """Some rows of a store as a sequence."""

    def __init__(self, store: ResultStore, rows: Sequence[int]) -> None:
        """Select these rows of a store."""
        self._store, self._rows = store, rows

    @property
    def luck(self) -> LuckSource | None:
        """The source of their luck."""
        return self._store.luck

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> "Rows": ...
    def __getitem__(self, place: int | slice) -> "Result | Rows":
        if isinstance(place, slice):
            return Rows(self._store, self._rows[place])
        return self._store.at(self._rows[place])

    def __iter__(self) -> Iterator[Result]:
        return map(self._store.at, self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def digest(self) -> str:
        """The BLAKE2 hash of them all, in hex."""
        return self._store.digest(self._rows)


# The results in a ledger's file, read for a program or for an event.


TABLES_REMEMBERED = 1000
"""Tables of which it is remembered whether they are the event's."""
NAME_SHOWN = 40
"""Most characters of an unknown name in an error."""


def read_ledger(path: Path) -> Iterator[Result]:
    """Yield the results of a ledger. Raises DamagedFileError."""
    for entry in checksummed.read_sealed(path, decode_result):
        yield entry.record


def results_of(path: Path, event: Event) -> Iterator[Result]:
    """Yield the results of an event's ledger; refuse other entrants, tables and boards.

    Raises DamagedFileError.
    """
    for entry in checksummed.read_sealed(path, result_decoder(event)):
        yield entry.record


def result_decoder(event: Event) -> Callable[[bytes], Result]:
    """Return the function that decodes a result of an event.

    It raises DamagedRecordError for other entrants, tables and boards.
    """
    names = {entrant.name for entrant in event.entrants}
    # Two processes of one entrant may be partners, as a team of its own.
    most = max((unit.count(name) for unit in event.units for name in unit), default=1)
    boards = event.all_boards  # It asks every entrant: for each line, 7/8 of the time at 1,000.
    size = f"the event has {event.seats} seats and {boards} boards"

    @lru_cache(TABLES_REMEMBERED)  # A ledger has game after game of one sitting.
    def table_fault(seats: tuple[str, ...]) -> str:
        if strangers := [name for name in seats if name not in names]:
            return f"{strangers[0][:NAME_SHOWN]!r} does not play in this event"
        if len(seats) != event.seats:
            return size
        is_alone = len(set(seats)) * most < len(seats)
        return f"{seats[0][:NAME_SHOWN]!r} cannot sit there against itself" if is_alone else ""

    def decode(line: bytes) -> Result:
        result = decode_result(line)
        fault = table_fault(result.seats)
        if not (fault or 1 <= result.board <= boards):
            fault = size
        if not fault and result.game != (name := f"{result.board}.{'.'.join(result.seats)}"):
            fault = f"it should be {name!r}, after its board and seats"
        if fault:
            raise DamagedRecordError(f"game {result.game[:NAME_SHOWN]!r}: {fault}")
        return result

    return decode


# Earlier plans of an extended event, and the boards whose deals a latecomer's author could know.
#
# The report follows from the last plan alone, as if the event had been played at once, except for
# the bots that joined when deals were public. Every commitment of an earlier plan stays checkable.


BoardSpan = tuple[int, int]
"""The first and the last of consecutive boards."""


class Before(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of history.jsonl: a plan that a later one replaced."""

    boards: int
    """Boards with a commitment then: the number of lines in commitments.jsonl."""
    sha256: str
    """SHA-256 of those lines, in hex, as the report showed it then."""
    public: tuple[BoardSpan, ...]
    """Boards whose deals were public when the next plan came. A game's log shows them from its
    first deal on, long before the seed does."""
    entrants: dict[str, str]
    """The entrants until then, retired or not, with their fingerprints."""


class Latecomer(Struct, frozen=True):
    """An entrant that joined when deals were already public which it has met since."""

    entrant: str
    boards: int
    """Boards whose deals were public when it joined."""
    games: int
    public: int
    """Games among them on those boards."""


def board_spans(boards: Iterable[int]) -> tuple[BoardSpan, ...]:
    """Return the boards as spans, in order."""
    spans: list[BoardSpan] = []
    for board in sorted(set(boards)):
        if spans and spans[-1][1] == board - 1:
            spans[-1] = spans[-1][0], board
        else:
            spans.append((board, board))
    return tuple(spans)


def count_boards(spans: Iterable[BoardSpan]) -> int:
    """Count the boards in the spans."""
    return sum(last - first + 1 for first, last in spans)


def latecomers(
    history: Sequence[Before], entrants: Iterable[Entrant], results: Iterable[Result]
) -> tuple[Latecomer, ...]:
    """Return the entrants that met deals which were public when they joined, in plan order."""
    met = {bot.name: spans for bot in entrants if (spans := _public_to(bot, history))}
    games, public = Counter[str](), Counter[str]()
    for result in results if met else ():
        for name in result.seats:
            if name in met:
                games[name] += 1
                public[name] += any(low <= result.board <= high for low, high in met[name])
    return tuple(
        Latecomer(name, count_boards(rows), games[name], public[name])
        for name, rows in met.items()
        if public[name]
    )


def _public_to(entrant: Entrant, history: Sequence[Before]) -> tuple[BoardSpan, ...]:
    """Return the boards whose deals were public when an entrant joined with these files."""
    public: tuple[BoardSpan, ...] = ()
    for before in history:
        if before.entrants.get(entrant.name) == entrant.fingerprint:
            break
        public = before.public
    return public


def describe_latecomers(late: Sequence[Latecomer]) -> str:
    """Return a sentence on how much each latecomer played on public deals; empty without any."""
    if not late:
        return ""
    each = ", ".join(f"{row.entrant} ({row.public} of its {row.games} games)" for row in late)
    return (
        "Deals were public before these bots entered, and their authors could have known them: "
        f"{each}."
    )


def read_history(folder: Folder) -> Iterator[Before]:
    """Yield the earlier plans, the oldest first. Raises DamagedFileError."""
    return read_plain(folder.history, lambda line: decode_json(line, Before))


def hash_commitments(folder: Folder, boards: int) -> str:
    """Return the SHA-256 of the commitments to the first boards, in hex."""
    lines = (line.data for line in islice(read_lines(folder.commitments), boards))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def broken_promises(folder: Folder) -> Iterator[str]:
    """Yield a sentence for each earlier plan whose commitments have changed since.

    Raises DamagedFileError.
    """
    for before in read_history(folder):
        if hash_commitments(folder, before.boards) != before.sha256:
            yield (
                f"{folder.commitments}: the SHA-256 of its first {before.boards} lines is not the "
                f"one in {folder.history.name}"
            )


# The book of an event: its folder opened to be read, with what follows from plan and results.


T = TypeVar("T")


class Appearances(NamedTuple):
    """Counts of each active entrant, from one look at all results."""

    games: Counter[str]
    """Its seats in games: a bot may be its own partner."""
    fouls: defaultdict[str, Counter[FoulClass]]
    """Its fouls, forfeits among them."""


class Book:
    """An event to read. Its members raise DamagedFileError if a file that they need is damaged."""

    def __init__(
        self,
        folder: Folder,
        event: Event | None = None,
        results: ResultStore | None = None,
        luck: LuckStore | None = None,
    ) -> None:
        """Open the folder, or take what is known of it. Raises UserError without an event."""
        self.folder, self.event = folder, event or load_event(folder)
        self.luck = luck or LuckStore(folder, self.event)
        if results is not None:
            self.results = results

    @cached_property
    def results(self) -> ResultStore:
        """The results in the ledger, by game."""
        # Not `self.luck`: a format may compute luck in this one, and a report corrects its ratings
        # only by the luck that the file has.
        return ResultStore(
            results_of(self.folder.ledger, self.event), LuckStore(self.folder, self.event)
        )

    def replanned(self, event: Event) -> "Book":
        """Return the book of the event's next plan; results that were read are not read again."""
        return Book(self.folder, event, vars(self).get("results"))

    @property
    def played(self) -> Sequence[Result]:
        """The results in their order."""
        return self.results.first()

    @property
    def active(self) -> Sequence[Result]:
        """The results of active entrants only: they alone decide the pairings."""
        return self.event.active_results(self.played)

    @cached_property
    def appearances(self) -> Appearances:
        """The games of active entrants and their fouls, counted."""
        counts = Appearances(Counter(), defaultdict(Counter))
        for result in self.active:
            for name in result.seats:  # `Counter.update` takes four times as long.
                counts.games[name] += 1
            for foul in result.fouls:
                counts.fouls[result.seats[foul.seat]][foul.foul] += 1
        return counts

    @cached_property
    def public(self) -> frozenset[int]:
        """Boards that are over: their seeds are revealed."""
        return frozenset(published_seeds(self.folder.seeds))

    @cached_property
    def shown_boards(self) -> frozenset[int]:
        """Boards whose deals a log shows or whose seed is revealed.

        Damaged lines of logs and seeds are left out: other checks report them.
        """
        boards = {result.board for result in self.played}
        with suppress(DamagedFileError):
            boards |= self.public
        # Of 100,000 games 4,000 logs are finished, and to unpack each takes 0.3 to 1.1 ms.
        begun = self.folder.log_names().difference(
            plan.name
            for plan in self.sittings
            if all(game in self.results for game in plan.game_names)
        )
        lines = (grep_prefix(self.folder.log(name), (line_start(GameRecord),)) for name in begun)
        for line in chain.from_iterable(lines):
            with suppress(DamagedRecordError):
                record = decode_record(strip_checksum(line))
                boards |= {record.board} if isinstance(record, GameRecord) else set()
        return frozenset(boards)

    @cached_property
    def sittings(self) -> tuple[PlannedSitting, ...]:
        """The sittings of retired versions, and then those of the schedule; see `stages`."""
        games = chain(self.results, self.folder.log_names())
        return (*self.past, *sittings(self.event, self.results, games))

    @cached_property
    def past(self) -> tuple[PlannedSitting, ...]:
        """The sittings of retired versions, as in their logs, by name."""
        return tuple(self._past())

    def _past(self) -> Iterator[PlannedSitting]:
        retired = self.event.retired
        if not retired:
            return
        index = {entrant.name: n for n, entrant in enumerate(self.event.entrants)}
        for path in self.folder.logs():
            seats = path.stem.split(".")[1:]
            if retired.isdisjoint(seats) or not index.keys() >= set(seats):
                continue
            for sitting in sitting_lines(path)[-1:]:
                yield planned(self.event, tuple(index[name] for name in seats), sitting.boards)

    @cached_property
    def seed_of(self) -> SeedOf:
        """The function from a board to its seed. Raises UserError, DamagedFileError."""
        folder, event = self.folder, self.event
        secret = secret_of(folder)
        if event.has_drawn_seeds:
            return partial(board_seed, secret, event.name)
        seeds = published_seeds(folder.deals)
        if missing := set(range(1, event.all_boards + 1)).difference(seeds):
            raise UserError(
                f"{folder.deals} has no seed of board {min(missing)}: it is damaged. Run the event "
                "again with the same deals to write it anew."
            )
        return seeds.__getitem__

    @cached_property
    def planned(self) -> int:
        """Games of the whole event."""
        return count_all_games(self.event, self.results)

    def index(self, value_of: Callable[[PlannedSitting, PlannedGame], T]) -> GameIndex[T]:
        """Map each game's name to a value of it."""
        return GameIndex(self.sittings, value_of)

    @cached_property
    def corrections(self) -> Corrections | None:
        """The luck to take out of games; None if none is known."""
        return self.luck.corrections(self.played) or None

    @cached_property
    def latecomers(self) -> tuple[Latecomer, ...]:
        """Entrants that have met boards whose deals were public when they came."""
        return latecomers(list(read_history(self.folder)), self.event.entrants, self.played)

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings, a table for each pool."""
        from tournaments.rating.ratings import fit_both

        event, over = self.event, len(self.results) == self.planned
        ratings = fit_both(
            event.rated(self.played),
            self.tallies,
            anchor=event.anchor,
            stopped=stopped_entrants(event, self.played, is_over=over),
        )
        release_memory()
        return ratings

    @cached_property
    def tallies(self) -> "Sequence[Tally]":
        """The results that are rated as columns, for each pool."""
        from tournaments.rating.tally import by_pool, collect  # Numpy takes 0.1 s to import.

        rated, partners = self.event.rated(self.played), self.event.rules.deal.partners
        return by_pool(collect(rated, partners, self.corrections))

    @cached_property
    def reported(self) -> int:
        """The number of games that results.json counts; 0 if it is unreadable."""

        class Played(Struct):
            played: int

        with suppress(OSError, DamagedRecordError):
            return decode_json(read_file(self.folder.results), Played).played
        return 0


# Detection of results or logs that went missing since the report was written.


SEARCHED_GAMES = 1000
"""Games of a plan among which the nearest to an unknown one is sought."""


def shortened(book: Book) -> str | None:
    """Describe what the ledger lost if it has fewer results than the report; else None.

    A ledger with more results than the report is fine: a run was killed, or goes on. A kill while a
    run reorders the ledger for a longer plan counts as a loss too, until the run goes on.
    """
    folder, count = book.folder, len(book.results)
    if count >= book.reported:
        return None
    if not folder.ledger.exists():
        return f"{folder.ledger} is missing"
    return (
        f"{folder.ledger} has {count} of the {book.reported} results that "
        f"{folder.results.name} reports"
    )


def refuse_losses(book: Book) -> None:
    """Refuse a new report that would lose what an older one had. Raises UserError."""
    refuse_unplanned(book)
    if short := shortened(book):
        raise UserError(
            f"{short}. The same `boneyard run` as before restores it from the game logs."
        )
    refuse_fewer_logs(book)


def refuse_unplanned(book: Book) -> None:
    """Refuse results of games that the plan does not have. Raises DamagedFileError."""
    # The index takes 3 µs a game. A schedule has no game twice; logs of strangers might.
    planned_games = (game for plan in book.sittings for game in plan.game_names)
    known = sum(game in book.results for game in planned_games)
    if known == len(book.results) and not book.past:
        return
    folder, planned = book.folder, book.index(lambda *_: None)
    if stray := next((game for game in book.results if game not in planned), None):
        games = ledger_order(book.event, book.results)
        nearest = suggestion(stray, islice(games, SEARCHED_GAMES))
        raise DamagedFileError(
            f"{folder.ledger}: game {stray} is neither in the plan of {folder.event.name} nor in "
            "the log of an earlier version: a file is damaged, or that log is missing "
            f"({nearest})"
        )


def missing_results(book: Book) -> str | None:
    """Return a warning that reported games are played again: their seeds may be known.

    None if no game is missing. Raises UserError when neither the ledger nor the logs have any left.
    """
    folder, count = book.folder, book.reported - len(book.results)
    if count <= 0:
        return None
    if not book.results:
        raise UserError(
            f"{folder.results} reports {count} games, but neither {folder.ledger.name} nor the "
            "game logs have any. Restore them, or choose another folder (--out)."
        )
    games = "1 reported game is" if count == 1 else f"{count} reported games are"
    return f"{games} missing and will be replayed, on deals that may already be known."


def refuse_fewer_logs(book: Book) -> None:
    """Refuse to write facts from the logs if some logs are missing and facts would be lost.

    Damage in a log that is there stops no report: `verify` names it. Raises UserError.
    """
    folder, timed_games = book.folder, _count_timed_games(book.folder)
    game = _first_unlogged(book) if timed_games else None
    if game and timed_games > _games(log_facts(folder, book.results).times):
        raise UserError(
            f"The log of {game} is missing, and only {folder.times} and {folder.page.name} have "
            f"its times. Restore the log, or remove {folder.times.name} to drop them."
        )


def _count_timed_games(folder: Folder) -> int:
    """Return the number of games in times.json, each counted for every seat; 0 if unreadable."""
    with suppress(OSError, DamagedRecordError):
        return _games(decode_json(read_file(folder.times), Times))
    return 0


def _games(times: Times) -> int:
    return sum(entrant.games for entrant in times.entrants)


def _first_unlogged(book: Book) -> str | None:
    """Return the first game that has a result and no log; None if there is none."""
    logs = book.folder.log_names()
    plans = (plan for plan in book.sittings if plan.name not in logs)
    games = (game for plan in plans for game in plan.game_names)
    return next((game for game in games if game in book.results), None)


# The ledger: an event's results in the order of its schedule, not of their arrival.


LEDGER_LINES_AT_ONCE = 1000
LOGS_AT_ONCE = 100


class Ledger:
    """Results in the order of the schedule, so that the file is the same at any number of jobs.

    `stage` is the stage that can be played now, empty when the event is over; `left` counts the
    games without a result on each known board; `planned` is the number of games of the event, see
    `count_all_games`. The file holds the longest beginning of that order without a gap. A result
    that comes out of turn waits in memory, and in its game log, which survives a kill.
    """

    def __init__(self, book: Book, tasks: MapTasks = map) -> None:
        """Open the ledger of a book and add the results that only the game logs have.

        After the event was extended, rewrite the ledger in the order of the new schedule. Remove
        lines that a kill cut short; `notices` says where. `tasks` computes the luck of games
        if it decides on the next stage.
        Raises DamagedFileError, OSError.
        """
        self.notices: list[str] = []
        self.book = book
        self._log = checksummed.SealedLog(book.folder.ledger, decode_result)
        self._note(self._log.mend())
        # The book shares this store, so its readers see each result that the ledger adds.
        self.results = book.results
        self.results.take_luck(LuckStore(book.folder, book.event, writes=True, tasks=tasks))
        self._log.resume()
        # If a game has two lines, rewrite the whole ledger.
        lines = 0 if self.results.repeats else len(self.results)
        self._written = array("q", range(lines))
        for plan in book.past:
            self._recover(plan)
        self._stages = stages(self.book.event, self.results)
        self.left = _withdrawn_boards(self.book.event, self.results)
        self.stage: Stage = ()
        self._open = self.planned = 0
        self._known = len(retired_games(self.book.event, self.results))
        self._logged = self.book.folder.log_names()
        self._pending: list[int] = []
        self._usage: dict[str, UsageSum] = {}
        self._enter()
        if self.book.event.limits.cents is not None:
            self._usage = sum_usage(self.results.values())
        self._skipped = self.stopped
        self._order = ledger_order(self.book.event, self.results)
        self._due = next(self._order, None)
        self._take_up(lines)
        self._release()

    def _enter(self) -> None:
        """Advance to the first stage that lacks results."""
        for stage in self._stages:
            self.stage = stage
            for plan in stage:
                self._known += len(plan.boards)
                if plan.name in self._logged and self.missing(plan):
                    self._recover(plan)
                for board, game in zip(plan.boards, plan.game_names, strict=True):
                    missing = game not in self.results
                    self.left[board] = self.left.get(board, 0) + missing
                    self._open += missing
            if self._open:
                break
        else:
            self.stage = ()
        # The value of `count_all_games`, without going through all stages again at each new one.
        self.planned = self._known + (
            count_coming_games(self.book.event, self.stage) if self.stage else 0
        )

    def _recover(self, plan: PlannedSitting) -> None:
        self._note(checksummed.truncate_torn_line(self.book.folder.log(plan.name)))
        for result in results_from_log(self.book.folder.log(plan.name)).values():
            self.results.add(result)

    def _note(self, notice: str | None) -> None:
        if notice:
            self.notices.append(notice)

    def _take_up(self, lines: int) -> None:
        """Continue after the ledger's lines, or rewrite them if the schedule has another order."""
        for row, game in enumerate(islice(self.results, lines)):
            self._skip()
            if game != self._due:
                self._check_rest(row)
                self._rewrite(row)
                return
            self._due = next(self._order, None)
        if not lines and self._log.checksum:
            self._check_rest(0)
            self._rewrite()

    def _check_rest(self, lines: int) -> None:
        """Refuse a ledger of other games; a line that is dropped must be in the game logs."""
        plans = chain(self.book.past, sittings(self.book.event, self.results))
        index = GameIndex(plans, lambda plan, _: self.book.folder.log(plan.name))
        logged = lru_cache(LOGS_AT_ONCE)(results_from_log)
        path = self.book.folder.ledger
        for entry in checksummed.read_sealed(path, decode_result, after=lines):
            game = entry.record.game
            if game not in index:
                why = f"game {game}, where the schedule has {self._due or 'none'}"
                raise checksummed.damaged(path, entry.line, why)
            if logged(index[game]).get(game) != entry.record:
                why = f"game {game} is not as in its log, {index[game].name}"
                raise checksummed.damaged(path, entry.line, why)

    def _rewrite(self, kept: int = 0) -> None:
        """Rewrite the file at once in the order of the schedule; so many first lines are in it."""
        if not kept:
            self._order = ledger_order(self.book.event, self.results)
            self._due = next(self._order, None)
        rows = array("q", self._ready())
        self._log.rewrite(map(self.results.at, rows), kept=kept)
        self._written = array("q", range(kept)) + rows

    def add(self, result: Result) -> None:
        """Add the result of a game that is over."""
        self.results.add(result)
        add_usage(self._usage, result)
        self.left[result.board] -= 1
        self._open -= 1
        self._release()
        if not self._open:
            self._enter()

    @property
    def has_one_open(self) -> bool:
        """True if the stage ends with the next result."""
        return self._open == 1

    @property
    def complete(self) -> bool:
        """True if the event is over."""
        return not self.stage

    @property
    def stopped(self) -> frozenset[str]:
        """Entrants that have spent what the event allows them: they begin no other game."""
        return spent_out(self.book.event, self._usage)

    def playable(self, plan: PlannedSitting) -> list[PlannedGame]:
        """Return the games of a sitting to play now: none if one of its entrants is stopped."""
        return [] if has_one_of(f".{plan.names}", self.stopped) else self.missing(plan)

    def skip_stopped(self) -> None:
        """Write the results that wait behind games of stopped entrants; pass over those games."""
        self._skipped = self.stopped
        self._rewrite()

    def missing(self, plan: PlannedSitting) -> list[PlannedGame]:
        """Return the games of a sitting that have no result: schedule minus ledger."""
        # Of a large event most sittings are over.
        is_over = all(game in self.results for game in plan.game_names)
        return [] if is_over else [game for game in plan.games if game.name not in self.results]

    def _ready(self) -> Iterator[int]:
        """Yield the rows of the results whose turn has come."""
        self._skip()
        while (due := self._due) is not None and due in self.results:
            self._due = next(self._order, None)
            yield self.results.row_of(due)
            self._skip()

    def _skip(self) -> None:
        """Pass over games that nobody plays, because one of their entrants is stopped."""
        while (
            self._skipped
            and self._due is not None
            and self._due not in self.results
            and has_one_of(self._due, self._skipped)
        ):
            self._due = next(self._order, None)

    def _release(self) -> None:
        """Write every result whose turn has come, in batches."""
        ready = self._ready()
        self._pending += islice(ready, LEDGER_LINES_AT_ONCE)
        while self._pending:
            self._log.append(map(self.results.at, self._pending))
            self._written.extend(self._pending)
            self._pending = [*islice(ready, LEDGER_LINES_AT_ONCE)]

    @property
    def has_waiting(self) -> bool:
        """True if results wait in their logs for their turn in the file: no report has them."""
        return len(self._written) < len(self.results)

    def written_results(self) -> ResultStore:
        """Return the results that the file has, in its order, to read.

        They take luck from its file alone: a format may compute luck in the ledger's own.
        """
        results = self.results.arranged(self._written, LuckStore(self.book.folder, self.book.event))
        if len(results) == len(self.results):
            self._written = array("q", range(len(results)))
        return results


def results_from_log(path: Path) -> dict[str, Result]:
    """Return the results in a game log, by game.

    A kill may have come between a sitting's last result and its end: then write the end now,
    before the ledger takes the result and nobody reads this log again.
    Raises DamagedFileError, OSError.
    """
    results: dict[str, Result] = {}
    sitting: Sitting | None = None
    for logged in read_games(path):
        sitting = logged.sitting
        if logged.result:
            results[logged.game.game] = logged.result
    if sitting and len(results) == len(sitting.boards) and not is_over(path):
        GameLog(path, sitting).close()
    return results


def boards_left(event: Event, results: Mapping[str, Result]) -> dict[int, int]:
    """Count the games without a result on each known board."""
    left = _withdrawn_boards(event, results)
    for plan in sittings(event, results):
        for board, game in zip(plan.boards, plan.game_names, strict=True):
            left[board] = left.get(board, 0) + (game not in results)
    return dict(sorted(left.items()))


def _withdrawn_boards(event: Event, results: Mapping[str, Result]) -> dict[int, int]:
    """Return 0 for each board of entrants that have withdrawn: often they alone were to play it."""
    return {result.board: 0 for result in withdrawn_results(event, results)}


def finished_boards(left: dict[int, int]) -> list[int]:
    """Return the boards on which every game has a result, in order."""
    return sorted(board for board, games in left.items() if games == 0)
