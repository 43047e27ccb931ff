"""Files that are full lie there compressed: how they are packed, and read whichever way they lie.

A file keeps its name for everybody; packed it lies beside that, with `.zst` after it. Whatever
moment a kill comes at, one of the two is whole; where both lie there they hold the same, and the
plain one counts.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from protocol.errors import UserError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENDING = ".zst"
"""What a packed file's name has more."""
BESIDE = ".new"
"""What it has more until it is whole."""
CHUNK = 2**17
"""Bytes that are read at once."""
WINDOW_LOG = 23
"""Logarithm of the memory that unpacking may take: a file can come from anybody."""
OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,
}


class DamagedFileError(UserError):
    """A file is not what was written; the text names it, the line, its first byte and why."""


def compressed_path(path: Path) -> Path:
    """What a file is called when it is packed."""
    return path.with_name(path.name + ENDING)


def actual_path(path: Path) -> Path:
    """Where a file lies, packed or not; its own name when it is not there at all."""
    return compressed_path(path) if not path.exists() and compressed_path(path).exists() else path


def list_files(folder: Path, ending: str) -> list[Path]:
    """The files of a folder whose names end so, packed or not, by name; none without a folder."""
    with suppress(FileNotFoundError):
        names = {path.name.removesuffix(ENDING) for path in folder.iterdir()}
        return [folder / name for name in sorted(names) if name.endswith(ending)]
    return []


@contextmanager
def open_any(path: Path) -> Iterator[io.BufferedReader | None]:
    """Read a file whichever way it lies, also while somebody packs it; None when it is not there.

    A path that is itself a packed file's is read so. Reading raises DamagedFileError. Raises
    OSError.
    """
    file = _found(path)
    try:
        yield file
    finally:
        if file:
            file.close()


def _found(path: Path) -> io.BufferedReader | None:
    if path.name.endswith(ENDING) and path.is_file():
        return _unpacking(path)
    # The plain file once more: it may have been unpacked between the first two looks.
    for open_it, name in ((_plain, path), (_unpacking, compressed_path(path)), (_plain, path)):
        with suppress(FileNotFoundError):
            return open_it(name)
    return None


def _plain(path: Path) -> io.BufferedReader:
    return path.open("rb")


def _unpacking(path: Path) -> io.BufferedReader:
    return io.BufferedReader(_Unpacked(path), CHUNK)


class _Unpacked(io.RawIOBase):
    """What is in a packed file: one frame, and nothing after it."""

    def __init__(self, path: Path) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW_LOG}
        self._path = path
        self._file = path.open("rb")
        self._unpack = zstd.ZstdDecompressor(options=options)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Raises DamagedFileError."""
        try:
            data = self._some(len(buffer))
        except (zstd.ZstdError, EOFError) as error:
            raise DamagedFileError(f"{self._path}: it cannot be unpacked: {error}") from error
        buffer[: len(data)] = data
        return len(data)

    def _some(self, most: int) -> bytes:
        """Some bytes, none only at the end."""
        while not self._unpack.eof:
            raw = self._file.read(CHUNK) if self._unpack.needs_input else b""
            if self._unpack.needs_input and not raw:
                raise EOFError("its end is missing.")
            if data := self._unpack.decompress(raw, most):
                return data
        if self._unpack.unused_data or self._file.read(1):
            raise zstd.ZstdError("something stands after its end.")
        return b""


def compress(path: Path) -> None:
    """Put a packed file in the place of a plain one to which nothing will be added.

    Raises OSError, and then the plain one is still there.
    """
    size = path.stat().st_size
    compressor = zstd.ZstdCompressor(options=OPTIONS)
    compressor.set_pledged_input_size(size)
    with path.open("rb") as file:
        chunks = iter(partial(file.read, CHUNK), b"")
        _replace(compressed_path(path), path, _compressed(compressor, chunks))
    path.unlink()


def _compressed(compressor: zstd.ZstdCompressor, chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        yield compressor.compress(chunk)
    yield compressor.flush()


def decompress(path: Path) -> None:
    """Put the plain file in the place of a packed one, so that something can be added to it.

    Raises OSError, DamagedFileError, and then the packed one is still there.
    """
    if not path.exists() and compressed_path(path).exists():
        with _unpacking(compressed_path(path)) as file:
            _replace(path, compressed_path(path), iter(partial(file.read, CHUNK), b""))
    # What a kill left beside the plain one would be older than it when that has grown.
    compressed_path(path).unlink(missing_ok=True)


def _replace(path: Path, source: Path, chunks: Iterator[bytes]) -> None:
    """Write a file at once, as old as its source: what was made from it is still newer."""
    beside = path.with_name(path.name + BESIDE)
    try:
        with beside.open("wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        os.utime(beside, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
        beside.replace(path)
    except OSError:
        # On a full disk what there is of it stands in everybody's way.
        beside.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove the halves of files that kills left.

    Raises OSError.
    """
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name.endswith(BESIDE):
                path.unlink()
