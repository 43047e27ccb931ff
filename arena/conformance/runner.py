"""The check of a bot: every step by its number, within a fixed time, and the report about it."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import trio
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from arena.conformance.connection import SkippedError, State, StepResult, Violation, ViolationError
from arena.conformance.session import CheckStep, Session
from arena.conformance.steps import (
    ANSWER_STEPS,
    CONCURRENT_STEPS,
    EVENT_STEP,
    GAME_STEPS,
    LEAVING_STEPS,
    MESSAGE_STEPS,
    PAUSE_STEP,
    PROCESS_STEPS,
    RESOURCE_STEPS,
    STEPS_OF_NAMED_GAMES,
)
from arena.document.blocks import Column, DocumentBlock, table
from arena.match.clock import LagError
from arena.program import run_async
from arena.rules.english import count_in_digits
from arena.sealed.module import is_interpreted, is_module
from protocol.errors import UserError, unknown_name

# Reports of a check: marks and faults for people as steps end, and one value for programs.


TITLE_WIDTH = 44
MAX_CHECK_WIDTH = 100
TELLING_CHOICES = 20
"""Questions with several options after which option 0 each time is suspicious: a coin that chooses
between two options takes the first so often once in a million times."""
INDENT = 4
SLOW_START_MS = 1000
"""The time of a start, in ms, above which its author is warned: each sitting starts the bot."""
SLOW_START = 0.5
"""The share of the allowed time above which its author is warned too."""
STATE_STYLES: dict[State, str] = {
    "pass": "green",
    "fail": "bold red",
    "skip": "yellow",
    "missed": "yellow",
}
STATE_MARKS: dict[State, str] = {"pass": ".", "fail": "F", "skip": "s", "missed": "s"}
STATE_WORDS: dict[State, str] = {
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
    "missed": "not finished (--seconds, or a busy machine)",
}
_NUMBER = re.compile(r"\d+")

CheckVerdict = Literal["passed", "failed", "not finished", "not started"]


class Report(Struct, frozen=True, kw_only=True):
    """A check that is over."""

    name: str
    verdict: CheckVerdict
    """Its result: not finished if a step was not reached in time, or lagged."""
    sandbox: str
    seconds: float = 0.0
    questions: int = 0
    mean_ms: float = 0.0
    worst_ms: float = 0.0
    start_ms: float | None = None
    """The time from a start to the hello, the fastest of several, in ms; null: not known."""
    start_limit_ms: int
    outcomes: tuple[StepResult, ...] = ()
    choices: int = 0
    first_choices: int = 0
    error: str = ""
    is_sealed: bool = False
    """True if its times are million instructions."""

    @property
    def first_failure(self) -> StepResult | None:
        """Return the first step that failed."""
        return next((outcome for outcome in self.outcomes if outcome.state == "fail"), None)


def make_report(
    name: str, session: Session, outcomes: Sequence[StepResult], seconds: float
) -> Report:
    """Return the report of a session that is over."""
    answers = session.answers
    times = [answer.ms for answer in answers]
    choices = [answer.choice for answer in answers if answer.options > 1]
    return Report(
        name=name,
        verdict=check_verdict(outcomes),
        sandbox=session.sandbox.state,
        seconds=round(seconds, 3),
        questions=len(answers),
        mean_ms=round(sum(times) / max(1, len(times)), 3),
        worst_ms=round(max(times, default=0.0), 3),
        start_ms=session.start_ms and round(session.start_ms, 1),
        start_limit_ms=session.clock.start_ms,
        outcomes=tuple(outcomes),
        choices=len(choices),
        first_choices=choices.count(0),
        is_sealed=is_module(session.command.argv),
    )


def check_verdict(outcomes: Sequence[StepResult]) -> CheckVerdict:
    """Return the result of all steps."""
    states = {outcome.state for outcome in outcomes}
    return "failed" if "fail" in states else "not finished" if "missed" in states else "passed"


class Printer:
    """A printer of a check: a fault of each kind at once, and repeats counted at the end."""

    def __init__(self, console: Console, *, verbose: bool) -> None:
        """Prepare; `verbose`: each step gets a line instead of a mark."""
        self._console = console
        self._verbose = verbose
        self._groups: dict[str, list[StepResult]] = {}
        self._skipped: dict[str, list[StepResult]] = {}
        self.marks = Text()
        """A mark for each step that has ended, and for each reason to skip some."""

    def print_result(self, outcome: StepResult) -> None:
        """Print a step that has ended, as far as it must be seen at once."""
        # All steps after one on which they depend are skipped: one mark says so.
        is_skipped = outcome.state in ("skip", "missed")
        if not is_skipped or outcome.note not in self._skipped:
            self.marks.append(STATE_MARKS[outcome.state], STATE_STYLES[outcome.state])
        if is_skipped:
            self._skipped.setdefault(outcome.note, []).append(outcome)
        if self._verbose and not is_skipped:
            state = "FAIL" if outcome.state == "fail" else outcome.state
            text = Text(f"{outcome.number:>3} ").append(state, STATE_STYLES[outcome.state])
            text.append(f" {outcome.title:<{TITLE_WIDTH}}" if outcome.note else f" {outcome.title}")
            self._print(text.append(f" {outcome.note}", "dim") if outcome.note else text)
        if outcome.finding:
            group = self._groups.setdefault(_NUMBER.sub("0", outcome.finding.fault), [])
            group.append(outcome)
            if len(group) == 1:
                self._print_violation(outcome, outcome.finding)

    def finish(self, report: Report) -> None:
        """Print which steps failed or were skipped alike, then the verdict."""
        if not self._verbose and len(self.marks) > 1:
            self._print(self.marks)
        for group in self._groups.values():
            if len(group) > 1:
                failure = f"{len(group)} steps failed alike ({step_numbers(group)})"
                self._print(Text(f"{failure}: ", STATE_STYLES["fail"]).append(_fault(group[0])))
        for reason, skipped in self._skipped.items():
            steps = f"{count_in_digits(len(skipped), 'step')} skipped ({step_numbers(skipped)})"
            self._print(Text(f"{steps}: ", STATE_STYLES["skip"]).append(reason))
        for sentence in remarks(report):
            self._print(Text(sentence))
        style = STATE_STYLES["pass" if report.verdict == "passed" else "fail"]
        self._print(Text(verdict_line(report), style))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)

    def _print_violation(self, outcome: StepResult, finding: Violation) -> None:
        if not self._verbose:
            failed = Text(f"Step {outcome.number} ", "bold").append("FAILED", STATE_STYLES["fail"])
            self._print(failed.append(f": {outcome.title}"))
        for name, words in violation_parts(finding):
            style = "bold red" if name == "fault" else ""
            texts = [Text(line, style) for line in words.splitlines()]
            if self._console.is_terminal:
                width = min(self._console.width, MAX_CHECK_WIDTH) - INDENT - len("expected ")
                texts = [line for text in texts for line in text.wrap(self._console, width)]
            for line in texts:
                self._console.print(Text(f"{'':{INDENT}}{name:<8} ", "dim") + line, soft_wrap=True)
                name = ""
        self._console.print()


def violation_parts(finding: Violation) -> Iterator[tuple[str, str]]:
    """Yield what a bot's author needs to fix a fault, each part after its name."""
    yield "fault", finding.fault
    for line in finding.sent[-1:]:
        yield "sent", line
    yield "got", finding.came
    yield "expected", finding.expected
    yield "fix", finding.mend
    if finding.stderr:
        yield "stderr", finding.stderr


