"""`boneyard show`: the state of an event, read beside its writer, and without a change."""

import json
import os
import pty
import subprocess
import time
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from rich.console import Console

from arena.logs.checksummed import actual_path
from protocol.records import SeatFoul
from tests.support.events import BONEYARD, REPORTED, boneyard, copied
from tests.support.made_up import game, rated
from tournaments.cli import show
from tournaments.commands.run import publish_reports
from tournaments.event.book import Book, Ledger, read_ledger
from tournaments.event.folder import Folder, lock_for_writing, note_unseen
from tournaments.rating.tables import Anchor, FoulCount, Ratings
from tournaments.report.standings import standings_table
from tournaments.site import status, view
from tournaments.site.status import EventState, Status, add_logged, read_status
from tournaments.site.view import LiveView


@pytest.fixture
def event(event: Path, tmp_path: Path) -> Path:
    return copied(event, tmp_path / "event")


def file_states(folder: Path) -> dict[Path, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def cut_ledger(folder: Path, games: int) -> None:
    """Cut the ledger as if the run went on: it has so many games, and a part of the next line."""
    ledger = (folder / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "ledger.jsonl").write_bytes(b"".join(ledger[:games]) + ledger[games][:20])


def test_lines_that_are_not_whole_yet_are_left_out(event: Path) -> None:
    cut_ledger(event, 2)
    games = sorted((event / "games").iterdir())
    log = games[-1].read_bytes()
    games[-1].write_bytes(log[: log.rindex(b'{"type":"result"') + 30])
    book = Book(Folder(event))
    add_logged(book)
    assert (len(book.results), book.planned) == (11, 12)
    output = boneyard("show", str(event))
    assert "11 of 12 games: stopped" in output


def test_nothing_is_written_and_no_lock_is_taken(event: Path) -> None:
    cut_ledger(event, 2)
    before = file_states(event)
    with lock_for_writing(Folder(event)):
        assert boneyard("show", str(event))
        assert file_states(event).keys() - {event / ".lock"} == before.keys() - {event / ".lock"}
    assert {path: file_states(event)[path] for path in before} == before


def test_the_kernel_tells_if_a_run_is_active(event: Path) -> None:
    assert status.is_running(Folder(event)) is False
    with lock_for_writing(Folder(event)):
        if not any("POSIX" in line for line in status.LOCKS.read_text().splitlines()):
            pytest.skip("this machine's kernel does not list locks")
        assert status.is_running(Folder(event)) is True
    assert status.is_running(Folder(event)) is False


def test_show_and_watch_state_the_same_pace(event: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock's time says when the run began, and results.json from how many games.

    That results.json is older, because the run before ended long ago, changes nothing.
    """
    cut_ledger(event, 2)
    last = sorted((event / "games").iterdir())[-1]
    last.unlink()
    results, lock = event / "results.json", event / ".lock"
    report = json.loads(results.read_bytes())
    results.write_text(json.dumps({**report, "played": 5}))
    lock.touch()
    now = time.time()
    for path in (event / "games").iterdir():
        os.utime(path, (now, now))
    os.utime(results, (now - 9000, now - 9000))
    os.utime(lock, (now - 100, now - 100))
    for module in (status, view):
        monkeypatch.setattr(module, "is_running", lambda _: True)
    for state in (read_status(Folder(event))[0], watched_state(event)):
        assert (state.played, state.planned, state.complete, state.running) == (10, 12, False, True)
        assert state.elapsed_s == pytest.approx(100, rel=0.2)
        assert state.left_s == pytest.approx(2 * 100 / 5, rel=0.2)
    os.utime(lock, (now, now))
    assert read_status(Folder(event))[0].left_s is watched_state(event).left_s is None


def test_show_and_watch_state_that_a_run_has_stopped(event: Path) -> None:
    cut_ledger(event, 2)
    sorted((event / "games").iterdir())[-1].unlink()
    for state in (read_status(Folder(event))[0], watched_state(event)):
        assert (state.running, state.left_s, state.elapsed_s) == (False, None, UNSET)
        assert state.describe() == "10 of 12 games: stopped; the same command continues it."


def test_show_reads_logs_unless_the_report_has_them(
    event: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, looks = Folder(event), list[Book]()
    monkeypatch.setattr(status, "add_logged", looks.append)
    folder.lock.touch()
    now = time.time()
    for path in event.rglob("*"):
        age = 0 if path.name in REPORTED else 1000
        os.utime(path, (now - age, now - age))

    def looks_into_logs(*, may_have: bool = False, running: bool = False) -> bool:
        note_unseen(folder, may_have=may_have)
        monkeypatch.setattr(status, "is_running", lambda _: running)
        looks.clear()
        assert read_status(folder)[0].played == 12
        return bool(looks)

    assert not looks_into_logs()
    assert looks_into_logs(may_have=True)
    assert looks_into_logs(running=True)
    folder.ledger.touch()
    assert looks_into_logs()


def test_results_that_wait_for_their_turn_count_after_a_report_too(event: Path) -> None:
    folder = Folder(event)
    *_, due = islice(read_ledger(folder.ledger), 3)
    (log,) = (path for path in folder.logs() if path.stem.endswith(".".join(due.seats)))
    cut_ledger(event, 2)
    actual_path(log).unlink()
    ledger = Ledger(Book(folder))
    assert ledger.has_waiting
    publish_reports(ledger)
    written, (state, _) = len([*read_ledger(folder.ledger)]), read_status(folder)
    assert written < state.played == len(ledger.results) < 12


def watched_state(event: Path) -> EventState:
    """Return the state that `watch` shows."""
    live = LiveView(Folder(event), everything=False)
    assert live.look()
    return live.now()


def test_show_prints_json_for_programs(event: Path) -> None:
    state = json.loads(boneyard("show", str(event), "--json"))
    assert (state["played"], state["planned"], state["complete"]) == (12, 12, True)
    assert {rating["name"] for rating in state["ratings"]["pools"][0]["entrants"]} == {
        *("first", "greedy", "random")
    }


def test_watch_in_a_pipe_prints_each_change_once_and_ends_with_the_event(
    event: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finished, _ = read_status(Folder(event))

    def status_of(played: int, complete: bool = False) -> Status:
        fields = {name: getattr(finished, name) for name in Status.__struct_fields__}
        return Status(**{**fields, "played": played, "complete": complete, "running": True})

    looks = iter([status_of(3), status_of(3), status_of(7), status_of(12, True)])
    monkeypatch.setattr(show, "read_status", lambda _: (next(looks), []))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert show.watch_status(event, in_json=False) == 0
    assert [line[:13] for line in capsys.readouterr().out.splitlines()] == [
        *("3 of 12 games", "7 of 12 games", "finished: 12 ")
    ]


def draw(state: Status, width: int, room: int | None = None) -> list[str]:
    console = Console(width=width, file=StringIO(), highlight=False)
    for part in show.parts(Folder(Path("event")), state, [], width, room):
        console.print(part)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def new_status(**changes: Any) -> Status:
    """Return the status of an event that has just begun, with these changes."""
    usual: dict[str, Any] = {
        "name": "league",
        "about": "draw",
        "played": 0,
        "planned": 2,
        "complete": False,
        "running": True,
        "left_s": None,
        "fouls": (),
        "question": "",
        "lead": "",
        "uneven": "",
        "luck": "",
        "latecomers": (),
        "anchor": None,
        "ratings": Ratings(()),
    }
    return Status(**(usual | changes))


@pytest.mark.parametrize(("count", "width"), [(2, 80), (10, 80), (40, 80), (40, 120)])
def test_numbers_are_never_cut_and_no_line_is_too_long(count: int, width: int) -> None:
    names = [f"a-very-long-name-of-the-bot-{number:02d}" for number in range(count)]
    results = [
        game(board, (first, second), (9 * (number % 3), 7 * (board % 2)))
        for board in range(4)
        for number, (first, second) in enumerate(zip(names, names[1:] + names[:1], strict=True))
    ]
    results[0] = replace(results[0], fouls=(SeatFoul(1, "late"),))
    ratings = rated(results)
    fouls = tuple(FoulCount(name, "late", 12_345, f"1.{name}.{name}", 1) for name in names[:9])
    state = new_status(left_s=50.0, played=1, fouls=fouls, ratings=ratings)
    lines = draw(state, width)
    assert max(map(len, lines)) <= width
    _, rows = standings_table(ratings.pools[0]).plain()
    start = next(number for number, line in enumerate(lines) if line.startswith("#"))
    for line, row in zip(lines[start + 1 :], rows, strict=False):
        rank, _, *numbers = row[: -2 if width == 80 else None]
        assert line.startswith(rank)
        assert line.split()[-len(numbers) :] == numbers
    assert sum("12345" in line for line in lines) == len(fouls)
    assert "1 of 2 games, about 50 s left." in lines
    assert len(draw(state, width, 15)) <= 15 + show.STATUS_FREE_LINES


def test_show_reports_an_anchor_that_does_not_hold(event: Path) -> None:
    boneyard("report", str(event), "--anchor", "first=1500")
    anchor = read_status(Folder(event))[0].anchor
    assert anchor == Anchor("first", 1500)
    defeats = [game(board, ("first", rival), (0, 9)) for board in range(4) for rival in "ab"]
    results = [*defeats, *(game(board, "ab", (board % 2, 1)) for board in range(4))]
    ratings = rated(results, anchor=anchor)
    lines = " ".join(draw(new_status(anchor=anchor, ratings=ratings), 80))
    assert "first cannot be the anchor" in lines


def test_a_terminal_gets_the_live_tables_in_its_own_width(event: Path) -> None:
    """The terminal is a real pseudo terminal of 80 columns."""
    terminal, tty = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    with subprocess.Popen(
        (*BONEYARD, "show", str(event), "--watch"), stdout=tty, stderr=tty, env=env
    ) as process:
        os.close(tty)
        output = b""
        while chunk := _read(terminal):
            output += chunk
        assert process.wait(120) == 0
    os.close(terminal)
    assert b"\x1b[" in output
    assert b"finished: 12 of 12 games" in output


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""
