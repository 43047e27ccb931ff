"""Documents as Markdown. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from arena.document.blocks import (
    Block,
    Bullets,
    Code,
    Document,
    Figure,
    Kind,
    Matrix,
    Media,
    Paragraph,
    Section,
    Table,
    select,
)

LEFT = 2
"""Columns that are aligned left in any case: a rank and a name, or a name and its first number."""
WORDS = ("name", "word", "code", "digest")
"""Kinds of columns that are aligned left wherever they stand."""


def to_markdown(document: Document) -> str:
    """Return a document as Markdown; an empty line stands before each block."""
    shown = select(document.blocks, Media.MARKDOWN)
    return "\n".join((f"# {document.title}", *_blocks(shown), ""))


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if not isinstance(block, Section) or Media.MARKDOWN in block.titled:
            yield ""
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
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
            yield from _table(head, [_marked(row, kinds) for row in rows], kinds)
        case Matrix():
            yield from _table(*block.plain(), ["number"] * (1 + len(block.names)))
        case Section(title=title, blocks=blocks, titled=titled):
            if Media.MARKDOWN in titled:
                yield f"## {title}"
            yield from _blocks(blocks)
        case Figure():
            pass
        case other:
            assert_never(other)


def _marked(row: Sequence[str], kinds: Sequence[Kind]) -> list[str]:
    return [
        f"`{text}`" if kind == "code" and text else text
        for text, kind in zip(row, kinds, strict=True)
    ]


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[Kind]
) -> Iterator[str]:
    rule = ["---" if at < LEFT or kind in WORDS else "---:" for at, kind in enumerate(kinds)]
    yield from (_line(head), _line(rule), *(_line(row) for row in rows))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
