"""The recipe for CI services in the page for bot authors, carried out in a repository of a bot."""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.events import boneyard

SAMPLES = Path(__file__).parents[2] / "sample_bots"
yaml: Any = import_module("yaml")
SHORT = 'rules = { base = "draw", target = 30 }\n'


def recipe(language: str) -> str:
    """Return the page's block in a language."""
    section = (SAMPLES / "README.md").read_text().partition("## In a CI service")[2]
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return str(block)


@pytest.mark.slow
def test_the_recipe_accepts_a_better_bot_and_refuses_a_worse_one(open_folder: Path) -> None:
    for old, new, code in (("random_bot", "suit", 0), ("suit", "random_bot", 3)):
        place = open_folder / new
        repository = place / "repository"
        _make_repository(repository, SAMPLES / f"{old}.py", SAMPLES / f"{new}.py")
        summary = place / "summary.md"
        assert _run_job(repository, summary) == code
        answer = "Yes: new is better than old" if code == 0 else "No: new is not 5 points"
        comment = summary.read_text()
        assert answer in comment.partition("<details>")[0]
        assert "| new |" in comment.partition("<details>")[2].partition("</details>")[0]


def _make_repository(folder: Path, old: Path, new: Path) -> None:
    """Make a repository whose branch `main` has an old bot, and whose files have a new one."""
    (folder / "mine").mkdir(parents=True)
    bot = folder / "mine" / "bot.py"
    shutil.copy(old, bot)
    # A machine that cannot lock bots in can try the recipe too; short games show as much.
    event = SHORT + recipe("toml").replace('"require"', '"auto"')
    (folder / "versus.toml").write_text(event)
    author = ("-c", "user.name=author", "-c", "user.email=author@example.org")
    for words in (
        ("init", "-q"),
        ("add", "."),
        (*author, "commit", "-qm", "Old"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ):
        subprocess.run(("git", *words), cwd=folder, check=True)
    shutil.copy(new, bot)


def _run_job(repository: Path, summary: Path) -> int:
    """Run the steps as a service does, but the installation; return the first exit code not 0."""
    code = 0
    for step in yaml.safe_load(recipe("yaml"))["jobs"]["versus"]["steps"]:
        if "run" in step and step["name"] != "Install" and (not code or step.get("if")):
            process = subprocess.run(
                # Fixed deals: no luck decides whether the test ends in time.
                ("bash", "-eo", "pipefail", "-c", step["run"].replace("run v", "run --seed 1 v")),
                cwd=repository,
                env={
                    **os.environ,
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "GITHUB_BASE_REF": "main",
                    "GITHUB_STEP_SUMMARY": str(summary),
                },
                capture_output=True,
                text=True,
            )
            code = code or process.returncode
    return code


def test_only_a_versus_has_an_answer_that_can_be_required(tmp_path: Path) -> None:
    words = ("run", "greedy", "random", "--fail-unless", "better", "--out", str(tmp_path / "out"))
    output = boneyard(*words, code=2)
    assert "--fail-unless needs --format versus" in output
    assert not (tmp_path / "out").exists()
