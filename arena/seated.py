"""Who sits at a table, as the table and the pump know it: a bot's process, or a person."""

from collections.abc import Callable
from typing import Protocol

from protocol.codec import Fault


class Seated(Protocol):
    """Takes lines and gives lines. Never blocks, never raises for what comes in."""

    fault: Fault | None
    """What it broke; nothing that it says counts any more."""
    read_at: float
    """When its last line came in, in seconds of the monotonic clock."""
    cpu_seen_ms: float
    """CPU time that it is known to have used, in ms."""

    @property
    def stdin(self) -> int | None:
        """The descriptor that must become writable before the rest can be said."""

    def tell(self, heard: Callable[[], None]) -> None:
        """Who is called from now on when it has said something or is gone."""

    def say(self, line: bytes) -> None:
        """Say a line to it, or as much as it takes."""

    def flush(self) -> None:
        """Say the rest."""

    def next_line(self) -> bytes | None:
        """The next line that it said, without its newline, or None."""

    def condemn(self, fault: Fault) -> None:
        """It has fouled."""

    def cpu_ms(self) -> float:
        """CPU time that it has used, in ms."""

    def last_words(self) -> str:
        """What it complained of last, safe to show."""
