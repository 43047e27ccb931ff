"""Tables on a terminal: what standings.py words, rich draws."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tournaments.rating.ratings import Pool
from tournaments.report import tables as standings

WHOLE = 1000
"""Columns where nobody looks: in a pipe nothing is cut or wrapped."""
GAP = 2
"""Columns between two columns of a table."""
CUT = ("bot", "partner", "time", "fouls of", "the last in")
"""Heads of the columns that are made narrower when the terminal is."""
SHORT_NAME = 16
"""Names are cut down to so much before a column is left out."""


def console() -> Console:
    """Where tables are printed: a terminal as it is, or a pipe, plain and as wide as needed."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=WHOLE)


def standing(pool: Pool, width: int, room: int | None = None) -> Table:
    """The table of a pool in so many columns, and lines where there is little room.

    Where it is too narrow, the ratings without fouls are left out.
    """
    head, rows = standings.table(pool)
    if standings.has_clean(pool) and _needed(head, rows) > width:
        left = len(head) - len(standings.CLEAN)
        head, rows = head[:left], [row[:left] for row in rows]
    return table(head, rows if room is None else standings.cut(rows, room), names=2)


def _needed(head: Sequence[str], rows: standings.Rows) -> int:
    """Columns that a table takes whose names are cut."""
    widths = [max(map(cell_len, cells)) for cells in zip(head, *rows, strict=True)]
    widths[1] = min(widths[1], SHORT_NAME)
    return sum(widths) + GAP * (len(widths) - 1)


def table(head: Sequence[str], rows: standings.Rows, names: int = 1) -> Table:
    """A table whose first columns are names, and the others numbers; only names are ever cut."""
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for number, column in enumerate(head):
        word = number < names
        # What may wrap is what is made narrower; the cells themselves are cut, not wrapped.
        drawn.add_column(column, justify="left" if word else "right", no_wrap=column not in CUT)
    for row in rows:
        drawn.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    return drawn
