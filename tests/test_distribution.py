"""The sdist has all that the README names, its wheel works alone, and the locks have hashes."""

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
"""A relative link of a Markdown page."""


def test_the_locks_have_hashes_for_all_that_pyproject_names_and_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    full_lock, run_lock = _versions("requirements.lock"), _versions("requirements-run.lock")
    assert run_lock.items() <= full_lock.items()
    parts = {"build", "live", "sandbox", "tune"}
    # What only a benchmark compares us with is nobody's need.
    for lock, names in ((full_lock, extras.keys() - {"bench"}), (run_lock, parts)):
        for text in [*project["dependencies"], *(text for name in names for text in extras[name])]:
            need = Requirement(text)
            if need.name != project["name"]:
                assert need.name in lock, text
                assert all(need.specifier.contains(version) for version in lock[need.name]), text


def _versions(name: str) -> dict[str, list[str]]:
    """Return the versions of each package in a lock; numpy has one for old Pythons too."""
    versions: dict[str, list[str]] = {}
    for entry in re.split(r"^(?=\w)", (ROOT / name).read_text(), flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in entry, entry
        package, version = entry.split()[0].split("==")
        versions.setdefault(package.replace("backports-", "backports."), []).append(version)
    return versions


@pytest.mark.slow
def test_the_wheel_of_the_sdist_works_away_from_the_checkout(tmp_path: Path) -> None:
    # As on a newcomer's machine.
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")}

    def sh(*words: str | Path, folder: Path = tmp_path) -> str:
        process = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    build = (sys.executable, "-m", "hatchling", "build", "-d", tmp_path / "dist")
    sh(*build, "-t", "sdist", folder=ROOT)
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    # By `tar`: Debian's Python 3.11.2 has no filters, and later ones warn without.
    sh("tar", "-xzf", sdist, "-C", tmp_path)
    unpacked = tmp_path / sdist.name.removesuffix(".tar.gz")
    _check_links(unpacked)
    sh(*build, "-t", "wheel", folder=unpacked)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    sh(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    pip = (sys.executable, "-m", "pip", "--python", tmp_path / "env", "install", "-q")
    sh(*pip, "--no-compile", "-r", unpacked / "requirements-run.lock")
    sh(*pip, "--no-compile", "--no-deps", wheel)
    boneyard = tmp_path / "env" / "bin" / "boneyard"
    sh(boneyard, "new", "python", "mine")
    output = sh(boneyard, "run", "mine", "greedy", "--boards", "2", "--out", "out", "--json")
    assert json.loads(output)["played"] == 4
    assert "bot" in (tmp_path / "out" / "report.html").read_text()
    assert "OK: " in sh(boneyard, "verify", "out")
    assert "greedy" in sh(boneyard, "help", "bots")
    for words in (("report", "out"), ("replay", "out", "--html"), ("publish", "out", "site")):
        sh(boneyard, *words)
    _check_installation(tmp_path / "env")
    # The name under which `uvx boneyard-arena` starts it.
    assert "demo" in sh(boneyard.with_name("boneyard-arena"), "--help")


def _check_installation(environment: Path) -> None:
    """Check that an environment's packages are those that pip recorded, and compiled modules."""
    (packages,) = environment.glob("lib/python3.*/site-packages")
    recorded = {
        (packages / line[0]).resolve()
        for record in packages.glob("*.dist-info/RECORD")
        for line in csv.reader(record.read_text().splitlines())
    }
    compiled = {Path(cache_from_source(path)) for path in recorded if path.suffix == ".py"}
    files = {path.resolve() for path in packages.rglob("*") if path.is_file()}
    assert files - recorded - compiled == set()


def _check_links(folder: Path) -> None:
    """Check that every page's links and the files in the README's commands exist."""
    for page in folder.rglob("*.md"):
        for link in LINK.findall(page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
    readme = (folder / "README.md").read_text()
    for lock in set(re.findall(r"-r ([\w.-]+)", readme)):
        assert (folder / lock).is_file(), lock
    for module in set(re.findall(r"-m (tests[.\w]+)", readme)):
        path = folder.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
    for path in set(re.findall(r" (tests/\S+)", readme)):
        assert (folder / path).exists(), path
