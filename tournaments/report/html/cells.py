"""Tables of the report page: cells with what they say, where they lead and how they look. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

CODE = re.compile(r"`([^`]*)`|\*\*([^*]*)\*\*")


class Cell(NamedTuple):
    """A cell."""

    text: str
    """What it says."""
    href: str = ""
    """Where it leads."""
    kind: str = ""
    """The class of its looks."""
    small: str = ""
    """What it says besides, in small print."""


class Table(NamedTuple):
    """A table whose columns sort."""

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
    """What it says."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Table:
    """A table of plain text; the left columns are names, and lead to their games."""
    cells = [
        [Cell(text, games(text)) if at < left else Cell(minus(text)) for at, text in enumerate(row)]
        for row in rows
    ]
    return Table(head, cells, left, frozenset(range(left)))


def games(*names: str) -> str:
    """Where the page lists the games in which all of them sat."""
    return "#games/" + "/".join(names)


def minus(text: str) -> str:
    """A number with the sign that is as wide as a plus."""
    return text.replace("-", "−")


def pieces(sentence: str) -> Iterator[Piece]:
    """A sentence of the Markdown report in parts: what stands in backticks is code."""
    end = 0
    for found in CODE.finditer(sentence):
        yield Piece("", sentence[end : found.start()])
        yield Piece("code", found[1]) if found[1] is not None else Piece("strong", found[2])
        end = found.end()
    yield Piece("", sentence[end:])
