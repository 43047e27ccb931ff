"""A player as a table knows it: a bot process, a channel to a shared one, or a person."""

from collections.abc import Callable
from typing import Protocol

from protocol.codec import Fault


class Player(Protocol):
    """A player takes lines and gives lines. It never blocks, and never raises for its input."""

    read_at: float
    """The time at which the poller found its last line, in s of the monotonic clock."""

    @property
    def fault(self) -> Fault | None:
        """The player's first fault; once it is set, nothing that the player sends counts."""

    @property
    def cpu_seen_ms(self) -> float | None:
        """CPU time that the player used up to the last count, in ms; None: nobody can tell."""

    def on_input(self, heard: Callable[[], None]) -> None:
        """Call `heard` from now on when the player has sent a line or is gone."""

    def send(self, line: bytes) -> None:
        """Send a line; what the player does not take yet is sent later."""

    def take_in(self) -> None:
        """Read all that the player has sent up to now, so that `next_line` has it."""

    def next_line(self) -> bytes | None:
        """Return the next line that the player sent, without its newline, or None."""

    def disqualify(self, fault: Fault) -> None:
        """Stop the player for a foul."""

    def cpu_ms(self) -> float | None:
        """Return the CPU time that the player has used, in ms; None: nobody can tell."""

    def stderr_tail(self) -> str:
        """Return the end of the player's stderr, safe to show."""


def ignore() -> None:
    """Do nothing: no game listens to the bot yet."""
