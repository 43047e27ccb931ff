"""The records of a league: the lines of its register, and the plans of its rounds.

Times are UTC in ISO 8601 to the second, such as 2026-11-22T20:00:00Z.
"""

from collections import Counter
from typing import Annotated

from msgspec import Meta, Struct

from protocol.codec import printable, printable_lines
from protocol.records import Hex32
from tournaments.formats.base import VersionName
from tournaments.plan.event import EntrantName

TIME = "%Y-%m-%dT%H:%M:%SZ"
"""The form of times, for strftime."""
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?!\n)$")]
LONGEST_WORDS = 20_000
"""Characters of a text in a record."""
Words = Annotated[str, Meta(max_length=LONGEST_WORDS)]
"""A text of ours or of an author; whoever shows it escapes it."""


def one_line(words: str, longest: int) -> str:
    """Return words on one line, cut to so many characters, without any that steers a terminal."""
    line = " ".join(printable_lines(words).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class CheckedStep(Struct, frozen=True, forbid_unknown_fields=True):
    """A step of the check of a bot."""

    name: str
    """The step's name, as `boneyard check --list` has it."""
    verdict: str
    """passed, failed, warned or skipped."""
    words: Words
    """Its explanation for the author; empty if it passed."""


class CheckSummary(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The check of a version, in words for its author."""

    verdict: str
    """The verdict of all steps together."""
    steps: tuple[CheckedStep, ...]
    sandbox: str
    """Sandbox level in which the bot ran."""
    seconds: float

    @property
    def outcome(self) -> str:
        """Its result in a line, as the end of a sentence."""
        counted = Counter(step.verdict for step in self.steps)
        steps = [f"{counted[one]} {one}" for one in ("passed", "failed", "skipped") if counted[one]]
        return (
            f"the check {printable(self.verdict, 200)}, steps: {', '.join(steps)} in "
            f"{self.seconds:.0f} s, sandbox {printable(self.sandbox, 20)}"
        )


class RegisterEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A line of the register."""

    time: Time
    """Time at which it was written."""
    bot: EntrantName
    """The bot: the name of its folder."""


class Admitted(RegisterEntry, frozen=True, tag="admitted", kw_only=True):
    """A new version that plays from now on, in place of the bot's earlier one."""

    version: VersionName
    """Its name in all tables: `mine`, then `mine@2`."""
    fingerprint: Hex32
    """SHA-256 of all files of the push."""
    house: bool = False
    """True for a sample bot that always plays."""
    about: Annotated[str, Meta(max_length=200)] = ""
    """A line of description, by the author."""
    author: Annotated[str, Meta(max_length=80)] = ""
    """The author's name."""
    divisions: tuple[EntrantName, ...] = ()
    """The divisions that it enters; none: all."""
    check: CheckSummary | None = None
    """Its check; None for a house bot."""


class Refused(RegisterEntry, frozen=True, tag="refused", kw_only=True):
    """A push that does not play; the bot's earlier version plays on."""

    fingerprint: str
    """SHA-256 of all files of the push, or of the reason where they cannot be read; empty if they
    were not read, because the bot changes too often."""
    why: Words
    check: CheckSummary | None = None
    """The check that it failed; None if it came to no check."""


class Withdrawn(RegisterEntry, frozen=True, tag="withdrawn", kw_only=True):
    """A bot whose folder is gone, or that says that it is withdrawn."""

    version: VersionName
    """The version that plays no more."""


AnyEntry = Admitted | Refused | Withdrawn


class ChosenTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a round, and the reason for it."""

    entrants: tuple[VersionName, ...]
    """The versions that meet, sorted by name."""
    why: str
    """The reason in words for readers."""
    gain: float
    """The estimated shrinking of the intervals that matter, by which it was chosen."""


class RoundPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan of a round: the inputs of the choice that are in no ledger, and its outcome."""

    method: str
    """Name of the method by which the tables were chosen."""
    number: Annotated[int, Meta(ge=1, le=10_000_000)]
    """Number of the round in its division, from 1."""
    division: EntrantName
    time: Time
    active: tuple[VersionName, ...]
    """Versions that could be chosen, sorted by name."""
    held: dict[VersionName, str]
    """Versions that were held out, and why."""
    boards: Annotated[int, Meta(ge=1, le=100)]
    most_tables: Annotated[int, Meta(ge=1)]
    """The most tables that the round could have."""
    until: float | None
    """Half width in Elo at which an interval was narrow enough; None: there was no such bound."""
    register: Hex32
    """SHA-256 of the register as it was."""
    anchor: EntrantName
    """The version over which ratings are given."""
    tables: tuple[ChosenTable, ...]

    @property
    def title(self) -> str:
        """Its division and number."""
        return f"{self.division} round {self.number}"


class EarlyEnd(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The end of a round that could not be played to its end, or of a version that fouls."""

    time: Time
    why: Words
