"""Tables on a terminal: what standings.py words, rich draws."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from tournaments import standings
from tournaments.ratings import Pool


def standing(pool: Pool) -> Table:
    """The table of a pool."""
    return table(*standings.table(pool), names=2)


def table(head: Sequence[str], rows: standings.Rows, names: int = 1) -> Table:
    """A table whose first columns are names, and the others numbers."""
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for number, column in enumerate(head):
        drawn.add_column(column, justify="left" if number < names else "right", no_wrap=True)
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn
