"""The game log: appended in whole lines while games are played, read back for replay."""

import errno
import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from protocol.codec import DamagedRecordError, decode_record, encode_line, seal, unseal
from protocol.records import (
    ChoiceRecord,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    Sitting,
)
from protocol.usage import UserError


class DamagedLogError(UserError):
    """A log cannot be read; the text names the file, the line and the reason."""


class GameLog:
    """One file that only grows. Each call writes whole lines with one system call."""

    def __init__(self, path: Path, sitting: Sitting) -> None:
        """Open for appending; a new file begins with the sitting.

        A line that a kill cut short is removed first. Raises OSError.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        cut_torn_tail(path)
        self._checksum = _last_checksum(path)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if os.fstat(self._descriptor).st_size == 0:
            self.append([sitting])

    def append(self, records: Sequence[LogRecord]) -> None:
        """Write the records.

        Raises OSError.
        """
        checksum, lines = self._checksum, []
        for record in records:
            line, checksum = seal(encode_line(record), checksum)
            lines.append(line)
        data = b"".join(lines)
        append_whole(self._descriptor, data)
        self._checksum = checksum

    def sync(self) -> None:
        """Wait until the disk has it."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def append_whole(descriptor: int, data: bytes) -> None:
    """Append all of it or nothing.

    A partial write (a full disk) is taken back before the OSError is raised.
    """
    written = os.write(descriptor, data)
    if written < len(data):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
        raise OSError(errno.ENOSPC, "The disk took only a part of what was written")


class LoggedGame(Struct, frozen=True):
    """One game as it stands in a log."""

    sitting: Sitting
    """The sitting it belongs to."""
    game: GameRecord
    """Its first record."""
    records: tuple[LogRecord, ...]
    """Everything after that, the result last."""
    result: Result | None
    """None: the game was cut off and does not count."""

    def choices(self) -> Iterator[ChoiceRecord | FoulRecord]:
        """What came in, in order."""
        for record in self.records:
            if isinstance(record, ChoiceRecord | FoulRecord):
                yield record


def cut_torn_tail(path: Path) -> None:
    """Remove what follows the last newline: a line that was never finished says nothing."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def _last_checksum(path: Path) -> int:
    """The checksum from which the next line's runs on."""
    checksums = deque((checksum for checksum, _ in read_records(path)), maxlen=1)
    return checksums.pop() if checksums else 0


def read_records(path: Path) -> Iterator[tuple[int, LogRecord]]:
    """Checksum and record of every whole line of a log.

    Raises DamagedLogError.
    """
    checksum = 0
    for number, line in read_lines(path):
        try:
            body, checksum = unseal(line, checksum)
            yield checksum, decode_record(body)
        except DamagedRecordError as error:
            raise DamagedLogError(f"{path}, line {number}: {error}") from error


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered whole lines of a file; a torn last line is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                yield number, line


def read_games(path: Path) -> Iterator[LoggedGame]:
    """Every game in a log, one at a time.

    Raises DamagedLogError.
    """
    sitting: Sitting | None = None
    game: GameRecord | None = None
    records: list[LogRecord] = []
    for number, (_, record) in enumerate(read_records(path), 1):
        if isinstance(record, Sitting):
            sitting = record
        elif isinstance(record, GameRecord):
            if sitting and game:
                yield LoggedGame(sitting, game, tuple(records), None)
            game, records = record, []
        elif sitting is None or game is None:
            raise DamagedLogError(f"{path}, line {number}: a record outside any game")
        else:
            records.append(record)
            if isinstance(record, Result):
                yield LoggedGame(sitting, game, tuple(records), record)
                game = None
    if sitting and game:
        yield LoggedGame(sitting, game, tuple(records), None)
