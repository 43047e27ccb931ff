"""The game log of a sitting: written while games are played, followed, read back for replay."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import starmap
from pathlib import Path, PurePath
from typing import BinaryIO, Generic, Protocol, TypeVar

from msgspec import UNSET, Struct

from arena.files import APPEND, CHUNK_BYTES, DamagedFileError, open_regular, sync_data
from arena.logs import checksummed
from arena.logs.checksummed import Entry, damaged, grep_prefix, open_any, read_sealed
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum, unseal
from protocol.records import (
    ChoiceRecord,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    RoundRecord,
    SentRecord,
    Sitting,
    SittingOver,
    SpentRecord,
)

# The crash that ended a bot, read from the last lines of its stderr.


CRASHES = (
    re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?$"),
    re.compile(r"^Exception in thread .*$"),
    re.compile(r"^thread '.*' .*panicked at .*$"),
    re.compile(r"^panic: .*$"),
    re.compile(r"^.*(?:command not found|: not found|cannot open shared object file).*$"),
    re.compile(r"^terminate called after throwing.*$"),
    re.compile(r"^.*(?:can't open file '|: No such file or directory$).*$"),
    re.compile(r"^.+ at \S+ line \d+(?:, <\w*> (?:line|chunk) \d+)?\.$"),
    re.compile(r"^\S*lua\S*: .+:\d+: .*$"),
)
PYTHON_FRAME = re.compile(r'^File "(?P<file>[^"]+)", line (?P<line>\d+)')
JAVASCRIPT_FRAME = re.compile(r"^at .*?\(?(?:file://)?(?P<file>/[^\s():]+):(?P<line>\d+):\d+\)?$")
LIBRARY = re.compile(r"/lib/python|/site-packages/|^<|/node_modules/")


def stderr_lines(stderr: str) -> list[str]:
    """Return the lines of a stderr, whose newlines a log writes as escapes; no blank ones."""
    lines = stderr.replace("\\n", "\n").splitlines()
    return [line.rstrip() for line in lines if line.strip()]


def crash_line(stderr: str) -> str:
    """Return the line that names the crash; empty if there is none."""
    lines = map(str.strip, reversed(stderr_lines(stderr)))
    return next((line for line in lines if any(pattern.match(line) for pattern in CRASHES)), "")


def name_crash(stderr: str) -> str:
    """Return the crash and its place, as `NameError: … (bot.py, line 9)`; else the last line."""
    lines = [line.strip() for line in stderr_lines(stderr)]
    crash = crash_line(stderr) or "".join(lines[-1:])
    # Python names the innermost call last, JavaScript first.
    for pattern, calls in ((PYTHON_FRAME, reversed(lines)), (JAVASCRIPT_FRAME, iter(lines))):
        for place in filter(None, map(pattern.match, calls)):
            if not LIBRARY.search(place["file"]):
                return f"{crash} ({PurePath(place['file']).name}, line {place['line']})"
    return crash


# --- the log ---


# The game log of a sitting: append to it while games are played, read it back for replay.


ANSWER_RECORDS = (ChoiceRecord, FoulRecord)
"""Records of what a bot did with a question."""
GAME_BOUNDARIES = (Sitting, GameRecord, SittingOver)
"""Records between games."""
OVER = line_start(SittingOver)
"""The beginning of a finished log's last line."""
COUNTED_RECORDS = frozenset({Sitting, SittingOver, Result})
"""Records that the log counts: they begin or end a sitting or end a game."""
PER_SEAT: dict[type[LogRecord], tuple[str, ...]] = {
    RoundRecord: ("points", "scores"),
    SentRecord: ("sha256",),
    SpentRecord: ("questions", "ms", "worst_ms", "given_back_ms", "cpu_ms", "voids", "info"),
    Result: ("seats",),
}
"""The fields of a record that have a value for each seat."""
T = TypeVar("T")


class DamagedLogError(DamagedFileError):
    """A record in a log that cannot have happened; the text names it and the reason."""


