"""The settings and the folder of a league: league.toml, as its organiser writes it."""

import re
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct

from arena.files import write_atomic
from arena.rules.load import load_ruleset, load_toml
from arena.sandbox.command import Address, Limits, SandboxMode, VariableName
from arena.ui.console import print_line, shown_path
from protocol.errors import UserError, unknown_name
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.ruleset import Ruleset, check_seats, playable_seat_counts
from tournaments.event.folder import PathInFolder
from tournaments.formats.base import first_version
from tournaments.formats.entrant import OwnClock
from tournaments.plan.bots import sample_bots
from tournaments.plan.event import EntrantName, Title, check_names_differ
from tournaments.plan.scaffold import make_bot
from tournaments.rating.tables import Anchor

# The folder of a league: the paths of its files.


PLAN = "round.json"
"""Name of the file in a round's folder that tells how its tables were chosen."""
CLOSED_FILE = "closed.json"
"""Name of the file in the folder of a round that could not be played to its end."""
TRIES_FILE = "private/tries"
"""File in a round's folder, while the round is played: its games at the last try, and the tries
that brought no further game."""
NUMBER = re.compile(r"[0-9]{4,8}")
"""The name of a round's folder."""


class LeagueFolder(Struct, frozen=True):
    """Paths of the files of a league."""

    path: Path

    settings = PathInFolder("league.toml")
    bots = PathInFolder("bots")
    repository = PathInFolder("bots.git")
    """The bots in place of those in bots/, if they are pulled."""
    versions = PathInFolder("versions")
    """A copy of the files of each version that was admitted."""
    register = PathInFolder("register.jsonl")
    """Each admission, refusal and withdrawal, with its time."""
    log = PathInFolder("league.log")
    """Everything that happened, a line each, for people."""
    rounds = PathInFolder("rounds")
    """A folder for each division, with an event folder for each round."""
    practice = PathInFolder("practice")
    """An event folder for each bot that practises, and what practice each bot has had."""
    results = PathInFolder("results")
    """A folder for each bot, for its author alone."""
    grades = PathInFolder("grades")
    """The marks, for the organiser."""
    site = PathInFolder("site")
    """The site, for any static web server."""
    published = PathInFolder(".published")
    """The state of the league that the site shows."""
    table = PathInFolder("league.json")
    """In the folder of a site: the standings, for programs."""
    pulled = PathInFolder(".pulled")
    """The time of the last pull that succeeded."""
    turn = PathInFolder(".turn")
    lock = PathInFolder(".lock")
    """File locked by the process that plays the league."""

    def without_path(self, words: str) -> str:
        """Return words for the public, with names of files as they are in the league's folder."""
        return words.replace(f"{self.path.resolve()}/", "")

    def version(self, name: str) -> Path:
        """Return the folder of a version's files: `mine@1` for the version called `mine`."""
        return self.versions / (f"{name}@1" if name == first_version(name) else name)

    def round(self, division: str, number: int) -> Path:
        """Return the event folder of a round."""
        return self.rounds / division / f"{number:04}"

    def rounds_of(self, division: str) -> list[Path]:
        """Return the folders of a division's rounds, in order.

        One without a plan is none, and neither is a copy, such as 0001.bak.
        """
        paths = (self.rounds / division).glob("[0-9]*")
        return sorted(
            (path for path in paths if NUMBER.fullmatch(path.name) and (path / PLAN).is_file()),
            key=lambda path: int(path.name),
        )


def is_league(path: Path) -> bool:
    """Tell whether a folder is a league, or the site of one."""
    folder = LeagueFolder(path)
    return folder.settings.is_file() or (folder.table.is_file() and folder.register.is_file())


# The settings of a league: league.toml, as its organiser writes it.


HOUSE = ("random", "greedy", "suit", "counting")
"""Sample bots that play in every league unless it names others."""


