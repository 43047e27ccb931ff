"""The command `check`: exit codes, what it prints for people and programs, which bots it takes."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from rich.console import Console

from arena.conformance.connection import StepResult, Violation
from arena.conformance.runner import CHECK_STEPS, Printer, Report, check_verdict
from tests.support.bots import proved
from tests.support.tables import BOTS
from tournaments.cli.main import main

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
    head, marks, *_, verdict = done.output.splitlines()
    assert head == "first: 4 steps in at most 300 s, sandbox off."
    assert marks == "...."
    assert re.fullmatch(r"first passed: 4 passed in \d+\.\d s\.", verdict)
    verbose_output = check("first", *FEW, "--verbose").output
    assert "  4 pass answers the first question" in verbose_output


def test_a_broken_bot_gets_its_fault_and_exit_code_1() -> None:
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
    assert "Step 4 FAILED: answers the first question" in lines
    assert "...F" in lines
    assert re.fullmatch(
        rf"{re.escape(Path(sys.executable).name)} FAILED: 3 passed, 1 failed in \d+\.\d s\. "
        r"First failing step: 4 \(first\); it may cause the others\.",
        lines[-1],
    )


def test_a_bot_that_does_not_exist_is_the_users_error() -> None:
    done = check("gredy", *FEW)
    assert done.exit_code == 2
    assert "greedy" in done.stderr
    assert check().exit_code == 2


def test_the_option_bot_checks_one_bot_of_an_event_file(event: str) -> None:
    assert check(event, "--bot", "first", *FEW).exit_code == 0
    assert check(event, "--bot", "mine", *FEW).exit_code == 1
    unknown = check(event, "--bot", "mien", *FEW)
    assert unknown.exit_code == 2
    assert "mine" in unknown.stderr
    assert check("first", "--bot", "first", *FEW).exit_code == 2


def test_the_list_names_every_step() -> None:
    done = check("--list")
    assert done.exit_code == 0
    assert [line.split()[1] for line in done.output.splitlines()] == [
        step.name for step in CHECK_STEPS
    ]


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_a_strangers_bot_is_started_in_the_sandbox_only(tmp_path: Path, mode: str) -> None:
    """It leaves a note beside itself where it can see the organiser's files; else it crashes."""
    if not proved().confinement.is_locked:
        pytest.skip("no sandbox here hides the organiser's files")
    tmp_path.chmod(0o777)
    (tmp_path / "other").touch()
    probe = f"test -e {tmp_path}/other && touch {tmp_path}/note"
    (tmp_path / "bot.sh").write_text(f"{probe} && exec cat\nexit 1\n")
    words = ("--only", "hello,starts", "--sandbox", mode, "--start-ms", "500")
    done = check(str(tmp_path / "bot.sh"), *words)
    assert done.exit_code == 1
    assert ("with `--sandbox off` too" in done.output) == (mode == "auto")
    assert (tmp_path / "note").exists() == (mode == "off")


GREETS = """
import json, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        print('{"type":"hello","name":"one","version":"1"}', flush=True)
"""


def outcome(number: int, **more: Any) -> StepResult:
    return StepResult(
        number, "x", "does it", "Time", more.pop("state"), more.pop("note", ""), 1, **more
    )


def report(*outcomes: StepResult, **more: Any) -> Report:
    verdict = check_verdict(outcomes)
    return Report(
        name="mine",
        verdict=verdict,
        sandbox="locked",
        start_limit_ms=5000,
        outcomes=outcomes,
        **more,
    )


def test_equal_failures_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    finding = Violation("Question 3 is late.", ("q",), "nothing", "an answer", "Hurry.")
    similar = replace(finding, fault="Question 17 is late.")
    printer = Printer(Console(width=80), verbose=False)
    outcomes = (
        outcome(1, state="fail", finding=finding),
        outcome(2, state="pass"),
        outcome(3, state="fail", finding=similar),
        outcome(4, state="fail", finding=similar),
        outcome(5, state="skip", note="No time."),
        outcome(6, state="skip", note="No time."),
        outcome(7, state="skip", note="No tables."),
    )
    for result in outcomes:
        printer.print_result(result)
    printer.finish(report(*outcomes, seconds=1.0))
    output = capsys.readouterr().out
    assert output.count("Hurry.") == 1
    assert output.splitlines()[-5:] == [
        "F.FFss",
        "3 steps failed alike (1,3-4): Question 3 is late.",
        "2 steps skipped (5-6): No time.",
        "1 step skipped (7): No tables.",
        "mine FAILED: 1 passed, 3 failed, 3 skipped in 1.0 s. First failing step: 1 (x); it may "
        "cause the others.",
    ]


# --- several bots ---


def test_all_bots_in_folders_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert check("--all", *FEW).exit_code == 2
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text('run = ["{python}", "-I", "-S", "bot.py"]\n')
        (tmp_path / name / "bot.py").write_text(GREETS)
    done = check("--all", "--only", "hello", "--sandbox", "off")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == "2 of 2 bots passed."
    assert check("one", "--all", *FEW).exit_code == 2


def test_a_bot_that_cannot_be_built_stops_no_other(tmp_path: Path) -> None:
    path = tmp_path / "friday.toml"
    path.write_text('[[bots]]\nname = "mine"\nrun = ["./mine"]\n[[bots]]\nname = "first"\n')
    done = check(str(path), "--only", "hello", "--sandbox", "off", "--json")
    assert done.exit_code == 1
    mine, first = json.loads(done.stdout)
    assert (mine["verdict"], first["verdict"]) == ("not started", "passed")
    assert "./mine" in mine["error"]
