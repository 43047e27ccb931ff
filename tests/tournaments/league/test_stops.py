"""A league as a real process: killed at any moment, stopped by signals, and run only once."""

import os
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from protocol.codec import decode_json, indented_json
from tests.support.clusters import until
from tests.support.events import BONEYARD, boneyard
from tournaments.league.ratings import LeagueTable
from tournaments.league.state import read_league, read_register

pytestmark = pytest.mark.slow
SETTINGS = """\
house = ["first", "greedy", "random"]
sandbox = "off"
every_s = 1

[[divisions]]
name = "two"
rules = { base = "draw", target = 30 }
boards_a_table = 2
boards_a_week = 112

[[divisions]]
name = "three"
seats = 3
rules = { base = "draw", target = 30 }
boards_a_table = 2
boards_a_week = 56
"""
SUNDAY = ("--once", "--now", "2026-11-22T10:00")
STEP_S = 1.5
"""Each process lives so much longer than the one before it."""


def start(place: Path, *words: str) -> "subprocess.Popen[str]":
    words = (*BONEYARD, "league", str(place), *words)
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    )


def whole_lines(path: Path) -> bytes:
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def test_a_league_that_is_killed_at_any_moment_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Its register and ledgers only grow, no game is there twice, and all of it verifies."""
    (tmp_path / "league.toml").write_text(SETTINGS)
    before: dict[Path, bytes] = {}
    code, kills = None, 0
    while code is None:
        process = start(tmp_path, *SUNDAY)
        try:
            process.communicate(timeout=1 + STEP_S * kills)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
        for path in (*tmp_path.glob("register.jsonl"), *tmp_path.glob("rounds/*/*/ledger.jsonl")):
            assert whole_lines(path).startswith(before.get(path, b"")), path
            before[path] = whole_lines(path)
    assert code == 0
    assert kills
    league = read_league(tmp_path)
    assert {name: len(division.rounds) for name, division in league.divisions.items()} == {
        "two": 2,
        "three": 2,
    }
    for division in league.divisions.values():
        for round in division.rounds:
            assert round.is_over
            assert round.closed is None
            games = Counter(result.game for result in round.results)
            assert {*games.values()} == {1}
            boneyard("verify", str(round.folder.path))
    entries = Counter(entry.bot for entry in read_register(tmp_path / "register.jsonl"))
    assert entries == {"first": 1, "greedy": 1, "random": 1}


def test_a_signal_ends_a_league_at_once_and_only_one_process_runs_it(tmp_path: Path) -> None:
    """The signal comes in the middle of a round; the settings may break meanwhile."""
    (tmp_path / "league.toml").write_text(SETTINGS.replace("= 112", "= 5600"))
    process = start(tmp_path)
    assert process.stdout
    for line in process.stdout:
        if "two round 2" in line:
            break
    assert "Another boneyard process" in boneyard("league", str(tmp_path), "--once", code=2)
    (tmp_path / "league.toml").write_text("boards = 1")
    for line in process.stdout:
        if " settings " in line:
            assert "boards" in line
            assert "The earlier settings stay in force." in line
            break
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 130
    lines = (tmp_path / "league.log").read_text().splitlines()
    assert sum(" settings " in line for line in lines) == 1
    (tmp_path / "league.toml").write_text(SETTINGS.replace("= 112", "= 5600"))
    boneyard("league", str(tmp_path), "--rounds", "1")
    divisions = read_league(tmp_path).divisions.values()
    rounds = [round for division in divisions for round in division.rounds]
    assert all(round.is_over for round in rounds)
    table = (tmp_path / "site" / "league.json").read_bytes()
    assert indented_json(decode_json(table, LeagueTable)) + b"\n" == table


SLEEPER = """\
import os, pathlib, time
pathlib.Path({file!r}).write_text(f"{{os.getpid()}}\\n")
time.sleep(1000)
"""


def test_ctrl_c_while_bots_are_checked_ends_them_without_further_words(tmp_path: Path) -> None:
    """It comes to all processes, also to those that only start or that Python's pools share."""
    (tmp_path / "league.toml").write_text(SETTINGS)
    files = [tmp_path / name for name in ("ada.pid", "ben.pid")]
    for file in files:
        bot = tmp_path / "bots" / file.stem
        bot.mkdir(parents=True)
        (bot / "bot.toml").write_text('run = ["{python}", "bot.py"]\n')
        (bot / "bot.py").write_text(SLEEPER.format(file=f"{file}"))
    process = subprocess.Popen(
        (*BONEYARD, "league", str(tmp_path)),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until(lambda: all(file.exists() and file.read_text() for file in files), "both are checked")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "resource_tracker" not in errors
    assert "Traceback" not in errors
    until(lambda: not any(map(is_running, files)), "both have ended")


def is_running(file: Path) -> bool:
    """Tell whether the process that wrote its number runs; what nobody has waited for does not."""
    with suppress(FileNotFoundError):
        return bool(Path("/proc", file.read_text().strip(), "cmdline").read_bytes())
    return False
