"""Append-only files with a running CRC for each line, compressed once they are finished."""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from msgspec import Struct

from arena.files import (
    CHUNK_BYTES,
    DamagedFileError,
    append_atomic,
    has_content,
    open_append,
    open_file,
    open_regular,
    write_atomic,
)
from protocol.codec import DamagedRecordError, checksum_of, seal_records, unseal

# Compressed storage of finished logs, and the reading of files whether compressed or not.
#
# Callers always use the plain file's name; the compressed file has `.zst` after it. Whatever the
# moment of a kill, one of the two is whole; if both are there they hold the same, and the plain one
# counts.


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_SUFFIX = ".zst"
"""The ending that a compressed file's name has after the plain name."""
MOST_RATIO = 200
"""The most bytes that one byte unpacks to: a small file must not become one that takes for ever.

Our logs take a sixth of their size; what would be smaller still stays plain.
"""
WINDOW_LOG = 23
"""The logarithm of the bytes that decompression may take: a file can come from anybody."""
ZSTD_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,
}


def compressed_path(path: Path) -> Path:
    """Return the path of a file's compressed form."""
    return path.with_name(path.name + ZSTD_SUFFIX)


def actual_path(path: Path) -> Path:
    """Return the path of a file as it exists, compressed or not; its own if there is no file."""
    return compressed_path(path) if not path.exists() and compressed_path(path).exists() else path


def status_of(path: Path | str) -> os.stat_result:
    """Return the status of a file as it exists, compressed or not. Raises OSError."""
    try:
        return os.stat(path)  # noqa: PTH116 - a Path takes 5 µs, and there may be 100,000
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            return compressed_path(Path(path)).stat()
        raise


FileState = tuple[int, int, int]
"""A file's size in bytes, and when its content and its entry in the folder last changed, in ns: a
file that is restored may get its old time, but no old change of its entry."""


