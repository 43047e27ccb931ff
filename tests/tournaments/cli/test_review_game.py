"""`boneyard explain GAME --review`: the decisions of one game, with the values of their options."""

import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from arena.document.blocks import table
from arena.document.terminal import renderables
from arena.valuation import decision_loss
from tests.support.made_up import fake_review
from tournaments.cli.explain import DECISION_COLUMNS
from tournaments.cli.main import main

GAME = "1.first.greedy"


@pytest.fixture
def event(event: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(decision_loss, "review_seat", fake_review)
    return event


def review(*words: object) -> str:
    done = CliRunner().invoke(main, ["explain", "--review", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line[:8].strip().isdecimal()]


def test_a_decisions_line_has_the_values_of_all_options(event: Path) -> None:
    seat = json.loads(review(event, GAME, "--bot", "greedy", "--json"))["seats"][0]
    text = {
        int(row[0]): " ".join(row) for row in rows(review(event, GAME, "--bot", "greedy", "--all"))
    }
    for decision in seat["decisions"]:
        if len(decision["options"]) <= 4:
            for option in decision["options"]:
                assert f"{option['option']} {option['value']:+.1f}" in text[decision["question"]]


def test_a_narrow_terminal_shows_choices_whole() -> None:
    row = ("23", "4", "endgame", "[5|4] right", "-16.5", "[5|3] right", "-13.8", "10.3", "11.8", "")
    console = Console(file=StringIO(), width=80)
    console.print(*renderables([table("Decisions", DECISION_COLUMNS, [row])], 80))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[5|4] right" in text
    assert "game %" in text
    assert "phase" not in text
