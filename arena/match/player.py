"""A player as a table knows it: a bot process, a channel to a shared one, or a person."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from protocol.codec import Fault
from protocol.messages import FromBot


def _unknown() -> None:
    """Return None: nobody can tell."""


class Evidence(NamedTuple):
    """The sources of what the log keeps of a player besides its answers."""

    keeps_stderr: bool = False
    """True if the log keeps what the player writes to stderr with each answer."""
    new_stderr: Callable[[], str] = str
    """Returns the end of its stderr since the last call in this game, safe to show."""
    stderr_tail: Callable[[], str] = str
    take_voids: Callable[[], int] = int
    """Returns, once, the number of its starts that did not count: it was unavailable."""
    cpu_ms: Callable[[], float | None] = _unknown
    """Returns the CPU time that it has used, in ms; None: nobody can tell."""
    cpu_seen_ms: Callable[[], float | None] = _unknown
    """Returns the same as of the last count."""
    last_words: Callable[[], tuple[str, bytes]] = lambda: ("", b"")
    """Returns how its process ended, if it does so at once, and what else it wrote."""
    effort_ms: Callable[[], float] = float
    """Returns the work for its last line, in million instructions, of a sealed bot."""


class Listener(Protocol):
    """A table, or another waiter, that players tell of their lines."""

    def hear(self) -> None:
        """Take the lines of the player that is asked: a player wrote, or is gone."""

    def hear_line(self, player: "Player", line: bytes, message: FromBot | None = None) -> None:
        """Take a player's line, if no other line of it waits: so the usual answer is not stored.

        `message`: the message in the line, if it was decoded before.
        """


class Player(Protocol):
    """A player takes lines and gives lines. It never blocks, and never raises for its input."""

    read_at: float
    """The time at which the poller found its last line, in s of the monotonic clock."""

    @property
    def fault(self) -> Fault | None:
        """The player's first fault; once it is set, nothing that the player sends counts."""

    @property
    def has_input(self) -> bool:
        """True if a line, or a part of one, or a fault waits to be taken."""

    def set_listener(self, listener: Listener | None) -> None:
        """Tell this listener from now on when the player has sent a line or is gone."""

    def send(self, line: bytes) -> None:
        """Send a line; what the player does not take yet is sent later."""

    def take_in(self) -> None:
        """Read all that the player has sent up to now, so that `next_line` has it."""

    def put_back(self, line: bytes) -> None:
        """Keep a line for `next_line`: the player sent it before it was asked."""

    def next_line(self) -> bytes | None:
        """Return the next line that the player sent, without its newline, or None."""

    def disqualify(self, fault: Fault) -> None:
        """Stop the player for a foul."""

    def evidence(self) -> Evidence:
        """Return the sources of the evidence of this player."""
