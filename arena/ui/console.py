"""Output of all commands: lines, JSON, games, tables, and the progress of long work."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from arena.rules.english import duration

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame


# Output of all commands: lines and JSON at once, games and tables in their width and style.
#
# While games are played a thread writes, for a terminal may be stopped (Ctrl-S, a slow line), and
# who writes to it then waits: the referee's clock must not.


Pager = Callable[[Iterable[str]], object]
"""A function that shows text in the user's pager, piece by piece."""
LINES_WAITING = 1_000
"""The most lines that wait for a stopped terminal; later ones are dropped, and counted."""


class WritingThread:
    """A thread that writes one thing after the other, so that nobody else waits for a terminal."""

    def __init__(self) -> None:
        self._works = SimpleQueue[Callable[[], object] | None]()
        self._dropped = 0
        self._thread = Thread(target=self._write, daemon=True)
        self._thread.start()

    def add_line(self, write: Callable[[], object]) -> None:
        """Write a line in its turn, unless too many wait."""
        if self._works.qsize() < LINES_WAITING:
            self._works.put(write)
        else:
            self._dropped += 1

    def add(self, work: Callable[[], object]) -> None:
        """Do this in its turn, however many lines wait: a display begins or ends."""
        self._works.put(work)

    def close(self) -> None:
        """Wait until all is written, for as long as the terminal is stopped."""
        if self._dropped:
            words = f"{self._dropped:,} more lines were dropped while nobody could read them."
            self._works.put(partial(_print, words, stderr=True))
        self._works.put(None)
        self._thread.join()

    def _write(self) -> None:
        while work := self._works.get():
            # A terminal that is gone, or has no letter for a name, must not end the games.
            with suppress(OSError, ValueError):
                work()


_WRITERS: list[WritingThread] = []
"""The last of them writes. Output is the process's, and so is this."""


@contextmanager
def writing_beside() -> Iterator[None]:
    """Write lines and displays in a thread until the block ends; then wait until all is written."""
    _WRITERS.append(WritingThread())
    try:
        yield
    finally:
        _WRITERS.pop().close()


def write_in_turn(work: Callable[[], object]) -> None:
    """Begin or end a display in the thread that writes, or at once if there is none."""
    if _WRITERS:
        _WRITERS[-1].add(work)
    else:
        work()


def print_line(text: object, *, stderr: bool = False) -> None:
    """Print a line to stdout at once: what reads a pipe may wait for it, or be gone.

    It may name what a stranger's file says, so nothing in it can steer the terminal. While games
    are played, it waits for its turn in a thread.
    """
    if _WRITERS:
        _WRITERS[-1].add_line(partial(_print, f"{text}", stderr=stderr))
    else:
        _print(text, stderr=stderr)


def _print(text: object, *, stderr: bool) -> None:
    from protocol.codec import printable_lines

    print(printable_lines(f"{text}"), file=sys.stderr if stderr else sys.stdout, flush=True)


def print_note(text: object) -> None:
    """Print a line for the user to stderr, apart from what programs read.

    No game or report depends on whether anybody can read it: the terminal may be gone.
    """
    with suppress(OSError):
        print_line(text, stderr=True)


def print_json(value: object, indent: int = 1) -> None:
    """Print a value as indented JSON."""
    from protocol.codec import json_for_terminal

    print(json_for_terminal(value, indent), flush=True)


def shown_path(path: Path) -> str:
    """Return a path as short as a user can use it here."""
    folder = Path.cwd()
    return f"{path.relative_to(folder) if path.is_relative_to(folder) else path}"


def plain_console() -> "Console":
    """Return a console that colours only our own texts."""
    from rich.console import Console

    return Console(highlight=False, force_jupyter=False)


def text_look(logged: "LoggedGame", console: "Console") -> "Look":
    """Return the look of a game on a console."""
    from arena.analysis.text import Look

    sitting = logged.sitting
    return Look(sitting.seats, console.width, partners=sitting.rules.deal.partners)


def print_paged(
    parts: Iterable["RenderableType"], console: "Console", page: Pager | None = None
) -> None:
    """Print parts with an empty line after each; through a pager if they are longer than a screen.

    `page`: shows text in a pager, piece by piece. Only a terminal that is read needs one.
    """
    pieces = (_drawn(part, console) for part in parts)
    if not (page and console.is_terminal and sys.stdin.isatty()):
        console.file.writelines(pieces)
        console.file.flush()
        return
    screen: list[str] = []
    for piece in pieces:
        screen.append(piece)
        if sum(piece.count("\n") for piece in screen) >= console.height:
            page(chain(screen, pieces))
            return
    console.file.write("".join(screen))


def _drawn(part: "RenderableType", console: "Console") -> str:
    """Return a part as the console prints it, with an empty line after it."""
    from rich.text import Text

    soft_wrap = isinstance(part, Text) and not console.is_terminal
    with console.capture() as captured:
        console.print(part, soft_wrap=soft_wrap)
        console.print()
    return captured.get()


# Progress of work that takes seconds or hours: a line on the terminal while it lasts.
#
# In a pipe there is nothing, or a line now and then for work that may go on in the background.


T = TypeVar("T")

CONSOLE_LINE_S = 30.0
"""Time between two lines in a pipe."""


@contextmanager
def working(
    title: str, *, lines: bool = False, note: Callable[[], str] = str
) -> Iterator[Callable[[int, int], None]]:
    """Show that work goes on; yield a function that tells how much is done, and of how much.

    `lines`: a pipe gets a line now and then. `note`: returns a line for below a terminal's bar.
    """
    start = monotonic()
    due = start + CONSOLE_LINE_S

    def tell(done: int, total: int) -> None:
        nonlocal due
        now = monotonic()
        if lines and now >= due and 0 < done < total:
            due = now + CONSOLE_LINE_S
            left = duration((now - start) / done * (total - done) / 60)
            print_note(f"{title}: {done:,} of {total:,}, {left} left.")

    if not sys.stderr.isatty():
        yield tell
        return
    from rich.console import Console  # It takes 40 ms with the next one.
    from rich.progress import Progress
    from rich.text import Text

    class NotedProgress(Progress):
        def get_renderables(self) -> "Iterator[RenderableType]":
            yield from super().get_renderables()
            if text := note():
                yield Text(text, no_wrap=True, overflow="ellipsis")

    with NotedProgress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def track(items: Iterable[T], title: str, total: int) -> Iterator[T]:
    """Yield the items, and show how many are done; a pipe gets a line now and then."""
    with working(title, lines=True) as tell:
        for done, item in enumerate(items):
            tell(done, total)
            yield item
