"""The check of a bot: every step by its number, within a fixed time; long waits begin early."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import trio
from msgspec.structs import replace

from arena.conformance.cases import concurrent_games, games, messages, process, resources
from arena.conformance.model import SkippedError, State, StepResult, Violation, ViolationError
from arena.conformance.session import CheckStep, Session
from arena.match.clock import LagError
from arena.match.piped_process import CannotStartError
from arena.sandbox.sandbox import Sandbox
from protocol.errors import UserError, unknown_name

NAMED = 16
"""Columns of a step's name in the list."""
STEPS: tuple[CheckStep, ...] = (
    *process.STEPS,
    *messages.ANSWERS,
    *concurrent_games.STEPS,
    *messages.STEPS,
    *resources.STEPS,
    *process.LEAVING,
    *games.STEPS,
    # It waits the longest, and begins long before.
    resources.PAUSE,
)
"""All steps; a step comes before those whose failure it explains."""

NumberedStep = tuple[int, CheckStep]


class Totals(NamedTuple):
    """The totals of a check."""

    passed: int
    failed: int
    skipped: int
    """Steps that cannot judge this bot."""
    missed: int
    """Steps that were not reached, or that a lag of the machine cut off."""


OF_EVENTS: tuple[CheckStep, ...] = (*STEPS, games.EVENT)
"""The steps for a bot of an event: its own game comes last."""


def describe_steps() -> Iterator[str]:
    """Yield a line for each step: its number, its name and what it checks."""
    for number, step in enumerate(STEPS, 1):
        yield f"{number:>3} {step.name:<{NAMED}} {step.title}  (SPEC.md, {step.promise})"


def select_steps(words: Sequence[str], *, of_event: bool = False) -> tuple[NumberedStep, ...]:
    """Return the selected steps: by number, range (3-7) or name, also 1,3-7; without a word all.

    `of_event`: the bot plays an event's game and no other. Raises UserError.
    """
    steps = OF_EVENTS if of_event else STEPS
    if not words:
        others = games.STEPS_OF_NAMED_GAMES if of_event else ()
        return tuple((number, step) for number, step in enumerate(steps, 1) if step not in others)
    numbers = {
        number
        for word in words
        for one in word.split(",")
        for number in _matches(one.strip(), steps)
    }
    return tuple((number, steps[number - 1]) for number in sorted(numbers))


def _matches(word: str, steps: Sequence[CheckStep]) -> range:
    names = [step.name for step in steps]
    if word in names:
        return range(names.index(word) + 1, names.index(word) + 2)
    first, _, last = word.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise unknown_name("step", word, names)
    numbers = range(int(first), int(last or first) + 1)
    if not numbers or numbers[0] < 1 or numbers[-1] > len(steps):
        raise UserError(f"Steps go from 1 to {len(steps)}, not {word}.")
    return numbers


def run_steps(
    session: Session,
    steps: Sequence[NumberedStep],
    show: Callable[[StepResult], None] = lambda _: None,
) -> list[StepResult]:
    """Run the steps and return their results; `show` takes each as soon as it is known.

    Ends every process started, also when `show` raises. Raises CannotStartError if the machine
    keeps the bot from starting.
    """
    return trio.run(_run_steps, session, steps, show)


async def _run_steps(
    session: Session, steps: Sequence[NumberedStep], show: Callable[[StepResult], None]
) -> list[StepResult]:
    # In a nursery, errors of the steps would come in groups.
    trio.lowlevel.spawn_system_task(session.poller.run)
    ends = time.monotonic() + session.budget.total_s
    gate = 0
    compared = began_early = False
    results: list[StepResult] = []
    try:
        for place, (number, step) in enumerate(steps):
            if session.runs_twice and not began_early:
                began_early = True
                await _begin_waits(session, [later for _, later in steps[place:]])
            left = ends - time.monotonic()
            if gate:
                outcome = _skipped(number, step, f"Step {gate} must pass first.")
            elif left <= 0:
                outcome = _skipped(number, step, MISSED)
            else:
                # A bot that uses its whole clock must not use up the time of the steps to come.
                share = min(session.budget.step_s, left / (len(steps) - place))
                outcome = await _try_step(session, number, step, share)
                if outcome.finding and outcome.finding.gone and not compared:
                    compared = True
                    outcome = await _compare(session, step, outcome, share)
                gate = number if outcome.finding and step.gate else 0
            results.append(outcome)
            show(outcome)
        return results
    finally:
        await session.end()


