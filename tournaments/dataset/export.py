"""The export of the decisions in game logs: on all cores, one file for each table."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, count, islice
from operator import and_
from pathlib import Path
from typing import Literal

from msgspec import Struct

from arena.analysis.find import logs, refuse_others
from arena.files import write_atomic
from arena.logs.compression import actual_path
from arena.logs.encoded_games import EncodedGame, read_encoded_games
from arena.logs.gamelog import sitting_lines
from protocol.errors import UserError, unknown_name
from tournaments.dataset.csv_format import csv_file, encode_csv
from tournaments.dataset.example import Table, Wish, examples
from tournaments.dataset.line_index import LineIndex
from tournaments.dataset.worth import KnownWorth
from tournaments.storage import luck_store, review_log
from tournaments.storage.combine import check_no_same_logs
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import results_of
from tournaments.storage.result_store import ResultStore
from tournaments.verification.log_check import usable_cores
from tournaments.verification.processes import map_batches

Format = Literal["parquet", "csv"]
GAMES_AT_ONCE = 10
"""Games of a piece: about 0.2 s of a process's time, and 1.5 MB as CSV."""


class Export(Struct, frozen=True):
    """An order for a file of decisions."""

    sources: tuple[Path, ...]
    """Events' folders, logs, or folders of logs."""
    out: Path
    """The file to write; see `export_decisions`."""
    format: Format
    wish: Wish = Wish()
    """The decisions that are wanted."""


class Source(Struct, frozen=True):
    """A log to export."""

    path: Path
    """The log."""
    table: Table
    """The table at which its games were played."""
    seats: tuple[str, ...]
    """The entrants."""
    games: int
    """Games that its sitting plans: a measure of the work."""
    counted: Collection[str] | None = None
    """The games that count; None: all that are finished."""
    luck: LineIndex | None = None
    """The luck of the event's games, if it is an event."""
    reviews: LineIndex | None = None
    """The review of its decisions, if it is an event."""

    def known(self, game: str) -> KnownWorth:
        """Return what the event's files have about a game."""
        if self.luck is None or self.reviews is None:
            return KnownWorth()
        return KnownWorth(tuple(self.luck.lines(game)), tuple(self.reviews.lines(game)))


class Task(Struct, frozen=True):
    """Games of one table to encode."""

    games: tuple[tuple[EncodedGame, KnownWorth], ...]
    """The games, each with what its event's files have about it."""
    table: Table
    """Their table."""
    wish: Wish
    """The decisions that are wanted."""
    format: Format


class Piece(Struct, frozen=True):
    """Encoded decisions."""

    games: int
    """The number of their games."""
    decisions: int
    """The number of decisions."""
    data: bytes
    """Their bytes; empty without a decision."""


class DecisionFile(Struct, frozen=True):
    """A file that was written."""

    path: Path
    games: int
    """The number of its games."""
    decisions: int
    """The number of its rows."""
    bytes: int
    """Its size."""


class Tally:
    """A count of the games and decisions that are done."""

    def __init__(self, of: int, progress: Callable[[int, int], None]) -> None:
        """Begin; there are about so many games."""
        self.of, self._progress = of, progress
        self._before = self.games = self.decisions = 0

    def count(self, pieces: Iterable[Piece]) -> Iterator[bytes]:
        """Yield the bytes of a file's pieces, and count them."""
        self._before += self.games
        self.games = self.decisions = 0
        for piece in pieces:
            self.games += piece.games
            self.decisions += piece.decisions
            self._progress(self._before + self.games, self.of)
            if piece.data:
                yield piece.data


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
    tables: dict[Table, list[Source]] = {}
    for source in sources:
        tables.setdefault(source.table, []).append(source)
    tally = Tally(sum(source.games for source in sources), progress)
    progress(0, tally.of)
    files = []
    for path, (table, own) in zip(_paths(order.out, tables), tables.items(), strict=False):
        pieces = tally.count(_pieces(order, own, cores or usable_cores()))
        if first := next(pieces, b""):
            write_atomic(path, make(table, chain((first,), pieces)), _mode(own))
            files.append(DecisionFile(path, tally.games, tally.decisions, path.stat().st_size))
    if not files:
        names = ", ".join(map(str, order.sources))
        raise UserError(f"There is no decision of a finished game in {names}. Play some games.")
    return files


