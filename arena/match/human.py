"""A person at the table: a seat like a bot's, whose lines go to a screen instead of a pipe.

Lines tell the screen (a terminal, or a page behind a socket) when something happens, and its answer
is a line too. It shows the frames of its seat (`arena.analysis.frames`), with nothing that the seat
may not know, and offers only legal options: a slip of a finger is not a foul.
"""

import time

import trio

from arena.match.player import Evidence, Listener
from protocol.codec import Fault, decode_from_referee, encode_line
from protocol.messages import Ask, Choose, GameOver, GameStarts, RoundOver, ToBot

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
