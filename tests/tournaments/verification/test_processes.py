"""Processes that read logs run no foreign code, end with their parent, and may be killed."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from arena.processes import map_apart

BATCHES = """
import multiprocessing, os, signal
from pathlib import Path
from protocol.errors import UserError
from tournaments.verification.logs import actual_path
from arena.processes import map_tasks

def tasks():
    yield Path("a")
    yield Path("b")
    pids = [process.pid for process in multiprocessing.active_children()]
    {then}
    yield Path("c")

try:
    print("checked:", len([*map_tasks(actual_path, tasks(), 2)]))
except UserError as error:
    print(error)
"""
"""A program that does something once its processes have started; it has no guard for its main part,
which would run in each of them.
"""


def program(folder: Path, code: str) -> list[str]:
    script = folder / "script.py"
    script.write_text(BATCHES.format(then=code))
    return [sys.executable, str(script)]


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    words = program(tmp_path, "")
    done = subprocess.run(words, capture_output=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == (b"checked: 3\n", b"")


def test_nothing_in_the_folder_of_a_foreign_event_is_run(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name in ("multiprocessing", "signal", "protocol", "tournaments", "arena"):
        (foreign / f"{name}.py").write_text("open('run', 'w')\n")
    words = program(tmp_path, "")
    done = subprocess.run(words, cwd=foreign, stdout=subprocess.PIPE, timeout=120, check=True)
    assert done.stdout == b"checked: 3\n"
    assert not (foreign / "run").exists()


def test_processes_end_if_their_parent_is_killed(tmp_path: Path) -> None:
    words = program(tmp_path, "print(*pids, flush=True); signal.pause()")
    with subprocess.Popen(words, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        try:
            # One that is done already takes the second batch too.
            children = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        finally:
            parent.kill()
        assert children
        for child in children:
            assert select.select([child], [], [], 30)[0], "It is left behind."
            os.close(child)


def test_a_killed_process_is_reported_in_a_sentence(tmp_path: Path) -> None:
    words = program(tmp_path, "[os.kill(pid, signal.SIGKILL) for pid in pids]")
    done = subprocess.run(words, stdout=subprocess.PIPE, timeout=120, check=True)
    assert done.stdout.startswith(b"A process beside ours was killed.")


def fall(number: int) -> int:
    """Return a number; a negative one kills the process."""
    if number < 0:
        signal.raise_signal(signal.SIGKILL)
    return number


def test_a_process_apart_takes_no_other_with_it() -> None:
    """Not even one task is done by our own process, which would be killed by it."""
    assert {*map_apart(fall, [1, -1, 2])} == {(1, 1), (-1, None), (2, 2)}
    assert [*map_apart(fall, [-1])] == [(-1, None)]
