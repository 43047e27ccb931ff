"""Bots with equal files, and bots that answer every question alike, are named."""

import json
import shutil
from pathlib import Path

import pytest

from arena.sandbox.command import Command
from tests.support.events import SHORT, boneyard, run
from tests.support.tables import SAMPLES
from tournaments.event.facts import describe_same_files
from tournaments.formats.base import Entrant


def test_of_many_equal_bots_the_first_are_named() -> None:
    bots = [Entrant(f"b{number}", Command(("b",), "/"), "f" * 64) for number in range(30)]
    (sentence,) = describe_same_files(bots)
    assert "b18, b19 and 10 more are the same bot" in sentence


# Slow: it plays whole events, and other tests play one for this module.
@pytest.mark.slow
def test_equal_files_and_equal_answers_are_named(tmp_path: Path) -> None:
    """Carl and hana have the same files; otto has other files and plays like them."""
    for name in ("carl", "hana", "otto"):
        (tmp_path / name).mkdir()
        shutil.copy(SAMPLES / "greedy.py", tmp_path / name / "bot.py")
    (tmp_path / "otto" / "notes.txt").write_text("mine")
    cup = tmp_path / "cup.toml"
    bots = (
        f'[[bots]]\nname = "{name}"\nrun = ["{{python}}", "bot.py"]\nfolder = "{name}"\n'
        for name in ("carl", "hana", "otto")
    )
    cup.write_text("".join(bots) + '[[bots]]\nname = "random"\n')
    output = run(tmp_path / "out", str(cup), *SHORT, "--boards", "3")
    files = "carl and hana are the same bot: their files are equal."
    answers = "carl, hana and otto play as the same bot: they answered all "
    assert files in output
    assert answers in output
    assert files in (tmp_path / "out" / "report.md").read_text()
    assert answers in (tmp_path / "out" / "report.html").read_text()
    (group,) = json.loads((tmp_path / "out" / "times.json").read_text())["same_bots"]
    assert group["names"] == ["carl", "hana", "otto"]
    assert group["questions"] > 50
    assert "random" not in group["names"]
    # Readers of its site cannot answer for themselves.
    boneyard("publish", str(tmp_path / "out"), str(tmp_path / "site"))
    for name in ("report.md", "index.html"):
        assert "same bot" not in (tmp_path / "site" / name).read_text()
    assert not json.loads((tmp_path / "site" / "times.json").read_text())["same_bots"]
    assert "OK: " in boneyard("verify", str(tmp_path / "site"))
