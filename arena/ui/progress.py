"""Progress of work that takes seconds: a line on the terminal while it lasts, nothing in a pipe."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def working(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show that work goes on; yield a function that tells how much is done, and of how much."""
    from rich.console import Console  # It takes 40 ms with the next one.
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def track(items: Iterable[T], what: str, of: int) -> Iterator[T]:
    """Yield the items, and show how many are done."""
    with working(what) as tell:
        for done, item in enumerate(items):
            tell(done, of)
            yield item
