"""Long output goes through a pager on a terminal, and never into a pipe."""

import io
from collections.abc import Iterable

import pytest
from rich.console import Console
from rich.text import Text

from arena.ui.console import print_line, print_note, print_paged


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("parts", "terminal", "through_pager"), [(3, True, False), (30, True, True), (30, False, False)]
)
def test_only_more_than_a_screen_on_a_terminal_is_paged(
    monkeypatch: pytest.MonkeyPatch, parts: int, terminal: bool, through_pager: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    out, paged = io.StringIO(), list[str]()
    console = Console(file=out, force_terminal=terminal, width=80, height=20, highlight=False)

    def page(pieces: Iterable[str]) -> None:
        paged.extend(pieces)

    print_paged((Text(f"part {number}", "bold") for number in range(parts)), console, page)
    assert bool(paged) == through_pager
    said = "".join(paged) if through_pager else out.getvalue()
    assert [f"part {number}" in said for number in range(parts)] == [True] * parts
    assert ("\x1b[1m" in said) == terminal


def test_a_line_steers_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    print_line("a\n\tb\x1b[2J")
    print_note("\u202ec")
    assert capfd.readouterr() == ("a\n\tb\\x1b[2J\n", "\\u202ec\n")
