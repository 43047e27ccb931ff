"""A person's screen in the terminal: draws what the seat is told, reads a number as the answer.

It prints plain text from top to bottom and never moves the cursor or clears the screen, so that a
screen reader can read it as it comes.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import trio
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from arena.analysis import text
from arena.analysis.frames import LiveFrames
from arena.match.player import HumanPlayer
from protocol.messages import Ask, Bid, GameOver, Option, RoundOver

TERMINAL_READ_BYTES = 4096
MAX_TYPED_BYTES = 256
"""Most bytes of a line that are used; nobody types more for an answer."""
LEAVE = ("q", "quit", "leave")
MAX_OPTION_LINES = 12
"""Most options that get a line each; more options are printed side by side."""


class TerminalPlayer:
    """A person who reads and types."""

    def __init__(self, console: Console, keys: int, look: text.Look) -> None:
        self._console = console
        self._keys = Keys(keys)
        self._look = look

    async def show(self, person: HumanPlayer, live: LiveFrames, ready: trio.Event) -> bool:
        """Show a game to its end, and answer; return False if the person leaves before."""
        try:
            return await self._show(person, live, ready)
        except trio.Cancelled:
            self._console.print()  # The cursor is after a prompt.
            raise

    async def _show(self, person: HumanPlayer, live: LiveFrames, ready: trio.Event) -> bool:
        ready.set()
        async for message in person.messages:
            if isinstance(message, Ask | RoundOver | GameOver):
                # The question says whose turn it is.
                frame = replace(live.frame(message), turn=None)
                self._print(text.draw_frame(frame, self._look))
            if isinstance(message, GameOver):
                return True
            if isinstance(message, Ask) and not await self._answered(person, message):
                return False
        return False

    async def _answered(self, person: HumanPlayer, question: Ask) -> bool:
        """Ask until there is an answer or no time is left; return False if the person leaves."""
        self._print(numbered_options(question.options))
        with trio.move_on_after(question.time_ms / 1000):
            self._keys.forget()
            while True:
                self._console.print(prompt(question.options), end="", soft_wrap=True)
                line = await self._keys.line()
                if line is None or line.strip().lower() in LEAVE:
                    self._console.print()
                    return False
                choice = parse_choice(line, question.options)
                if choice is not None and person.choose(question.id, choice):
                    self._console.print()
                    return True
                self._print(Text("Enter one of the numbers above."))
        self._print(Text("\nTime is up.\n"))
        return True

    def _print(self, words: Text) -> None:
        self._console.print(words)


def numbered_options(options: Sequence[Option]) -> Text:
    """Return the options, numbered from 1."""
    if isinstance(last := options[-1], Bid):
        bids = [option.chips for option in options[1:] if isinstance(option, Bid)]
        several = f"{bids[0]} to {last.chips}" if len(bids) > 1 else f"{last.chips}"
        return Text(f"  0  check{f'; or bid {several} chips' if bids else ''}")
    lines = [f"{number}  {text.option_words(option)}" for number, option in enumerate(options, 1)]
    return Text(
        "\n".join(f"  {line}" for line in lines)
        if len(lines) <= MAX_OPTION_LINES
        else "; ".join(lines)
    )


def prompt(options: Sequence[Option]) -> Text:
    """Return the text before the cursor."""
    if isinstance(options[-1], Bid):
        return Text("Your bid in chips (Enter to check, q to leave): ", "bold")
    choices = f"1 to {len(options)}, Enter for 1" if len(options) > 1 else "Enter"
    return Text(f"Your choice ({choices}, q to leave): ", "bold")


def parse_choice(line: str, options: Sequence[Option]) -> int | None:
    """Return the index of the typed option, from 0; None if the line is not an option.

    Options are numbered from 1, and bids by their chips.
    """
    words = line.strip()
    if not words:
        return 0
    number = int(words) if words.isascii() and words.isdigit() and len(words) < 6 else -1
    if isinstance(options[-1], Bid):
        return options.index(Bid(number)) if Bid(number) in options else None
    return number - 1 if 1 <= number <= len(options) else None


def drop_typed(terminal: int) -> None:
    """Drop what was typed at a terminal and not read."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(terminal, termios.TCIFLUSH)


class Keys:
    """Lines from a keyboard or a pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = bytearray()

    def forget(self) -> None:
        """Drop lines typed before the question, which do not answer it; keep a pipe's lines."""
        if os.isatty(self._descriptor):
            drop_typed(self._descriptor)
            self._read.clear()

    async def line(self) -> str | None:
        """Return the next line; None if no more will come."""
        while b"\n" not in self._read:
            if len(self._read) > MAX_TYPED_BYTES:
                del self._read[MAX_TYPED_BYTES:]
            data = await read_ready(self._descriptor)
            if not data:
                return None
            self._read += data
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read[:] = rest
        return line[:MAX_TYPED_BYTES].decode(errors="replace")


async def read_ready(descriptor: int, most: int = TERMINAL_READ_BYTES) -> bytes:
    """Return what comes next from a keyboard, a pipe or a file; empty at its end."""
    if sys.platform == "win32":  # It tells of no keyboard that a line has come.
        read = partial(os.read, descriptor, most)
        return await trio.to_thread.run_sync(read, abandon_on_cancel=True)
    # A file is always ready to be read, and epoll refuses it.
    with suppress(PermissionError):
        await trio.lowlevel.wait_readable(descriptor)
    return os.read(descriptor, most)
