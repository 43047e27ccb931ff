"""The wheel works in an empty environment, away from the checkout, with its sample bots."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_no_module_that_may_be_compiled_defines_a_struct() -> None:
    """Its settings (`frozen`, `tag`) would be lost, for mypyc drops them."""
    project = ROOT / "pyproject.toml"
    build = tomllib.loads(project.read_text())["tool"]["hatch"]["build"]
    for name in build["targets"]["wheel"]["hooks"]["custom"]["modules"]:
        tree = ast.parse((ROOT / name).read_text())
        classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
        bases = {ast.unparse(base) for one in classes for base in one.bases}
        assert bases.isdisjoint({"Struct", "msgspec.Struct"}), name


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
