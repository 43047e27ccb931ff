"""Values of the check: its extent, broken promises, results, and exceptions that end a step."""

from typing import Literal, NamedTuple

from msgspec import Struct

from protocol.ruleset import Ruleset

State = Literal["pass", "fail", "skip", "missed"]
"""skip: it cannot judge this bot. missed: its time was up, or this machine was too busy."""


class Violation(Struct, frozen=True):
    """A broken promise, with all that its author needs to fix it."""

    fault: str
    sent: tuple[str, ...]
    """The last lines that it was sent, cut and safe to show."""
    came: str
    """The bot's output, cut and safe to show."""
    expected: str
    mend: str
    stderr: str = ""
    gone: bool = False
    """True if the process had ended by itself."""


class ViolationError(Exception):
    """The bot breaks a promise of the protocol."""

    def __init__(self, finding: Violation) -> None:
        super().__init__(finding.fault)
        self.finding = finding


class SkippedError(Exception):
    """The step cannot judge this bot; the text is the reason."""

    state: State = "skip"


class UndecidedError(SkippedError):
    """The bot or a busy machine broke the promise; the text is what was seen."""

    state = "missed"


class OutOfTimeError(SkippedError):
    """The step's time was up in the middle of a game."""

    def __init__(self, questions: int) -> None:
        super().__init__(f"The step's time was up after {questions} questions.")
        self.questions = questions
        """Questions of that game that were answered."""


class EventGame(NamedTuple):
    """The game of an event."""

    rules: Ruleset
    seats: int


class Budget(Struct, frozen=True):
    """The extent and the duration of the check."""

    total_s: float = 300.0
    """Seconds after which no further step begins."""
    step_s: float = 15.0
    """Seconds after which a step asks no further question; less when many steps are to come."""
    pause_ms: int = 1_500
    """Time in which the bot is left alone before it is asked again, in ms."""
    quiet_ms: int = 100
    """Time for which the check listens if the bot must be silent, in ms."""
    whole: bool = True
    """True for whole games and long ones; otherwise a round of each game and little more."""


class StepResult(Struct, frozen=True):
    """The result of a step."""

    number: int
    name: str
    title: str
    promise: str
    """The part of SPEC.md that demands it."""
    state: State
    note: str
    ms: int
    finding: Violation | None = None
