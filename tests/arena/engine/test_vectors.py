"""Vectors: the engine makes them, they are complete, and a reader in JavaScript agrees."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.rules.variants import VARIANTS
from protocol.records import ChoiceRecord
from tests.support import games, vectors


def stored_bytes(name: str) -> bytes:
    return (vectors.FOLDER / name).read_bytes()


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stored_bytes(name).splitlines()]


@pytest.mark.parametrize("name", vectors.NAMES)
def test_stored_vectors_are_those_of_the_engine(name: str) -> None:
    """If a change is meant: python -m tests.support.vectors."""
    assert stored_bytes(name) == vectors.file(name)


def test_every_named_game_has_a_file_and_there_is_no_other() -> None:
    assert sorted(games.PLANS) == sorted(VARIANTS)
    file_names = {path.name for path in vectors.FOLDER.iterdir()}
    assert file_names == {*vectors.NAMES, "README.md", "check.mjs"}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_first_game_is_the_one_that_the_referee_plays(name: str) -> None:
    """The vectors go through the engine alone, this game through the referee."""
    logged = games.short_game(name)
    entries = lines(name + vectors.ENDING)
    ends = next(index for index, entry in enumerate(entries) if entry["type"] == "end")
    turns = [entry for entry in entries[:ends] if entry["type"] == "turn"]
    choices = [entry["choice"] for entry in turns if len(entry["options"]) > 1]
    records = [record for record in logged.records if isinstance(record, ChoiceRecord)]
    assert choices == [record.choice for record in records]
    assert logged.result
    end, result = entries[ends], logged.result
    assert tuple(end["scores"]) == result.scores
    assert tuple(end["places"]) == result.places
    assert end["why"] == result.why


def run_checker(*paths: Path) -> tuple[int, str]:
    if shutil.which("node") is None:
        pytest.skip("check.mjs needs node, which is not on the PATH")
    words = ("node", str(vectors.FOLDER / "check.mjs"), *map(str, paths))
    process = subprocess.run(words, capture_output=True, text=True)
    return process.returncode, process.stdout


def test_a_reader_in_javascript_finds_no_fault() -> None:
    code, output = run_checker(*sorted(vectors.FOLDER.glob("*.jsonl")))
    turns = sum(stored_bytes(name).count(b'{"type":"turn"') for name in vectors.NAMES)
    assert (code, output) == (0, f"{turns} turns, 0 faults.\n")
