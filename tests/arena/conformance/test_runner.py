"""The run of the check: its steps, its time, and honest bots, which pass all steps."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.conformance.connection import (
    Budget,
    Connection,
    StepResult,
    Violation,
    ViolationError,
)
from arena.conformance.runner import CHECK_STEPS, check_verdict, run_steps, select_steps
from arena.conformance.session import AcceptedAnswer, CheckStep, Session
from arena.match.clock import LagError
from arena.rules.variants import VARIANTS
from arena.sandbox.command import OFF, Limits
from arena.sandbox.process import Sandbox
from protocol import messages
from protocol.errors import UserError
from tests.support.bots import PATIENT_CHECK, proved
from tests.support.fast_run import FAST_GAMES
from tests.support.tables import QUICK, answering, children, descriptors, failed, sample
from tournaments.plan.bots import parse_bots, prepare_entrant, sample_bots

FEW = {"montecarlo": ("--worlds", "2"), "ismcts": ("--simulations", "10")}
"""Bots that think about as many as they are told, so that the walk is short."""
SPEC = Path(messages.__file__).with_name("SPEC.md").read_text()


def new_session(pace: Budget = QUICK) -> Session:
    return Session(sample(), Sandbox(OFF, Limits()), PATIENT_CHECK, pace)


# Slow: one bot of each kind: many games at once, another language, a service.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["batched", "ismcts", "chat"])
def test_a_sample_bot_passes(name: str, open_folder: Path) -> None:
    """The bot starts where `run` would start it: built, in the best sandbox of this machine."""
    if not sample_bots()[name].available:
        pytest.skip(f"{name} needs {sample_bots()[name].needs}")
    sandbox = Sandbox(proved().confinement, Limits())
    (bot,) = parse_bots([name])
    command = prepare_entrant(bot, open_folder, open_folder).command
    command = replace(command, argv=(*command.argv, *FEW.get(name, ())))
    assert (
        failed(run_steps(Session(command, sandbox, PATIENT_CHECK, QUICK), select_steps(()))) == []
    )


@pytest.mark.slow
def test_a_sample_bot_passes_whole_games() -> None:
    session = new_session(replace(QUICK, is_full=True))
    games = (f"game-{name}" for name in FAST_GAMES)
    steps = select_steps(("hello", "starts", "rounds", "positions", "memory", *games))
    assert {result.state for result in run_steps(session, steps)} == {"pass"}
    assert len(session.answers) > 2_000


# Slow: a check that runs out of time blames no bot.
@pytest.mark.slow
def test_a_step_without_time_leaves_off_and_fails_nobody() -> None:
    """A bot that is asked no further question must not look broken."""
    before = descriptors()
    hasty = Budget(total_s=3_000, step_s=0, pause_ms=1, quiet_ms=1, is_full=False)
    session = new_session(hasty)
    assert [step.finding for step in run_steps(session, select_steps(())) if step.finding] == []
    assert not children()
    assert descriptors() == before


def test_a_pause_and_the_next_process_begin_once_the_bot_has_run_twice() -> None:
    session = new_session()
    entries = []

    def note(result: StepResult) -> None:
        entries.append((result.name, result.state, session.pause is not None, len(children())))

    run_steps(session, select_steps(("first", "two", "newer", "pause")), note)
    assert entries[0] == ("first", "pass", False, 0)
    # That in the pause, and a spare one.
    assert entries[1:3] == [("two", "pass", True, 2), ("newer", "pass", True, 2)]
    assert entries[3] == ("pause", "pass", False, 1)
    assert not children()


def test_there_are_enough_steps_and_each_names_its_promise() -> None:
    assert len(CHECK_STEPS) >= 40
    assert len({step.name for step in CHECK_STEPS}) == len(CHECK_STEPS)
    headings = {line.lstrip("# ").replace("`", "") for line in SPEC.splitlines() if line[:1] == "#"}
    assert {step.promise for step in CHECK_STEPS} <= headings
    assert {step.name for step in CHECK_STEPS if step.name.startswith("game-")} == {
        f"game-{name}" for name in VARIANTS
    }


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (("3",), (3,)),
        (("2-4", "3"), (2, 3, 4)),
        (("hello", "2"), (1, 2)),
        (("only-hello",), (2,)),
        ((f"{len(CHECK_STEPS) - 1}-",), (len(CHECK_STEPS) - 1, len(CHECK_STEPS))),
        (("1,4-5", "only-hello, 7"), (1, 2, 4, 5, 7)),
    ],
)
def test_steps_are_chosen_by_number_range_or_name(
    words: tuple[str, ...], numbers: tuple[int, ...]
) -> None:
    assert tuple(number for number, _ in select_steps(words)) == numbers


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("0", "from 1 to"),
        ("999", "from 1 to"),
        ("4-3", "from 1 to"),
        ("hallo", "hello"),
        ("-", "step"),
        ("1,hallo", "hello"),
    ],
)
def test_an_unknown_step_is_the_users_error(word: str, text: str) -> None:
    with pytest.raises(UserError, match=text):
        select_steps((word,))


def test_no_step_runs_after_a_gate_that_failed() -> None:
    async def failing_step(session: Session) -> str:
        raise AssertionError(f"{session} was asked again")

    (number, hello), *_ = select_steps(("hello",))
    silent = Session(sample("none"), Sandbox(OFF, Limits()), PATIENT_CHECK, QUICK)
    later = (2, CheckStep("later", "is not tried", "Time", failing_step))
    first, second = run_steps(silent, [(number, hello), later])
    assert first.finding
    assert (second.state, second.note) == ("skip", "Step 1 must pass first.")


@pytest.mark.parametrize(("is_slow", "steps"), [(False, [1, 4, 5]), (True, [1])])
def test_a_late_bot_is_asked_no_more(is_slow: bool, steps: list[int]) -> None:
    """A slow bot is asked no more after a late step; a bot late in some positions may go on."""

    async def late_step(session: Session) -> str:
        ms = session.clock.move_ms * (1 if is_slow else 0.01)
        session.answers.append(AcceptedAnswer(ms=ms, options=2, choice=1))
        raise ViolationError(Violation("It is late.", (), "nothing", "an answer", "", late=True))

    async def broken_step(_: Session) -> str:
        raise ViolationError(Violation("It is broken.", (), "nothing", "an answer", ""))

    ways = (late_step, broken_step, broken_step, late_step, late_step, late_step)
    checks = [(number, CheckStep("x", "x", "Time", way)) for number, way in enumerate(ways, 1)]
    results = run_steps(new_session(), checks)
    assert [result.number for result in results if result.finding and result.finding.late] == steps
    assert results[-1].state == "skip"
    assert results[-1].note.startswith(f"It was late in step {steps[0]}")


def test_a_bot_that_computes_past_its_time_is_late(tmp_path: Path) -> None:
    bot = tmp_path / "endless.py"
    bot.write_text(answering("while True: pass"))
    (word,) = parse_bots([f"{bot}"])
    command = prepare_entrant(word, tmp_path, tmp_path).command
    clock = replace(PATIENT_CHECK, move_ms=100)
    session = Session(command, Sandbox(OFF, Limits()), clock, QUICK)
    (*_, first) = run_steps(session, select_steps(("first",)))
    assert first.finding
    assert first.finding.late


def test_the_clock_of_a_step_is_its_share_of_what_is_left() -> None:
    shares: list[float] = []

    async def noting_step(session: Session) -> str:
        shares.append(session._step_ends - time.monotonic())
        return ""

    steps = [(number, CheckStep("x", "x", "Time", noting_step)) for number in range(1, 5)]
    list(run_steps(new_session(Budget(total_s=100_000, step_s=30_000)), steps))
    # However long the machine pauses between them.
    assert [round(share, -3) for share in shares] == [25_000, 30_000, 30_000, 30_000]


def test_a_lag_of_ours_fails_no_step_and_passes_none() -> None:
    async def lagging_step(session: Session) -> str:
        raise LagError(20_000 * session.clock.move_ms, 10_000)

    steps = [(1, CheckStep("x", "x", "Time", lagging_step)), *select_steps(("first",))]
    results = run_steps(new_session(), steps)
    assert [result.state for result in results] == ["missed", "pass"]
    assert check_verdict(results) == "not finished"


def test_a_bot_that_leaves_late_neither_fails_nor_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may have been busy: a bot that only waits for a processor keeps its promise."""

    async def late_exit_s(*_: object) -> float:
        return 1_800.0

    monkeypatch.setattr(Connection, "exits_within", late_exit_s)
    (result,) = run_steps(new_session(), select_steps(("bye",)))
    assert (result.state, result.note[:21]) == ("missed", "It left after 1800 ms")
