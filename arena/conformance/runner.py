"""The check of a bot: every step by its number, within a fixed time; long waits begin early."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace

from arena.conformance.cases import concurrent_games, games, messages, process, resources
from arena.conformance.model import SkippedError, State, StepResult, ViolationError
from arena.conformance.session import CheckStep, Session
from arena.match.clock import LagError
from arena.match.piped_process import CannotStartError
from arena.signals import run_async
from protocol.errors import UserError, unknown_name

NAMED = 16
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
    first, dash, last = word.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise unknown_name("step", word, names)
    numbers = range(int(first), int(last or (len(steps) if dash else first)) + 1)
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
    return run_async(_run_steps, session, steps, show)


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
                # A step that fails now begins anew at its turn.
                for begin in filter(None, (later.begin for _, later in steps[place:])):
                    with suppress(SkippedError, ViolationError, CannotStartError, LagError):
                        await begin(session)
            left = ends - time.monotonic()
            if gate or left <= 0:
                why = f"Step {gate} must pass first." if gate else "The time for all steps was up."
                outcome = StepResult(number, *step[:3], "skip" if gate else "missed", why, 0)
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


async def _try_step(session: Session, number: int, step: CheckStep, seconds: float) -> StepResult:
    began = time.monotonic()
    session.begin_step(seconds)
    state: State = "pass"
    note, finding = "", None
    try:
        note = await step.run(session)
    except SkippedError as reason:
        state, note = reason.state, str(reason)
    except LagError:
        # It may not pass: its bot can make the machine busy.
        state, note = "missed", "This machine was too busy to keep time: try again."
        await session.drop()
    except ViolationError as broken:
        state, finding = "fail", broken.finding
        await session.drop()
    ms = round((time.monotonic() - began) * 1000)
    return StepResult(number, *step[:3], state, note, ms, finding)


async def _compare(
    session: Session, step: CheckStep, outcome: StepResult, seconds: float
) -> StepResult:
    """Try a bot that ended by itself without the sandbox too, to see whether it lacks something."""
    finding = outcome.finding
    if finding is None or not session.sandbox.is_locked:
        return outcome
    fault, mend, outside = finding.fault, finding.mend, session.outside
    if outside is None:
        mend += (
            " If you trust the bot, --compare starts it without the sandbox too, and shows whether "
            "this is the reason."
        )
        return replace(outcome, finding=replace(finding, mend=mend))
    fails = []
    for sandbox in (session.sandbox, outside):
        # A process that has played games before would not show the sandbox.
        fresh = Session(session.command, sandbox, session.clock, session.budget, game=session.game)
        fresh.poller = session.poller
        try:
            fails.append((await _try_step(fresh, 0, step, seconds)).state == "fail")
        finally:
            await fresh.end()
    if fails != [True, False]:
        return outcome
    fault = f"It works without the sandbox, but not locked in: {fault}"
    mend += (
        " In the sandbox it can read only the files that its command names; `folder` or `reads` in "
        "an event file add more (boneyard help sandbox). There is no network, and it can write "
        "only to /tmp."
    )
    return replace(outcome, finding=replace(finding, fault=fault, mend=mend))