async def _begin_waits(session: Session, steps: Sequence[CheckStep]) -> None:
    """Begin the waits of steps that can wait beside others; a step that fails now begins anew."""
    for step in steps:
        with suppress(SkippedError, ViolationError, CannotStartError, LagError):
            if step.begin:
                await step.begin(session)


MISSED = "The time for all steps was up."
"""The reason why a step was not reached."""
LAGGED = "This machine was too busy to keep time: try again."
"""The reason why a step says nothing. A bot that passed by it could make the machine busy."""


def totals(outcomes: Sequence[StepResult]) -> Totals:
    """Return the number of steps by their state."""
    missed = sum(one.note in (MISSED, LAGGED) for one in outcomes)
    passed, failed, skipped = (
        sum(one.state == state for one in outcomes) for state in ("pass", "fail", "skip")
    )
    return Totals(passed, failed, skipped - missed, missed)


async def _try_step(session: Session, number: int, step: CheckStep, seconds: float) -> StepResult:
    began = time.monotonic()
    session.begin_step(seconds)
    state: State = "pass"
    note, finding = "", None
    try:
        note = await step.run(session)
    except SkippedError as reason:
        state, note = "skip", str(reason)
    except LagError:
        state, note = "skip", LAGGED
        await session.drop()
    except ViolationError as broken:
        state, finding = "fail", broken.finding
        await session.drop()
    ms = round((time.monotonic() - began) * 1000)
    return StepResult(number, step.name, step.title, step.promise, state, note, ms, finding)


def _skipped(number: int, step: CheckStep, reason: str) -> StepResult:
    return StepResult(number, step.name, step.title, step.promise, "skip", reason, 0)


async def _compare(
    session: Session, step: CheckStep, outcome: StepResult, seconds: float
) -> StepResult:
    """Try a bot that ended by itself without the sandbox too, to see whether it lacks something."""
    if outcome.finding is None or session.sandbox.level == "off":
        return outcome
    if session.outside is None:
        return replace(outcome, finding=suggest_compare(outcome.finding))
    # Each with fresh processes: a process that has played games before would not show the sandbox.
    fails = [
        await _fails(session, sandbox, step, seconds)
        for sandbox in (session.sandbox, session.outside)
    ]
    if fails != [True, False]:
        return outcome
    return replace(outcome, finding=blame_sandbox(session, outcome.finding))


async def _fails(session: Session, sandbox: Sandbox, step: CheckStep, seconds: float) -> bool:
    """Tell whether a fresh process fails the step there."""
    fresh = Session(session.command, sandbox, session.clock, session.budget, game=session.game)
    fresh.poller = session.poller
    try:
        return (await _try_step(fresh, 0, step, seconds)).state == "fail"
    finally:
        await fresh.end()


def suggest_compare(finding: Violation) -> Violation:
    """Add to the advice the option that shows whether the sandbox is the reason."""
    return replace(
        finding,
        mend=f"{finding.mend} If you trust the bot, --compare starts it without the sandbox too, "
        "and shows whether this is the reason.",
    )


def blame_sandbox(session: Session, finding: Violation) -> Violation:
    """Say that the bot fails because of the sandbox, and how to give it what it lacks."""
    return replace(
        finding,
        fault=f"It works without the sandbox, but not at level {session.sandbox.level}: "
        f"{finding.fault}",
        mend=f"{finding.mend} In the sandbox it can read only the files that its command names; "
        "`folder` or `reads` in an event file add more (boneyard help sandbox). There is no "
        "network, and it can write only to /tmp.",
    )
