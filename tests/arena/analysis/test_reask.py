"""A logged question put to real bots: the same bytes, the same clock, the same judgement."""

import hashlib
import sys
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.analysis import reask
from arena.analysis.reask import repeat_question
from arena.analysis.timeline import AnswerRecord, Timeline
from arena.machine import has_kernel_events
from arena.match import referee
from arena.match.referee import OpenQuestion
from arena.rules.variants import derive, find_variant
from arena.sandbox.command import OFF, Command, Limits
from arena.sandbox.process import Sandbox
from protocol.errors import UserError
from protocol.messages import Clock
from protocol.records import ChoiceRecord, FoulRecord
from tests.support.games import any_of, overheard
from tests.support.tables import LaggingPoller

CLOCK = Clock(start_ms=20_000, move_ms=10_000, bank_ms=0)
UNLOCKED = Sandbox(OFF, Limits())

LISTENER = """
import hashlib, json, sys
heard = b""
for line in sys.stdin.buffer:
    heard += line
    kind = json.loads(line)["type"]
    if kind == "hello":
        print('{"type":"hello","name":"listener","version":"1"}', flush=True)
    elif kind == "ask":
        note = hashlib.sha256(heard).hexdigest()
        print("a word", file=sys.stderr, flush=True)
        said = {"type": "choose", "id": json.loads(line)["id"], "choice": 0, "note": note}
        print(json.dumps(said), flush=True)
"""


Occasion = tuple[OpenQuestion, tuple[bytes, ...]]


def question(clock: Clock = CLOCK) -> Occasion:
    """Return a question of the last round, and all lines to its seat without earlier questions."""
    rules = derive(find_variant("draw"), "short", {"target": 150})
    logged, _ = overheard(rules, 2, any_of(1), clock)
    timeline = Timeline(logged)
    *_, last = timeline.questions(1)
    assert last.round > 1
    return last.question, (*timeline.context(last), timeline.line(last))


async def ask_once(command: Command, occasion: Occasion, clock: Clock = CLOCK) -> AnswerRecord:
    (record,) = await repeat_question(command, *occasion, clock, UNLOCKED, 1)
    return record


async def test_a_bot_hears_hello_the_game_its_rounds_and_the_question_and_nothing_else() -> None:
    occasion = question()
    command = Command((sys.executable, "-I", "-S", "-c", LISTENER), "/")
    record = await ask_once(command, occasion)
    stdin = b"".join((referee.hello(), *occasion[1]))
    assert isinstance(record, ChoiceRecord)
    assert (record.choice, record.note) == (0, hashlib.sha256(stdin).hexdigest())
    # A thread may read stderr a moment after the answer.
    assert "a word" in record.stderr or not has_kernel_events()
    assert 0 < record.ms < 10_000


GREETS = """
import json, sys, time
sys.stdin.readline()
print('{"type":"hello","name":"rude","version":"1"}', flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "ask":
"""
OLD = "print(json.dumps({'type': 'choose', 'id': asked['id'] - 1, 'choice': 0}), flush=True)"


def rude_bot(act: str, program: str = GREETS) -> Command:
    """Return a bot that runs `act` when it is asked."""
    lines = f"{program}        {act}\n" if program else act
    return Command((sys.executable, "-I", "-S", "-c", lines), "/")


@pytest.mark.parametrize(
    ("command", "foul", "line"),
    [
        (rude_bot("print('\x1b[31mno', flush=True)"), "malformed", "\\x1b[31mno"),
        (rude_bot(OLD.replace("- 1", "+ 1")), "illegal", "choose"),
        (rude_bot(OLD.replace("- 1", "").replace("'choice': 0", "'choice': 99")), "illegal", "99"),
        (rude_bot("sys.exit(3)"), "gone", ""),
        (rude_bot(f"for _ in range(100): {OLD}"), "flooding", ""),
        (rude_bot("print('no', flush=True)", ""), "no_hello", ""),
        (rude_bot("print('x' * 70000, flush=True)"), "overlong", ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_foul_is_told_with_its_evidence_and_ends_the_asking(
    command: Command, foul: str, line: str
) -> None:
    (record,) = await repeat_question(command, *question(), CLOCK, UNLOCKED, 5)
    assert isinstance(record, FoulRecord)
    assert record.foul == foul
    assert record.detail
    assert line in record.line


# Slow: a bot that is asked again is timed as in a game.
@pytest.mark.slow
async def test_no_answer_in_time_is_late_and_says_what_was_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_question, lines = question()
    occasion = replace(open_question, time_ms=300), lines
    record = await ask_once(rude_bot("time.sleep(60)"), occasion)
    assert isinstance(record, FoulRecord)
    assert (record.foul, record.ms) == ("late", 300)
    monkeypatch.setattr(reask, "Poller", partial(LaggingPoller, 100.0))
    record = await ask_once(rude_bot("time.sleep(60)"), occasion)
    assert isinstance(record, FoulRecord)
    assert (record.foul, record.ms, record.given_back_ms >= 100) == ("late", 300, True)
    monkeypatch.setattr(reask, "Poller", partial(LaggingPoller, 10_001.0, after=1))
    with pytest.raises(UserError, match="cannot keep time"):
        await ask_once(rude_bot("time.sleep(60)"), occasion)


async def test_a_bot_that_cannot_be_started_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be started: .*nothing"):
        await ask_once(Command((str(tmp_path / "nothing"),), "/"), question())
