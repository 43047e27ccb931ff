"""The plan of a tournament, as it is played and as its folder keeps it."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from arena.rules.english import join_words
from arena.sandbox.limits import Limits, SandboxMode
from protocol.codec import DamagedRecordError, decode_json, indented_json
from protocol.errors import UserError, unknown_name
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.ruleset import MOST_SEATS, Ruleset, check_seats
from tournaments.formats.base import Contest, Entrant, VersionName
from tournaments.formats.own_clock import own_or
from tournaments.formats.registry import Format
from tournaments.formats.round_robin import RoundRobin
from tournaments.plan.deals.deal_filter import parse_filter
from tournaments.rating.anchor import Anchor
from tournaments.rating.sprt_settings import MOST

# In Python $ stands before a newline at the end too; \Z, which does not, is not JSON Schema's.
EntrantName = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9_-]{1,40}(?!\n)$", description="1 to 40 letters, digits, _ or -"),
]
TITLE = r"^[^\x00-\x1f\x7f]{0,80}(?!\n)$"
Title = Annotated[str, Meta(pattern=TITLE, description="up to 80 characters in one line")]
NAMELESS = ("run", "event")
"""Names of events to which their user gave none."""
NAMED = 4
"""Bots that stand in the heading of an event without a name."""
Boards = Annotated[int, Meta(ge=1, le=MOST)]


class Terms(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan without its entrants: nothing in it depends on the machine that plays it."""

    name: EntrantName
    """Name of the event; part of every deal's seed."""
    title: Title = ""
    """Title for its readers; without one, they see the name, or who plays what."""
    rules: Ruleset
    """The ruleset in full."""
    seats: int
    """Seats at a table."""
    boards: Boards
    """Boards that each pairing plays, each in every seating; with versus the most."""
    boards_a_sitting: Annotated[int, Meta(ge=1, le=1000)]
    """Boards that one set of processes plays."""
    format: Format = RoundRobin()
    """The format, which decides who meets whom."""
    teams: tuple[tuple[VersionName, VersionName], ...] = ()
    """Fixed partners, by name; without any, partners are mixed."""
    clock: Clock
    """Time that bots have to answer."""
    fouls: FoulPolicy
    """Cost of a foul."""
    sandbox: SandboxMode
    """The sandbox that the user asked for; each log records the level that was used."""
    limits: Limits
    """Limits of each bot's memory and processes."""
    anchor: Anchor | None = None
    """The entrant whose rating is fixed beforehand; without one, the mean of the core is 0."""
    predictable: bool
    """True if the user chose the seed of the secret: then anyone can know the deals."""
    deals_set: bool = False
    """True if the organiser set the deals (`--deals`), who therefore knew them."""
    deals_with: tuple[str, ...] = ()
    """Filters that the first deal of each board satisfies, as doubles>=4."""


class Event(Terms, Contest, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole plan, as it is played."""

    entrants: tuple[Entrant, ...]
    """Bots that play, and versions that played before them."""

    def __post_init__(self) -> None:
        """Refuse a plan that cannot be played. Raises UserError."""
        if not 2 <= self.seats <= MOST_SEATS:
            raise UserError(f"A table has two to eight seats, not {self.seats} (seats).")
        active = [entrant for entrant in self.entrants if not entrant.retired]
        if len(active) < self.seats and not self.teams:
            raise UserError(
                f"A table of {self.seats} needs {self.seats} bots, but there "
                f"{'is' if len(active) == 1 else 'are'} {len(active)}."
            )
        for text in (self.title, self.rules.name):
            # A stranger's event is read too: its texts must not steer a terminal.
            if not text.isprintable():
                raise UserError(f"A title or a name of rules has a control character: {text!r}.")
        names = [entrant.name for entrant in self.entrants]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"Two bots are called {name!r}. Names must be different.")
        if self.anchor and self.anchor.name not in names:
            raise unknown_name("entrant in anchor:", self.anchor.name, names)
        check_seats(self.rules, self.seats)
        for one in self.deals_with:
            parse_filter(one)
        if self.deals_set and self.deals_with:
            raise UserError("A filter (deals_with) is for drawn deals, and these are set (deals).")
        self._check_teams([entrant.name for entrant in active])
        self.format.check(self)
        if self.all_boards > MOST:
            raise UserError(
                f"The event has {self.all_boards:,} boards in all rounds; at most {MOST:,} are "
                "possible (boards)."
            )

    def _check_teams(self, names: list[str]) -> None:
        if not self.teams:
            return
        if not self.rules.deal.partners:
            raise UserError(f"Teams need rules with partners, which {self.rules.name!r} has not.")
        if len(self.teams) < 2:
            raise UserError("A table needs two teams, but the event has one.")
        placed = [name for team in self.teams for name in dict.fromkeys(team)]
        for name in placed:
            if name not in names:
                raise unknown_name("bot in teams:", name, names)
            if placed.count(name) > 1:
                raise UserError(f"Bot {name} is in two teams. Give each team bots of its own.")
        for name in names:
            if name not in placed:
                raise UserError(f"Bot {name} is in no team.")

    def clock_of(self, entrant: int) -> Clock:
        """Return the clock of an entrant: its own, or the event's."""
        return own_or(self.entrants[entrant].clock, self.clock)

    @property
    def heading(self) -> str:
        """Title for readers: the user's, or the name, or who plays what."""
        if self.title or self.name not in NAMELESS:
            return self.title or self.name
        names = [entrant.name for entrant in self.entrants if not entrant.retired]
        who = f"{len(names)} bots" if len(names) > NAMED else join_words(names)
        return f"{who}: {self.rules.name}"

    @property
    def has_drawn_seeds(self) -> bool:
        """True if the seed of each board follows from the event's secret alone."""
        return not (self.deals_set or self.deals_with)

    @property
    def rounds(self) -> int:
        """Rounds, each planned from the results before it; 1 in formats without rounds."""
        return self.format.count_rounds(self)

    @property
    def all_boards(self) -> int:
        """Most boards that the event can play, over all rounds; each is committed to."""
        late = max(entrant.first_board for entrant in self.entrants) - 1
        return late + self.rounds * self.format.boards_a_round(self)


def files_of(entrants: Iterable[Entrant]) -> list[Path]:
    """Return the paths that bots must be able to reach: their folders, and the files they name."""
    commands = [entrant.command for entrant in entrants]
    words = [word for command in commands for word in command.argv[1:] if word.startswith("/")]
    # The sandbox replaces our own Python by another if bots cannot reach it.
    named = [Path(word) for word in words if word != sys.executable]
    return [*(Path(command.folder, "bot") for command in commands), *named]


def as_json(event: Event) -> bytes:
    """Write the event as its folder keeps it."""
    return indented_json(event, indent=2) + b"\n"


def from_json(data: bytes, path: Path) -> Event:
    """Read an event from its folder's file.

    Raises UserError if the file is not an event any more.
    """
    try:
        return decode_json(data, Event)
    except DamagedRecordError as error:
        raise UserError(f"{path}: {error}.") from error
