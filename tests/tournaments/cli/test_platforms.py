"""Other systems than Linux: the commands that work there, and the sentence of the others."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.events import PLAIN, boneyard, contents, copied
from tests.support.fast_run import slow_except
from tests.support.tables import alive


def run_on(system: str, folder: Path, *lines: str, code: int = 0) -> str:
    """Run commands in a folder of such a system, all of which must end with this code."""
    done = subprocess.run(
        (sys.executable, "-m", "tests.support.other_systems", system, *lines),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert all(f"{line}: {code}\n" in output for line in lines), output
    return output


# Slow: an interpreter that believes to be elsewhere reads an event for each platform.
@pytest.mark.slow
@pytest.mark.parametrize("system", slow_except(["win32"], ["darwin", "win32"]))
def test_every_platform_reads_finished_events(system: str, event: Path, tmp_path: Path) -> None:
    copy, original = (copied(event, tmp_path / name) for name in ("event", "here"))
    output = run_on(
        system,
        tmp_path,
        *("replay event --html", "verify event", "replay event 1.first.greedy", "report event"),
        *("show event", "show event --prior 1", "explain event 1.first.greedy"),
    )
    assert "12 new replays" in output
    assert "OK: " in output
    assert "finished: 12 of 12 games" in output
    for path, data in contents(original).items():
        assert (copy / path.relative_to(original)).read_bytes() == data, path


GOES_ON = """
import json, subprocess, sys, time
subprocess.Popen((sys.executable, "-c", "import time; time.sleep(300)", sys.argv[1]))
for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        print('{"type":"hello","name":"x","version":"1"}', flush=True)
time.sleep(300)
"""


def test_other_systems_play_an_event_to_the_same_ledger(tmp_path: Path) -> None:
    words = ("run", "first", "greedy", "--boards", "1", "--set", "target=1", *PLAIN)
    output = run_on("darwin", tmp_path, " ".join((*words, "--out", "there")))
    assert "2 of 2 games" in output
    boneyard(*words, "--out", str(tmp_path / "here"))
    linux, darwin = (tmp_path / name / "ledger.jsonl" for name in ("here", "there"))
    assert linux.read_bytes() == darwin.read_bytes()


def test_a_killed_referee_leaves_no_bot_where_no_sandbox_ends_it(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(GOES_ON)
    tag = f"{tmp_path}/tag"
    line = f"run '{sys.executable} {tmp_path}/bot.py {tag}' greedy --boards 2 --out event"
    with subprocess.Popen(
        (sys.executable, "-m", "tests.support.other_systems", "darwin", line),
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.DEVNULL,
    ) as referee:
        # The referee's own command line has the tag too.
        await_processes(tag, lambda count: count >= 3)
        referee.kill()
    await_processes(tag, lambda count: count == 0)


def await_processes(tag: str, is_it: Callable[[int], bool]) -> None:
    for _ in range(6_000):
        if is_it(len(alive(tag))):
            return
        time.sleep(0.01)
    raise AssertionError(f"alive: {alive(tag)}")


@pytest.mark.parametrize("system", slow_except(["darwin"], ["darwin", "win32"]))
def test_new_bots_and_rules_work_on_every_platform(system: str, tmp_path: Path) -> None:
    output = run_on(
        system, tmp_path, "new python mine", "help bots", "rules", "rules dutch", "help schema"
    )
    assert "Made mine/bot.py" in output
    assert "\nmine\n" in output


# Slow: that each command says so is tested below.
@pytest.mark.slow
def test_windows_has_no_module_for_a_command_that_needs_linux(tmp_path: Path) -> None:
    output = run_on("win32", tmp_path, "worker x", "doctor", code=2)
    assert "boneyard: `worker` needs Linux: run it in" in output
    assert "boneyard: `doctor` needs Linux: run it in" in output


@pytest.mark.parametrize("words", [("doctor",), ("worker", "x")])
def test_commands_that_need_linux_say_so(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for system in ("darwin", "win32", "freebsd15"):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", system)
            output = boneyard(*words, code=2)
        assert output.startswith(f"boneyard: `{words[0]}` needs Linux: run it in a Linux container")
        assert "on Windows in WSL 2" in output
        assert len(output.splitlines()) == 1