def _fault(outcome: StepResult) -> str:
    return outcome.finding.fault if outcome.finding else ""


def step_numbers(outcomes: Iterable[StepResult]) -> str:
    """Return the steps' numbers as `--only` takes them: "4,6-9"."""
    ranges: list[list[int]] = []
    for outcome in outcomes:
        if ranges and ranges[-1][-1] == outcome.number - 1:
            ranges[-1].append(outcome.number)
        else:
            ranges.append([outcome.number])
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ranges)


def remarks(report: Report) -> Iterator[str]:
    """Yield sentences about a bot that are no faults: its times, a slow start, a suspicion."""
    unit = "million instructions" if report.is_sealed else "ms"
    if report.questions:
        yield (
            f"{report.questions:,} questions: {report.mean_ms:.1f} {unit} on average, "
            f"{report.worst_ms:.1f} {unit} maximum."
        )
    limit = report.start_limit_ms
    if report.start_ms and report.start_ms > min(SLOW_START_MS, SLOW_START * limit):
        yield (
            f"Warning: it starts slowly, in {report.start_ms:,.0f} ms with the sandbox "
            f"{report.sandbox}; the limit is {limit:,} ms (start_ms). Every sitting starts it anew."
        )
    if report.choices >= TELLING_CHOICES and report.first_choices == report.choices:
        yield (
            f"Warning: all its {report.choices} valid answers to questions with several options "
            "were option 0. Does it read the options?"
        )


def verdict_line(report: Report) -> str:
    """Return the verdict in a line."""
    first = report.first_failure
    counted = Counter(outcome.state for outcome in report.outcomes)
    counted["pass"] += 0  # Said of none, too.
    parts = (
        f"{counted[state]} {words}" for state, words in STATE_WORDS.items() if state in counted
    )
    verdict = report.verdict.upper() if report.verdict != "passed" else report.verdict
    line = f"{report.name} {verdict}: {', '.join(parts)} in {report.seconds:.1f} s."
    if first is None:
        return line
    return f"{line} First failing step: {first.number} ({first.name}); it may cause the others."


# --- many bots ---


def short_line(report: Report) -> str:
    """Return a line about one of many bots."""
    first = report.first_failure
    if first:
        return f"{report.name} FAILED at step {first.number}: {_fault(first)}"
    if report.error:
        return f"{report.name} NOT STARTED: {report.error}"
    return verdict_line(report)


