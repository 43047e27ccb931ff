"""The rule for signals, in real processes that signal themselves at the worst moment."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, signal, sys, trio
from tournaments.cli.entry import main
MOMENT
sys.argv[1:] = WORDS
main()
"""
IN_A_REPORT = """
import threading
import tournaments.report.report as report
write = report.replace_files
def interrupted(files):
    if threading.current_thread() is threading.main_thread():
        os.kill(os.getpid(), signal.SIGINT)
    write(files)
report.replace_files = interrupted
"""
"""Ctrl-C when all is played; the report before the first game is written in a thread."""
IN_A_LEAGUE = """
from tournaments.league.loop import Journal, Turns
Turns.play = lambda _: os.kill(os.getpid(), signal.SIGTERM)
note = Journal.note
Journal.note = lambda self, *words: (os.kill(os.getpid(), signal.SIGTERM), note(self, *words))
Journal.note_state = lambda *_: None
"""
"""The second signal comes while the league notes that it was stopped."""
IN_TRIO = """
import tournaments.cli.plan as plan
async def wait(*_):
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
    await trio.sleep_forever()
plan._play = wait
"""
RUN = ["run", "first", "greedy", "--boards", "1", "--set", "target=1", "--sandbox", "off"]
LEAGUE = 'house = ["first", "greedy"]\n[[divisions]]\nname = "two"\n'


def run_and_signal(folder: Path, moment: str, *words: str) -> str:
    """Return the stderr of a command that signals itself; its exit code must be 130."""
    program = PROGRAM.replace("MOMENT", moment).replace("WORDS", f"{[*words]}")
    argv = (sys.executable, "-c", program)
    process = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60)
    assert process.returncode == 130, process.stderr
    assert "Traceback" not in process.stderr
    assert "Aborted" not in process.stderr
    return process.stderr


def test_ctrl_c_while_a_report_is_written(tmp_path: Path) -> None:
    run_and_signal(tmp_path, IN_A_REPORT, *RUN, "--out", "event", "--jobs", "1")


def test_two_signals_at_once_end_a_league(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text(LEAGUE)
    run_and_signal(tmp_path, IN_A_LEAGUE, "league", ".", "--once")
    assert "the same command goes on" in (tmp_path / "league.log").read_text()


def test_two_signals_at_once_end_a_run_of_trio(tmp_path: Path) -> None:
    run_and_signal(tmp_path, IN_TRIO, *RUN, "--plan")