def state_of(path: Path | str) -> FileState:
    """Return the state of a file as it exists, compressed or not. Raises OSError."""
    status = status_of(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def list_names(folder: Path, ending: str) -> set[str]:
    """Return the names of a folder's files with this ending, compressed or not; none without it."""
    with suppress(FileNotFoundError):
        names = {name.removesuffix(ZSTD_SUFFIX) for name in os.listdir(folder)}  # noqa: PTH208 - a Path takes 5 µs, and there may be 100,000
        return {name for name in names if name.endswith(ending)}
    return set()


@contextmanager
def open_any(path: Path) -> Iterator[io.BufferedReader | None]:
    """Open a file for reading, compressed or not, even while a run compresses it; None: no file.

    The path may also be that of a compressed file. Reading from it raises DamagedFileError.
    Raises OSError.
    """
    file = _open_existing(path)
    try:
        yield file
    finally:
        if file:
            file.close()


def _open_existing(path: Path) -> io.BufferedReader | None:
    if path.name.endswith(ZSTD_SUFFIX) and path.is_file():
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
    # Open the file before the object is made: Python closes even a half-made object.
    return io.BufferedReader(_Unpacked(open_file(path), path), CHUNK_BYTES)


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
            raw = self._file.read(CHUNK_BYTES) if self._unpack.needs_input else b""
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
    compressor = zstd.ZstdCompressor(options=ZSTD_OPTIONS)
    with open_file(path) as file:
        compressor.set_pledged_input_size(os.fstat(file.fileno()).st_size)
        chunks = iter(partial(file.read, CHUNK_BYTES), b"")
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
        return not has_content(path, iter(partial(file.read, CHUNK_BYTES), b""))


def decompress(path: Path) -> None:
    """Replace a compressed file by its plain form, so that a run can append to it.

    Raises OSError, DamagedFileError, and then the compressed file is still there.
    """
    if not path.exists() and compressed_path(path).exists():
        with _unpacking(compressed_path(path)) as file:
            chunks = iter(partial(file.read, CHUNK_BYTES), b"")
            write_atomic(path, chunks, times_of=compressed_path(path))
    # A kill may have left both; once the plain file grows, the compressed one would be outdated.
    compressed_path(path).unlink(missing_ok=True)


# Append-only files with a running CRC for each line.


T = TypeVar("T")
S = TypeVar("S", bound=Struct)

MAX_LINE_BYTES = 2**24
"""The most bytes of a line in memory: no line that we write is longer."""


class Line(Struct, frozen=True, gc=False):
    """One line of a file."""

    number: int
    """The line's number, from 1."""
    offset: int
    """The line's first byte, counted from 0."""
    data: bytes
    """The line with its newline; a line without one was cut short."""


class Entry(Struct, Generic[T], frozen=True, gc=False):
    """A line with its record."""

    line: Line
    checksum: int
    """The checksum from which the next line's runs on."""
    record: T


def damaged(path: Path, line: Line, why: object) -> DamagedFileError:
    """Return the error for a damaged file, with the line and the byte."""
    return DamagedFileError(f"{actual_path(path)}, line {line.number}, byte {line.offset}: {why}")


def append_records(descriptor: int, records: Iterable[Struct], checksum: int) -> int:
    """Append records with checksums; return the checksum from which the next line's runs on.

    One system call writes all lines: 120 random kills lost none of 266,879 lines, where
    buffered writing lost 306. Raises OSError, and then nothing was appended.
    """
    lines, checksum = seal_records(records, checksum)
    append_atomic(descriptor, lines)
    return checksum


def truncate_torn_line(path: Path) -> str | None:
    """Remove the line that a kill cut short, after the last newline; return a notice, or None.

    Raises DamagedFileError, OSError.
    """
    if not path.exists() or not (torn := len(last_line(path)[1])):
        return None
    with os.fdopen(open_regular(path, os.O_RDWR), "r+b") as file:
        file.truncate(file.seek(-torn, os.SEEK_END))
    return f"{path}: the last line was cut short; its {torn} bytes were removed."


def last_line(path: Path) -> tuple[bytes, bytes]:
    """Return the last whole line of a plain file and the bytes after it, each perhaps empty.

    Raises DamagedFileError if one is longer than any of ours, OSError.
    """
    parts: list[bytes] = []
    with open_file(path) as file:
        start, lines = file.seek(0, os.SEEK_END), 0
        while start and lines < 2:
            if len(parts) * CHUNK_BYTES >= 2 * MAX_LINE_BYTES:
                raise DamagedFileError(
                    f"{path}: its last {2 * MAX_LINE_BYTES} bytes have no whole line"
                )
            start, size = max(0, start - CHUNK_BYTES), min(start, CHUNK_BYTES)
            file.seek(start)
            parts.append(file.read(size))
            lines += parts[-1].count(b"\n")
    end = b"".join(reversed(parts))
    whole = end.rfind(b"\n") + 1
    return end[end.rfind(b"\n", 0, max(0, whole - 1)) + 1 : whole], end[whole:]


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file, compressed or not; none if there is no file.

    Raises DamagedFileError if it cannot be decompressed, or has a line longer than any of ours.
    """
    number = offset = 0
    with open_any(path) as file:
        for data in iter(partial(file.readline, MAX_LINE_BYTES), b"") if file else ():
            if len(data) == MAX_LINE_BYTES:
                raise DamagedFileError(
                    f"{actual_path(path)}: a line of {MAX_LINE_BYTES} bytes has no end"
                )
            number += 1
            yield Line(number, offset, data)
            offset += len(data)


def grep_prefix(path: Path, prefixes: tuple[bytes, ...]) -> Iterator[bytes]:
    """Yield the lines of a file that begin with one of these; all others cost little here.

    For counts, not for trust: no checksum is looked at, and data that cannot be decompressed is
    left out.
    """
    with suppress(DamagedFileError), open_any(path) as file:
        rest = b""
        while file and len(rest) < MAX_LINE_BYTES and (read := file.read(CHUNK_BYTES)):
            lines_read, _, rest = (rest + read).rpartition(b"\n")
            # Most parts have none, and a forged one may be all newlines.
            if any(prefix in lines_read for prefix in prefixes):
                lines = lines_read.split(b"\n")
                yield from (line + b"\n" for line in lines if line.startswith(prefixes))


def read_plain(path: Path, decode: Callable[[bytes], T], *, torn: bool = False) -> Iterator[T]:
    """Yield the record of every line of a file without checksums.

    `torn`: leave out a last line that was cut short. Raises DamagedFileError.
    """
    for line in read_lines(path):
        if torn and not line.data.endswith(b"\n"):
            return
        try:
            record = decode(line.data)
        except DamagedRecordError as error:
            raise damaged(path, line, error) from error
        yield record


def read_sealed(
    path: Path,
    decode: Callable[[bytes], T],
    remedy: str = "",
    checksum: int = 0,
    *,
    after: int = 0,
) -> Iterator[Entry[T]]:
    """Yield every line of a file with its record, except a last line that was cut short.

    `remedy`: the end of the sentence about damage. `checksum`: that before the first line. `after`:
    so many lines, which were read before, are left out. Raises DamagedFileError.
    """
    for line in read_lines(path):
        if not line.data.endswith(b"\n"):
            return
        try:
            if line.number <= after:
                checksum = checksum_of(line.data)
                continue
            body, checksum = unseal(line.data, checksum)
            record = decode(body)
        except DamagedRecordError as error:
            raise damaged(path, line, f"{error}{remedy}") from error
        yield Entry(line, checksum, record)


class SealedLog(Generic[S]):
    """A file of records with checksums that one process reads and then writes.

    Every method raises DamagedFileError, OSError.
    """

    def __init__(
        self, path: Path, decode: Callable[[bytes], S], remedy: str = "", first: int = 0
    ) -> None:
        """Begin before the first line; `first`: the checksum from which its own runs on."""
        self._path, self._decode, self._remedy, self._first = path, decode, remedy, first
        self.checksum = first
        """The checksum of the last line that was read or written."""

    def mend(self) -> str | None:
        """Remove a line that a kill cut short; return a notice, or None."""
        return truncate_torn_line(self._path)

    def read(self) -> Iterator[S]:
        """Yield every record of the file, to append after the last one."""
        self.checksum = self._first
        for entry in read_sealed(self._path, self._decode, self._remedy, self._first):
            self.checksum = entry.checksum
            yield entry.record

    def resume(self) -> None:
        """Append after the last line of a file; whoever read its lines has compared them."""
        line = last_line(self._path)[0] if self._path.exists() else b""
        self.checksum = checksum_of(line) if line else self._first

    def append(self, records: Iterable[S], mode: int = 0o644) -> None:
        """Append records, all or none; a new file gets the mode."""
        with open_append(self._path, mode) as descriptor:
            self.checksum = append_records(descriptor, records, self.checksum)

    def rewrite(
        self, records: Iterable[S], mode: int = 0o644, *, sync: bool = True, kept: int = 0
    ) -> None:
        """Replace the file in one step by these records, which may be read from it meanwhile.

        `sync`: see `write_atomic`. `kept`: so many lines stay before them.
        """
        checksum = self._first

        def lines() -> Iterator[bytes]:
            nonlocal checksum
            for before in islice(read_lines(self._path), kept):
                checksum = checksum_of(before.data)
                yield before.data
            for record in records:
                line, checksum = seal_records((record,), checksum)
                yield line

        write_atomic(self._path, lines(), mode, sync=sync)
        self.checksum = checksum
