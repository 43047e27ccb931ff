"""The choice of a level where something that every machine has is missing."""

from pathlib import Path

import pytest

from arena.sandbox.select import examine_level
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
