"""Progress of work that takes seconds or hours: a line on the terminal while it lasts.

In a pipe there is nothing, or a line now and then for work that may go on in the background.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from arena.rules.english import duration

T = TypeVar("T")

LINE_EVERY_S = 30.0
"""Time between two lines in a pipe."""


@contextmanager
def working(what: str, *, lines: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show that work goes on; yield a function that tells how much is done, and of how much.

    `lines`: a pipe gets a line now and then.
    """
    from rich.console import Console  # It takes 40 ms with the next one.
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task, begun = bar.add_task(what, total=None), monotonic()
        due = begun + LINE_EVERY_S

        def tell(done: int, of: int) -> None:
            nonlocal due
            bar.update(task, completed=done, total=of)
            now = monotonic()
            if lines and not console.is_terminal and now >= due and 0 < done < of:
                due = now + LINE_EVERY_S
                left = duration((now - begun) / done * (of - done) / 60)
                console.print(f"{what}: {done:,} of {of:,}, {left} left.", soft_wrap=True)

        yield tell


def track(items: Iterable[T], what: str, of: int) -> Iterator[T]:
    """Yield the items, and show how many are done."""
    with working(what) as tell:
        for done, item in enumerate(items):
            tell(done, of)
            yield item
