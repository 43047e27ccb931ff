"""Documents in a terminal."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from arena.document.blocks import Cell, Code, Column, Paragraph, table
from arena.document.terminal import cut_names, print_blocks
from tests.support.pages import DOCUMENT


def print_document(width: int) -> str:
    console = Console(width=width, file=StringIO(), highlight=False)
    print_blocks(console, DOCUMENT.blocks)
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def test_every_block_has_its_lines(snapshot: SnapshotAssertion) -> None:
    assert print_document(80) == snapshot


@pytest.mark.parametrize("width", [20, 26, 32])
def test_a_narrow_terminal_leaves_out_a_column_and_cuts_only_names(width: int) -> None:
    *_, ada, _, bob = print_document(width).splitlines()[:5]
    assert ada.split()[-2:] == ["+3", "4"]
    assert bob.split()[-2:] == ["-3", "5"]


@pytest.mark.parametrize("width", [24, 30, 40, 50, 60])
@pytest.mark.parametrize(
    "part", ["{}", "{}-with-a-long-name", "a-long-name-{}", "a-very-{}-long-name"]
)
def test_narrow_terminal_keeps_names_apart(width: int, part: str) -> None:
    """Columns go first; then names are cut where they stay different."""
    names = [part.format(ordinal) for ordinal in ("first", "second", "third")]
    columns = [Column("#", "rank"), Column("bot", "name"), Column("Elo", detail="±")]
    columns += [Column(text) for text in ("games", "win %", "margin", "fouls")]
    rows = [("1", name, Cell("+123", "278"), "400", "25.0", "-69.8", "0") for name in names]
    console = Console(width=width, file=StringIO(), highlight=False)
    print_blocks(console, [table("Standings", columns, rows)])
    assert isinstance(console.file, StringIO)
    _, *lines = console.file.getvalue().splitlines()
    shown_names = [line.split()[1] for line in lines]
    assert len({*shown_names}) == len(names)
    assert all(line.split()[2] == "+123" for line in lines)
    if part == "{}":
        assert shown_names == names


@given(st.sets(st.text("ab", min_size=1, max_size=12), max_size=2), st.integers(7, 20))
def test_cut_names_are_not_longer_than_their_room(names: set[str], room: int) -> None:
    short_names = cut_names([*names], room)
    assert len({*short_names}) == len(names)
    assert max(map(len, short_names), default=0) <= room


def test_no_text_steers_the_terminal() -> None:
    evil = "a\x1b[31m\u202e\x9b"
    escaped_text = r"a\x1b[31m\u202e\x9b"
    console = Console(file=StringIO(), width=80, highlight=False)
    blocks = (Paragraph(evil), Code(f"{evil}\nb"), table(evil, [Column("x", "name")], [(evil,)]))
    print_blocks(console, blocks)
    assert isinstance(console.file, StringIO)
    output = console.file.getvalue()
    assert output.replace("\n", "").isprintable()
    assert output.count(escaped_text) == 3
