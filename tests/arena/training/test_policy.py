"""A function as a bot: its answers, its batches, its mistakes, and its place in the sandbox."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocol.codec import encode_line
from protocol.messages import GameOver
from tests.support.conversations import BYE, HELLO, PATIENCE, ask, game
from tests.support.events import boneyard, ledger

END = encode_line(GameOver(game=1, why="target", scores=(0, 0), places=(1, 1)))
POLICY = "play(lambda question: len(question.ask.options) - 1)"


def bot(folder: Path, text: str) -> list[str]:
    path = folder / "thinker.py"
    path.write_text(f"from arena.training.policy import play, play_batch\n{text}\n")
    return [sys.executable, str(path)]


def talk(command: list[str], *lines: bytes, code: int = 0) -> tuple[list[dict[str, Any]], str]:
    """Return what the bot says to lines that come at once, and its stderr."""
    process = subprocess.run(command, input=b"".join(lines), capture_output=True, timeout=PATIENCE)
    assert process.returncode == code, process.stderr.decode()
    return [json.loads(line) for line in process.stdout.splitlines()], process.stderr.decode()


def test_a_policy_of_three_lines_is_a_bot(tmp_path: Path) -> None:
    lines, _ = talk(bot(tmp_path, POLICY), HELLO, game(1), ask(5), b'{"type":"rain"}\n', END, BYE)
    assert lines == [
        {
            "type": "hello",
            "name": "thinker",
            "version": "1",
            "author": "",
            "tables": 1,
            "protocol": 1,
        },
        {"type": "choose", "id": 5, "choice": 2, "note": ""},
    ]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("play(lambda question: 3)", "ValueError: Choice 3 of 3 options, counted from 0."),
        ("play(lambda question: -1)", "ValueError: Choice -1 of 3 options, counted from 0."),
        ("play(lambda question: question.hand)", "AttributeError"),
        ("play(lambda question: 0.5)", "TypeError"),
        (
            "play_batch(lambda all: [])",
            "ValueError: The policy returned 0 choices for 1 questions.",
        ),
    ],
)
def test_a_mistake_ends_the_bot_with_its_traceback(tmp_path: Path, text: str, last: str) -> None:
    lines, stderr = talk(bot(tmp_path, text), HELLO, game(1), ask(5), code=1)
    assert not lines
    assert stderr.startswith("Traceback")
    assert stderr.splitlines()[-1].startswith(last)


@pytest.mark.slow
def test_a_policy_plays_in_the_best_sandbox_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a checkout as from a wheel it finds what it imports, at any number of tables."""
    monkeypatch.chdir(tmp_path)
    bot(tmp_path, "play_batch(lambda all: [0 for _ in all], 4)")
    words = ("run", "thinker.py", "first", "--boards", "2", "--set", "target=20")
    boneyard(*words, "--out", "out")
    results = ledger(tmp_path / "out")
    assert [(result.why, result.fouls) for result in results] == [("target", ())] * 4
