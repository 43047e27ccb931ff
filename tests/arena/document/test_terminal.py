"""Documents in a terminal."""

from io import StringIO

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from arena.document.blocks import Code, Column, Paragraph, table
from arena.document.terminal import print_blocks
from tests.support.documents import DOCUMENT


def printed(width: int) -> str:
    console = Console(width=width, file=StringIO(), highlight=False)
    print_blocks(console, DOCUMENT.blocks)
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def test_every_block_has_its_lines(snapshot: SnapshotAssertion) -> None:
    assert printed(80) == snapshot


@pytest.mark.parametrize("width", [20, 26, 32])
def test_a_narrow_terminal_leaves_out_a_column_and_cuts_only_names(width: int) -> None:
    *_, ada, _, bob = printed(width).splitlines()[:5]
    assert ada.split()[-2:] == ["+3", "4"]
    assert bob.split()[-2:] == ["-3", "5"]


def test_no_text_steers_the_terminal() -> None:
    evil = "a\x1b[31m\u202e\x9b"
    shown = r"a\x1b[31m\u202e\x9b"
    console = Console(file=StringIO(), width=80, highlight=False)
    blocks = (Paragraph(evil), Code(f"{evil}\nb"), table(evil, [Column("x", "name")], [(evil,)]))
    print_blocks(console, blocks)
    assert isinstance(console.file, StringIO)
    said = console.file.getvalue()
    assert said.replace("\n", "").isprintable()
    assert said.count(shown) == 3
