"""Search in a file of lines about games by a game's name, in 16 bytes of memory a line."""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from arena.files import open_file
from arena.logs.checksummed import read_sealed
from protocol.codec import strip_checksum

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

    def about(self, game: str) -> Iterator[T]:
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
