"""Progress in a pipe: lines now and then, and only for work that may go on in the background."""

import sys
from io import StringIO

import pytest

from arena.ui import console


def report_work(monkeypatch: pytest.MonkeyPatch, *, lines: bool) -> None:
    """Work for a minute and a half; a third is done every half minute."""
    clock = iter([0.0, 10.0, 30.0, 60.0, 90.0])
    monkeypatch.setattr(console, "monotonic", lambda: next(clock))
    with console.working("Games", lines=lines) as tell:
        for count in (333, 1000, 2000, 3000):
            tell(count, 3000)


def test_a_pipe_gets_a_line_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report_work(monkeypatch, lines=True)
    assert capsys.readouterr().err.splitlines() == [
        "Games: 1,000 of 3,000, about 60 s left.",
        "Games: 2,000 of 3,000, about 30 s left.",
    ]


def test_short_work_is_silent_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report_work(monkeypatch, lines=False)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_note_below_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with console.working("Seats", note=lambda: "mine in [7.mine.greedy] 3, 8.5 points") as tell:
        tell(1, 2)
    assert "\nmine in [7.mine.greedy] 3, 8.5 points" in terminal.getvalue()


def test_a_pipe_gets_no_note(capsys: pytest.CaptureFixture[str]) -> None:
    with console.working("Seats", lines=True, note=lambda: "8.5 points") as tell:
        tell(1, 2)
    assert capsys.readouterr().err == ""
