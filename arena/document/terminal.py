"""Documents in a terminal, drawn by rich."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, assert_never

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from arena.document.blocks import (
    Bullets,
    Code,
    Column,
    ColumnKind,
    DocumentBlock,
    Figure,
    Matrix,
    Media,
    Paragraph,
    Section,
    Table,
    TextRow,
    Tone,
    cut_rows,
    marked_spans,
    select,
    table,
)
from protocol.codec import printable_lines

PIPE_WIDTH = 1000
"""The width of a pipe, in columns: nothing is cut or wrapped there."""
GAP = 2
SHORT_NAME = 16
"""The length to which names are cut before a column is left out."""
CUT_KINDS = {"word", "code"}
"""The kinds of columns whose cells a narrow terminal cuts at their ends."""
TONE_STYLES: dict[Tone, str] = {"": "", "faint": "dim", "strong": "bold", "lead": "bold"}
MARK_STYLES = {"": None, "code": None, "strong": "bold"}


def open_console(*, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr; a pipe gets no colors and no line breaks."""
    # Names are no markup, and rich's table of emojis takes 5 ms to import.
    console = partial(Console, highlight=False, markup=False, emoji=False, stderr=stderr)
    # A notebook shows what a pipe gets; rich would make a widget of it.
    console = partial(console, force_jupyter=False)
    terminal = console()
    return terminal if terminal.is_terminal else console(width=PIPE_WIDTH)


def print_blocks(console: Console, blocks: Iterable[DocumentBlock]) -> None:
    """Print blocks at the console's width."""
    for part in renderables(blocks, console.width):
        console.print(part)


def renderables(
    blocks: Iterable[DocumentBlock], width: int, room: int | None = None
) -> Iterator[RenderableType]:
    """Yield what a terminal shows for a width in columns; `room` is the most rows of a table."""
    for block in select(blocks, Media.TERMINAL):
        match block:
            case Paragraph(text=text, tone=tone):
                yield _text(text, tone)
            case Bullets(items=items):
                for item in items:
                    yield _text("\n  ".join((item.text, *item.items)), "")
            case Code(text=text):
                yield Text(printable_lines(text))
            case Table():
                yield _rich_table(block, width, room)
            case Matrix(names=names):
                columns = [Column("", "name"), *map(Column, names)]
                yield _rich_table(table(block.caption, columns, block.plain()[1]), width, room)
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
    drawn = Text(style=TONE_STYLES[tone])
    for span in marked_spans(printable_lines(text)):
        drawn.append(f"`{span.text}`" if span.mark == "code" else span.text, MARK_STYLES[span.mark])
    return drawn


def _rich_table(table: Table, width: int, room: int | None) -> RichTable:
    """Draw a table; numbers stay whole, and names are cut in the middle once columns are gone."""
    table = _fit_columns(table, width)
    head, rows = table.plain()
    kinds = table.plain_kinds()
    rows = _fit_names(rows, kinds, width + GAP - sum(_widths(head, rows, kinds, others=True)))
    drawn = RichTable(box=None, header_style="bold", pad_edge=False)
    for text, kind in zip(head, kinds, strict=True):
        # rich narrows only columns that may wrap; the cells themselves are cut, not wrapped.
        side: Literal["left", "right"] = "right" if kind == "number" else "left"
        drawn.add_column(text, justify=side, no_wrap=kind not in CUT_KINDS)
    for row in rows if room is None else cut_rows(rows, room):
        drawn.add_row(
            *(Text(printable_lines(cell), no_wrap=True, overflow="ellipsis") for cell in row)
        )
    return drawn


def _fit_columns(table: Table, width: int) -> Table:
    """Leave out what a narrow terminal has no room for: spare columns, then the last numbers.

    The first number stays, and so does every name: without them a row says nothing.
    """
    if _needed(table) > width:
        table = table.keep([not column.spare for column in table.columns])
    while _needed(table) > width:
        kinds = [column.kind for column in table.columns]
        numbers = [place for place, kind in enumerate(kinds) if kind == "number"][1:]
        if "name" not in kinds or not numbers:
            break
        table = table.keep([place != numbers[-1] for place in range(len(kinds))])
    return table


def _fit_names(rows: list[TextRow], kinds: list[ColumnKind], room: int) -> list[TextRow]:
    """Return rows whose names share a room in columns."""
    places = [place for place, kind in enumerate(kinds) if kind == "name"]
    if not rows or not places:
        return rows
    columns: list[Sequence[str]] = [*zip(*rows, strict=True)]
    for place in places:
        columns[place] = cut_names(columns[place], max(3, room // len(places) - GAP))
    return [*zip(*columns, strict=True)]


def cut_names(names: Sequence[str], room: int) -> Sequence[str]:
    """Cut names in the middle, or elsewhere if two of them would become one."""

    def cut(head: int) -> list[str]:
        tail = room - 1 - head
        return [
            name if cell_len(name) <= room else f"{name[:head]}…{name[len(name) - tail :]}"
            for name in names
        ]

    heads = sorted(range(room), key=lambda head: abs(head - room // 2))
    # Of the cuts that keep most names apart take the first: it is nearest to the middle.
    return max(map(cut, heads), key=lambda words: len({*words}))


def _widths(
    head: TextRow, rows: list[TextRow], kinds: list[ColumnKind], *, others: bool = False
) -> Iterator[int]:
    """Yield the least width of each column with the gap before it; `others`: but those of names."""
    for cells, kind in zip(zip(head, *rows, strict=True), kinds, strict=True):
        longest = max(map(cell_len, cells))
        if not (others and kind == "name"):
            yield GAP + (
                min(longest, SHORT_NAME) if kind == "name" or kind in CUT_KINDS else longest
            )


def _needed(table: Table) -> int:
    return sum(_widths(*table.plain(), table.plain_kinds())) - GAP
