"""Files of sealed lines whose checksums are right, whatever they say: what a forger would write."""

from collections.abc import Callable, Iterable
from pathlib import Path

from protocol.codec import seal, unseal


def write_sealed(path: Path, lines: Iterable[bytes]) -> Path:
    """Write each line with the checksum of all before it."""
    checksum, data = 0, b""
    for line in lines:
        sealed, checksum = seal(line.rstrip(b"\n") + b"\n", checksum)
        data += sealed
    path.write_bytes(data)
    return path


def unsealed(path: Path) -> list[bytes]:
    """Return the lines of a file without their checksums and newlines."""
    checksum, lines = 0, list[bytes]()
    for line in path.read_bytes().splitlines(keepends=True):
        body, checksum = unseal(line, checksum)
        lines.append(body)
    return lines


def forge(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change every line and seal all of them again."""
    write_sealed(path, map(change, unsealed(path)))
