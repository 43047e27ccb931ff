"""Append-only files with a running CRC for each line."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from arena.files import CHUNK, append_atomic, open_append, open_file, open_regular, write_atomic
from arena.files import DamagedFileError as DamagedFileError
from arena.logs.compression import actual_path, open_any
from protocol.codec import DamagedRecordError, seal_records, unseal

T = TypeVar("T")
S = TypeVar("S", bound=Struct)

LONGEST = 2**24
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
            if len(parts) * CHUNK >= 2 * LONGEST:
                raise DamagedFileError(f"{path}: its last {2 * LONGEST} bytes have no whole line")
            start, size = max(0, start - CHUNK), min(start, CHUNK)
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
        for data in iter(partial(file.readline, LONGEST), b"") if file else ():
            if len(data) == LONGEST:
                raise DamagedFileError(f"{actual_path(path)}: a line of {LONGEST} bytes has no end")
            number += 1
            yield Line(number, offset, data)
            offset += len(data)


def grep_prefix(path: Path, told: tuple[bytes, ...]) -> Iterator[bytes]:
    """Yield the lines of a file that begin with one of these; all others cost little here.

    For counts, not for trust: no checksum is looked at, and data that cannot be decompressed is
    left out.
    """
    with suppress(DamagedFileError), open_any(path) as file:
        rest = b""
        while file and len(rest) < LONGEST and (read := file.read(CHUNK)):
            whole, _, rest = (rest + read).rpartition(b"\n")
            # Most parts have none, and a forged one may be all newlines.
            if any(prefix in whole for prefix in told):
                lines = whole.split(b"\n")
                yield from (line + b"\n" for line in lines if line.startswith(told))


def read_plain(path: Path, decode: Callable[[bytes], T], *, torn: bool = False) -> Iterator[T]:
    """Yield the record of every line of a file without checksums; with `torn` but a cut last one.

    Raises DamagedFileError.
    """
    for line in read_lines(path):
        if torn and not line.data.endswith(b"\n"):
            return
        try:
            record = decode(line.data)
        except DamagedRecordError as error:
            raise damaged(path, line, error) from error
        yield record


def read_sealed(path: Path, decode: Callable[[bytes], T], remedy: str = "") -> Iterator[Entry[T]]:
    """Yield every line of a file with its record, except a last line that was cut short.

    `remedy`: the end of the sentence about damage. Raises DamagedFileError.
    """
    checksum = 0
    for line in read_lines(path):
        if not line.data.endswith(b"\n"):
            return
        try:
            body, checksum = unseal(line.data, checksum)
            record = decode(body)
        except DamagedRecordError as error:
            raise damaged(path, line, f"{error}{remedy}") from error
        yield Entry(line, checksum, record)


class SealedLog(Generic[S]):
    """A file of records with checksums that one process reads and then writes.

    Every method raises DamagedFileError, OSError.
    """

    def __init__(self, path: Path, decode: Callable[[bytes], S], remedy: str = "") -> None:
        self._path, self._decode, self._remedy = path, decode, remedy
        self.checksum = 0
        """The checksum of the last line that was read or written; 0 without one."""

    def mend(self) -> str | None:
        """Remove a line that a kill cut short; return a notice, or None."""
        return truncate_torn_line(self._path)

    def read(self) -> Iterator[S]:
        """Yield every record of the file, to append after the last one."""
        self.checksum = 0
        for entry in read_sealed(self._path, self._decode, self._remedy):
            self.checksum = entry.checksum
            yield entry.record

    def append(self, records: Iterable[S], mode: int = 0o644) -> None:
        """Append records, all or none; a new file gets the mode."""
        with open_append(self._path, mode) as descriptor:
            self.checksum = append_records(descriptor, records, self.checksum)

    def rewrite(self, records: Iterable[S], mode: int = 0o644) -> None:
        """Replace the file in one step by these records, which may be read from it meanwhile."""
        checksum = 0

        def lines() -> Iterator[bytes]:
            nonlocal checksum
            for record in records:
                line, checksum = seal_records((record,), checksum)
                yield line

        write_atomic(self._path, lines(), mode)
        self.checksum = checksum
