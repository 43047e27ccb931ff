"""The command `check`: exit codes, what it prints for people and programs, which bots it takes."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from arena.conformance.model import StepResult, Violation
from arena.conformance.report import Printer
from arena.conformance.runner import STEPS
from arena.sandbox.limits import REQUIRED, Level, SandboxMode
from protocol.errors import UserError
from tests.support.fast_run import slow_except
from tests.support.hostile_behaviours import proved
from tests.support.tables import BOTS
from tournaments.cli.main import main
from tournaments.commands.check import outside_of
from tournaments.plan.event_file import WrittenEvent

FEW = ("--only", "1-4", "--sandbox", "off")
DICT = f"{sys.executable} -I -S {BOTS / 'broken'} PrintsADict"
EVENT = """
[clock]
start_ms = 60000
move_ms = 60000

[[bots]]
name = "first"

[[bots]]
name = "mine"
run = ["{python}", "-I", "-S", "BROKEN", "PrintsADict"]
""".replace("BROKEN", str(BOTS / "broken"))


def check(*words: str) -> Result:
    return CliRunner().invoke(main, ["check", *words])


@pytest.fixture
def event(tmp_path: Path) -> str:
    """Return an event file with a good bot and a broken one."""
    path = tmp_path / "friday.toml"
    path.write_text(EVENT)
    return str(path)


def test_a_good_bot_passes_with_exit_code_0() -> None:
    done = check("first", *FEW)
    assert done.exit_code == 0, done.output
    assert "  4 pass answers the first question" in done.output
    assert "4 passed, 0 failed, 0 skipped in " in done.output


def test_a_broken_bot_is_told_what_to_mend_with_exit_code_1() -> None:
    done = check(DICT, *FEW)
    assert done.exit_code == 1
    lines = [line.strip() for line in done.output.splitlines()]
    assert "fault    It wrote single quotes, as Python prints a dict; this is not JSON." in lines
    parts = [line.split()[0] for line in lines if line]
    assert [part for part in parts if part in ("fault", "sent", "got", "expected", "fix")] == [
        "fault",
        "sent",
        "got",
        "expected",
        "fix",
    ]
    assert lines[-1] == "Begin with step 4; it may cause the others."


def test_a_bot_that_does_not_exist_is_the_users_error() -> None:
    done = check("gredy", *FEW)
    assert done.exit_code == 2
    assert "greedy" in done.stderr
    assert check().exit_code == 2


def test_json_has_every_step_and_nothing_else_on_stdout(event: str) -> None:
    done = check(event, "--json", *FEW)
    assert done.exit_code == 1
    first, mine = json.loads(done.stdout)
    assert [one["state"] for one in first["outcomes"]] == ["pass"] * 4
    assert [one["state"] for one in mine["outcomes"]] == ["pass"] * 3 + ["fail"]
    assert "single quotes" in mine["outcomes"][3]["finding"]["fault"]
    assert (first["name"], first["level"], first["questions"]) == ("first", "off", 1)


def test_one_bot_of_an_event_file(event: str) -> None:
    assert check(event, "--bot", "first", *FEW).exit_code == 0
    assert check(event, "--bot", "mine", *FEW).exit_code == 1
    unknown = check(event, "--bot", "mien", *FEW)
    assert unknown.exit_code == 2
    assert "mine" in unknown.stderr
    assert check("first", "--bot", "first", *FEW).exit_code == 2


def test_a_program_that_is_not_there_is_the_users_error(tmp_path: Path) -> None:
    path = tmp_path / "friday.toml"
    path.write_text('[[bots]]\nname = "mine"\nrun = ["./mine"]\n')
    assert check(str(path), *FEW).exit_code == 2


def test_too_little_time_is_no_pass() -> None:
    done = check("first", "--only", "hello", "--sandbox", "off", "--start-ms", "1")
    assert done.exit_code == 1


def test_the_list_names_every_step() -> None:
    done = check("--list")
    assert done.exit_code == 0
    assert [line.split()[1] for line in done.output.splitlines()] == [step.name for step in STEPS]


@pytest.mark.parametrize(
    ("wish", "level", "compare", "tried"),
    [
        ("require", "A", False, False),
        ("auto", "A", False, False),
        ("auto", "D", True, True),
        ("auto", "off", True, False),
    ],
)
def test_nothing_is_tried_outside_unless_a_user_asks(
    wish: SandboxMode, level: Level, compare: bool, tried: bool
) -> None:
    found = outside_of(WrittenEvent(bots=(), sandbox=wish), level, compare)
    assert (found is not None) == tried
    assert found is None or found.level == "off"


def test_a_bot_that_must_be_locked_in_never_runs_outside() -> None:
    with pytest.raises(UserError, match="--compare starts bots without a sandbox"):
        outside_of(WrittenEvent(bots=(), sandbox="require"), "A", compare=True)


@pytest.mark.parametrize("compare", slow_except([True], [False, True]))
def test_a_strangers_bot_is_started_in_the_sandbox_only(tmp_path: Path, compare: bool) -> None:
    """It leaves a note beside itself where it can see the organiser's files; else it crashes."""
    if proved().level not in REQUIRED:
        pytest.skip("no sandbox here hides the organiser's files")
    tmp_path.chmod(0o777)
    (tmp_path / "other").touch()
    seen = f"test -e {tmp_path}/other && touch {tmp_path}/note"
    (tmp_path / "bot.sh").write_text(f"{seen} && exec cat\nexit 1\n")
    words = ("--only", "hello,starts", "--sandbox", "auto", "--start-ms", "500")
    done = check(str(tmp_path / "bot.sh"), *words, *(["--compare"] if compare else []))
    assert done.exit_code == 1
    assert ("--compare starts it without" in done.output) == (not compare)
    assert (tmp_path / "note").exists() == compare


