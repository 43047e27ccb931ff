"""`explain POSITION`: the question of a line, valued as that of a log."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.games import any_of, log_game, write
from tournaments.cli.main import main

DEALS = ("--deals", "16")


def explain(*words: str) -> dict[str, Any]:
    """Return what `explain` prints as JSON."""
    done = CliRunner().invoke(main, ["explain", *words, *DEALS, "--json"])
    assert done.exit_code == 0, done.output
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.fixture
def from_log(tmp_path: Path) -> dict[str, Any]:
    log = write(tmp_path / "game.jsonl", log_game(pick=any_of(4)))
    for number in range(1, 9):
        answers = explain(f"{log}", "1.game", f"{number}", "--seat", "0", "--times", "0")
        if len(answers["outlooks"]) > 1:
            return answers
    raise AssertionError("The game has no choice.")


def test_an_open_position_has_the_figures_of_the_log(from_log: dict[str, Any]) -> None:
    from_line = explain(from_log["open_position"])
    # The log's are compared with the logged choice, these with the first option.
    for name in ("lead", "half_width", "percent"):
        values = [
            [value[name] for value in answers["outlooks"]] for answers in (from_line, from_log)
        ]
        assert values[0] == values[1]
    assert from_line["position"] == from_log["position"]
    assert from_line["open_position"] == from_log["open_position"]


def test_a_seats_position_shows_the_seats_table(from_log: dict[str, Any]) -> None:
    from_line = explain(from_log["position"])
    fields = ("hand", "line", "ends", "boneyard", "hands", "scores", "pot", "events", "options")
    assert [from_line["question"][name] for name in fields] == [
        from_log["question"][name] for name in fields
    ]
    assert from_line["open_position"] == ""
    words = CliRunner().invoke(main, ["explain", from_log["position"], *DEALS]).stdout
    assert "Options of seat 0" in words
    assert "agree within their errors" in words


def test_a_wrong_position_is_a_users_error(from_log: dict[str, Any]) -> None:
    line = from_log["position"]
    for words in ((line.replace("0play", "5play"),), (line, "3"), (line, "--review")):
        done = CliRunner().invoke(main, ["explain", *words])
        assert done.exit_code == 2, done.output
        assert "osition" in done.output
