"""The wheel works in an empty environment, away from the checkout, with its sample bots."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_works_away_from_the_checkout(tmp_path: Path) -> None:
    def sh(*words: str | Path) -> str:
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pip = (sys.executable, "-m", "pip")
    sh(*pip, "wheel", "-q", "--no-deps", "-w", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    sh(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    into = ("--python", tmp_path / "env")
    sh(*pip, *into, "install", "-q", "--no-compile", "-c", ROOT / "requirements.lock", wheel)
    boneyard = tmp_path / "env" / "bin" / "boneyard"
    sh(boneyard, "new", "python", "mine")
    said = sh(boneyard, "run", "mine", "greedy", "--boards", "2", "--out", "out", "--json")
    assert json.loads(said)["played"] == 4
    assert "bot" in (tmp_path / "out" / "report.html").read_text()
    assert "OK: " in sh(boneyard, "verify", "out")
    assert "greedy" in sh(boneyard, "bots")
