"""Values of a document: sections, paragraphs, lists, tables and figures; and their Markdown. Pure.

A document is made once; a medium shows the blocks, columns and items whose `media` name it. A text
is a line of Markdown, of which two marks are known: backticks for code, `**` for what is strong.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Flag, auto
from itertools import compress
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, assert_never

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

# Values of a document: sections, paragraphs, lists, tables and figures. Pure.


MARKUP_PATTERN = re.compile(r"`([^`]*)`|\*\*([^*]*)\*\*")
UNKNOWN_CELL = "·"
"""The text of a cell whose value is not known."""


class Media(Flag):
    """The media that show a part of a document."""

    MARKDOWN = auto()
    TERMINAL = auto()
    HTML = auto()
    FILES = MARKDOWN | HTML
    """Media that are kept, so that a document may be long."""
    ALL = FILES | TERMINAL


Tone = Literal["", "faint", "strong", "lead"]
"""The weight of a paragraph; the lead is the main result, which stands first."""
ColumnKind = Literal["name", "word", "code", "digest", "number", "rank"]
"""The content of a column: names of bots, other words, code, fingerprints, numbers, and ranks,
which are numbers that stand first."""

Word = TypeVar("Word", bound=str)
TextRow = tuple[str, ...]


class Part(Struct, frozen=True, kw_only=True):
    """A part of a document that some media may leave out."""

    media: Media = Media.ALL


class Paragraph(Part, frozen=True):
    """A paragraph."""

    text: str
    tone: Tone = ""


class Item(Part, frozen=True):
    """An item of a list."""

    text: str
    items: Sequence[str] = ()


class Bullets(Part, frozen=True):
    """A list; a terminal shows each item on a line of its own."""

    items: Sequence[Item]


class Code(Part, frozen=True):
    """Lines as they are: commands, a fingerprint."""

    text: str


class Figure(Part, frozen=True, kw_only=True):
    """A drawing, or a part that a script makes live; only an HTML page shows it."""

    macro: str
    """The name of the template's macro that draws it."""
    value: Any
    media: Media = Media.HTML


class Cell(Struct, frozen=True):
    """A cell of a table."""

    text: str
    detail: str = ""
    """Small print: an interval, half of its width."""
    href: str = ""
    tone: Literal["", "ahead", "behind", "self"] = ""
    """The shade: ahead or behind for certain, or the diagonal."""
    figure: Figure | None = None
    """A drawing instead of text."""


class Column(Part, frozen=True):
    """A column of a table."""

    head: str
    kind: ColumnKind = "number"
    detail: str = ""
    """The head of the small print where that has a column of its own, such as ±."""
    spare: bool = False
    """True if a narrow terminal leaves it out."""
    axis: Figure | None = None
    """A drawing that takes the place of the head."""


class RowGroup(NamedTuple):
    """Rows of a table under a title."""

    title: str
    """The title; empty if the table has only one group."""
    rows: Sequence[Sequence[Cell]]


class Table(Part, frozen=True):
    """A table with typed columns."""

    caption: str
    columns: Sequence[Column]
    groups: Sequence[RowGroup]
    """The rows; text shows a title as a row of its own, a page as a table of its own."""

    def plain(self) -> tuple[TextRow, list[TextRow]]:
        """Return head and rows as text: without drawings; small print has columns of its own."""
        head = tuple(text for col in self.columns for text in _columns(col, col.head, col.detail))
        rows: list[TextRow] = []
        for group in self.groups:
            if group.title:
                rows.append(("", f"— {group.title} —", *[""] * (len(head) - 2)))
            rows += [self._texts(row) for row in group.rows]
        return head, rows

    def plain_kinds(self) -> list[ColumnKind]:
        """Return the kind of each column of `plain`; small print is a number."""
        kinds: list[ColumnKind] = []
        for column in self.columns:
            kinds += _columns(column, column.kind, "number")
        return kinds

    def _texts(self, row: Sequence[Cell]) -> TextRow:
        pairs = zip(self.columns, row, strict=True)
        return tuple(text for col, cell in pairs for text in _columns(col, cell.text, cell.detail))

    def keep(self, columns: Sequence[bool]) -> "Table":
        """Return the table with some of its columns."""
        groups = [
            RowGroup(title, [[*compress(row, columns)] for row in rows])
            for title, rows in self.groups
        ]
        return replace(self, columns=[*compress(self.columns, columns)], groups=groups)


class Matrix(Part, frozen=True):
    """A table of all against all, the rows' names being also those of the columns; text only.

    A page draws it as a figure, in which one chooses between numbers.
    """

    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def plain(self) -> tuple[TextRow, list[TextRow]]:
        """Return head and rows as text, without small print."""
        rows = [
            (name, *(cell.text for cell in row))
            for name, row in zip(self.names, self.rows, strict=True)
        ]
        return ("", *self.names), rows


class Section(Part, frozen=True):
    """A part of a document with a title."""

    title: str
    blocks: Sequence["DocumentBlock"]
    id: str = ""
    """The address within a page, which lists the sections that have one."""
    label: str = ""
    """The name in this list if it is not the title."""
    scope: str = ""
    """An addition to titles and captions in a page where several sections have the same ones."""
    titled: Media = Media.ALL
    """The media that show the title; in others its blocks follow those of the section before."""
    folded: bool = False
    """True if a page hides the section's content until the reader opens it."""


DocumentBlock = Paragraph | Bullets | Code | Table | Matrix | Figure | Section


