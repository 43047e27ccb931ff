"""`boneyard run` with [tune] and real bots: killed, it goes on with the same candidates."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.events import BONEYARD, boneyard, fits, ledger, report, wait_for_ledger

FILE = """\
[[bots]]
name = "mine"
bot = "suit"
arguments = ["--double", "{double}"]

[tune]
double = { start = -8, min = -9, max = 8 }
"""
SHORT = ("--boards", "60", "--set", "target=1", "--seed", "1", "--sandbox", "off", "--jobs", "2")


@pytest.mark.slow
def test_a_killed_tune_goes_on_and_its_answer_fits(tmp_path: Path) -> None:
    path, out = tmp_path / "mine.toml", tmp_path / "out"
    path.write_text(FILE)
    words = ("run", str(path), *SHORT, "--out", str(out))
    process = subprocess.Popen((*BONEYARD, *words), stderr=subprocess.DEVNULL)
    wait_for_ledger(out)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(ledger(out)) < 144
    output = boneyard(*words)
    assert 'arguments = ["--double","' in output
    assert len({result.game for result in ledger(out)}) == len(ledger(out)) == 144
    # It computes the values of each log again from the ledger.
    assert fits(out)
    assert "## The search" in report(out)
    assert "mine-1 " not in boneyard("show", str(out)).partition("Elo")[2]