def _file_of(format: Format) -> Callable[[Table, Iterable[bytes]], Iterator[bytes]]:
    """Return the function that makes a file of pieces. Raises UserError if it lacks a package."""
    if format == "csv":
        return csv_file
    from tournaments.dataset.parquet_format import parquet_file  # It needs pyarrow.

    return parquet_file


def encode_task(task: Task) -> Piece:
    """Return the decisions of some games, encoded. Raises DamagedLogError."""
    rows = [row for game, known in task.games for row in examples(game.decode(), task.wish, known)]
    if not rows:
        data = b""
    elif task.format == "csv":
        data = encode_csv(task.table, rows)
    else:
        from tournaments.dataset.parquet_format import encode_arrow

        data = encode_arrow(rows)
    return Piece(len(task.games), len(rows), data)


def _pieces(order: Export, sources: Sequence[Source], cores: int) -> Iterator[Piece]:
    """Yield the decisions of logs of one table, in the order of the logs."""
    tasks = chain.from_iterable(_tasks(order, source) for source in sources)
    first = [*islice(tasks, 2)]
    if len(first) < 2 or cores < 2:
        # To start processes would take longer.
        yield from map(encode_task, chain(first, tasks))
        return
    yield from map_batches(encode_task, ([task] for task in chain(first, tasks)), cores)


def _tasks(order: Export, source: Source) -> Iterator[Task]:
    games = (
        (game, source.known(game.name))
        for game in read_encoded_games(source.path)
        if source.counted is None or game.name in source.counted
    )
    # A game whose worth is computed takes as long as ten others.
    many = 1 if order.wish.luck or order.wish.review else GAMES_AT_ONCE
    while few := tuple(islice(games, many)):
        yield Task(few, source.table, order.wish, order.format)


def _wanted(order: Export) -> list[Source]:
    """Return the logs in which a wanted bot plays. Raises UserError if a bot plays in none."""
    found = [*chain.from_iterable(map(_sources, order.sources))]
    names = {name for source in found for name in source.seats}
    for bot in order.wish.bots:
        if bot not in names:
            raise unknown_name("bot", bot, sorted(names))
    return [source for source in found if any(map(order.wish.wants, source.seats))]


def _sources(where: Path) -> Iterator[Source]:
    """Yield the logs of an event's folder, of a folder of logs, or the log itself.

    Of an event only the games count that its ledger has. Raises UserError.
    """
    refuse_others(where)
    folder = Folder(where)
    files: tuple[()] | tuple[ResultStore, LineIndex, LineIndex] = ()
    if folder.event.is_file():
        counted = ResultStore(results_of(folder.ledger, load_event(folder)))
        luck = LineIndex(folder.luck, luck_store.REMEDY)
        files = counted, luck, LineIndex(folder.review_log, review_log.REMEDY)
    for path in logs(where):
        for sitting in sitting_lines(path)[-1:]:
            table = Table(sitting.rules, len(sitting.seats))
            yield Source(path, table, sitting.seats, len(sitting.boards), *files)


def _paths(out: Path, tables: Collection[Table]) -> Iterator[Path]:
    """Yield the file of each table."""
    if len(tables) == 1:
        yield out
        return
    used = set[str]()
    for table in tables:
        # A log can come from anybody.
        name = re.sub(r"[^A-Za-z0-9_]+", "-", table.rules.name)
        names = (f"-{name}-{table.seats}{f'-{n}' * (n > 1)}" for n in count(1))
        used.add(own := next(one for one in names if one not in used))
        yield out.with_stem(f"{out.stem}{own}")


def _mode(sources: Iterable[Source]) -> int:
    """Return the mode of a file that only those may read who may read all these logs."""
    folders = {source.path.parent for source in sources}
    modes = [folder.stat().st_mode for folder in folders]
    modes += [actual_path(source.path).stat().st_mode for source in sources]
    return reduce(and_, modes, 0o644) | 0o600
