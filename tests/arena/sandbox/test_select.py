"""The choice of a level where something that every machine has is missing."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.sandbox.command import find_tools
from arena.sandbox.limits import Limits
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level, examine_level
from tests.support.events import boneyard


def test_a_user_without_a_home_can_be_locked_in_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    finding = examine_level("off", tmp_path)
    assert finding.confirmed, finding.why_not
    assert not finding.outcomes["list-home"].got


def test_doctor_explains_a_machine_on_which_no_level_can_be_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody can write to /proc, not even root."""
    monkeypatch.chdir("/proc")
    said = boneyard("doctor", code=2)
    assert said.startswith("boneyard: No level can be tried here, not even off: /proc/boneyard-tmp")
    assert said.endswith("a folder that you may write to: start it in one.\n")
    assert len(said.splitlines()) == 1


def test_a_run_names_its_level_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.sandbox.sandbox.which", lambda _: "/usr/bin/apt")
    tools = replace(find_tools(), bwrap=None, setpriv="/x", prlimit="/x")
    monkeypatch.setattr("arena.sandbox.sandbox.find_tools", lambda: tools)
    said = Sandbox("C", Limits(), ("Much is missing.",)).brief
    assert said == "Sandbox: C; `apt install bubblewrap` for B."
    assert choose_level("off", Limits(), tmp_path).brief.startswith("Sandbox: off; ")
    assert Sandbox("off", Limits(), ("Not level C: /root is shut.", "")).brief.endswith("is shut.")
