"""`boneyard check --exam`: a real bot's answers, fouls that cost, files, and two bots compared."""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from arena.document.blocks import table
from arena.document.terminal import renderables
from arena.exam import problems as sit_exam
from arena.exam.problems import ExamAnswer, compare_answers, mark_answers, parse_problems
from tests.support.events import boneyard
from tests.support.tables import FIRST_BOT
from tournaments.cli.exam import DEAR_COLUMNS, SAMPLE_PROBLEMS

ILLEGAL = FIRST_BOT.replace('"choice": 0', '"choice": 99')
OFF = ("--sandbox", "off", "--jobs", "1")


def part_of_sample(path: Path, count: int) -> Path:
    lines = SAMPLE_PROBLEMS.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:count]))
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_answers_loss_is_the_best_value_minus_its_own(tmp_path: Path) -> None:
    problems = part_of_sample(tmp_path / "set.jsonl", 5)
    out = tmp_path / "out.md"
    words = ("check", "first", "--problems", str(problems), "--out", str(out), *OFF)
    (result,) = json.loads(boneyard(*words, "--json"))
    answers, records = result["answers"], lines_of(problems)
    for answer, problem in zip(answers, records, strict=True):
        values = problem["values"]
        assert answer["loss"] == max(values) - values[answer["choice"]]
    total = result["marks"][0]
    assert (total["kind"], total["problems"], total["fouls"]) == ("", 5, 0)
    assert total["loss"] == pytest.approx(sum(answer["loss"] for answer in answers) / 5, abs=0.001)
    assert "| first |" in out.read_text()
    dearest = max(answers, key=lambda answer: answer["loss"])
    lines = out.read_text().partition("## Dearest answers of first")[2].splitlines()
    (row,) = [line.split(" | ") for line in lines if line.startswith(f"| {dearest['number']} |")]
    assert row[1] == f"{dearest['loss']:.1f}"
    assert row[5].startswith("[")


def test_two_bots_are_compared_problem_by_problem(tmp_path: Path) -> None:
    """A bot's interval holds what is hard for both bots: two overlap where bots differ clearly."""
    hard = [
        problem
        for problem in parse_problems(SAMPLE_PROBLEMS.read_bytes(), "set")
        if problem.kind == "endgame"
    ][:20]
    losses = [10.0 * (number % 2) for number in range(20)]
    first, second = (
        [
            ExamAnswer(problem.number, 0, loss + more, 0.0, None, 1.0)
            for problem, loss in zip(hard, losses, strict=True)
        ]
        for more in (0.0, 1.0)
    )
    assert compare_answers(hard, second, first) == [("", 1.0, 0.0), ("endgame", 1.0, 0.0)]
    assert mark_answers(hard, first)[0].half_width > 1.0
    problems, out = part_of_sample(tmp_path / "set.jsonl", 5), tmp_path / "out.md"
    boneyard("check", "greedy", "random", "--problems", str(problems), "--out", str(out), *OFF)
    assert "## Loss beyond that of greedy" in out.read_text()


def test_a_bot_at_two_clocks_has_two_names_and_a_missing_folder_is_refused(tmp_path: Path) -> None:
    problems = part_of_sample(tmp_path / "set.jsonl", 1)
    words = ("check", "first@200ms", "first@1s", "--problems", str(problems), *OFF)
    names = [result["entrant"] for result in json.loads(boneyard(*words, "--json"))]
    assert names == ["first@200ms", "first@1s"]
    assert "there is no folder" in boneyard(*words, "--out", f"{tmp_path}/x/out.md", code=2)


def test_a_foul_costs_the_worst_option_and_many_fouls_forfeit_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sit_exam, "MOST_FOULS", 2)
    bot = tmp_path / "bot.py"
    bot.write_text(ILLEGAL)
    out, problems = tmp_path / "out.csv", part_of_sample(tmp_path / "set.jsonl", 3)
    boneyard(
        "check", f"{sys.executable} {bot}", "--problems", str(problems), "--out", str(out), *OFF,
        code=1,
    )  # fmt: skip
    rows = [line.split(",") for line in out.read_text().splitlines()[1:]]
    assert [row[7] for row in rows] == ["illegal", "illegal", "forfeit"]
    for row, problem in zip(rows, lines_of(problems), strict=True):
        assert float(row[5]) == max(problem["values"]) - min(problem["values"])


def test_a_narrow_terminal_keeps_number_and_loss_of_the_dearest_answers() -> None:
    play, hand = "[6|6] left and [6|2] right", "[6|4] " * 11
    answer = ("740", "55.5", play, play, "6 and 2", hand, "double-draw")
    console = Console(file=StringIO(), width=80)
    console.print(*renderables([table("Dearest answers", DEAR_COLUMNS, [answer])], 80))
    output = console.file.getvalue()  # type: ignore[attr-defined]
    assert "740  55.5" in output
    assert "[6|4] [6|4]" not in output
