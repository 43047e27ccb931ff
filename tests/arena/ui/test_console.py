"""Long output goes through a pager on a terminal, and never into a pipe."""

import errno
import io
from collections.abc import Iterable
from threading import Event

import pytest
from rich.console import Console
from rich.text import Text

from arena.ui import console as output
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
    out, paged_texts = io.StringIO(), list[str]()
    console = Console(file=out, force_terminal=terminal, width=80, height=20, highlight=False)

    def page(pieces: Iterable[str]) -> None:
        paged_texts.extend(pieces)

    print_paged((Text(f"part {number}", "bold") for number in range(parts)), console, page)
    assert bool(paged_texts) == through_pager
    output = "".join(paged_texts) if through_pager else out.getvalue()
    assert [f"part {number}" in output for number in range(parts)] == [True] * parts
    assert ("\x1b[1m" in output) == terminal


def test_a_line_steers_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    print_line("a\n\tb\x1b[2J")
    print_note("\u202ec")
    assert capfd.readouterr() == ("a\n\tb\\x1b[2J\n", "\\u202ec\n")


def test_lines_that_a_stopped_terminal_cannot_take_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "LINES_WAITING", 3)
    stop = Event()
    with output.writing_beside():
        output.write_in_turn(lambda: stop.wait(60))
        for number in range(10):
            output.print_note(number)
        stop.set()
    *lines, last = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["0", "1"]
    assert last == f"{10 - len(lines)} more lines were dropped while nobody could read them."


def test_terminal_that_is_gone_does_not_end_the_writing(capsys: pytest.CaptureFixture[str]) -> None:
    def hang_up() -> None:
        raise OSError(errno.EIO, "Input/output error")

    with output.writing_beside():
        output.write_in_turn(hang_up)
        output.print_line("later")
    assert capsys.readouterr().out == "later\n"
