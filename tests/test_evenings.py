"""First evenings as the pages promise them: of an author, an organiser, a teacher, a researcher."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.events import BONEYARD

Shell = Callable[..., str]
LEAGUE = Path(__file__).parents[1] / "tournaments" / "LEAGUE.md"
pytestmark = pytest.mark.slow


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Return a function that runs a line in a shell of a new account, in which `boneyard` works."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "boneyard").write_text(f'#!/bin/sh\nexec {shlex.join(BONEYARD)} "$@"\n')
    (programs / "boneyard").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    root = f"{Path(__file__).parents[1]}"
    env = {"HOME": f"{tmp_path}", "PATH": path, "PYTHONPATH": root, "LANG": "C.UTF-8"}
    env["OPENBLAS_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"]

    def run(line: str, code: int = 0) -> str:
        process = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line], cwd=tmp_path, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False,
        )  # fmt: skip
        assert process.returncode == code, f"{line}: {process.stdout}"
        assert "Traceback" not in process.stdout
        return process.stdout

    return run


def test_an_author_mends_a_bot_and_sees_whether_it_is_better(shell: Shell, tmp_path: Path) -> None:
    shell("boneyard new python mine")
    source = tmp_path / "mine" / "bot.py"
    working = source.read_text()
    source.write_text(working.replace("max(weights)", "maks(weights)"))
    broken = shell("boneyard run mine greedy --boards 5 --sandbox off", code=2)
    assert re.search(r"mine crashes: NameError.*bot\.py, line \d+", broken)
    source.write_text(working)
    assert "mine" in shell("boneyard check mine --quick --sandbox off")
    assert "mine" in shell("boneyard run mine greedy --boards 5 --sandbox off")
    source.write_text(working.replace("max(weights)", "min(weights)"))
    assert "mine@" in shell("boneyard run mine greedy --boards 5 --sandbox off")
    explained = shell("boneyard explain")
    assert "It lost" in explained
    game = explained.partition("See one: boneyard explain ")[2].split()[0]
    assert "The game is over" in shell(f"boneyard replay {game} && boneyard explain {game}")
    assert "OK: " in shell("boneyard verify")


def test_an_organiser_plays_an_event_file_and_publishes_it(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        'bots = ["first", "greedy", "random", "suit"]\nformat = { type = "swiss", rounds = 2 }\n'
        'boards = 1\nsandbox = "off"\nrules = { base = "draw", target = 30 }\n'
    )
    shell("boneyard run cup.toml")
    assert "Swiss" in shell("boneyard show cup")
    shell("boneyard publish cup site && boneyard report cup --luck")
    assert (tmp_path / "site" / "index.html").is_file()
    assert "OK: " in shell("boneyard verify site && boneyard verify cup.toml")


@pytest.mark.skipif(not shutil.which("git"), reason="a class league needs git")
def test_a_teacher_follows_the_recipe_of_a_class_league(shell: Shell, tmp_path: Path) -> None:
    """The commands are those of the page; the server is left out, and most of the check."""
    recipe = LEAGUE.read_text().partition("**2. Make the league.**")[2]
    steps = re.findall(r"```sh\n(.*?)```", recipe, re.DOTALL)
    make, repository, _hook, student, begin, *_ = steps
    shell(make)
    settings = tmp_path / "league" / "league.toml"
    quick = 'sandbox = "off"\nluck = true\n'
    text = settings.read_text().replace("boards_a_week = 1000", "boards_a_week = 4")
    settings.write_text(quick + text)
    shell(repository)
    shell(student.replace("check ada", "check ada --only 1-9"))
    shell(begin)
    page = (tmp_path / "league" / "site" / "bots" / "ada.html").read_text()
    assert "admitted" in page
    assert "OK: " in shell("boneyard verify league && boneyard league league status")


def test_a_researcher_exports_decisions_and_sets_an_exam(shell: Shell, tmp_path: Path) -> None:
    shell("boneyard run greedy counting --boards 12 --seed 1 --sandbox off --out event")
    assert "rows" in shell("boneyard export event --out decisions.csv && boneyard help training")
    assert (tmp_path / "decisions.csv").read_text().count("\n") > 100
    shell(
        "boneyard export event --problems --endgames 3 --middle-games 1 --deals 64 --out set.jsonl"
    )
    assert "middle game" in shell("boneyard check greedy --problems set.jsonl --sandbox off")
