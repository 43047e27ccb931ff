"""The plan of a tournament as its user writes it: an event file, and the bots in it."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from arena.rules.toml_file import load_toml
from arena.sandbox.command import Address, VariableName
from arena.sandbox.limits import Limits, SandboxMode
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.ruleset import Ruleset, Seats, playable_seat_counts
from tournaments.formats.own_clock import OwnClock, split_clock
from tournaments.formats.registry import Format
from tournaments.formats.round_robin import RoundRobin
from tournaments.plan.event import Boards, EntrantName, Title
from tournaments.rating.anchor import Anchor
from tournaments.tuning.parameters import Parameter

SUFFIX = ".toml"
"""The ending of an event file; any other word on the command line is a bot."""
Word = Annotated[
    str, Meta(pattern=r"^[^\x00]*\Z", description="text in quotes, without a zero character")
]
"""A word of a command, or a path: the system ends both at a zero character."""
ParameterName = Annotated[
    str,
    Meta(
        pattern=r"^(?!(python|build)\Z)[A-Za-z_][A-Za-z0-9_]{0,31}\Z",
        description="up to 32 letters, digits or _, a letter first, and neither python nor build",
    ),
]


class WrittenBot(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot in an event file."""

    name: EntrantName
    """Name in the tables; without `run` and `bot` also the name of a listed bot."""
    run: tuple[Word, ...] = ()
    """Program and arguments; {python} and {build} are placeholders that we fill in."""
    build: tuple[Word, ...] = ()
    """A command that builds the bot first, outside any sandbox: the organiser runs it."""
    folder: Word | None = None
    """A folder of the bot's own: both commands run in it, and the bot may read all of it. Without
    one they run in the event file's folder, and the bot may read the files its command names."""
    reads: tuple[Word, ...] = ()
    """Further files and folders that the bot may read."""
    bot: str | None = None
    """Name of a sample bot, or of one in a bots.toml, that is called `name` here; without `run`."""
    arguments: tuple[Word, ...] = ()
    """Words that follow a listed bot's command, such as --worlds 25; without `run`."""
    network: tuple[Address, ...] = ()
    """Addresses that it may reach: `host:port`; at sandbox levels A and B only."""
    environment: tuple[VariableName, ...] = ()
    """Variables that it gets from Boneyard's environment, such as API_KEY; at levels A and B only.
    Their values are in no file, message or log."""
    clock: OwnClock | None = None
    """A clock of its own: it is then called `name@200ms` in the tables."""


class WrittenEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """An event file."""

    bots: tuple[WrittenBot, ...]
    """Bots that play."""
    name: EntrantName | None = None
    out: Word | None = None
    """The event's folder, beside the event file; without one `runs/` and the name, or that of the
    file, in the working folder."""
    title: Title = ""
    """Title for readers: in the report, on its pages, in the terminal."""
    rules: str | dict[str, Any] = "draw"
    """A named game, a file of rules, or `base` and the settings that differ from it."""
    seats: Seats | None = None
    """Seats at a table; without a number, as few as the rules allow."""
    boards: Boards | None = None
    """Boards that each pairing plays, each in every seating; 50 without a number."""
    deals: Word | None = None
    """A file with the deals, a board a line; without one they are drawn at random."""
    deals_from: tuple[Word, Word] | None = None
    """An event's folder, or a log, and a game, or all: the deals are taken from there."""
    deals_with: tuple[str, ...] = ()
    """Filters: only deals that satisfy them are drawn, as doubles>=4."""
    format: Format = RoundRobin()
    """The format, which decides who meets whom."""
    teams: tuple[tuple[str, str], ...] = ()
    """Fixed partners, by the names of their bots; without any, partners are mixed."""
    clock: Clock = Clock()
    """Time that bots have to answer."""
    fouls: FoulPolicy = FoulPolicy()
    """Cost of a foul."""
    fresh_boards: bool = False
    """True if bots that join a begun event play only boards whose deals nobody has seen."""
    sandbox: SandboxMode = "auto"
    """auto: the best level that this machine proves; require: A or B, or no game; off: none."""
    limits: Limits = Limits()
    """Limits of each bot's memory and processes."""
    anchor: Anchor | None = None
    """The bot whose rating is fixed beforehand; without one, the mean of the core is 0."""
    tune: dict[ParameterName, Parameter] = {}
    """Parameters of the only bot, for which `boneyard tune` searches better values: each stands as
    {name} in its command."""
    luck: bool = False
    """True if the report also has ratings and margins with the luck of the draw taken out."""

    def seats_at_table(self, rules: Ruleset) -> int:
        """Return the seats at a table of these rules; without a number, the usual one."""
        return self.seats or (4 if self.teams else playable_seat_counts(rules)[0])


def read_event_file(path: Path) -> WrittenEvent:
    """Read an event file; a bot may be written as a string: its name, or with a clock `mine@200ms`.

    Raises UserError with the file and the path inside it.
    """
    return load_toml(path, WrittenEvent, _bots_in_full)


def _bots_in_full(said: dict[str, Any]) -> dict[str, Any]:
    bots = said.get("bots")
    if not isinstance(bots, list):
        return said
    return said | {"bots": [_in_full(bot) if isinstance(bot, str) else bot for bot in bots]}


def _in_full(word: str) -> dict[str, Any]:
    name, clock = split_clock(word)
    return {"name": name, "clock": to_builtins(clock)} if clock else {"name": name}
