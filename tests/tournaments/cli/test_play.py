"""`boneyard play`: a person at the table, by keys and by clicks, and the log that is left."""

import os
import pty
import re
import select
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arena.logs.gamelog import read_games
from tests.support.events import BONEYARD, boneyard, copy_of, peeking_bot, served
from tests.support.fast_run import slow_except
from tests.support.pages import faults, needs_chromium, open_page

PLAIN = ("--sandbox", "off", "--seed", "3")
SHORT = (*PLAIN, "--set", "target=10", "--against", "first")
PROMPT = b"to leave): \x1b[0m"


def games(out: Path) -> list[Path]:
    return sorted((out / "games").glob("*.jsonl"))


# --- who sits where ---


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("greedy", "--seat", "2"), "no seat 2"),
        (("greedy",) * 4, "has no seats for 4 bots"),
        (("greedy", "first", "--seats", "2"), "has no seats for 2 bots"),
        (("greedy", "--rules", "partnership", "--seats", "2"), "2"),
        (("greedy", "--name", "greedy"), "Choose another --name"),
        (("greedy", "--name", "../x"), "Invalid name '../x'"),
        (("gredy",), "did you mean greedy"),
    ],
)
def test_impossible_tables_are_refused(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    out = tmp_path / "new"
    assert why in boneyard("play", *words, "--terminal", "--out", f"{out}", code=2)
    assert not out.exists()


def test_a_folder_that_holds_an_event_is_refused(tmp_path: Path) -> None:
    event = copy_of("round-robin", tmp_path / "event")
    output = boneyard("play", "--terminal", "--out", f"{event}", code=2)
    assert "holds an event" in output


# --- in the terminal ---


def type_keys(out: Path, keys: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    """Return a game whose answers come through a pipe."""
    command = (*BONEYARD, "play", "--terminal", "--out", str(out), *words)
    return subprocess.run(command, input=keys.encode(), capture_output=True, timeout=120)


def test_nobody_else_reads_the_log_while_the_game_goes_on(tmp_path: Path) -> None:
    """It shows every hand; afterwards it may be read like the folder that it lies in."""
    out = tmp_path / "out"
    out.mkdir(mode=0o755)
    bot, notes = peeking_bot(tmp_path, out)
    words = (*PLAIN, "--set", "target=1", "--against", str(bot))
    assert type_keys(out, "\n" * 200, *words).returncode == 0
    assert set(notes.read_text().split()) == {"0o700"}
    assert (out / "games").stat().st_mode == out.stat().st_mode


LINE = "bone1@draw+target=100@2@18,90@0@rotate@0s.0f00.1l50.0l15@-21413332655066-@1play"


@pytest.mark.parametrize("seat", slow_except([1], [0, 1]))
def test_a_person_goes_on_from_a_position_in_any_seat(tmp_path: Path, seat: int) -> None:
    words = ("--sandbox", "off", "--seed", "3", "--from", LINE, "--seat", f"{seat}", "first")
    done = type_keys(tmp_path, "\n" * 900, *words)
    assert done.returncode == 0
    (game,) = read_games(games(tmp_path)[0])
    assert game.sitting.seats[seat] == "you"
    table = done.stdout.decode()
    assert ("[6|5]" in table.partition("Your choice")[0]) == (seat == 1)
    assert "OK: 1 game" in boneyard("verify", f"{games(tmp_path)[0]}")


def test_a_person_who_leaves_has_played_no_game(tmp_path: Path) -> None:
    done = type_keys(tmp_path, "\nq\n", *SHORT)
    assert done.returncode == 130
    assert b"does not count" in done.stderr
    (game,) = read_games(games(tmp_path)[0])
    assert game.result is None
    # What was played is there, and the next game is another.
    done = type_keys(tmp_path, "\n" * 500, *SHORT)
    assert done.returncode == 0
    hint = done.stdout.decode().partition("See your mistakes: boneyard ")[2]
    assert "you in seat 0 of 2.you.first" in boneyard(*shlex.split(hint.splitlines()[0]))
    assert [path.stem for path in games(tmp_path)] == ["1.you.first", "2.you.first"]
    assert "OK: " in boneyard("verify", f"{games(tmp_path)[1]}")
    # A game that was left has no seed, so nothing in its folder is wrong for ever.
    output = boneyard("verify", f"{tmp_path}")
    assert "1.you.first.jsonl has no finished game" in output
    assert "OK: 1 game replayed" in output
    # A game with a result has one: then lines were removed.
    log = games(tmp_path)[1]
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    assert "the end is missing" in boneyard("verify", f"{tmp_path}", code=1)


@contextmanager
def open_terminal(*words: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """Yield the program in a terminal of its own."""
    terminal, child_terminal = pty.openpty()
    process = subprocess.Popen(
        (*BONEYARD, "play", "--terminal", *words),
        stdin=child_terminal,
        stdout=child_terminal,
        stderr=child_terminal,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm"},
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # Ctrl-C finds it.
    )
    os.close(child_terminal)
    try:
        yield process, terminal
    finally:
        process.kill()
        process.wait(120)
        os.close(terminal)


def read_until(terminal: int, end: bytes) -> bytes:
    """Return what the terminal shows until then, or until the program has left it."""
    read = b""
    while not read.endswith(end):
        assert select.select([terminal], [], [], 60)[0], read
        try:
            data = os.read(terminal, 4096)
        except OSError:
            return read
        read += data
    return read


def test_a_game_is_played_at_a_terminal(tmp_path: Path) -> None:
    with open_terminal(*SHORT, "--out", str(tmp_path)) as (process, terminal):
        screen = b""
        while (more := read_until(terminal, PROMPT)).endswith(PROMPT):
            screen += more
            os.write(terminal, b"1\n")
        screen += more
        assert process.wait(120) == 0
    text = re.sub(rb"\x1b\[[0-9;]*m", b"", screen).decode()
    assert "Seat 0 is yours; the others are first (seat 1)." in text
    assert "You have 60 s for each answer" in text
    assert "The game is over: the winner reached the target." in text
    assert "Replay it: boneyard replay" in text
    # Nothing but colours: no cursor is moved and nothing is cleared.
    assert "\x1b" not in text
    assert "OK: " in boneyard("verify", f"{games(tmp_path)[0]}")


def test_ctrl_c_ends_a_game_without_a_traceback(tmp_path: Path) -> None:
    with open_terminal(*SHORT, "--out", str(tmp_path)) as (process, terminal):
        read_until(terminal, PROMPT)
        os.write(terminal, b"\x03")
        left = read_until(terminal, b"never")
        assert process.wait(120) == 130
    assert b"does not count" in left
    assert b"Traceback" not in left


# --- what is not installed ---


def test_watch_without_websockets_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.ui.local_address.has_browser", lambda: False)
    output = boneyard("watch", f"{tmp_path}", code=2)
    assert "pip install '.[live]'" in output


def test_play_without_websockets_stays_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournaments.cli.play.has_browser", lambda: False)
    output = boneyard("play", "gredy", "--out", f"{tmp_path}", code=2)
    assert "pip install '.[live]' in the clone; so you play here." in output


# --- in the browser ---


QUESTION = "#table .own .choice, #options button, main[data-over=true]"


def wait_for_more(page: Page, before: int) -> None:
    page.locator("#said li").nth(before).wait_for(state="attached")


def click_on(page: Page) -> None:
    """Answer what is asked by clicking: a tile of the hand where one can be clicked."""
    before = page.locator("#said li").count()
    tile = page.locator("#table .own .choice").first
    if tile.count():
        tile.click()
        ghost = page.locator("#table .ghost").first
        if ghost.count():
            ghost.click()
    else:
        page.locator("#options button").first.click()
    wait_for_more(page, before)


def click_to_the_end(page: Page) -> None:
    for _ in range(300):
        page.wait_for_selector(QUESTION)
        if page.get_attribute("#main", "data-over") == "true":
            return
        click_on(page)


@pytest.mark.slow
@needs_chromium
def test_games_are_played_by_clicking_until_the_page_is_closed(tmp_path: Path) -> None:
    words = ("play", *SHORT, "--no-clock", "--out", str(tmp_path))
    with served(*words) as (process, address), open_page(address, local=True) as page:
        page.wait_for_selector(QUESTION)
        assert faults(page) == []
        assert page.locator("#table .tile .back").count() == 7 + 14
        assert page.inner_text("#clock") == ""
        assert page.request.get(f"{address}review").status == 404  # It shows all hands.
        click_to_the_end(page)
        assert page.inner_text("#result-title").startswith("You ")
        assert "boneyard replay" in page.inner_text("#kept")
        assert faults(page) == []
        (game,) = read_games(games(tmp_path)[0])
        assert game.result
        you, opponent = game.result.scores
        assert page.inner_text("#points") == f"You {you} – first {opponent}"
        with page.context.expect_page() as opened_page:
            page.click("#review")
        opened_page.value.wait_for_selector("#chances .edge")
        opened_page.value.close()
        with page.context.expect_page() as opened_page:
            page.click("#mistakes")
        opened_page.value.wait_for_selector("#card")
        opened_page.value.close()
        page.click("#swap")
        page.locator("#kept", has_text="2.first.you").wait_for(state="attached")
        page.wait_for_selector(QUESTION)
        page.goto("about:blank")
        assert process.poll() is None
    for log in games(tmp_path)[:1]:
        assert "OK: " in boneyard("verify", f"{log}")
