"""The progress of a run in a pipe."""

import sys
from io import StringIO
from math import inf
from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from arena.ui.console import print_line, print_note, writing_beside
from protocol.records import Result, SeatFoul
from tests.support.events import copy_of
from tests.support.made_up import game
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder, load_event
from tournaments.site.progress import Progress


@pytest.fixture
def live(tmp_path: Path) -> Progress:
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    event = load_event(folder)
    return Progress(Ledger(Book(folder, event)))


def fouled_game(number: int, name: str = "first") -> Result:
    return replace(game(number, (name, "greedy"), (0, 9)), fouls=(SeatFoul(0, "late"),))


def test_a_pipe_gets_fouls_as_they_come(live: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    with live:
        live.update(game(1, ("first", "greedy"), (9, 0)))
        assert capsys.readouterr().err == ""
        live.update(fouled_game(2))
    assert capsys.readouterr().err == (
        f"first fouled in {fouled_game(2).game}: late, with 1000 ms and 5000 ms in the bank.\n"
    )


class StoppedTerminal(StringIO):
    """A terminal after Ctrl-S: who writes to it waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = Event()
        self.is_asked = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.is_asked.set()
        assert self.go_on.wait(60)
        return super().write(text)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_games_do_not_wait_for_a_stopped_terminal(
    live: Progress, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    terminal = StoppedTerminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("tournaments.site.progress.STANDINGS_UPDATE_S", -1.0)
    live._console._force_terminal = live._is_terminal = is_terminal
    live._next = 0.0 if is_terminal else inf
    with writing_beside():
        with live:
            live.update(fouled_game(1))
            assert terminal.is_asked.wait(60)
            for number in range(2, 40):
                live.update(fouled_game(number))
            print_note("The last word.")
            assert not terminal.getvalue(), "Nothing could be written, and the games went on."
        terminal.go_on.set()
    print_line("The result.", stderr=True)
    assert terminal.getvalue().endswith("The result.\n")
    assert terminal.getvalue().index("The last word.") < terminal.getvalue().index("The result.")