ONE_GAME = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "hello":
        print('{"type":"hello","name":"one","version":"1"}', flush=True)
    elif said["type"] == "game":
        assert said["rules"]["name"] == "partnership", said["rules"]["name"]
        assert said["seats"] == 4
    elif said["type"] == "ask":
        answer = {"type": "choose", "id": said["id"], "choice": CHOICE}
        print(json.dumps(answer), flush=True)
"""


# Slow: a bot for one game passes where only that game is played.
@pytest.mark.slow
def test_a_bot_for_one_game_passes_the_check_of_its_event_and_is_warned(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(ONE_GAME.replace("CHOICE", "0"))
    path = tmp_path / "friday.toml"
    path.write_text(
        'rules = "partnership"\n[[bots]]\nname = "one"\n'
        'run = ["{python}", "-I", "-S", "one.py"]\n[clock]\nstart_ms = 60000\nmove_ms = 60000\n'
    )
    done = check(str(path), "--quick", "--sandbox", "off", "--seconds", "3000")
    assert done.exit_code == 0, done.output
    assert "plays the event's game in every seat" in done.output
    assert "plays dutch" not in done.output
    assert "Warning: it took option 0 in all " in done.output
    (tmp_path / "one.py").write_text(ONE_GAME.replace("CHOICE", "len(said['options']) - 1"))
    done = check(str(path), "--only", "first,event", "--quick", "--sandbox", "off")
    assert done.exit_code == 0, done.output
    assert "Warning" not in done.output


def outcome(number: int, **more: Any) -> StepResult:
    return StepResult(
        number, "x", "does it", "Time", more.pop("state"), more.pop("note", ""), 1, **more
    )


def test_repeated_faults_are_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    finding = Violation("It is late.", ("q",), "nothing", "an answer", "Hurry.")
    printer = Printer(Console(width=80))
    for one in (
        outcome(1, state="fail", finding=finding),
        outcome(2, state="fail", finding=finding),
        outcome(3, state="skip", note="No time."),
        outcome(4, state="skip", note="No time."),
        outcome(5, state="skip", note="No tables."),
    ):
        printer.print_result(one)
    printer.flush()
    shown = capsys.readouterr().out
    assert shown.count("Hurry.") == 1
    assert "The same fault as in step 1: It is late." in shown
    assert "  3-4 skip No time.\n  5 skip does it" in shown
