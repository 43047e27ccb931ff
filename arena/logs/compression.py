"""Compressed storage of finished logs, and the reading of files whether compressed or not.

Callers always use the plain file's name; the compressed file has `.zst` after it. Whatever the
moment of a kill, one of the two is whole; if both are there they hold the same, and the plain one
counts.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from arena.files import CHUNK, DamagedFileError, has_content, open_file, write_atomic

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENDING = ".zst"
"""The ending that a compressed file's name has after the plain name."""
MOST_RATIO = 200
"""The most bytes that one byte unpacks to: a small file must not become one that takes for ever.

Our logs take a sixth of their size; what would be smaller still stays plain.
"""
WINDOW_LOG = 23
"""The logarithm of the bytes that decompression may take: a file can come from anybody."""
OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,
}


def compressed_path(path: Path) -> Path:
    """Return the path of a file's compressed form."""
    return path.with_name(path.name + ENDING)


def actual_path(path: Path) -> Path:
    """Return the path of a file as it exists, compressed or not; its own if there is no file."""
    return compressed_path(path) if not path.exists() and compressed_path(path).exists() else path


def list_files(folder: Path, ending: str) -> list[Path]:
    """Return a folder's files with this ending, compressed or not, by name; none without it."""
    with suppress(FileNotFoundError):
        names = {path.name.removesuffix(ENDING) for path in folder.iterdir()}
        return [folder / name for name in sorted(names) if name.endswith(ending)]
    return []


@contextmanager
def open_any(path: Path) -> Iterator[io.BufferedReader | None]:
    """Open a file for reading, compressed or not, even while a run compresses it; None: no file.

    The path may also be that of a compressed file. Reading from it raises DamagedFileError.
    Raises OSError.
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
    # The plain file once more: a run may have decompressed it between the first two looks.
    for open_it, name in (
        (open_file, path),
        (_unpacking, compressed_path(path)),
        (open_file, path),
    ):
        with suppress(FileNotFoundError):
            return open_it(name)
    return None


def _unpacking(path: Path) -> io.BufferedReader:
    # Opened first: a half-made object is closed too, when Python deletes it.
    return io.BufferedReader(_Unpacked(open_file(path), path), CHUNK)


class _Unpacked(io.RawIOBase):
    """The content of a compressed file: one frame, and nothing after it."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW_LOG}
        self._path = path
        self._file = file
        self._left = MOST_RATIO * os.fstat(file.fileno()).st_size
        self._unpack = zstd.ZstdDecompressor(options=options)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # its base takes any buffer
        """Read into the buffer. Raises DamagedFileError."""
        try:
            data = self._some(len(buffer))
        except (zstd.ZstdError, EOFError) as error:
            raise DamagedFileError(f"{self._path}: cannot be decompressed: {error}") from error
        buffer[: len(data)] = data
        return len(data)

    def _some(self, most: int) -> bytes:
        while not self._unpack.eof:
            raw = self._file.read(CHUNK) if self._unpack.needs_input else b""
            if self._unpack.needs_input and not raw:
                raise EOFError("the end is missing.")
            if data := self._unpack.decompress(raw, most):
                self._left -= len(data)
                if self._left < 0:
                    raise zstd.ZstdError(f"it unpacks to more than {MOST_RATIO} times its size.")
                return data
        if self._unpack.unused_data or self._file.read(1):
            raise zstd.ZstdError("there is data after the end.")
        return b""


def compress(path: Path) -> None:
    """Replace a plain file, to which nothing will be added, by its compressed form.

    Raises DamagedFileError, OSError, and then the plain file is still there.
    """
    compressor = zstd.ZstdCompressor(options=OPTIONS)
    with open_file(path) as file:
        compressor.set_pledged_input_size(os.fstat(file.fileno()).st_size)
        chunks = iter(partial(file.read, CHUNK), b"")
        # With its times: a report made from it is still newer.
        write_atomic(compressed_path(path), _compressed(compressor, chunks), times_of=path)
    small = path.stat().st_size > MOST_RATIO * compressed_path(path).stat().st_size
    (compressed_path(path) if small else path).unlink()


def _compressed(compressor: zstd.ZstdCompressor, chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        yield compressor.compress(chunk)
    yield compressor.flush()


def has_twin(path: Path) -> bool:
    """Tell whether a file is there plain and compressed, and the two do not hold the same.

    Raises DamagedFileError, OSError.
    """
    if not (path.is_file() and compressed_path(path).exists()):
        return False
    with _unpacking(compressed_path(path)) as file:
        return not has_content(path, iter(partial(file.read, CHUNK), b""))


def decompress(path: Path) -> None:
    """Replace a compressed file by its plain form, so that a run can append to it.

    Raises OSError, DamagedFileError, and then the compressed file is still there.
    """
    if not path.exists() and compressed_path(path).exists():
        with _unpacking(compressed_path(path)) as file:
            chunks = iter(partial(file.read, CHUNK), b"")
            write_atomic(path, chunks, times_of=compressed_path(path))
    # A kill may have left both; once the plain file grows, the compressed one would be outdated.
    compressed_path(path).unlink(missing_ok=True)
