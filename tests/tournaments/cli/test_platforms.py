"""Other systems than Linux: what works there, and the sentence that tells how to get the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.events import boneyard, contents, copied
from tests.support.fast_run import slow_except
from tournaments.cli.main import ON_LINUX_ONLY

SYSTEMS = {"darwin": "macOS", "win32": "Windows", "freebsd15": "freebsd15"}
WORDS = {"demo": (), "doctor": (), "play": ("--against", "x"), "watch": ("tests",)}
"""What stands after a command; most take the name of a bot."""


def elsewhere(system: str, folder: Path, *lines: str, code: int = 0) -> str:
    """Run commands in a folder of such a system, all of which must end with this code."""
    done = subprocess.run(
        (sys.executable, "-m", "tests.support.other_systems", system, *lines),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert all(f"{line}: {code}\n" in said for line in lines), said
    return said


# Slow: an interpreter that believes to be elsewhere reads an event for each platform.
@pytest.mark.slow
@pytest.mark.parametrize("system", slow_except(["win32"], ["darwin", "win32"]))
def test_finished_events_can_be_read_on_every_platform(
    system: str, event: Path, tmp_path: Path
) -> None:
    copy, here = (copied(event, tmp_path / name) for name in ("event", "here"))
    said = elsewhere(
        system,
        tmp_path,
        *("replay event --html", "verify event", "replay event 1.first.greedy", "report event"),
        *("show event", "show event --prior 1", "explain event 1.first.greedy"),
    )
    assert "12 new replays" in said
    assert "OK: " in said
    assert "finished: 12 of 12 games" in said
    for path, data in contents(here).items():
        assert (copy / path.relative_to(here)).read_bytes() == data, path


@pytest.mark.parametrize("system", slow_except(["darwin"], ["darwin", "win32"]))
def test_bots_are_begun_and_rules_are_read_everywhere(system: str, tmp_path: Path) -> None:
    said = elsewhere(
        system, tmp_path, "new python mine", "help bots", "rules", "rules dutch", "help schema"
    )
    assert "Made mine/bot.py" in said
    assert "\nmine\n" in said


def test_windows_has_no_module_for_a_command_that_needs_linux(tmp_path: Path) -> None:
    said = elsewhere("win32", tmp_path, "check first", "help run", code=2)
    assert "boneyard: `check` needs Linux, and this is Windows: here" in said
    assert "boneyard: `run` needs Linux, and this is Windows: here" in said


@pytest.mark.parametrize("name", sorted(ON_LINUX_ONLY))
def test_commands_that_need_linux_say_so_in_a_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for system, called in SYSTEMS.items():
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", system)
            said = boneyard(name, *WORDS.get(name, ("x",)), code=2)
        assert len(said.splitlines()) == 1
        assert said.startswith(
            f"boneyard: `{name}` needs Linux, and this is {called}: here `rules`"
        )
        assert "container" in said
        assert ("WSL 2" in said) == (system == "win32")
