"""Players as a table knows them: a bot process, a channel to a shared one, or a person."""

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import trio

from protocol.codec import Fault, decode_from_referee, encode_line
from protocol.messages import Ask, Choose, FromBot, GameOver, GameStarts, RoundOver, ToBot

# A player as a table knows it: a bot process, a channel to a shared one, or a person.


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
    """Returns the CPU time last measured, in ms."""
    last_words: Callable[[], tuple[str, bytes]] = lambda: ("", b"")
    """Returns how its process ended and its other output; empty if it does not end at once."""
    effort_ms: Callable[[], float] = float
    """Returns the work for its last line, in million instructions, of a sealed bot."""


class Listener(Protocol):
    """A table, or another waiter, that players tell of their lines."""

    def hear(self) -> None:
        """Take the lines of the player that is asked: a player wrote, or is gone."""

    def hear_line(self, player: "Player", line: bytes, message: FromBot | None = None) -> None:
        """Take the only waiting line of a player, so that the usual answer need not be stored.

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


# A person at the table: a seat like a bot's, whose lines go to a screen instead of a pipe.
#
# Lines tell the screen (a terminal, or a page behind a socket) when something happens, and its
# answer is a line too. It shows the frames of its seat (`arena.analysis.frames`), with nothing that
# the seat may not know, and offers only legal options: a slip of a finger is not a foul.


COME_S = 3600.0
"""Seconds that a person or an agent has to come to its seat."""
MOST_MESSAGES = 4096
"""The most messages that may wait for a screen that does not show them."""


class HumanPlayer:
    """The seat of a person at a screen."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.read_at = 0.0
        self.question: Ask | None = None
        """The open question, or None."""
        self._listener: Listener | None = None
        self._answer: bytes | None = None
        self._sender, self.messages = trio.open_memory_channel[ToBot](MOST_MESSAGES)

    @property
    def has_input(self) -> bool:
        """True if an answer or a fault waits to be taken."""
        return self._answer is not None or self.fault is not None

    def set_listener(self, listener: Listener | None) -> None:
        """Tell this listener from now on when the person has answered."""
        self._listener = listener

    def send(self, line: bytes) -> None:
        """Show a message."""
        message = decode_from_referee(line)
        if isinstance(message, Ask):
            self.question = message
        elif isinstance(message, GameStarts | RoundOver | GameOver):
            self.question = None
        try:
            self._sender.send_nowait(message)
        except trio.WouldBlock:
            self.fault = Fault("late", f"Over {MOST_MESSAGES} messages wait for the screen.")

    def choose(self, id: int, choice: int) -> bool:
        """Answer for the person; return False if the question or the option is not open."""
        question = self.question
        if question is None or question.id != id or not 0 <= choice < len(question.options):
            return False
        self.question = None
        self.read_at = time.monotonic()
        self._answer = encode_line(Choose(id=id, choice=choice))[:-1]
        if self._listener:
            self._listener.hear()
        return True

    def take_in(self) -> None:
        """Do nothing: a person's choice is there at once."""

    def put_back(self, line: bytes) -> None:
        """Keep an answer for `next_line`."""
        self._answer = line

    def next_line(self) -> bytes | None:
        """Return the answer, once."""
        line, self._answer = self._answer, None
        return line

    def disqualify(self, fault: Fault) -> None:
        """Stop listening to the person, who took too long."""
        self.fault = fault
        self.question = self._answer = None

    def evidence(self) -> Evidence:
        """Return the evidence of a person, who uses no CPU time and has no stderr."""
        return Evidence(cpu_ms=float, cpu_seen_ms=float)
