"""The settings of a league: league.toml, as its organiser writes it."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from arena.rules.load import load_ruleset
from arena.rules.toml_file import load_toml
from arena.sandbox.command import Address, VariableName
from arena.sandbox.limits import Limits, SandboxMode
from protocol.errors import UserError, unknown_name
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.ruleset import Ruleset, check_seats, playable_seat_counts
from tournaments.formats.own_clock import OwnClock
from tournaments.plan.bot_catalog import sample_bots
from tournaments.plan.event import EntrantName, Title, check_names_differ
from tournaments.rating.tables import Anchor

HOUSE = ("random", "greedy", "suit", "counting")
"""Sample bots that play in every league unless it names others."""


class DivisionSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of its own: one game, at one number of seats."""

    name: EntrantName
    """Name of the division, of its folder and of its pages."""
    title: Title = ""
    """Title for readers; without one they see the name."""
    rules: str | dict[str, Any] = "draw"
    """A named game, a file of rules beside league.toml, or `base` and what differs from it."""
    seats: Annotated[int, Meta(ge=2, le=8)] | None = None
    """Seats at a table; without a number, as few as the rules allow."""
    boards_a_table: Annotated[int, Meta(ge=1, le=100)] = 5
    """Boards that each table of a round plays, each in every rotation."""
    tables_a_round: Annotated[int, Meta(ge=1, le=500)] | None = None
    """Tables of a round; without a number, so many that each bot can play about once."""
    boards_a_week: Annotated[int, Meta(ge=1, le=10_000_000)] = 1000
    """Boards that all tables together play in a week at most, a seventh of them on each day; what a
    day leaves the next ones play."""
    until: Annotated[float, Meta(gt=0, le=1000)] | None = None
    """Half width in Elo: no round begins while no interval that matters is wider."""


class Quota(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The bounds of each author's bot."""

    foul_sittings: Annotated[int, Meta(ge=1, le=1000)] = 3
    """Sittings in a row with a foul of its own after which it is benched until it changes."""
    files: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    """Files and folders of a push."""
    files_mib: Annotated[int, Meta(ge=1, le=4096)] = 16
    """Size of all its files, and of what it builds, in MiB."""
    pushes_a_day: Annotated[int, Meta(ge=1, le=1000)] = 12
    """Changes of a bot that are looked at in 24 hours."""
    build_s: Annotated[int, Meta(ge=1, le=3600)] = 120
    """Time that its build may take, in s."""
    check_s: Annotated[int, Meta(ge=5, le=3600)] = 90
    """Time after which no further step of its check begins, in s."""


class BotPermissions(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Access that the organiser gives to a bot; its author cannot."""

    network: tuple[Address, ...] = ()
    """Addresses that it may reach: `host:port`."""
    environment: tuple[VariableName, ...] = ()
    """Variables that it gets from Boneyard's environment, such as API_KEY."""
    clock: OwnClock | None = None


class LeagueSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file league.toml."""

    title: Title = "League"
    divisions: Annotated[tuple[DivisionSettings, ...], Meta(min_length=1, max_length=100)] = (
        DivisionSettings(name="draw"),
    )
    """The divisions, each with a table of its own."""
    house: tuple[str, ...] = HOUSE
    """Sample bots that always play."""
    anchor: Anchor = Anchor("greedy", 0.0)
    """House bot with a fixed rating, so that ratings mean the same in each year."""
    clock: Clock = Clock()
    """Time that bots have to answer."""
    fouls: FoulPolicy = FoulPolicy()
    limits: Limits = Limits()
    """Limits of each bot's memory and processes."""
    sandbox: SandboxMode = "require"
    """require: bots of strangers play locked in, or not at all."""
    sealed: bool = False
    """True if only sealed bots (*.wasm) are admitted: `require` then needs no sandbox."""
    quota: Quota = Quota()
    """Bounds of each author's bot."""
    bots: dict[EntrantName, BotPermissions] = {}
    """Access that single bots have."""
    luck: bool = False
    """True if the luck of each round's games is computed after it, for the pages of its bots."""
    review: bool = False
    """True if their decisions are reviewed too: both may take longer than the games."""
    pull: Annotated[str, Meta(max_length=1000, pattern=r"^[^\n]*(?!\n)$")] = ""
    """Address or path of the git repository with the bots, which each turn fetches and reads in
    place of bots/; empty if there is none."""
    every_s: Annotated[int, Meta(ge=1, le=86_400)] = 60
    """Pause after a turn in which there was nothing to do, in s."""
    delay_s: Annotated[int, Meta(ge=0, le=86_400)] = 600
    """Age of the moves that the site shows of a round that is being played, in s."""

    @property
    def sandbox_here(self) -> SandboxMode:
        """The sandbox that its bots need: sealed bots are locked in without one."""
        return "auto" if self.sealed and self.sandbox == "require" else self.sandbox

    def permissions(self, bot: str) -> BotPermissions:
        """Return the access that the organiser gave a bot."""
        return self.bots.get(bot, BotPermissions())


def load_settings(path: Path) -> LeagueSettings:
    """Read league.toml. Raises UserError with the file and the path inside it."""
    settings = load_toml(path, LeagueSettings)
    try:
        check_names_differ("divisions", [division.name for division in settings.divisions])
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    for name in settings.house:
        if name not in sample_bots():
            raise UserError(f"{path}: {unknown_name('sample bot in house:', name, sample_bots())}")
    if settings.anchor.name not in settings.house:
        raise UserError(
            f"{path}: {unknown_name('house bot in anchor:', settings.anchor.name, settings.house)}"
        )
    for division in settings.divisions:
        try:
            division_rules(division, path.parent)
        except UserError as error:
            raise UserError(f"{path}: division {division.name}: {error}") from None
    return settings


def division_rules(division: DivisionSettings, base: Path) -> tuple[Ruleset, int]:
    """Return the ruleset of a division and its seats at a table. Raises UserError.

    `base`: the league's folder, where names of files start.
    """
    rules = load_ruleset(division.rules, base)
    seats = division.seats or playable_seat_counts(rules)[0]
    check_seats(rules, seats)
    return rules, seats
