"""The check names the true fault of every broken bot, and names it first."""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.conformance.connection import Budget, StepResult
from arena.conformance.runner import run_steps, select_steps
from arena.conformance.session import Session
from arena.sandbox.command import OFF, Command, Limits
from arena.sandbox.process import Sandbox
from arena.sealed.module import PYTHON
from protocol.messages import Clock
from tests.bots.broken import bots
from tests.support.bots import (
    BROKEN,
    HARMLESS,
    PATIENT_CHECK,
    SANDBOXED,
    Diagnosed,
    command,
    proved,
)
from tests.support.fast_run import slow_except
from tests.support.tables import SAMPLES

PACE = Budget(total_s=60_000, step_s=600, pause_ms=50, quiet_ms=60, is_full=False)
TRIES = 3
"""How often a bot is tried on a machine that may be too busy for the clock; each time slower."""


def slower_budget(clock: Clock, pace: Budget, number: int) -> tuple[Clock, Budget]:
    """Return the clock and pace of a further try."""
    factor = 4**number
    start_ms = min(600_000, factor * clock.start_ms)
    slow_clock = Clock(start_ms=start_ms, move_ms=factor * clock.move_ms, bank_ms=0)
    return slow_clock, replace(pace, quiet_ms=factor * pace.quiet_ms)


class FoundError(Exception):
    """The end of a check: a step has failed."""


def first_failure(bot_name: str, row: Diagnosed, tag: str, number: int) -> StepResult | None:
    """Return the first step that fails; the walk ends there."""
    clock, pace = slower_budget(row.clock, PACE, number)
    session = Session(command(bot_name, tag, clock.start_ms), Sandbox(OFF, row.limits), clock, pace)
    failures: list[StepResult] = []

    def stop(result: StepResult) -> None:
        if result.finding:
            failures.append(result)
            raise FoundError

    with suppress(FoundError):
        run_steps(session, select_steps(()), stop)
    return failures[0] if failures else None


def is_diagnosed(outcome: StepResult | None, row: Diagnosed) -> bool:
    """Tell whether the messages agree with the table."""
    if outcome is None or outcome.finding is None:
        return False
    finding = outcome.finding
    return outcome.name == row.step and row.says in finding.fault and row.mend in finding.mend


FAST = (
    "CannotBeTwo",
    "KnowsAllFields",
    "NeverFlushes",
    "NumbersByItself",
    "PrintsABanner",
    "TracesAll",
)


# Slow: each mistake of the table is named as such, with the advice that mends it.
@pytest.mark.parametrize("bot_name", slow_except(FAST, BROKEN))
def test_a_broken_bot_gets_its_fault_first(bot_name: str, tmp_path: Path) -> None:
    row = BROKEN[bot_name]
    for number in range(TRIES):
        outcome = first_failure(bot_name, row, tmp_path.name + bot_name, number)
        if is_diagnosed(outcome, row):
            break
    assert is_diagnosed(outcome, row), outcome
    assert outcome
    assert outcome.finding
    assert outcome.finding.expected
    assert outcome.finding.sent


# Slow: nothing that the protocol allows is held against a bot.
@pytest.mark.parametrize("bot_name", slow_except(["AnswersTheLastFirst"], HARMLESS))
def test_a_bot_that_breaks_no_promise_passes(bot_name: str) -> None:
    session = Session(command(bot_name), Sandbox(OFF, Limits()), PATIENT_CHECK, PACE)
    assert [step for step in run_steps(session, select_steps(("1-36",))) if step.finding] == []


def test_a_bot_that_the_sandbox_may_have_ended_is_told_so(tmp_path: Path) -> None:
    confinement = proved().confinement
    if not confinement.is_locked:
        pytest.skip("no sandbox here that hides files")
    (tmp_path / "weights").write_text("1 2 3")
    bot = command("ReadsItsWeights", str(tmp_path))
    session = Session(bot, Sandbox(confinement, Limits()), PATIENT_CHECK, PACE)
    (outcome,) = run_steps(session, select_steps(("1",)))
    assert outcome.finding
    assert f"cannot see {tmp_path}/weights: there is no such file, or" in outcome.finding.mend
    assert "check it with `--sandbox off` too" in outcome.finding.mend


def test_a_bot_that_the_seal_may_have_ended_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import zlib\ninput()")
    sealed = Command((PYTHON.word, "main.py"), f"{tmp_path}", (f"{tmp_path}",))
    session = Session(sealed, Sandbox(OFF, Limits()), PATIENT_CHECK, PACE)
    (outcome,) = run_steps(session, select_steps(("1",)))
    assert outcome.finding
    assert "check it without the seal (`@sealed`) too" in outcome.finding.mend


def test_a_sealed_bot_is_not_asked_by_several_games(tmp_path: Path) -> None:
    """The same file may offer them where it is not sealed."""
    shutil.copy(SAMPLES / "greedy.py", tmp_path)
    sealed = Command((PYTHON.word, "greedy.py"), f"{tmp_path}", (f"{tmp_path}",))
    session = Session(sealed, Sandbox(OFF, Limits()), PATIENT_CHECK, PACE)
    (outcome,) = run_steps(session, select_steps(("tables",)))
    assert "one game at a time" in outcome.note


def test_every_broken_bot_stands_in_the_table() -> None:
    class_names = {name for name, member in vars(bots).items() if isinstance(member, type)}
    assert class_names - {"Bot", "AtTables"} == {*BROKEN, *HARMLESS, *SANDBOXED}
