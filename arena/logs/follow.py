"""The following of a game log that another process writes: read the new lines, lock nothing.

A last line that is not whole yet waits for the next look; so does a line that a kill cut short,
so that the repair of a log never takes back anything that was read.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from arena.logs.checksummed import DamagedFileError
from arena.logs.compression import open_any
from arena.logs.gamelog import GameAssembler, LoggedGame, logged_game
from protocol.codec import DamagedRecordError, decode_record, unseal
from protocol.records import LogRecord, Result

CHUNK = 2**20
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
            while data := file.read(min(left, CHUNK)):
                left -= len(data)
                whole = (rest + data).rfind(b"\n") + 1
                lines, rest = (rest + data)[:whole], (rest + data)[whole:]
                if len(rest) >= CHUNK:
                    raise DamagedFileError(f"{self.path}: a line of more than {CHUNK} bytes.")
                for line in lines.splitlines(keepends=True):
                    yield from self._take(line)

    def _skip(self, file: BinaryIO) -> None:
        if not file.seekable():
            left = self.size
            while left and (data := file.read(min(left, CHUNK))):
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
            ended = self._games.take(type(record), record)
        except DamagedRecordError as error:
            raise DamagedFileError(f"{self.path}, byte {self.size}: {error}") from error
        self.size += len(line)
        self._checksum = checksum
        if ended and isinstance(record, Result):
            yield logged_game(*ended)
