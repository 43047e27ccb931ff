"""Reports of a check: for people a line for each step and the faults, for programs one value."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from arena.conformance.model import State, StepResult, Violation
from arena.conformance.runner import Totals, totals

TITLE = 44
"""Columns of a step's title."""
WIDEST = 100
"""Columns of a fault, however wide the terminal is."""
TELLING = 20
"""Questions with several options after which option 0 each time is no coincidence: of two options
a coin takes the first so often once in a million times."""
INDENT = 9
"""Columns before a fault: a step's number and state."""
STYLES: dict[State, str] = {"pass": "green", "fail": "bold red", "skip": "yellow"}


class Report(Struct, frozen=True):
    """A check that is over."""

    name: str
    """The bot."""
    level: str
    """The sandbox level at which it ran: A, B, C, D or off."""
    seconds: float
    """The check's duration, in s."""
    questions: int
    """Questions that the bot answered."""
    mean_ms: float
    """Their average time, in ms."""
    worst_ms: float
    """The time of the slowest, in ms."""
    outcomes: tuple[StepResult, ...]
    """The result of each step."""
    choices: int = 0
    """Questions with several options that it answered."""
    first_choices: int = 0
    """The number of those in which it took option 0."""

    @property
    def kept(self) -> bool:
        """Tell whether nothing failed and no step was missed for lack of time."""
        counted = totals(self.outcomes)
        return not counted.failed and not counted.missed


class Printer:
    """A printer of steps as they end; it joins repeated results into one line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._faults: dict[str, int] = {}
        self._skipped: list[StepResult] = []

    def print_result(self, outcome: StepResult) -> None:
        """Print a step that has ended."""
        if self._skipped and self._skipped[-1].note != outcome.note:
            self.flush()
        if outcome.state == "skip":
            self._skipped.append(outcome)
        else:
            self._line(str(outcome.number), outcome)
        if outcome.finding:
            self._print_violation(outcome.number, outcome.finding)

    def flush(self) -> None:
        """Print the steps that were skipped for one reason."""
        skipped, self._skipped = self._skipped, []
        if len(skipped) == 1:
            self._line(str(skipped[0].number), skipped[0])
        elif skipped:
            numbers = f"{skipped[0].number}-{skipped[-1].number}"
            text = Text(f"{numbers:>5} ").append("skip", STYLES["skip"])
            self._print(text.append(f" {skipped[0].note}"))

    def _line(self, number: str, outcome: StepResult) -> None:
        state = "FAIL" if outcome.state == "fail" else outcome.state
        text = Text(f"{number:>3} ").append(state, STYLES[outcome.state])
        text.append(f" {outcome.title:<{TITLE}}" if outcome.note else f" {outcome.title}")
        self._print(text.append(f" {outcome.note}", "dim") if outcome.note else text)

    def _print(self, text: Text) -> None:
        if self._console.is_terminal:
            text.truncate(self._console.width, overflow="ellipsis")
        self._console.print(text, soft_wrap=True)

    def _print_violation(self, number: int, finding: Violation) -> None:
        before = self._faults.setdefault(finding.fault, number)
        if before != number:
            self._print(Text(" " * INDENT + f"The same fault as in step {before}: {finding.fault}"))
            return
        for name, words in _parts(finding):
            style = "bold red" if name == "fault" else ""
            for line in self._wrap(words, style):
                self._console.print(Text(f"{'':{INDENT}}{name:<8} ", "dim") + line, soft_wrap=True)
                name = ""
        self._console.print()

    def _wrap(self, words: str, style: str) -> Iterator[Text]:
        """Yield lines that fit a terminal; in a pipe yield the text unchanged."""
        width = min(self._console.width, WIDEST) - INDENT - len("expected ")
        for line in words.splitlines():
            text = Text(line, style)
            yield from text.wrap(self._console, width) if self._console.is_terminal else (text,)


def _parts(finding: Violation) -> Iterator[tuple[str, str]]:
    yield "fault", finding.fault
    for line in finding.sent[-1:]:
        yield "sent", line
    yield "got", finding.came
    yield "expected", finding.expected
    yield "fix", finding.mend
    if finding.stderr:
        yield "stderr", finding.stderr


def summary(report: Report) -> Iterable[str]:
    """Return the result of the whole check, in sentences."""
    counted: Totals = totals(report.outcomes)
    parts = [f"{counted.passed} passed", f"{counted.failed} failed", f"{counted.skipped} skipped"]
    if counted.missed:
        parts.append(f"{counted.missed} not reached (--seconds)")
    yield f"{', '.join(parts)} in {report.seconds:.1f} s."
    if report.questions:
        yield (
            f"{report.questions} questions: {report.mean_ms:.1f} ms on average, "
            f"{report.worst_ms:.1f} ms maximum."
        )
    if report.choices >= TELLING and report.first_choices == report.choices:
        yield (
            f"Warning: it took option 0 in all {report.choices} questions with several options. "
            "Does it read `options`?"
        )
    if counted.failed:
        first = next(one for one in report.outcomes if one.state == "fail")
        yield f"Begin with step {first.number}; it may cause the others."
