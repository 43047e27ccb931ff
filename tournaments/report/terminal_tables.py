"""Tables on a terminal: rich draws the rows of `tables`."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tournaments.rating.ratings import Pool
from tournaments.report import tables as standings

WHOLE = 1000
"""The width of a pipe, in columns: nothing is cut or wrapped there."""
GAP = 2
"""The space between two columns of a table."""
CUT = ("bot", "partner", "time", "fouls of", "the last in")
"""Heads of the columns that become narrower if the terminal is narrow."""
SHORT_NAME = 16
"""The length to which names are cut before a column is left out."""


def console() -> Console:
    """Return a console for stdout; a pipe gets no colors and no line breaks."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=WHOLE)


def standing(pool: Pool, width: int, room: int | None = None) -> Table:
    """Return the table of a pool for a width and, on a small terminal, a height.

    A narrow table leaves out the ratings without fouls.
    """
    head, rows = standings.table(pool)
    if standings.has_clean(pool) and _needed(head, rows) > width:
        left = len(head) - len(standings.CLEAN)
        head, rows = head[:left], [row[:left] for row in rows]
    return table(head, rows if room is None else standings.cut(rows, room), names=2)


def _needed(head: Sequence[str], rows: standings.Rows) -> int:
    """Return the width of a table with shortened names, in columns."""
    widths = [max(map(cell_len, cells)) for cells in zip(head, *rows, strict=True)]
    widths[1] = min(widths[1], SHORT_NAME)
    return sum(widths) + GAP * (len(widths) - 1)


def table(head: Sequence[str], rows: standings.Rows, names: int = 1) -> Table:
    """Build a table whose first columns are names, the others numbers; only names are ever cut."""
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for number, column in enumerate(head):
        word = number < names
        # rich narrows only columns that may wrap; the cells themselves are cut, not wrapped.
        drawn.add_column(column, justify="left" if word else "right", no_wrap=column not in CUT)
    for row in rows:
        drawn.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    return drawn
