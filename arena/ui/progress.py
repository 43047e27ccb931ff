"""Progress of work that takes seconds or hours: a line on the terminal while it lasts.

In a pipe there is nothing, or a line now and then for work that may go on in the background.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from arena.rules.english import duration
from arena.ui.console import print_note

T = TypeVar("T")

LINE_EVERY_S = 30.0
"""Time between two lines in a pipe."""


@contextmanager
def working(what: str, *, lines: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show that work goes on; yield a function that tells how much is done, and of how much.

    `lines`: a pipe gets a line now and then.
    """
    begun = monotonic()
    due = begun + LINE_EVERY_S

    def tell(done: int, of: int) -> None:
        nonlocal due
        now = monotonic()
        if lines and now >= due and 0 < done < of:
            due = now + LINE_EVERY_S
            left = duration((now - begun) / done * (of - done) / 60)
            print_note(f"{what}: {done:,} of {of:,}, {left} left.")

    if not sys.stderr.isatty():
        yield tell
        return
    from rich.console import Console  # It takes 40 ms with the next one.
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def track(items: Iterable[T], what: str, of: int) -> Iterator[T]:
    """Yield the items, and show how many are done."""
    with working(what) as tell:
        for done, item in enumerate(items):
            tell(done, of)
            yield item