def reports_table(reports: Sequence[Report]) -> DocumentBlock:
    """Return a table of many bots."""
    columns = [Column("bot", "name"), Column("check", "word"), Column("first failure", "word")]
    columns += [Column("passed"), Column("failed"), Column("skipped", spare=True)]
    columns += [Column("start ms"), Column("mean ms"), Column("worst ms", spare=True)]
    return table("Checked bots", columns, map(_row, reports))


def _row(report: Report) -> tuple[str, ...]:
    counted, first = Counter(outcome.state for outcome in report.outcomes), report.first_failure
    return (
        *(report.name, report.verdict, f"step {first.number}" if first else ""),
        *(f"{counted['pass']}", f"{counted['fail']}", f"{counted['skip'] + counted['missed']}"),
        "" if report.start_ms is None else f"{report.start_ms:.0f}",
        *(f"{report.mean_ms:.1f}", f"{report.worst_ms:.1f}"),
    )


# The check of a bot: every step by its number, within a fixed time; long waits begin early.


NAME_WIDTH = 16
LATE_STEPS = 3
"""Late steps after which a check stops: others would wait as long, and fail alike."""
SLOW_ANSWERS = 0.1
"""The share of the clock of a mean answer from which one late step is enough: it is slow in all."""
CHECK_STEPS: tuple[CheckStep, ...] = (
    *PROCESS_STEPS,
    *ANSWER_STEPS,
    *CONCURRENT_STEPS,
    *MESSAGE_STEPS,
    *RESOURCE_STEPS,
    *LEAVING_STEPS,
    *GAME_STEPS,
    # It waits the longest, and begins as soon as the bot has run twice.
    PAUSE_STEP,
)
"""All steps; a step comes before those whose failure it explains."""

NumberedStep = tuple[int, CheckStep]


OF_EVENTS: tuple[CheckStep, ...] = (*CHECK_STEPS, EVENT_STEP)
"""The steps for a bot of an event: its own game comes last."""


def describe_steps() -> Iterator[str]:
    """Yield a line for each step: its number, its name and what it checks."""
    for number, step in enumerate(CHECK_STEPS, 1):
        yield f"{number:>3} {step.name:<{NAME_WIDTH}} {step.title}  (SPEC.md, {step.promise})"


def select_steps(words: Sequence[str], *, of_event: bool = False) -> tuple[NumberedStep, ...]:
    """Return the selected steps: by number, range (3-7) or name, also 1,3-7; without a word all.

    `of_event`: the bot plays an event's game and no other. Raises UserError.
    """
    steps = OF_EVENTS if of_event else CHECK_STEPS
    if not words:
        others = STEPS_OF_NAMED_GAMES if of_event else ()
        return tuple((number, step) for number, step in enumerate(steps, 1) if step not in others)
    numbers = {
        number
        for word in words
        for part in word.split(",")
        for number in _matches(part.strip(), steps)
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
    stop = ""
    results: list[StepResult] = []
    try:
        for place, (number, step) in enumerate(steps):
            left = ends - time.monotonic()
            if stop or left <= 0:
                why = stop or "The time for all steps was up."
                outcome = StepResult(number, *step[:3], "skip" if stop else "missed", why, 0)
            else:
                # A bot that uses its whole clock must not use up the time of the steps to come.
                share = min(session.budget.step_s, left / (len(steps) - place))
                outcome = await _try_step(session, number, step, share)
                stop = _reason_to_stop(session, step, [*results, outcome])
            results.append(outcome)
            show(outcome)
        return results
    finally:
        await session.end()


def _reason_to_stop(session: Session, step: CheckStep, results: Sequence[StepResult]) -> str:
    """Return why later steps would only repeat a failure; empty if they may not.

    `step`: the last one of the results.
    """
    if results[-1].finding and step.gate:
        return f"Step {results[-1].number} must pass first."
    late = [result for result in results if result.finding and result.finding.late]
    times = [answer.ms for answer in session.answers]
    is_slow = sum(times) > SLOW_ANSWERS * session.clock.move_ms * len(times)
    if len(late) < (1 if is_slow else LATE_STEPS):
        return ""
    return f"It was late in step {step_numbers(late)}, and they would wait as long."


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
        finding = _blame_walls(session, finding) if finding.gone else finding
        await session.drop()
    ms = round((time.monotonic() - began) * 1000)
    return StepResult(number, *step[:3], state, note, ms, finding)


def _blame_walls(session: Session, finding: Violation) -> Violation:
    """Add to the advice for a bot that ended by itself how to find out whether it lacks a file."""
    if is_interpreted(session.command.argv):
        more = "check it without the seal (`@sealed`) too: that shows whether the seal"
    elif session.sandbox.is_locked and not is_module(session.command.argv):
        more = "check it with `--sandbox off` too: that shows whether the sandbox"
    else:
        return finding
    advice = f"If you trust the bot, {more} is the reason (boneyard help sandbox)."
    return replace(finding, mend=f"{finding.mend} {advice}")
