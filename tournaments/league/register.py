"""The register of a league: its lines, the history of each bot in them, and its growth."""

import os
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from arena.files import append_atomic, open_append
from arena.logs.checksummed import read_plain, truncate_torn_line
from protocol.codec import decode_json, encode_json
from tournaments.league.records import Admitted, AnyEntry, Refused, Withdrawn
from tournaments.storage.folder import content

NOT_READ = ""
"""The fingerprint in a refusal of a push that was not read, because its author pushes too often."""


class BotHistory:
    """All that the register has about a bot."""

    def __init__(self) -> None:
        self.admitted: list[Admitted] = []
        self.refused: dict[str, Refused] = {}
        """The last refusal of each push, by fingerprint, the latest last."""
        self.present: Admitted | None = None
        """The version that plays, or would if it were not benched; None: the bot has withdrawn."""
        self.last: AnyEntry | None = None
        """The last line about it."""
        self.times: list[str] = []
        """The times of all lines about pushes that were read."""

    def add(self, entry: AnyEntry) -> None:
        """Take in the next line."""
        self.last = entry
        if not isinstance(entry, Refused) or entry.fingerprint != NOT_READ:
            self.times.append(entry.time)
        match entry:
            case Refused():
                self.refused.pop(entry.fingerprint, None)
                self.refused[entry.fingerprint] = entry
            case Admitted():
                self.admitted.append(entry)
                self.present = entry
            case Withdrawn():
                self.present = None

    @property
    def is_house(self) -> bool:
        """True for a sample bot that plays in the league's name."""
        return bool(self.admitted) and self.admitted[0].house


def bot_histories(entries: Iterable[AnyEntry]) -> defaultdict[str, BotHistory]:
    """Return the history of each bot of a register; any other bot has an empty one."""
    found = defaultdict[str, BotHistory](BotHistory)
    for entry in entries:
        found[entry.bot].add(entry)
    return found


def active_versions(
    histories: Mapping[str, BotHistory], house: Collection[str], division: str
) -> list[str]:
    """Return the versions that play in a division by the bots' histories, sorted by name."""
    present = (one.present for one in histories.values())
    return sorted(
        one.version
        for one in present
        if one
        and (not one.house or one.bot in house)
        and (not one.divisions or division in one.divisions)
    )


def read_register(path: Path) -> Iterator[AnyEntry]:
    """Yield the lines of a register, the oldest first. Raises DamagedFileError."""
    # A kill may have cut the last line short; who appends next removes it.
    return read_plain(path, decode_entry, torn=True)


def register_digests(path: Path) -> list[str]:
    """Return the SHA-256 of the register after each of its whole lines; the first is of none."""
    running = sha256()
    found = [running.hexdigest()]
    for line in content(path).splitlines(keepends=True):
        if line.endswith(b"\n"):
            running.update(line)
            found.append(running.hexdigest())
    return found


def decode_entry(line: bytes) -> AnyEntry:
    """Read a line of a register. Raises DamagedRecordError."""
    kind: Any = AnyEntry
    entry: AnyEntry = decode_json(line, kind)
    return entry


def append_entry(path: Path, entry: AnyEntry) -> AnyEntry:
    """Append a line to a register and wait until the disk has it; return what was written.

    The register is public, so the folders of the league and of its Python are left out where a bot
    or a compiler names them. Raises OSError, and DamagedRecordError for an entry that nobody could
    read again.
    """
    line = encode_json(entry)
    for folder in (path.parent.resolve(), Path(sys.executable).parent):
        line = line.replace(encode_json(f"{folder}/").strip(b'"'), b"")
    written = decode_entry(line)
    truncate_torn_line(path)
    with open_append(path) as descriptor:
        append_atomic(descriptor, line + b"\n")
        os.fsync(descriptor)
    return written
