"""The written plan of a tournament: what a user writes (TOML) and what is played (JSON)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.sandbox.limits import Limits, Wish
from arena.sandbox.profile import Command
from arena.written import chosen, spelled
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.rules import Ruleset, check_seats
from protocol.usage import UserError

EntrantName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Word = Annotated[str, Meta(pattern=r"^[^\x00]*\Z")]
"""A word of a command, or a path: the system ends both at a zero."""
Boards = Annotated[int, Meta(ge=1, le=1_000_000)]
BOARDS_A_SITTING = 25
"""Boards that one set of processes plays: enough to forget what starting them cost."""


class WrittenBot(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot in an event file."""

    name: EntrantName
    """What it is called in the tables; the name of a sample bot when `run` is left out."""
    run: tuple[Word, ...] = ()
    """Program and arguments; {python} and {build} are filled in."""
    build: tuple[Word, ...] = ()
    """A command that builds it first, in no sandbox: it is the organiser who runs it."""
    folder: Word | None = None
    """A folder of the bot's own, in which both run and all of which it may read; without it they
    run in the event file's folder and the bot may read the files that its command names."""
    reads: tuple[Word, ...] = ()
    """Further files and folders that it may read."""


class WrittenEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """An event file."""

    bots: tuple[WrittenBot, ...]
    """Who plays."""
    name: EntrantName = "event"
    """What the event is called."""
    rules: str | dict[str, Any] = "draw"
    """A named game, a file of rules, or `base` and the choices that differ."""
    seats: int | None = None
    """Seats at a table; as few as the rules allow when it is left out."""
    boards: Boards = 50
    """Boards that each pairing plays, each rotated through all seats."""
    clock: Clock = Clock()
    """How long bots may think."""
    fouls: FoulPolicy = FoulPolicy()
    """What a foul costs."""
    sandbox: Wish = "auto"
    """auto: the best level that this machine proves; require: A or B, or no game; off: none."""
    limits: Limits = Limits()
    """What each bot may use."""


class Entrant(Struct, frozen=True, forbid_unknown_fields=True):
    """Who is rated: a command whose files have a fingerprint."""

    name: EntrantName
    """What it is called in the tables."""
    command: Command
    """How its bot is started."""
    fingerprint: str
    """SHA-256 of the command and of the files that it names."""


class Terms(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan but for who plays: nothing in it is about the machine on which it is played."""

    name: EntrantName
    """What the event is called; part of every deal's seed."""
    rules: Ruleset
    """The ruleset in full."""
    seats: int
    """Seats at a table."""
    boards: Boards
    """Boards that each pairing plays, each rotated through all seats."""
    boards_a_sitting: int
    """Boards that one set of processes plays."""
    clock: Clock
    """How long bots may think."""
    fouls: FoulPolicy
    """What a foul costs."""
    sandbox: Wish
    """Which sandbox was wished for; the level that came of it stands in each log."""
    limits: Limits
    """What each bot may use."""
    predictable: bool
    """Whether the secret came from a seed that the user chose: then anyone can know the deals."""


class Event(Terms, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan in full, as it is played."""

    entrants: tuple[Entrant, ...]
    """Who plays."""

    def __post_init__(self) -> None:
        """Refuse a plan that cannot be played.

        Raises UserError.
        """
        if not 2 <= self.seats <= 4:
            raise UserError(f"A table has two to four seats, not {self.seats} (seats).")
        if len(self.entrants) < self.seats:
            raise UserError(
                f"A table of {self.seats} needs {self.seats} bots, but there "
                f"{'is' if len(self.entrants) == 1 else 'are'} {len(self.entrants)}."
            )
        names = [entrant.name for entrant in self.entrants]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"Two bots are called {name!r}; every name must be its own.")
        check_seats(self.rules, self.seats)


def written(path: Path) -> WrittenEvent:
    """Read an event file.

    Raises UserError with the file and the path inside it.
    """
    try:
        return msgspec.toml.decode(path.read_bytes(), type=WrittenEvent)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise UserError(f"{path}: {error}.") from error


def ruleset(rules: str | Mapping[str, Any], folder: Path) -> Ruleset:
    """The ruleset that an event names or spells out; files are looked for in the folder.

    Raises UserError.
    """
    return chosen(rules, folder) if isinstance(rules, str) else spelled(rules, folder)


def as_json(event: Event) -> bytes:
    """The event as it stands in its folder."""
    return msgspec.json.format(msgspec.json.encode(event), indent=2) + b"\n"


def from_json(data: bytes, path: Path) -> Event:
    """An event as it stands in its folder.

    Raises UserError when it was changed into something else.
    """
    try:
        return msgspec.json.decode(data, type=Event)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UserError(f"{path}: {error}.") from error
