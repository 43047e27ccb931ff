"""`boneyard explain`: what it says follows from the log, and text from bots stays text."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from arena.analysis.review import turning_points
from arena.analysis.text import Look
from arena.analysis.timeline import RoundEnd, Timeline
from arena.rules.variants import derive, find_variant
from protocol.records import ChoiceRecord, FoulRecord
from tests.support.games import any_of, overheard, write
from tournaments.cli.main import main

SHORT = derive(find_variant("draw"), "short", {"target": 75})
LOOK = Look(("ada", "bob"))
EVIL = "<script>\x1b[31m\u202e[bold]\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "log.jsonl", overheard(SHORT, 2, any_of(1)).logged)


def explain(*words: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "80", "FORCE_COLOR": None})
    return runner.invoke(main, ["explain", *map(str, words)])


def end(number: int, gain: int, loss: int, lead: int, **changes: int) -> RoundEnd:
    counts = {"pips": 12, "drew": 1, "passed": 0} | changes
    hand = tuple((high, 0) for high in range(counts.pop("tiles", 3)))
    out = 0 if gain else 1
    return RoundEnd(number, "out", out, hand, gained=gain, lost=loss, ahead=lead, **counts)


# --- what turned a game ---


def test_the_dearest_round_and_the_best_are_named_with_what_was_left_in_the_hand() -> None:
    ends = [end(1, 10, 0, 10), end(2, 0, 30, -20, tiles=5, drew=4, passed=1), end(3, 0, 5, -25)]
    assert list(turning_points(ends, [], LOOK)) == [
        "Round 2 cost the most: 30 points, bob going out. "
        "It was left with 5 tiles (12 pips), after 4 draws and 1 pass.",
        "Round 1 gained the most: 10 points, ada going out.",
        "It was behind from round 2 to the end.",
        "In the 2 rounds that it lost, it drew 5 tiles and passed once; "
        "in the round that it won, it drew 1 tile and never passed.",
    ]


@pytest.mark.parametrize(
    ("leads", "sentence"),
    [
        ((5, 9), "It was ahead after every round."),
        ((-5, -9), "It was behind after every round."),
        ((-5, 9), "It was ahead from round 2 to the end."),
        ((0, 9), "It was ahead from round 2 to the end."),
        ((5, 0), "It was tied at the end."),
    ],
)
def test_turning_points_say_since_when_it_led(leads: tuple[int, int], sentence: str) -> None:
    ends = [end(number, 1, 0, lead) for number, lead in enumerate(leads, 1)]
    assert sentence in list(turning_points(ends, [], LOOK))


# --- the command ---


def test_every_decision_is_shown_with_the_command_that_repeats_it(log: Path) -> None:
    result = explain(log, "--seat", "bob", "--all")
    assert result.exit_code == 0, result.output
    logged, _ = overheard(SHORT, 2, any_of(1))
    questions = Timeline(logged).questions(1)
    for question in questions:
        head = f"Question {question.number} of {len(questions)}. Round {question.round}."
        assert head in result.output
    assert result.output.count("options ") == len(questions)
    assert re.search(rf"boneyard explain {log} 1\.ada\.bob \d+ --seat 1\n", result.output)
    assert "bob in seat 1: place " in result.output
    rounds = re.findall(r"^Round \d+\. The round is over", result.output, re.MULTILINE)
    assert len(rounds) == logged.result.rounds if logged.result else False


def test_hidden_tiles_are_not_in_a_decision(log: Path) -> None:
    logged, _ = overheard(SHORT, 2, any_of(1))
    output = explain(log, "--seat", "1", "--round", "1").output
    first = Timeline(logged).questions(1)[0].game.playing
    for tile in first.hands[0]:
        first_decision = output[: output.index("Question 2 of")]
        lots = re.findall(r"draws (\[\d\|\d\]) for the lead", first_decision)
        assert f"[{tile[0]}|{tile[1]}]" not in first_decision or lots


@pytest.mark.parametrize("seat", ["2", "carl"])
def test_a_seat_that_does_not_exist_is_the_users_error(log: Path, seat: str) -> None:
    result = explain(log, "--seat", seat)
    assert result.exit_code == 2
    assert seat in result.output


def test_notes_and_evidence_of_bots_are_escaped(tmp_path: Path) -> None:
    logged, _ = overheard(SHORT, 2, any_of(2, foul=0.1))
    assert logged.result
    records = tuple(
        replace(record, note=EVIL)
        if isinstance(record, ChoiceRecord)
        else replace(record, stderr=EVIL, line=EVIL, detail=EVIL)
        if isinstance(record, FoulRecord)
        else record
        for record in logged.records
    )
    log = write(tmp_path / "log.jsonl", replace(logged, records=records))
    output = explain(log, "--all", "--seat", logged.result.fouls[0].seat).output
    assert "\x1b" not in output
    assert "\u202e" not in output
    assert r"<script>\x1b[31m\u202e[bold]\n" in output


def test_the_json_has_every_question_answer_and_round(log: Path) -> None:
    review = json.loads(explain(log, "--seat", "0", "--json").output)
    logged, _ = overheard(SHORT, 2, any_of(1))
    questions = (timeline := Timeline(logged)).questions(0)
    assert [decision["question"] for decision in review["decisions"]] == [
        json.loads(timeline.line(question)) for question in questions
    ]
    choice = getattr(questions[0].answer, "choice", None)
    assert review["decisions"][0]["answer"]["choice"] == choice
    assert sum(row["gained"] for row in review["rounds"]) == review["result"]["scores"][0]


def test_a_game_that_was_cut_off_is_explained_as_far_as_it_went(tmp_path: Path) -> None:
    logged, _ = overheard(SHORT, 2, any_of(1))
    unfinished_game = replace(logged, records=logged.records[:12], result=None)
    result = explain(write(tmp_path / "log.jsonl", unfinished_game), "--seat", "0")
    assert result.exit_code == 0, result.output
    assert "the game is unfinished and has no result." in result.output
