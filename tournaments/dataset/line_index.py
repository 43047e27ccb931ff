"""Search in a file of lines about games by a game's name, in 16 bytes of memory a line."""

from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from arena.files import open_file
from arena.logs.checksummed import read_sealed
from protocol.codec import decode_json, strip_checksum


class AboutGame(Struct, frozen=True):
    """A line about a game, of which no more is read."""

    game: str = ""
    """The game's name; empty in lines about the whole event."""


def _about(line: bytes) -> AboutGame:
    return decode_json(line, AboutGame)


class LineIndex:
    """The places of the lines about each game in a plain file with checksums."""

    def __init__(self, path: Path, remedy: str = "") -> None:
        """Read the file and check it; without one there are no lines.

        `remedy`: the end of the sentence about damage. Raises DamagedFileError.
        """
        self._path = path
        names, offsets = array("q"), array("q")
        for entry in read_sealed(path, _about, remedy):
            names.append(hash(entry.record.game))
            offsets.append(entry.line.offset)
        hashes = np.frombuffer(names, np.int64)
        order = hashes.argsort(kind="stable")
        self._hashes, self._offsets = hashes[order], np.frombuffer(offsets, np.int64)[order]

    def lines(self, game: str) -> Iterator[bytes]:
        """Yield the lines about a game in their order, without their checksums."""
        first, after = (
            int(np.searchsorted(self._hashes, hash(game), side)) for side in ("left", "right")
        )
        if first == after:
            return
        with open_file(self._path) as file:
            for offset in self._offsets[first:after].tolist():
                file.seek(offset)
                line = strip_checksum(file.readline())
                # Two names may have the same hash.
                if _about(line).game == game:
                    yield line
