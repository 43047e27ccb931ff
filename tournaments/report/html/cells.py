"""Tables of the report page: cells with their text, link and style. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

CODE = re.compile(r"`([^`]*)`|\*\*([^*]*)\*\*")


class Cell(NamedTuple):
    """A cell of a table."""

    text: str
    """The text."""
    href: str = ""
    """The target of its link."""
    kind: str = ""
    """The CSS class."""
    small: str = ""
    """An addition in small print."""


class Table(NamedTuple):
    """A table with sortable columns."""

    head: Sequence[str]
    """The names of the columns."""
    rows: Sequence[Sequence[Cell]]
    """The cells."""
    left: int = 1
    """Columns that hold words, from the left; the others hold numbers."""
    names: frozenset[int] = frozenset()
    """Columns that hold names of bots."""


class Piece(NamedTuple):
    """A part of a sentence."""

    kind: str
    """code, strong or nothing."""
    text: str
    """The text."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Table:
    """Build a table of plain text; the left columns are names, and link to their games."""
    cells = [
        [Cell(text, games(text)) if at < left else Cell(minus(text)) for at, text in enumerate(row)]
        for row in rows
    ]
    return Table(head, cells, left, frozenset(range(left)))


def games(*names: str) -> str:
    """Return the link to the page's list of the games of all these entrants."""
    return "#games/" + "/".join(names)


def minus(text: str) -> str:
    """Replace the hyphen of a number with a minus sign, which is as wide as a plus."""
    return text.replace("-", "−")


def pieces(sentence: str) -> Iterator[Piece]:
    """Yield the parts of a sentence of the Markdown report; backticks mark code."""
    end = 0
    for found in CODE.finditer(sentence):
        yield Piece("", sentence[end : found.start()])
        yield Piece("code", found[1]) if found[1] is not None else Piece("strong", found[2])
        end = found.end()
    yield Piece("", sentence[end:])
