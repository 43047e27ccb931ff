"""What a step of the walk is and what comes of it: values, and the two ways to leave a step."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from protocol.ruleset import Ruleset

if TYPE_CHECKING:
    from arena.conformance.session import Session

State = Literal["pass", "fail", "skip"]


class Violation(Struct, frozen=True):
    """A promise that was broken: all that its author needs to mend it."""

    fault: str
    """What the bot does wrong, in a sentence."""
    sent: tuple[str, ...]
    """The last lines that it was sent, cut and safe to show."""
    came: str
    """What came back, cut and safe to show."""
    expected: str
    """What should have come."""
    mend: str
    """How to mend it."""
    stderr: str = ""
    """The end of its stderr, safe to show."""
    gone: bool = False
    """Whether the process had ended by itself."""


class ViolationError(Exception):
    """The bot does not keep what the protocol asks."""

    def __init__(self, finding: Violation) -> None:
        super().__init__(finding.fault)
        self.finding = finding
        """What was found."""


class SkippedError(Exception):
    """The step says nothing about this bot; the text is the reason."""


class OutOfTimeError(SkippedError):
    """The step's time was up in the middle of a game."""

    def __init__(self, questions: int) -> None:
        super().__init__(f"The step's time was up after {questions} questions.")
        self.questions = questions
        """Questions of that game that were answered."""


class Game(NamedTuple):
    """What an event plays."""

    rules: Ruleset
    """Its ruleset."""
    seats: int
    """Seats at its tables."""


class Budget(Struct, frozen=True):
    """How much is tried, and how long it may take."""

    total_s: float = 300.0
    """Seconds after which no further step begins."""
    step_s: float = 15.0
    """Seconds after which a step asks no further question; less when many steps are to come."""
    pause_ms: int = 1_500
    """How long the bot is left alone before it is asked again."""
    quiet_ms: int = 100
    """How long it is listened to where it must say nothing."""
    whole: bool = True
    """Whole games and long ones; otherwise a round of each game and little more."""


class Step(NamedTuple):
    """One step of the walk."""

    name: str
    """Its name for `--only`."""
    title: str
    """What the bot does if it passes, as the end of a sentence about it."""
    promise: str
    """The part of SPEC.md that asks for it."""
    run: "Callable[[Session], str]"
    """Tries it and returns a note; raises BrokenPromiseError or SkippedError."""
    gate: bool = False
    """Whether all further steps would only say the same again when this one fails."""


class StepResult(Struct, frozen=True):
    """What came of a step."""

    number: int
    """Its number, from 1."""
    name: str
    """Its name."""
    title: str
    """What it tries."""
    promise: str
    """The part of SPEC.md that asks for it."""
    state: State
    """How it ended."""
    note: str
    """What was seen, or why it was skipped."""
    ms: int
    """How long it took, in ms."""
    finding: Violation | None = None
    """What is wrong, when it failed."""
