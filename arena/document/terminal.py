"""Documents in a terminal, drawn by rich."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Literal, assert_never

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from arena.document.blocks import (
    Block,
    Bullets,
    Code,
    Column,
    Figure,
    Matrix,
    Media,
    Paragraph,
    Section,
    Table,
    Tone,
    cut_rows,
    marked_spans,
    select,
    table,
)
from protocol.codec import printable_lines

WHOLE = 1000
"""The width of a pipe, in columns: nothing is cut or wrapped there."""
GAP = 2
SHORT_NAME = 16
"""The length to which names are cut before a column is left out."""
STYLES: dict[Tone, str] = {"": "", "faint": "dim", "strong": "bold", "lead": "bold"}
MARKS = {"": None, "code": None, "strong": "bold"}


def open_console(*, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr; a pipe gets no colors and no line breaks."""
    # Names are no markup, and rich's table of emojis takes 5 ms to import.
    console = partial(Console, highlight=False, markup=False, emoji=False, stderr=stderr)
    found = console()
    return found if found.is_terminal else console(width=WHOLE)


def print_blocks(console: Console, blocks: Iterable[Block]) -> None:
    """Print blocks at the console's width."""
    for part in renderables(blocks, console.width):
        console.print(part)


def renderables(
    blocks: Iterable[Block], width: int, room: int | None = None
) -> Iterator[RenderableType]:
    """Yield what a terminal shows for a width in columns; `room` is the most rows of a table."""
    for block in select(blocks, Media.TERMINAL):
        match block:
            case Paragraph(text=text, tone=tone):
                yield _text(text, tone)
            case Bullets(items=items, tone=tone):
                for item in items:
                    yield _text("\n  ".join((item.text, *item.items)), tone)
            case Code(text=text):
                yield Text(printable_lines(text))
            case Table():
                yield _table(block, width, room)
            case Matrix(names=names):
                columns = [Column("", "name"), *map(Column, names)]
                yield _table(table(block.caption, columns, block.plain()[1]), width, room)
            case Section(title=title, blocks=inner, titled=titled):
                if Media.TERMINAL in titled:
                    yield Text(printable_lines(title), "bold")
                yield from renderables(inner, width, room)
            case Figure():
                pass
            case other:
                assert_never(other)


def _text(text: str, tone: Tone) -> Text:
    """Return a text in its style; code keeps its backticks, so that a pipe has them too."""
    drawn = Text(style=STYLES[tone])
    for span in marked_spans(printable_lines(text)):
        drawn.append(f"`{span.text}`" if span.mark == "code" else span.text, MARKS[span.mark])
    return drawn


def _table(shown: Table, width: int, room: int | None) -> RichTable:
    """Draw a table; only names are ever cut, the cells of all other columns stay whole."""
    if _needed(shown) > width:
        shown = shown.keep([not one.spare for one in shown.columns])
    head, rows = shown.plain()
    drawn = RichTable(box=None, header_style="bold", pad_edge=False)
    for text, kind in zip(head, shown.plain_kinds(), strict=True):
        # rich narrows only columns that may wrap; the cells themselves are cut, not wrapped.
        side: Literal["left", "right"] = "right" if kind == "number" else "left"
        drawn.add_column(text, justify=side, no_wrap=kind != "name")
    for row in rows if room is None else cut_rows(rows, room):
        drawn.add_row(
            *(Text(printable_lines(cell), no_wrap=True, overflow="ellipsis") for cell in row)
        )
    return drawn


def _needed(shown: Table) -> int:
    head, rows = shown.plain()
    columns = zip(zip(head, *rows, strict=True), shown.plain_kinds(), strict=True)
    widths = [
        min(max(map(cell_len, cells)), SHORT_NAME if kind == "name" else WHOLE)
        for cells, kind in columns
    ]
    return sum(widths) + GAP * (len(widths) - 1)
