"""The adapter puts programs at a table that know nothing of the protocol."""

import importlib
import json
import sys
from typing import Any

import pytest

from tests.support.bots import BYE, CASES, HELLO, ask, decode_choice, game, talk

ADAPTER = (sys.executable, "-I", "-S", "adapter.py")
QUESTION = ask(7, [(6, 5), (3, 3)], [(2, 4), (4, 3)])


def answers(*program: str, code: str = "") -> list[int]:
    words = [*ADAPTER, *program, sys.executable, "-c", code]
    script = [HELLO, game(), *(case.question for case in CASES), BYE]
    return [decode_choice(line).choice for line in talk(words, script)[1:]]


def test_a_question_is_put_into_words() -> None:
    adapter: Any = importlib.import_module("sample_bots.adapter")
    assert list(adapter.told(json.loads(QUESTION), "draw")) == [
        "game draw seat 0 of 2",
        "hand 6-5 3-3",
        "line 2-4 4-3",
        "ends 2 3",
        "hands 7 7",
        "scores 0 0",
        "event 0 leads",
        "option 0 play 3-3 right",
        "option 1 draw",
        "choose",
    ]


def test_a_program_is_asked_again_and_again_or_anew() -> None:
    """The second program writes all sorts of lines, and reads until its input ends."""
    count = "import sys\nfor line in sys.stdin:\n  if line == 'choose\\n': print(1, flush=True)"
    talker = "import sys; sys.stdin.read(); print('Of 99 I like 0 less than\\noption 1.')"
    assert answers(code=count) == [1] * len(CASES)
    assert answers("--each", code=talker) == [1] * len(CASES)


@pytest.mark.parametrize(
    ("text", "choice"), [("1", 1), ("2", None), ("0, no: 1", 1), ("I pass", None), ("", None)]
)
def test_options_that_are_not_offered_are_not_passed_on(
    text: str, choice: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    adapter: Any = importlib.import_module("sample_bots.adapter")
    assert adapter.number(text, ["one", "other"]) == choice
    assert bool(capsys.readouterr().err) == (choice is None)


def test_a_choice_that_is_not_the_programs_is_counted() -> None:
    words = [*ADAPTER, "--each", "/bin/sh", "-c", "cat >/dev/null; echo $0"]
    for text, usage in (("0", {"model_choices": 1}), ("99", {"fallbacks": 1})):
        (answer,) = talk(["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh", *words, text], [QUESTION])
        assert json.loads(answer)["usage"] == usage
