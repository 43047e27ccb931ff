"""The sample bots as processes on a script: no engine, no referee, nothing of ours in between."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.messages import BotHello, Drew, FromBot, GameOver, Passed, Played, RoundOver
from protocol.ruleset import Ruleset, Tile, Turn
from tests.support.bots import (
    BYE,
    CASES,
    FOLDER,
    FREE,
    HELLO,
    LATER,
    PATIENCE,
    SAMPLE_BOTS,
    ask,
    decode_choice,
    game,
    talk,
)

FORCED = Ruleset(name="forced", turn=Turn(draw_when_able=False))


SCRIPT = [HELLO, game(), LATER, *(case.question for case in CASES)]
SCRIPT += [
    msgspec.json.encode(
        RoundOver(
            game=1,
            round=1,
            why="out",
            hands=((), ((6, 6),)),
            pips=(0, 12),
            points=(12, 0),
            scores=(12, 0),
            events=[],
        )
    ),
    msgspec.json.encode(GameOver(game=1, why="target", scores=(12, 0), places=(1, 2))),
]


def build_bot(name: str, build: Path) -> list[str]:
    """Build a bot if need be, and return its command."""
    bot = SAMPLE_BOTS[name]
    needs = bot.get("needs")
    if needs and not shutil.which(needs):
        pytest.skip(f"{name} needs {needs}, which is not on the PATH")
    places = {"python": sys.executable, "build": build}
    if "build" in bot:
        subprocess.run([part.format(**places) for part in bot["build"]], cwd=FOLDER, check=True)
    return [part.format(**places) for part in bot["run"]]


# A module is no program: test_sealed.py plays with those.
PROGRAMS = [name for name, bot in SAMPLE_BOTS.items() if not bot["run"][0].endswith(".wasm")]


@pytest.fixture(scope="module", params=PROGRAMS)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return build_bot(request.param, tmp_path_factory.mktemp("build"))


def python_bot(name: str) -> list[str]:
    return [part.format(python=sys.executable) for part in SAMPLE_BOTS[name]["run"]]


@pytest.fixture(scope="module")
def answered(command: list[str]) -> list[bytes]:
    return talk(command, [*SCRIPT, BYE])


def test_every_bot_answers_what_is_asked_and_leaves(answered: list[bytes]) -> None:
    hello, *answers = answered

    message = msgspec.json.decode(hello, type=FromBot)
    assert isinstance(message, BotHello)
    assert message.version == "1"
    choices = [decode_choice(answer) for answer in answers]
    assert [choice.id for choice in choices] == [json.loads(c.question)["id"] for c in CASES]
    for choice, case in zip(choices, CASES, strict=True):
        assert 0 <= choice.choice < case.options, case.name


def test_another_process_answers_at_once_and_the_same_and_leaves_without_a_bye(
    command: list[str], answered: list[bytes]
) -> None:
    """The questions come in reverse order, so that no answer hangs on earlier ones."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=FOLDER, stdin=pipe, stdout=pipe) as bot:
        assert bot.stdin
        assert bot.stdout
        backward = []
        for line in (HELLO, *(case.question for case in reversed(CASES))):
            bot.stdin.write(line + b"\n")
            bot.stdin.flush()
            backward.append(bot.stdout.readline().strip())
            if line == HELLO:
                bot.stdin.write(game() + b"\n")
        bot.stdin.close()
        assert bot.wait(PATIENCE) == 0
    assert answered[1:] == backward[:0:-1]


# Seat 1 passed, or drew, on two 3s; by now the ends are 1 and 5. The 5-4 leaves a 4, of which the
# hand has more; the 5-3 leaves a 3. As many unseen tiles fit after the one as after the other.
LINE: list[Tile] = [(1, 4), (4, 3), (3, 3), (3, 0), (0, 5)]
HAND: list[Tile] = [(5, 4), (5, 3), (4, 4), (4, 2)]


def line_events(*evidence: Any) -> list[Any]:
    return [
        Played(0, (3, 3), "lead"),
        *evidence,
        Played(0, (3, 0), "right"),
        Played(1, (0, 5), "right"),
        Played(0, (4, 3), "left"),
        Played(1, (1, 4), "left"),
    ]


@pytest.mark.parametrize(
    ("rules", "evidence", "tile"),
    [
        pytest.param(FREE, [], (5, 4), id="nothing known: keep the own number open"),
        pytest.param(FREE, [Passed(1)], (5, 3), id="a pass tells"),
        pytest.param(FORCED, [Passed(1)], (5, 3), id="a pass tells under other rules"),
        pytest.param(None, [Passed(1)], (5, 3), id="a pass tells without rules"),
        pytest.param(None, [Drew(1)], (5, 4), id="a draw tells nothing without rules"),
    ],
)
def test_counting_leaves_a_number_that_the_next_seat_lacks(
    rules: Ruleset | None, evidence: list[Any], tile: Tile
) -> None:
    draw_count = sum(isinstance(event, Drew) for event in evidence)
    question = ask(1, HAND, LINE, events=line_events(*evidence), hands=(4, 5 + draw_count))
    lines = [game(rules), question] if rules else [question]
    (answer,) = talk(python_bot("counting"), lines)
    option = json.loads(question)["options"][decode_choice(answer).choice]
    assert tuple(option["tile"]) == tile


def holdings(rules: Ruleset | None, *events: Any, hand: int) -> dict[int, float]:
    """Ask counting what it thinks seat 1 may hold."""
    counting: Any = importlib.import_module("sample_bots.counting")
    question = json.loads(ask(1, HAND, LINE, events=events, hands=(4, hand)))
    fields = msgspec.to_builtins(rules) if rules else {}
    result: dict[int, float] = counting.what_it_may_hold(1, question, fields, range(7))
    return result


def test_a_pass_empties_both_numbers_until_the_next_draw() -> None:
    lead = Played(0, (6, 2), "lead")
    assert holdings(FREE, lead, Passed(1), hand=7) == {0: 7, 1: 7, 2: 0, 3: 7, 4: 7, 5: 7, 6: 0}
    assert holdings(FREE, lead, Passed(1), Drew(1), hand=8)[2] == 1


def test_a_forced_draw_shows_that_the_tile_played_after_it_was_the_drawn_one() -> None:
    lead = Played(0, (6, 2), "lead")
    assert holdings(FORCED, lead, Drew(1), Drew(1), hand=9)[6] == 1
    assert holdings(FORCED, lead, Drew(1), Played(1, (6, 3), "left"), hand=7)[6] == 0
