"""The log of a league, league.log: one readable line for each event."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from arena.files import append_atomic, open_append
from tournaments.league.records import Admitted, AnyEntry, Refused, one_line

LARGEST = 2**22
"""Size of the log, in bytes, from which on it becomes league.log.1 and a new one begins."""
LONGEST = 400
"""Most characters of an event's words: some come from authors."""
WIDTH = 9
"""Columns for the kind of an event."""


class Journal:
    """The log, which the terminal shows too."""

    def __init__(
        self, path: Path, clock: Callable[[], datetime], show: Callable[[str], None]
    ) -> None:
        self._path = path
        self._clock = clock
        self._show = show
        self._states: dict[str, str] = {}

    def note(self, kind: str, words: str) -> None:
        """Add a line. A disk that is full loses the line, not the league."""
        line = f"{self._clock():%Y-%m-%d %H:%M:%S} {kind:<{WIDTH}} {one_line(words, LONGEST)}"
        with suppress(OSError):
            if self._path.exists() and self._path.stat().st_size > LARGEST:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))
            with open_append(self._path) as descriptor:
                append_atomic(descriptor, f"{line}\n".encode())
        # Last: whoever has seen a line finds it in the log.
        self._show(line)

    def note_state(self, kind: str, words: str) -> None:
        """Add a line about a state that lasts, if it is new; without words the state is over."""
        if words and self._states.get(kind) != words:
            self.note(kind, words)
        self._states[kind] = words


def describe_entry(entry: AnyEntry) -> tuple[str, str]:
    """Return the kind of an entry of the register, and its words."""
    match entry:
        case Admitted():
            who = f" by {entry.author}" if entry.author else ""
            checked = f": {entry.check.outcome}" if entry.check else " (house bot)"
            return "admitted", f"{entry.version}{who}{checked}"
        case Refused():
            return "refused", f"{entry.bot}: {entry.why}"
    return "withdrawn", entry.version