class Document(Struct, frozen=True):
    """A document."""

    title: str
    blocks: Sequence[DocumentBlock]
    data: object = None
    """Data for the scripts of an HTML page."""


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]]) -> Table:
    """Build a table of one group; a text is a cell that has nothing else."""
    return Table(caption, columns, [RowGroup("", [to_cells(row) for row in rows])])


def to_cells(row: Iterable[str | Cell]) -> list[Cell]:
    """Return a row with its texts as cells."""
    return [Cell(cell) if isinstance(cell, str) else cell for cell in row]


def bullets(texts: Iterable[str], media: Media = Media.ALL) -> Bullets:
    """Build a list of texts."""
    return Bullets([*map(Item, texts)], media=media)


def paragraphs(texts: Iterable[str], tone: Tone = "") -> list[DocumentBlock]:
    """Build a paragraph of each text."""
    return [Paragraph(text, tone) for text in texts]


def select(blocks: Iterable[DocumentBlock], medium: Media) -> list[DocumentBlock]:
    """Return what a medium shows of these blocks."""
    return [_selected(block, medium) for block in blocks if medium in block.media]


def _selected(block: DocumentBlock, medium: Media) -> DocumentBlock:
    match block:
        case Section(blocks=inner):
            return replace(block, blocks=select(inner, medium))
        case Table(columns=columns):
            return block.keep([medium in column.media for column in columns])
        case Bullets(items=items):
            return replace(block, items=[item for item in items if medium in item.media])
        case _:
            return block


def cut_rows(rows: Sequence[TextRow], room: int) -> list[TextRow]:
    """Return the rows, or the first ones and in the second column the number of the others."""
    if len(rows) <= room:
        return [*rows]
    more = f"and {len(rows) - max(1, room) + 1} more"
    return [*rows[: max(1, room) - 1], ("", more, *[""] * (len(rows[0]) - 2))]


class Span(NamedTuple):
    """A part of a text."""

    mark: Literal["", "code", "strong"]
    text: str


def marked_spans(text: str) -> Iterator[Span]:
    """Yield the marked and the other parts of a text; none is empty."""
    end = 0
    for mark in MARKUP_PATTERN.finditer(text):
        if mark.start() > end:
            yield Span("", text[end : mark.start()])
        yield Span("code", mark[1]) if mark[1] is not None else Span("strong", mark[2])
        end = mark.end()
    if end < len(text):
        yield Span("", text[end:])


def plain(text: str) -> str:
    """Return a text without its marks."""
    return "".join(span.text for span in marked_spans(text))


def _columns(column: Column, text: Word, detail: Word) -> tuple[Word, ...]:
    """Return the columns of text that a column has: none, one or two."""
    if column.axis:
        return ()
    return (text, detail) if column.detail else (text,)


# Documents as Markdown. Pure.


LEFT_KINDS = ("rank", "name", "word", "code", "digest")
"""Kinds of columns that are aligned left."""


def to_markdown(document: Document) -> str:
    """Return a document as Markdown; an empty line stands before each block."""
    blocks = select(document.blocks, Media.MARKDOWN)
    return "\n".join((f"# {document.title}", *_blocks(blocks), ""))


def _blocks(blocks: Iterable[DocumentBlock]) -> Iterator[str]:
    for block in blocks:
        if not isinstance(block, Section) or Media.MARKDOWN in block.titled:
            yield ""
        yield from _block(block)


def _block(block: DocumentBlock) -> Iterator[str]:
    match block:
        case Paragraph(text=text):
            yield text
        case Bullets(items=items):
            for item in items:
                yield f"- {item.text}"
                yield from (f"  - {text}" for text in item.items)
        case Code(text=text):
            yield from (f"    {line}" for line in text.split("\n"))
        case Table():
            kinds = block.plain_kinds()
            head, rows = block.plain()
            yield from _markdown_table(head, [_marked(row, kinds) for row in rows], kinds)
        case Matrix():
            head, rows = block.plain()
            yield from _markdown_table(head, rows, ["number" if name else "name" for name in head])
        case Section(title=title, blocks=blocks, scope=scope, titled=titled):
            if Media.MARKDOWN in titled:
                yield f"## {title}{scope}"
            yield from _blocks(blocks)
        case Figure():
            pass
        case other:
            assert_never(other)


def _marked(row: Sequence[str], kinds: Sequence[ColumnKind]) -> list[str]:
    return [
        f"`{text}`" if kind == "code" and text else text
        for text, kind in zip(row, kinds, strict=True)
    ]


def _markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[ColumnKind]
) -> Iterator[str]:
    rule = ["---" if kind in LEFT_KINDS else "---:" for kind in kinds]
    yield from (_line(head), _line(rule), *(_line(row) for row in rows))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# Documents as HTML: the folder of the template, and its texts. Pure.


MACRO_FOLDER = Path(__file__).parent
"""The folder of `document.html.j2`, whose macro `blocks` renders what `select` returns."""
HYPHEN = re.compile(r"(?<![\w-])-(?=\d)")


def minus(text: str) -> str:
    """Replace the hyphen of a number with a minus sign, which is as wide as a plus."""
    return HYPHEN.sub("−", text)


def inline(text: str) -> Markup:
    """Return a text of a document as HTML, escaped, with its marks as elements."""
    return Markup("").join(
        Markup("<{0}>{1}</{0}>").format(span.mark, span.text) if span.mark else minus(span.text)
        for span in marked_spans(text)
    )
