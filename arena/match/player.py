"""Who sits at a table, as the table knows it: a bot's process, a share of one, or a person."""

from collections.abc import Callable
from typing import Protocol

from protocol.codec import Fault


class Player(Protocol):
    """Takes lines and gives lines. Never blocks, never raises for what comes in."""

    read_at: float
    """When the pump found its last line, in s of the monotonic clock."""

    @property
    def fault(self) -> Fault | None:
        """What it broke; nothing that it says counts any more."""

    @property
    def cpu_seen_ms(self) -> float | None:
        """CPU time that it is known to have used, in ms; None where that cannot be told."""

    def on_input(self, heard: Callable[[], None]) -> None:
        """Who is called from now on when it has said something or is gone."""

    def send(self, line: bytes) -> None:
        """Say a line to it; what it does not take yet is said when it does."""

    def take_in(self) -> None:
        """Read all that it has said up to now, so that `next_line` has it."""

    def next_line(self) -> bytes | None:
        """The next line that it said, without its newline, or None."""

    def disqualify(self, fault: Fault) -> None:
        """It has fouled."""

    def cpu_ms(self) -> float | None:
        """CPU time that it has used, in ms; None where that cannot be told."""

    def stderr_tail(self) -> str:
        """What it complained of last, safe to show."""
