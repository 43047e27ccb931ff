"""The register as the history of each bot, and its growth."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from arena.files import append_atomic, open_append
from arena.logs.checksummed import truncate_torn_line
from protocol.codec import encode_json
from tournaments.league.read import decode_entry
from tournaments.league.records import Admitted, AnyEntry, Benched, Refused, Withdrawn

NOT_READ = ""
"""The fingerprint in a refusal of a push that was not read, because its author pushes too often."""


class BotHistory:
    """All that the register has about a bot."""

    def __init__(self) -> None:
        self.admitted: list[Admitted] = []
        self.refused: dict[str, Refused] = {}
        """The last refusal of each push, by fingerprint."""
        self.present: Admitted | None = None
        """The version that plays, or would if it were not benched; None: the bot has withdrawn."""
        self.last: AnyEntry | None = None
        """The last line about its pushes."""
        self.times: list[str] = []
        """The times of all lines about pushes that were read."""

    def add(self, entry: AnyEntry) -> None:
        """Take in the next line."""
        if isinstance(entry, Benched):
            return
        self.last = entry
        if not isinstance(entry, Refused) or entry.fingerprint != NOT_READ:
            self.times.append(entry.time)
        match entry:
            case Admitted():
                self.admitted.append(entry)
                self.present = entry
            case Withdrawn():
                self.present = None
            case Refused():
                self.refused[entry.fingerprint] = entry

    @property
    def is_house(self) -> bool:
        """True for a sample bot that plays in the league's name."""
        return bool(self.admitted) and self.admitted[0].house

    @property
    def next_version(self) -> str:
        """Name of the next version, in terms of the bot's own: empty, then @2."""
        return f"@{len(self.admitted) + 1}" if self.admitted else ""


def bot_histories(entries: Iterable[AnyEntry]) -> dict[str, BotHistory]:
    """Return the history of each bot of a register."""
    found: dict[str, BotHistory] = {}
    for entry in entries:
        found.setdefault(entry.bot, BotHistory()).add(entry)
    return found


def append_entries(path: Path, entries: Iterable[AnyEntry]) -> list[AnyEntry]:
    """Append lines to a register, all or none, and wait until the disk has them; return them.

    The register is public, so the folders of the league and of its Python are left out where a bot
    or a compiler names them. Raises OSError, and DamagedRecordError for an entry that nobody could
    read again.
    """
    lines = [encode_json(entry) + b"\n" for entry in entries]
    for folder in (path.parent.resolve(), Path(sys.executable).parent):
        here = encode_json(f"{folder}/").strip(b'"')
        lines = [line.replace(here, b"") for line in lines]
    written = [decode_entry(line) for line in lines]
    if not lines:
        return written
    truncate_torn_line(path)
    with open_append(path) as descriptor:
        append_atomic(descriptor, b"".join(lines))
        os.fsync(descriptor)
    return written
