"""A person at the table: a seat like a bot's, whose lines go to a screen instead of a pipe.

The screen (a terminal, or a page behind a socket) is told what a bot would be told, in the same
lines, so that it can show nothing which this seat may not know. What it answers is a line too. It
offers only what was asked and is legal: a slip of a finger is no foul.
"""

import time
from collections.abc import Callable

import trio

from arena.match.bot_process import ignore
from protocol.codec import Fault, decode_from_referee, encode_line
from protocol.messages import Ask, Choose, GameOver, GameStarts, RoundOver, ToBot

TOLD = 4096
"""Messages that may wait for a screen that does not show them."""


class HumanPlayer:
    """The seat of somebody who looks at a screen."""

    def __init__(self) -> None:
        """Nobody looks yet; what is said waits in `told`."""
        self.fault: Fault | None = None
        self.read_at = 0.0
        self.cpu_seen_ms = 0.0
        self.question: Ask | None = None
        """What is asked of it just now."""
        self._heard: Callable[[], None] = ignore
        self._answer: bytes | None = None
        self._tell, self.told = trio.open_memory_channel[ToBot](TOLD)

    def on_input(self, heard: Callable[[], None]) -> None:
        """Who is called from now on when it has answered."""
        self._heard = heard

    def send(self, line: bytes) -> None:
        """Show a message."""
        told = decode_from_referee(line)
        if isinstance(told, Ask):
            self.question = told
        elif isinstance(told, GameStarts | RoundOver | GameOver):
            self.question = None
        try:
            self._tell.send_nowait(told)
        except trio.WouldBlock:
            self.fault = Fault("late", f"Over {TOLD} messages wait for the screen.")

    def choose(self, id: int, choice: int) -> bool:
        """The person answers; whether that was asked and may be chosen."""
        question = self.question
        if question is None or question.id != id or not 0 <= choice < len(question.options):
            return False
        self.question = None
        self.read_at = time.monotonic()
        self._answer = encode_line(Choose(id=id, choice=choice))[:-1]
        self._heard()
        return True

    def take_in(self) -> None:
        """Do nothing: what a person chooses is there at once."""

    def next_line(self) -> bytes | None:
        """The answer, once."""
        line, self._answer = self._answer, None
        return line

    def disqualify(self, fault: Fault) -> None:
        """It took too long."""
        self.fault = fault
        self.question = self._answer = None

    def cpu_ms(self) -> float:
        """A person uses none."""
        return 0.0

    def stderr_tail(self) -> str:
        """A person has no stderr."""
        return ""