NO_BASELINE = "none"
"""The key in `grades` of the mark of who is better than no house bot."""


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
    """Tables of a round; without a number, enough for each bot to play about once."""
    boards_a_week: Annotated[int, Meta(ge=1, le=10_000_000)] = 1000
    """Boards that all tables together play in a week at most."""
    pace: Literal["lesson", "week"] = "week"
    """lesson: each version plays its boards as soon as it is pushed, and then rests. week: a
    seventh of the week's boards on each day, some of them kept for new versions; what a day leaves
    the next ones play."""
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
    practice_a_day: Annotated[int, Meta(ge=0, le=100)] = 3
    """Rounds of practice that it has in 24 hours."""
    build_s: Annotated[int, Meta(ge=1, le=3600)] = 120
    """Time that its build may take, in s."""
    check_s: Annotated[int, Meta(ge=5, le=3600)] = 45
    """Time after which no further step of its check begins, in s: who pushes next waits for it."""


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
    closes: str = ""
    """Time, as 2027-01-31T18:00 in `zone`, from which pushes wait and the final is played; empty:
    the league has no end."""
    final_bots: Annotated[int, Meta(ge=2, le=8)] = 4
    """Bots of each division that play its final, the first in its standings."""
    final_boards: Annotated[int, Meta(ge=1, le=1000)] = 200
    """Boards of each table of a final."""
    zone: str = "UTC"
    """Time zone of the times that its pages show, such as Europe/Berlin."""
    divisions: Annotated[tuple[DivisionSettings, ...], Meta(min_length=1, max_length=100)] = (
        DivisionSettings(name="draw"),
    )
    """The divisions, each with a table of its own."""
    house: tuple[str, ...] = HOUSE
    """Sample bots that always play."""
    grades: dict[str, float | str] = {}
    """The mark of who is better than a house bot, by that bot, the lowest first; `none`: the mark
    of who is better than none of them."""
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
    """True to seal all bots but the house's: `require` then needs no sandbox."""
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

    @property
    def closing(self) -> datetime | None:
        """The time of `closes`; None without one. Raises UserError."""
        return parse_moment(self.closes, ZoneInfo(self.zone), "closes") if self.closes else None

    def has_closed(self, now: datetime) -> bool:
        """Tell whether pushes wait and the final is due."""
        return (closing := self.closing) is not None and now >= closing

    def permissions(self, bot: str) -> BotPermissions:
        """Return the access that the organiser gave a bot."""
        return self.bots.get(bot, BotPermissions())


def parse_moment(text: str, zone: tzinfo, place: str) -> datetime:
    """Read a time of a person, in `zone` unless it names another. Raises UserError at `place`."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or zone)
    except ValueError:
        raise UserError(f"{place}: a time is written as 2026-11-22T10:00, not {text!r}.") from None


def load_settings(path: Path) -> LeagueSettings:
    """Read league.toml. Raises UserError with the file and the path inside it."""
    settings = load_toml(path, LeagueSettings)
    try:
        ZoneInfo(settings.zone)
    except (OSError, ValueError, LookupError):
        raise UserError(f"{path}: zone: no time zone is called {settings.zone!r}.") from None
    try:
        check_names_differ("divisions", [division.name for division in settings.divisions])
        _ = settings.closing
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    for name in settings.house:
        if name not in sample_bots():
            raise UserError(f"{path}: {unknown_name('sample bot in house:', name, sample_bots())}")
    baselines = [("grades", name) for name in settings.grades if name != NO_BASELINE]
    for field, name in (("anchor", settings.anchor.name), *baselines):
        if name not in settings.house:
            raise UserError(
                f"{path}: {unknown_name(f'house bot in {field}:', name, settings.house)}"
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


# `boneyard new league DIR`: a league to start from.


EXAMPLE_BOT = "example"
"""Name of the bot that authors copy."""
TEMPLATE = Path(__file__).parent / "template"
LEAGUE_FILES = {
    "bots/README.md": "README.md",
    "bots/.gitignore": "gitignore",
    "league.toml": "league.toml",
}
"""The files of a new league, and their templates. The settings come last: a folder that has them
is a league with all its files."""


def make_league(path: Path) -> int:
    """Write the settings of a new league and a bot to copy; return the exit code.

    Called again, it writes what is missing. Raises UserError if there is a league.
    """
    league = LeagueFolder(path)
    if league.settings.exists():
        raise UserError(f"{shown_path(path)} has a league already: {league.settings.name}.")
    try:
        league.bots.mkdir(parents=True, exist_ok=True)
        if not (league.bots / EXAMPLE_BOT).exists():
            make_bot("python", EXAMPLE_BOT, league.bots)
        for name, template in LEAGUE_FILES.items():
            if not (path / name).exists():
                write_atomic(path / name, [(TEMPLATE / template).read_bytes()])
    except OSError as error:
        raise UserError(f"{error.filename or path} cannot be written: {error.strerror}.") from error
    place = shown_path(path)
    print_line(f"Made the league in {place}: its settings are in {shown_path(league.settings)}.")
    print_line(f"Bots come into {shown_path(league.bots)}; README.md there tells authors how.")
    print_line("They run in WebAssembly (sealed): Python, JavaScript, *.wasm.")
    print_line(f"Run it with `boneyard league {place}`; its pages come into {place}/site.")
    return 0
