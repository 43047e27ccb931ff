"""The export of the decisions in game logs: on all cores, one file for each table."""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import reduce
from itertools import chain, count, islice
from operator import and_
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from arena.analysis.find import logs, refuse_others
from arena.files import open_file, write_atomic
from arena.logs.catalog import LOG_SUFFIX
from arena.logs.checksummed import read_sealed, status_of
from arena.logs.gamelog import EncodedGame, read_encoded_games, sitting_lines
from arena.processes import map_tasks
from protocol.codec import strip_checksum
from protocol.errors import UserError, unknown_name
from tournaments.event.book import ResultStore, results_of
from tournaments.event.combine import check_no_same_logs
from tournaments.event.folder import Folder, event_folder, load_event
from tournaments.event.luck import (
    LUCK_REMEDY,
    REVIEW_REMEDY,
    LuckRecord,
    ReviewTerms,
    SeatLosses,
    decode_luck,
    decode_review,
)
from tournaments.plan.bots import unique_name
from tournaments.study.decision_table import (
    Facts,
    KnownWorth,
    TableKind,
    Wish,
    csv_file,
    describe_table,
    encode_csv,
    examples,
)

# Search in a file of lines about games by a game's name, in 16 bytes of memory a line.


T = TypeVar("T")


class LineIndex(Generic[T]):
    """The places of the lines about each game in a plain file with checksums."""

    def __init__(self, path: Path, decode: Callable[[bytes], T], remedy: str = "") -> None:
        """Read the file and check it; without one there are no lines.

        A line about no game has no `game`. `remedy`: the end of the sentence about damage. Raises
        DamagedFileError.
        """
        self._path, self._decode = path, decode
        names, offsets = array("q"), array("q")
        for entry in read_sealed(path, decode, remedy):
            names.append(hash(getattr(entry.record, "game", "")))
            offsets.append(entry.line.offset)
        hashes = np.frombuffer(names, np.int64)
        order = hashes.argsort(kind="stable")
        self._hashes, self._offsets = hashes[order], np.frombuffer(offsets, np.int64)[order]

    def find(self, game: str) -> Iterator[T]:
        """Yield the records about a game in their order."""
        first, after = (
            int(np.searchsorted(self._hashes, hash(game), side)) for side in ("left", "right")
        )
        if first == after:
            return
        with open_file(self._path) as file:
            for offset in self._offsets[first:after].tolist():
                file.seek(offset)
                record = self._decode(strip_checksum(file.readline()))
                # Two names may have the same hash.
                if getattr(record, "game", "") == game:
                    yield record


# --- the export ---


ExportFormat = Literal["parquet", "csv"]
EXPORT_BATCH_GAMES = 10
"""Games of a piece: about 0.2 s of a process's time, and 1.5 MB as CSV."""


class Export(Struct, frozen=True):
    """An order for a file of decisions."""

    sources: tuple[Path, ...]
    out: Path
    """The file to write; see `export_decisions`."""
    format: ExportFormat
    wish: Wish = Wish()


class LogSource(Struct, frozen=True):
    """A log to export."""

    path: Path
    event: Path
    """The event's folder; a log outside any is an event of its own."""
    table: TableKind
    seats: tuple[str, ...]
    games: int
    """Games that its sitting plans: a measure of the work."""
    counted: Collection[str] | None = None
    """The games that count; None: all that are finished."""
    luck: LineIndex[LuckRecord] | None = None
    reviews: LineIndex[ReviewTerms | SeatLosses] | None = None

    def counted_games(self) -> Iterator[tuple[EncodedGame, KnownWorth]]:
        """Yield the games that count, each with what the event's files have about it."""
        for game in read_encoded_games(self.path):
            if self.counted is not None and game.name not in self.counted:
                continue
            luck = tuple(self.luck.find(game.name)) if self.luck else ()
            reviews = self.reviews.find(game.name) if self.reviews else ()
            seats = (record for record in reviews if isinstance(record, SeatLosses))
            yield game, KnownWorth(luck, tuple(seats))


class Task(Struct, frozen=True):
    """Games of one table to encode."""

    games: tuple[tuple[EncodedGame, KnownWorth], ...]
    event: str
    table: TableKind
    wish: Wish
    format: ExportFormat


class EncodedDecisions(Struct, frozen=True):
    """Encoded decisions."""

    games: int
    decisions: int
    data: bytes
    """Their bytes; empty without a decision."""


class DecisionFile(Struct):
    """A file that is written."""

    path: Path
    games: int = 0
    decisions: int = 0
    bytes: int = 0


