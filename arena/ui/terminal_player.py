"""A person's screen in the terminal: draws what the seat is told, reads a number as the answer.

Plain text from top to bottom, nothing is moved or cleared: a screen reader reads it as it comes.
"""

import os
import termios
from collections.abc import Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from arena.analysis import text as render
from arena.analysis.frames_live import LiveFrames
from arena.match.human import HumanPlayer
from protocol.messages import Ask, GameOver, GameStarts, Option, RoundOver

READ = 4096
"""Bytes that are read at once."""
LONGEST = 256
"""Bytes of a line that are looked at; nobody types more for an answer."""
LEAVE = ("q", "quit", "leave")
LISTED = 12
"""Options that get a line each; more stand side by side."""


class TerminalPlayer:
    """Somebody who reads and types."""

    def __init__(self, console: Console, keys: int, look: render.Look) -> None:
        """`keys` is the descriptor that is typed into."""
        self._console = console
        self._keys = Keys(keys)
        self._look = look

    async def show(self, person: HumanPlayer, ready: trio.Event) -> bool:
        """Show a game to its end, and answer; False: the person leaves before."""
        try:
            return await self._show(person, ready)
        except trio.Cancelled:
            self._console.print()  # The cursor stands behind a prompt.
            raise

    async def _show(self, person: HumanPlayer, ready: trio.Event) -> bool:
        ready.set()
        sight: LiveFrames | None = None
        async for told in person.told:
            if isinstance(told, GameStarts):
                sight = LiveFrames(told, self._look.names)
            elif isinstance(told, Ask | RoundOver | GameOver):
                assert sight, "A game begins before anything happens in it."
                # Whose turn it is, the question says.
                frame = replace(sight.frame(told), turn=None)
                self._print(render.draw(frame, self._look))
            if isinstance(told, GameOver):
                return True
            if isinstance(told, Ask) and not await self._answered(person, told):
                return False
        return False

    async def _answered(self, person: HumanPlayer, asked: Ask) -> bool:
        """Ask until there is an answer or no time is left; False: the person leaves."""
        self._print(numbered_options(asked.options))
        with trio.move_on_after(asked.time_ms / 1000):
            self._keys.forget()
            while True:
                self._console.print(prompt(len(asked.options)), end="", soft_wrap=True)
                line = await self._keys.line()
                if line is None or line.strip().lower() in LEAVE:
                    self._console.print()
                    return False
                choice = parse_choice(line, len(asked.options))
                if choice is not None and person.choose(asked.id, choice):
                    self._console.print()
                    return True
                self._print(Text(f"That is none of 1 to {len(asked.options)}."))
        self._print(Text("\nThe time is up.\n"))
        return True

    def _print(self, text: Text) -> None:
        self._console.print(text)


def numbered_options(options: Sequence[Option]) -> Text:
    """What can be chosen, numbered from 1."""
    lines = [f"{number}  {render.option_words(one)}" for number, one in enumerate(options, 1)]
    return Text(
        "\n".join(f"  {line}" for line in lines) if len(lines) <= LISTED else "; ".join(lines)
    )


def prompt(options: int) -> Text:
    """What stands before the cursor."""
    which = f"1 to {options}, Enter for 1" if options > 1 else "Enter"
    return Text(f"Your choice ({which}, q to leave): ", "bold")


def parse_choice(line: str, options: int) -> int | None:
    """The option that was typed, from 0; None if it is none."""
    words = line.strip()
    if not words:
        return 0
    number = int(words) if words.isascii() and words.isdigit() and len(words) < 6 else 0
    return number - 1 if 1 <= number <= options else None


class Keys:
    """Lines that are typed, or come in through a pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = bytearray()

    def forget(self) -> None:
        """What was typed before the question is no answer to it; a pipe's lines wait."""
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
            self._read.clear()

    async def line(self) -> str | None:
        """The next line; None when no more will come."""
        while b"\n" not in self._read:
            if len(self._read) > LONGEST:
                del self._read[LONGEST:]
            data = await self._more()
            if not data:
                return None
            self._read += data
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read[:] = rest
        return line[:LONGEST].decode(errors="replace")

    async def _more(self) -> bytes:
        # A file can always be read, and epoll refuses it.
        with suppress(PermissionError):
            await trio.lowlevel.wait_readable(self._descriptor)
        return os.read(self._descriptor, READ)