class GameLog:
    """The append-only log of one sitting. Each call writes whole lines with one system call."""

    def __init__(self, path: Path, sitting: Sitting) -> None:
        """Open a log for appending: decompress it if need be, begin a new one with the sitting.

        If every game has its result but a kill cut off the sitting's end, write that; see
        `begin_sitting`. Raises OSError, DamagedFileError.
        """
        self._sitting: Sitting | None = None
        self._records = self._results = self._checksum = 0
        self._over = False
        checksummed.decompress(path)
        self._resume(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = open_regular(path, APPEND)
        try:
            self.append([])
            self.begin_sitting(sitting)
        except OSError:
            self.close()
            raise

    def _resume(self, path: Path) -> None:
        end = 0
        for entry in read_records(path):
            self._checksum = entry.checksum
            self._count([entry.record])
            end = entry.line.offset + len(entry.line.data)
        if path.exists() and path.stat().st_size != end:
            raise DamagedFileError(
                f"{path}, byte {end}: the last line is incomplete; truncate it first"
            )

    def begin_sitting(self, sitting: Sitting) -> None:
        """Append the sitting of fresh processes if it is a new one. Raises OSError."""
        added = len(sitting.boards) - _boards(self._sitting)
        if added > 0 or (added == 0 and sitting != self._sitting and not self._over):
            self.append([sitting])

    def append(self, records: Sequence[LogRecord]) -> None:
        """Append the records; after the last game's result, the sitting's end with them.

        Raises OSError, and then nothing was written.
        """
        lines = records
        # Most calls bring choices only, which end no sitting: to look at their types costs little.
        if not records or not COUNTED_RECORDS.isdisjoint(map(type, records)):
            lines = [*records, *self._end(records)]
        if lines:
            self._checksum = checksummed.append_records(self._descriptor, lines, self._checksum)
            self._count(lines)

    def sync(self) -> None:
        """Wait until the disk has all records: about 4 ms, so once a game and not once a line."""
        sync_data(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _end(self, records: Sequence[LogRecord]) -> list[SittingOver]:
        if self._sitting is None:
            return []
        results = self._results + sum(isinstance(record, Result) for record in records)
        boards = max(map(_boards, (self._sitting, *records)))
        if results < boards or (self._over and boards == _boards(self._sitting)):
            return []
        return [SittingOver(games=results, records=self._records + len(records))]

    def _count(self, records: Sequence[LogRecord]) -> None:
        self._records += len(records)
        if COUNTED_RECORDS.isdisjoint(map(type, records)):
            return
        for record in records:
            self._results += isinstance(record, Result)
            if isinstance(record, Sitting):
                self._sitting = record
            if isinstance(record, Sitting | SittingOver):
                self._over = isinstance(record, SittingOver)


def _boards(record: LogRecord | None) -> int:
    return len(record.boards) if isinstance(record, Sitting) else 0


class Log(Protocol):
    """A place to which the records of games go."""

    def append(self, records: Sequence[LogRecord]) -> None:
        """Keep the records. Raises OSError, and then none was kept."""


class WholeGame:
    """The buffer of a game that shares its log with others: its records go in with its result.

    So the lines of two games are never mixed.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._records: list[LogRecord] = []

    def append(self, records: Sequence[LogRecord]) -> None:
        """Keep the records; with the result, append them all to the log. Raises OSError."""
        self._records += records
        if records and isinstance(records[-1], Result):
            self.flush()

    def flush(self) -> None:
        """Append what is left, of a game that was cut off. Raises OSError."""
        if self._records:
            self._log.append(self._records)
        self._records = []


class LoggedGame(Struct, frozen=True):
    """One game as a log has it."""

    sitting: Sitting
    """The game's sitting as the log had it then: boards may have been added later."""
    game: GameRecord
    records: tuple[LogRecord, ...]
    """All later records of the game, the result last."""
    result: Result | None
    """The result; None: the game was cut off and does not count."""

    def choices(self) -> Iterator[ChoiceRecord | FoulRecord]:
        """Return the choices and fouls of the bots, in order."""
        return (record for record in self.records if isinstance(record, ANSWER_RECORDS))


def read_records(path: Path) -> Iterator[Entry[LogRecord]]:
    """Yield every whole line of a log, and check their order.

    The sitting comes first. Before its end the same sitting may stand there again, because it went
    on elsewhere; after its end there may only be one with more boards.

    Raises DamagedFileError.
    """
    results, over, seats = 0, False, 0
    sitting: Sitting | None = None
    for entry in checksummed.read_sealed(path, decode_record):
        record, number = entry.record, entry.line.number
        # Nine lines of ten are choices in a game: every check below would let them pass.
        if isinstance(record, ChoiceRecord) and record.seat < seats:
            yield entry
            continue
        if isinstance(record, Sitting):
            more = sitting is None or len(record.boards) > len(sitting.boards)
            if sitting and not (_goes_on(sitting, record) and (more or not over)):
                raise damaged(path, entry.line, "a log has one sitting, which only gains boards")
            sitting, over = record, False
        if sitting is None:
            raise damaged(path, entry.line, "a log has one sitting, in its first line")
        if isinstance(record, GameRecord) and "/" in record.game:
            # Files are named after games.
            raise damaged(path, entry.line, "a game's name has no slash")
        if over:
            raise damaged(path, entry.line, "a record after the sitting's end")
        if seats == 0 and not isinstance(record, GAME_BOUNDARIES):
            raise damaged(path, entry.line, "a record outside any game")
        if isinstance(record, SittingOver):
            over = True
            if (record.games, record.records) != (results, number - 1):
                raise damaged(path, entry.line, "the sitting's end counts other lines than these")
        results += isinstance(record, Result)
        if is_beyond_seats(record, sitting):
            raise damaged(path, entry.line, f"it is not about {len(sitting.seats)} seats")
        if isinstance(record, (*GAME_BOUNDARIES, Result)):
            seats = len(sitting.seats) if isinstance(record, GameRecord) else 0
        yield entry


def is_beyond_seats(record: LogRecord, sitting: Sitting) -> bool:
    """Tell whether a record does not fit the number of the sitting's seats."""
    values = (getattr(record, name) for name in PER_SEAT.get(type(record), ()))
    named = (
        (record.seat,) if isinstance(record, ANSWER_RECORDS) else getattr(record, "forfeited", ())
    )
    seats = len(sitting.seats)
    uneven = any(value is not UNSET and len(value) != seats for value in values)
    return uneven or any(seat >= seats for seat in named)


def _goes_on(before: Sitting, after: Sitting) -> bool:
    """Tell whether a sitting is the one before it, played elsewhere or with boards added."""
    elsewhere = ("boards", "boneyard", "sandbox", "missing", "machine", "worker", "host")
    fields = [field for field in Sitting.__struct_fields__ if field not in elsewhere]
    differs = any(getattr(before, field) != getattr(after, field) for field in fields)
    gains = after.boards[: len(before.boards)] == before.boards
    return before != after and gains and not differs


def sitting_lines(path: Path) -> list[Sitting]:
    """Return the log's sitting each time it was written, elsewhere or with more boards.

    Lines that cannot be read are left out.
    """
    records = []
    for line in grep_prefix(path, (line_start(Sitting),)):
        with suppress(DamagedRecordError):
            records.append(decode_record(strip_checksum(line)))
    return [record for record in records if isinstance(record, Sitting)]


def is_over(path: Path) -> bool:
    """Tell whether the log's last line is its sitting's end, so that nothing was cut off.

    The lines before it are not checked. Raises DamagedFileError, OSError.
    """
    end = b""
    with checksummed.open_any(path) as file:
        for data in iter(partial(file.read, CHUNK_BYTES), b"") if file else ():
            end = (end + data)[-CHUNK_BYTES:]
    return end.endswith(b"\n") and end.rpartition(b"\n")[0].rpartition(b"\n")[2].startswith(OVER)


class GameAssembler(Generic[T]):
    """The lines of a log, decoded or not, put together to games one by one."""

    def __init__(self, most: int = sys.maxsize) -> None:
        """Keep at most `most` lines of a game, besides its first and its result."""
        self._sitting: T | None = None
        self._lines: list[T] = []
        self._most = most

    def take(self, kind: type[LogRecord], line: T) -> tuple[T, list[T]] | None:
        """Take the next line; return the sitting and the lines of a game that it ends or cuts off.

        A line outside any game is left out.
        """
        game = None
        if kind in GAME_BOUNDARIES or not self._lines:
            game, self._lines = self.playing(), [line] if kind is GameRecord else []
            self._sitting = line if kind is Sitting else self._sitting
        elif kind is Result or len(self._lines) <= self._most:
            self._lines.append(line)
            if kind is Result:
                game, self._lines = self.playing(), []
        return game

    def playing(self) -> tuple[T, list[T]] | None:
        """Return the sitting and the lines so far of the game that has no end yet."""
        return (self._sitting, self._lines) if self._sitting is not None and self._lines else None


def assemble_games(
    entries: Iterable[Entry[T]], kind_of: Callable[[T], type[LogRecord]]
) -> Iterator[tuple[T, list[T]]]:
    """Yield the sitting and the lines of each game."""
    games = GameAssembler[T]()
    finished_games = (games.take(kind_of(entry.record), entry.record) for entry in entries)
    yield from filter(None, finished_games)
    yield from filter(None, [games.playing()])


def logged_game(sitting: LogRecord, records: Sequence[LogRecord]) -> LoggedGame:
    """Return the game with these records, in this sitting."""
    game, *others = records
    assert isinstance(sitting, Sitting)
    assert isinstance(game, GameRecord)
    result = others[-1] if others and isinstance(others[-1], Result) else None
    return LoggedGame(sitting, game, tuple(others), result)


def read_games(path: Path) -> Iterator[LoggedGame]:
    """Yield every game in a log, one at a time. Raises DamagedFileError."""
    return starmap(logged_game, assemble_games(read_records(path), type))


# The following of a game log that another process writes: read the new lines, lock nothing.
#
# A last line that is not whole yet waits for the next look; so does a line that a kill cut short,
# so that the repair of a log never takes back anything that was read.


FOLLOW_CHUNK = 2**20
"""Bytes that are read at once; no line of a log is longer."""
LONGEST_GAME = 100_000
"""The most records of one game in memory: nobody could watch a longer game."""


class LogFollower:
    """A reader of one log, up to the last line at the latest look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        """Bytes that have been read, all of them whole lines."""
        self._games = GameAssembler[LogRecord](LONGEST_GAME)
        self._checksum = 0

    def look(self, end: int = sys.maxsize) -> Iterator[LoggedGame]:
        """Read the lines since the last look; yield the games that ended in them, one at a time.

        `end`: the number of the log's bytes, not compressed, that may be read by now. Raises
        DamagedFileError, OSError.
        """
        with open_any(self.path) as file:
            if file is None:
                raise DamagedFileError(f"{self.path} was deleted.")
            self._skip(file)
            rest, left = b"", end - self.size
            while data := file.read(min(left, FOLLOW_CHUNK)):
                left -= len(data)
                size = (rest + data).rfind(b"\n") + 1
                lines, rest = (rest + data)[:size], (rest + data)[size:]
                if len(rest) >= FOLLOW_CHUNK:
                    raise DamagedFileError(
                        f"{self.path}: a line of more than {FOLLOW_CHUNK} bytes."
                    )
                for line in lines.splitlines(keepends=True):
                    yield from self._take(line)

    def _skip(self, file: BinaryIO) -> None:
        if not file.seekable():
            left = self.size
            while left and (data := file.read(min(left, FOLLOW_CHUNK))):
                left -= len(data)
        else:
            left = max(0, self.size - file.seek(0, os.SEEK_END))
            file.seek(self.size)
        if left:
            raise DamagedFileError(f"{self.path} was truncated.")

    def playing(self) -> LoggedGame | None:
        """Return the records so far of the game that is running or was cut off; or None."""
        playing = self._games.playing()
        return logged_game(*playing) if playing else None

    def _take(self, line: bytes) -> Iterator[LoggedGame]:
        try:
            body, checksum = unseal(line, self._checksum)
            record = decode_record(body)
            game = self._games.take(type(record), record)
        except DamagedRecordError as error:
            raise DamagedFileError(f"{self.path}, byte {self.size}: {error}") from error
        self.size += len(line)
        self._checksum = checksum
        if game and isinstance(record, Result):
            yield logged_game(*game)


# The finished games of a log as lines, cheap to read, for other processes to decode.


KINDS_BY_START: dict[bytes, type[LogRecord]] = {
    line_start(kind): kind for kind in (Sitting, SittingOver, GameRecord, Result)
}
"""The beginnings of the lines that begin or end games."""


class EncodedGame(Struct, frozen=True):
    """A finished game as its lines; their checksums were right, and nobody has decoded them."""

    path: Path
    sitting: bytes
    lines: tuple[bytes, ...]
    """Its own lines: the game's record first, the result last."""

    @property
    def name(self) -> str:
        """The game's name in the event. Raises DamagedLogError."""
        try:
            game = decode_record(self.lines[0])
        except DamagedRecordError as error:
            raise self._damage(error) from error
        assert isinstance(game, GameRecord), "So its first line begins."
        return game.game

    def decode(self) -> LoggedGame:
        """Return the game. Raises DamagedLogError if a line is not a record of it."""
        try:
            sitting, *records = map(decode_record, (self.sitting, *self.lines))
        except DamagedRecordError as error:
            raise self._damage(error) from error
        game = logged_game(sitting, records)
        assert game.result, "So its last line begins."
        names_no_seat = any(is_beyond_seats(record, game.sitting) for record in records)
        if names_no_seat or game.sitting.seats != game.result.seats:
            raise self._damage("it is not a game of its sitting")
        return game

    def _damage(self, why: object) -> DamagedLogError:
        return DamagedLogError(f"{self.path}: a game of it cannot be read: {why}.")


def read_encoded_games(path: Path) -> Iterator[EncodedGame]:
    """Yield the finished games of a log. Raises DamagedFileError."""
    for sitting, lines in assemble_games(read_sealed(path, bytes), _kind_of):
        if _kind_of(lines[-1]) is Result:
            yield EncodedGame(path, sitting, tuple(lines))


def _kind_of(line: bytes) -> type[LogRecord]:
    return KINDS_BY_START.get(line[: line.find(b",") + 1], ChoiceRecord)