def export_decisions(
    order: Export, progress: Callable[[int, int], None], cores: int | None = None
) -> list[DecisionFile]:
    """Write the decisions of the sources; return the files.

    There is one for each ruleset and number of seats, because their vectors differ: `out` if there
    is one such table only, else a file beside it for each, named after the game and the seats.
    `progress`: told now and then how many games are done, and of about how many. `cores`: processes
    to use; None: all cores of ours.
    Raises UserError, OSError; then the file at hand is as it was before.
    """
    make = _file_of(order.format)
    check_no_same_logs(order.sources)
    sources = _wanted(order)
    tables: dict[TableKind, list[LogSource]] = {}
    events: dict[Path, str] = {}
    for source in sources:
        tables.setdefault(source.table, []).append(source)
        if source.event not in events:
            name = source.event.name.partition(LOG_SUFFIX)[0]
            events[source.event] = unique_name(name, events.values())
    total, files = sum(source.games for source in sources), list[DecisionFile]()

    def encoded(group: list[LogSource]) -> Iterator[bytes]:
        """Yield the bytes of the last file's pieces, and count them."""
        tasks = chain.from_iterable(_tasks(order, source, events) for source in group)
        for piece in map_tasks(encode_task, tasks, cores):
            files[-1].games += piece.games
            files[-1].decisions += piece.decisions
            progress(sum(file.games for file in files), total)
            if piece.data:
                yield piece.data

    progress(0, total)
    for path, (table, group) in zip(_paths(order.out, tables), tables.items(), strict=False):
        files.append(DecisionFile(path))
        pieces = encoded(group)
        if first := next(pieces, b""):
            write_atomic(path, make(table, chain((first,), pieces)), _mode(group))
            files[-1].bytes = path.stat().st_size
    files = [file for file in files if file.bytes]
    if not files:
        names = ", ".join(map(str, order.sources))
        raise UserError(f"There is no decision of a finished game in {names}. Play some games.")
    return files


def decision_columns(folder: Path) -> dict[str, list[Any]]:
    """Return the decisions of an event's games as columns; vector and mask have arrays.

    Raises UserError; DamagedFileError is one.
    """
    rows = [
        (*astuple(example.facts), example.vector, example.mask)
        for source in _sources(folder)
        for game, worth in source.counted_games()
        for example in examples(game.decode(), folder.name, Wish(), worth)
    ]
    names = (*Facts.__struct_fields__, "vector", "mask")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _file_of(format: ExportFormat) -> Callable[[TableKind, Iterable[bytes]], Iterator[bytes]]:
    """Return the function that makes a file of pieces. Raises UserError if it lacks a package."""
    if format == "csv":
        return csv_file
    from tournaments.study.parquet import parquet_file  # It needs pyarrow.

    return lambda table, pieces: parquet_file(describe_table(table), pieces)


def encode_task(task: Task) -> EncodedDecisions:
    """Return the decisions of some games, encoded. Raises DamagedLogError."""
    rows = [
        row
        for game, worth in task.games
        for row in examples(game.decode(), task.event, task.wish, worth)
    ]
    if not rows:
        data = b""
    elif task.format == "csv":
        data = encode_csv(task.table, rows)
    else:
        from tournaments.study.parquet import encode_arrow

        data = encode_arrow(rows)
    return EncodedDecisions(len(task.games), len(rows), data)


def _tasks(order: Export, source: LogSource, events: Mapping[Path, str]) -> Iterator[Task]:
    games = source.counted_games()
    # A game whose worth is computed takes as long as ten others.
    size = 1 if order.wish.luck or order.wish.review else EXPORT_BATCH_GAMES
    while few := tuple(islice(games, size)):
        yield Task(few, events[source.event], source.table, order.wish, order.format)


def _wanted(order: Export) -> list[LogSource]:
    """Return the logs in which a wanted bot plays. Raises UserError if a bot plays in none."""
    sources = [*chain.from_iterable(map(_sources, order.sources))]
    names = {name for source in sources for name in source.seats}
    for bot in order.wish.bots:
        if bot not in names:
            raise unknown_name("bot", bot, sorted(names))
    return [source for source in sources if any(map(order.wish.wants, source.seats))]


def _sources(place: Path) -> Iterator[LogSource]:
    """Yield the logs of an event's folder, of a folder of logs, or the log itself.

    Of an event only the games count that its ledger has. Raises UserError.
    """
    refuse_others(place)
    folder = Folder(place)
    files: tuple[Any, ...] = ()
    if folder.event.is_file():
        counted = ResultStore(results_of(folder.ledger, load_event(folder)))
        luck = LineIndex(folder.luck, decode_luck, LUCK_REMEDY)
        files = counted, luck, LineIndex(folder.review_log, decode_review, REVIEW_REMEDY)
    for path in logs(place):
        for sitting in sitting_lines(path)[-1:]:
            table = TableKind(sitting.rules, len(sitting.seats))
            event = event_folder(path)
            home = event.path.resolve() if event else path.resolve()
            yield LogSource(path, home, table, sitting.seats, len(sitting.boards), *files)


def _paths(out: Path, tables: Collection[TableKind]) -> Iterator[Path]:
    """Yield the file of each table."""
    if len(tables) == 1:
        yield out
        return
    used = set[str]()
    for table in tables:
        # A log can come from anybody.
        name = re.sub(r"[^A-Za-z0-9_]+", "-", table.rules.name)
        names = (f"-{name}-{table.seats}{f'-{n}' if n > 1 else ''}" for n in count(1))
        used.add(suffix := next(candidate for candidate in names if candidate not in used))
        yield out.with_stem(f"{out.stem}{suffix}")


def _mode(sources: Iterable[LogSource]) -> int:
    """Return the mode of a file that only those may read who may read all these logs."""
    folders = {source.path.parent for source in sources}
    modes = [folder.stat().st_mode for folder in folders]
    modes += [status_of(source.path).st_mode for source in sources]
    return reduce(and_, modes, 0o644) | 0o600
