"""Bots of another user: which folder bars their way, and on which Python they run then."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.sandbox import report, select
from arena.sandbox.command import Command
from arena.sandbox.limits import LEVELS, Limits
from arena.sandbox.pythons import barrier, on_a_python_within_reach, python_for_others
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level, examine_level

SYSTEM_PYTHON = Path("/usr/bin/python3")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots are other users")
needs_system_python = pytest.mark.skipif(
    not SYSTEM_PYTHON.exists(), reason="this machine has no /usr/bin/python3"
)


@pytest.fixture
def shut() -> Iterator[Path]:
    """Yield a folder that only its owner may enter, as root's home is, in one that all may
    enter."""
    # Not pytest's own, which nobody else may enter.
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o755)
        folder = Path(path).resolve() / "home"
        folder.mkdir(mode=0o700)
        yield folder


@pytest.fixture
def private_python(shut: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Boneyard runs on a Python that lies there."""
    python = f"{shut}/python3"
    shutil.copy(SYSTEM_PYTHON, python)
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    return python


def test_the_folder_that_bars_the_way_is_found_behind_links_too(shut: Path) -> None:
    (shut / "file").touch()
    beside = shut.parent / "beside"
    beside.symlink_to(shut / "file")
    assert barrier(shut / "file") == shut
    assert barrier(beside) == shut
    assert barrier(shut.parent / "none") is None


@needs_system_python
def test_with_a_python_that_bots_cannot_reach_another_one_is_found(
    private_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(private_python).parent}:/usr/bin")
    assert python_for_others(private_python) == str(SYSTEM_PYTHON)
    mine = Command((private_python, "a.py", private_python), "/", ("/x",))
    assert on_a_python_within_reach(mine).argv == ("/usr/bin/python3", "a.py", "/usr/bin/python3")
    other = Command(("/bin/sh", "a.sh"), "/", ("/x",))
    assert on_a_python_within_reach(other) == other


@root_only
@needs_system_python
@pytest.mark.usefixtures("private_python")
def test_level_c_is_there_though_root_keeps_its_python_at_home(shut: Path) -> None:
    found = examine_level("C", shut.parent)
    if "Landlock" in found.why_not:
        pytest.skip(found.why_not)
    assert found.confirmed, found.why_not
    said = " ".join(Sandbox("C", Limits()).notices)
    assert f"run on {SYSTEM_PYTHON}" in said or "run on /" in said
    assert f"only root may enter {shut}" in said
    assert said in " ".join(report.verdict([examine_level("off", shut.parent)])).replace(
        "At levels C and D: ", ""
    )


@root_only
@needs_system_python
@pytest.mark.usefixtures("private_python")
def test_doctor_names_the_folder_and_the_remedy_when_no_python_is_in_reach(
    shut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.sandbox.pythons._pythons", lambda: iter(()))
    python_for_others.cache_clear()
    found = examine_level("D", shut.parent)
    python_for_others.cache_clear()
    assert f"may not enter {shut}, where our Python lies" in found.why_not
    assert "run Boneyard with /usr/bin/python3" in found.why_not


@root_only
def test_bots_in_a_folder_that_they_may_not_enter_are_told_of_before_they_fail(
    shut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def only_c(level: str, _: Path) -> select.LevelResult:
        seen.append(level)
        return select.LevelResult("C", "" if level == "C" else "No.", (), {})

    monkeypatch.setattr(select, "examine_level", only_c)
    found = choose_level("auto", Limits(), shut, [shut / "bot.py"])
    assert (found.level, tuple(seen)) == ("off", LEVELS[:2])
    assert f"may not enter {shut}, and bots lie in {shut}" in found.missing[0]
