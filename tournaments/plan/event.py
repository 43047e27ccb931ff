"""The plan of a tournament: as its user writes it, as it is played, as its folder keeps it."""

import operator
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args

from msgspec import UNSET, Meta, Struct, to_builtins

from arena.engine.deal import count_set_rounds, first_hands
from arena.rules.english import count_in_digits, join_words
from arena.rules.load import load_toml
from arena.sandbox.command import Address, Limits, SandboxMode, VariableName
from arena.sealed.module import check_clock, is_module
from protocol.codec import DamagedRecordError, decode_json, indented_json
from protocol.errors import UserError, unknown_name
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.ruleset import Ruleset, SeatCount, Tile, check_seats, playable_seat_counts
from protocol.validation import convert_or_explain
from tournaments.formats.base import Contest, Entrant, VersionName
from tournaments.formats.entrant import OwnClock, Parameter, own_or, split_clock
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.formats.tables import Gauntlet, Ladder, Matches, RoundRobin
from tournaments.formats.tune import Tune
from tournaments.formats.versus import Versus
from tournaments.rating.sprt import MAX_EVENT_BOARDS
from tournaments.rating.tables import Anchor, parse_anchor

# Filters of deals: `doubles>=4` keeps boards whose first deal has four doubles in a hand. Pure.


Hands = Sequence[Sequence[Tile]]


def _doubles(hand: Sequence[Tile]) -> int:
    return sum(high == low for high, low in hand)


def _suit(hand: Sequence[Tile]) -> int:
    pips = {pip for tile in hand for pip in tile}
    return max((sum(pip in tile for tile in hand) for pip in pips), default=0)


def _pips(hand: Sequence[Tile]) -> int:
    return sum(map(sum, hand))


MEASURES: Mapping[str, tuple[str, Callable[[Hands], int]]] = {
    "doubles": ("the most doubles in a hand", lambda hands: max(map(_doubles, hands))),
    "suit": ("the most tiles of one number in a hand", lambda hands: max(map(_suit, hands))),
    "pips": ("the pips of the heaviest hand", lambda hands: max(map(_pips, hands))),
    "spread": (
        "the difference between the heaviest and the lightest hand, in pips",
        lambda hands: max(map(_pips, hands)) - min(map(_pips, hands)),
    ),
}
"""Numbers that a filter compares: their meaning, and how they are computed."""
COMPARISON_SIGNS: Mapping[str, tuple[str, Callable[[int, int], bool]]] = {
    ">=": ("at least", operator.ge),
    "<=": ("at most", operator.le),
    "=": ("exactly", operator.eq),
}
_FORM = re.compile(r"\s*([a-z_]+)\s*(>=|<=|=)\s*([0-9]{1,4})\s*")


class DealFilter(NamedTuple):
    """A condition on the hands of a board's first deal."""

    measure: str
    sign: str
    number: int

    def accepts(self, hands: Hands) -> bool:
        """Tell whether these hands satisfy the condition."""
        (_, compare), (_, measured) = COMPARISON_SIGNS[self.sign], MEASURES[self.measure]
        return compare(measured(hands), self.number)


def parse_filter(text: str) -> DealFilter:
    """Return the filter that a user wrote, as in doubles>=4. Raises UserError."""
    match = _FORM.fullmatch(text)
    if not match:
        raise UserError(
            f"A filter of deals is a measure, >=, <= or =, and a number, not {text!r}: doubles>=4."
        )
    measure, sign, number = match.groups()
    if measure not in MEASURES:
        raise unknown_name("measure of deals", measure, MEASURES)
    return DealFilter(measure, sign, int(number))


def describe_filter(text: str) -> str:
    """Return the meaning of a filter: the most doubles in a hand: at least 4."""
    deal_filter = parse_filter(text)
    measure, sign = MEASURES[deal_filter.measure][0], COMPARISON_SIGNS[deal_filter.sign][0]
    return f"{measure}: {sign} {deal_filter.number}"


# Boards that have the same deal, however it is written. Pure.


DealKeys = Collection[Hashable]
"""The keys that two boards share if they have a deal in common."""


def deal_keys(rules: Ruleset, seats: int, seeds: Mapping[int, bytes]) -> dict[int, DealKeys]:
    """Return the keys of each board's deals: the hands of its first round and of all set rounds.

    A hand is a set of tiles, and a deal a set of hands: a board is played from all seats. The order
    of the boneyard is left out, because what was never drawn of it would make one deal two.
    """
    rounds = {board: count_set_rounds(rules, seed) for board, seed in seeds.items()}
    # A seed that sets nothing may be the one from whose deals a set board was copied.
    most = max(rounds.values(), default=0) or 1
    return {
        board: {
            frozenset(map(frozenset, first_hands(rules, seats, seed, number)))
            for number in range(1, (rounds[board] or most) + 1)
        }
        for board, seed in seeds.items()
    }


def first_with_deal(keys: Mapping[int, DealKeys]) -> dict[int, int]:
    """Return for each board the first that shares a deal with it, directly or through others."""
    parent = {board: board for board in keys}

    def first_of(board: int) -> int:
        while parent[board] != board:
            parent[board] = board = parent[parent[board]]
        return board

    owner: dict[Hashable, int] = {}
    for board in sorted(keys):
        for key in keys[board]:
            low, high = sorted((first_of(owner.setdefault(key, board)), first_of(board)))
            parent[high] = low
    return {board: first_of(board) for board in keys}


def repeated_deals(rules: Ruleset, seats: int, seeds: Mapping[int, bytes]) -> dict[int, int]:
    """Return the boards that repeat a deal, each with the first board that has it."""
    first = first_with_deal(deal_keys(rules, seats, seeds))
    return {board: first[board] for board in sorted(first) if first[board] != board}


# The formats: each that is added here can be chosen in every event.


ChosenFormat: TypeAlias = RoundRobin | Gauntlet | Ladder | Swiss | Knockout | Versus | Matches
"""A format that a user chooses by its name."""
Format: TypeAlias = ChosenFormat | Tune
"""A format of an event; a tune is that of an event file with parameters."""

FORMATS: dict[str, ChosenFormat] = {
    form.name: form for form in (kind() for kind in get_args(ChosenFormat))
}
"""Every format that can be chosen, with its default settings, by its name in an event file."""


# --- the plan ---


# In Python $ stands before a newline at the end too; \Z, which does not, is not JSON Schema's.
# A - in front is an option to programs, and a formula to spreadsheets.
ENTRANT = r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,39}(?!\n)$"
NAME_WORDS = "1 to 40 letters a to z, digits, _ or -, and no - in front"
EntrantName = Annotated[str, Meta(pattern=ENTRANT, description=NAME_WORDS)]
TITLE_PATTERN = r"^[^\x00-\x1f\x7f]{0,80}(?!\n)$"
Title = Annotated[str, Meta(pattern=TITLE_PATTERN, description="up to 80 characters in one line")]
NAMELESS = ("run", "event")
"""Names of events to which their user gave none."""
HEADING_BOTS = 4
"""Bots that stand in the heading of an event without a name."""
Boards = Annotated[int, Meta(ge=1, le=MAX_EVENT_BOARDS)]


class Terms(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan without its entrants: nothing in it depends on the machine that plays it."""

    name: EntrantName
    """Name of the event; part of every deal's seed."""
    title: Title = ""
    """Title for its readers; without one, they see the name, or who plays what."""
    rules: Ruleset
    seats: SeatCount
    boards: Boards
    """Boards that each pairing plays, each in every seating; with versus the most."""
    boards_a_sitting: Annotated[int, Meta(ge=1, le=1000)]
    """Boards that one set of processes plays."""
    format: Format = RoundRobin()
    teams: tuple[tuple[VersionName, VersionName], ...] = ()
    """Fixed partners, by name; without any, partners are mixed."""
    clock: Clock
    fouls: FoulPolicy
    sandbox: SandboxMode
    """The sandbox that the user asked for; each log records the level that was used."""
    limits: Limits
    anchor: Anchor | None = None
    """The entrant whose rating is fixed beforehand; without one, the mean of the core is 0."""
    predictable: bool
    """True if the user chose the seed of the secret: then anyone can know the deals."""
    deals_set: bool = False
    """True if the organiser set the deals (`--deals`), who therefore knew them."""
    deals_with: tuple[str, ...] = ()
    """Filters that the first deal of each board satisfies, as doubles>=4."""
    position: str = ""
    """The position from which every game goes on, in one line; empty: games begin with a deal."""
    repeats: tuple[tuple[Boards, Boards], ...] = ()
    """Boards that repeat a deal, each with the first board that has it."""


class Event(Terms, Contest, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole plan, as it is played."""

    entrants: tuple[Entrant, ...]
    """Bots that play, and versions that played before them."""

    def __post_init__(self) -> None:
        """Refuse a plan that cannot be played. Raises UserError."""
        active = [entrant for entrant in self.entrants if not entrant.is_replaced]
        if len(active) < self.seats and not self.teams:
            missing = (self.seats - len(active)) * ["greedy"]
            words = " ".join([*(entrant.name for entrant in active), *missing])
            raise UserError(
                f"A table of {self.seats} needs {self.seats} bots. Name more, as in: "
                f"boneyard run {words}"
            )
        for text in (self.title, self.rules.name):
            # A stranger's event is read too: its texts must not steer a terminal.
            if not text.isprintable():
                raise UserError(f"A title or a name of rules has a control character: {text!r}.")
        names = [entrant.name for entrant in self.entrants]
        check_names_differ("bots", names)
        if self.anchor and self.anchor.name not in names:
            raise unknown_name("entrant in anchor:", self.anchor.name, names)
        check_seats(self.rules, self.seats)
        for filter_text in self.deals_with:
            parse_filter(filter_text)
        if self.deals_set and self.deals_with:
            raise UserError("A filter (deals_with) is for drawn deals, and these are set (deals).")
        for bot in self.entrants:
            if bot.clock:
                check_clock(bot.name, bot.command.argv, bot.clock.is_effort)
        if self.clock.effort and not self.is_sealed(any):
            raise UserError("clock.effort is for sealed bots, and none plays (--sealed).")
        self._check_teams([entrant.name for entrant in active])
        self.format.check(self)
        left = sum(not self.has_withdrawn(unit) for unit in self.units)
        if left < self.units_a_table and left < len(self.units):
            kind = "team" if self.teams else "bot"
            raise UserError(
                f"{count_in_digits(left, kind)} would be left, too few for a table of "
                f"{self.units_a_table}: nobody else can withdraw (withdrawn)."
            )
        if self.all_boards > MAX_EVENT_BOARDS:
            raise UserError(
                f"The event has {self.all_boards:,} boards in all rounds; at most "
                f"{MAX_EVENT_BOARDS:,} are possible (boards)."
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
        bot = self.entrants[entrant]
        return own_or(bot.clock, self.clock, bot.command)

    @property
    def sandbox_here(self) -> SandboxMode:
        """The sandbox that its bots need: sealed bots are locked in without one."""
        return "auto" if self.sandbox == "require" and self.is_sealed(all) else self.sandbox

    def is_sealed(self, quantifier: Callable[[Iterable[bool]], bool]) -> bool:
        """Tell whether any, or all, of its bots are modules of WebAssembly."""
        return quantifier(is_module(entrant.command.argv) for entrant in self.entrants)

    @property
    def heading(self) -> str:
        """Title for readers: the user's, or the name, or who plays what."""
        if self.title or self.name not in NAMELESS:
            return self.title or self.name
        names = [entrant.name for entrant in self.entrants if not entrant.retired]
        players = f"{len(names)} bots" if len(names) > HEADING_BOTS else join_words(names)
        return f"{players}: {self.rules.name}"

    @property
    def emblems(self) -> dict[str, int]:
        """Number of the emblem of each entrant, the same on every page of the event."""
        return {
            entrant.name: place if entrant.emblem is UNSET else entrant.emblem
            for place, entrant in enumerate(self.entrants)
        }

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


def check_names_differ(kind: str, names: Sequence[str]) -> None:
    """Refuse names that name the same file, on a system that does not tell capitals apart too.

    Raises UserError. `kind`: what is called so, as `bots`.
    """
    names_by_key: dict[str, str] = {}
    for name in names:
        other = names_by_key.setdefault(name.casefold(), name)
        if other != name:
            raise UserError(
                f"Two {kind} are called {other!r} and {name!r}: some systems do not tell capitals "
                "apart in names of files. Rename one."
            )
    if len(names_by_key) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Two {kind} are called {double!r}. Names must be different.")


def describe_withdrawals(event: Event) -> Iterator[str]:
    """Yield a sentence for each entrant that has withdrawn."""
    for bot in event.entrants:
        if bot.withdrawn_after is not UNSET:
            begun = f"after board {bot.withdrawn_after}" if bot.withdrawn_after else "at the start"
            yield f"{bot.name} withdrew {begun}: it plays no more, and its results stay."


def describe_repeats(event: Event) -> str:
    """Say how many boards repeat a deal; empty if none does."""
    return repeats_sentence(len(event.repeats), event.all_boards)


def repeats_sentence(repeats: int, boards: int) -> str:
    """Say how many of these boards repeat a deal; empty if none does."""
    if not repeats:
        return ""
    return f"{repeats} of {boards} boards repeat a deal: all boards with one deal count as one."


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


EVENT_SUFFIX = ".toml"
"""The ending of an event file; any other word on the command line is a bot."""
CommandWord = Annotated[
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


IgnoredFiles = Annotated[
    tuple[Annotated[CommandWord, Meta(min_length=1, max_length=100)], ...], Meta(max_length=20)
]


class WrittenBot(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot in an event file."""

    name: EntrantName
    """Name in the tables; without `run` and `bot` also the name of a listed bot."""
    run: tuple[CommandWord, ...] = ()
    """Program and arguments; {python} and {build} are placeholders that we fill in."""
    build: tuple[CommandWord, ...] = ()
    """A command that builds the bot first, outside any sandbox: the organiser runs it."""
    folder: CommandWord | None = None
    """A folder of the bot's own: both commands run in it, and the bot may read all of it. Without
    one they run in the event file's folder, and the bot may read the files its command names."""
    reads: tuple[CommandWord, ...] = ()
    """Further files and folders that the bot may read."""
    bot: str | None = None
    """Name of a sample bot, or of a folder with a bot.toml, if `name` is another; without `run`."""
    arguments: tuple[CommandWord, ...] = ()
    """Words that follow a listed bot's command, such as --worlds 25; without `run`."""
    network: tuple[Address, ...] = ()
    """Addresses that it may reach: `host:port`; for locked bots only."""
    environment: tuple[VariableName, ...] = ()
    """Variables that it gets from Boneyard's environment, such as API_KEY; for locked bots only.
    Their values are in no file, message or log."""
    clock: OwnClock | None = None
    """A clock of its own: it is then called `name@200ms` in the tables."""
    ignore: IgnoredFiles = ()
    """Files of its folder that it does not read, as in bot.toml."""
    sealed: bool = False
    """True to run this Python bot inside WebAssembly, where its time is counted in instructions."""


class Setting(NamedTuple):
    """An option of `boneyard run` that writes a field of the event file, and explains it."""

    section: str
    help: str
    name: str = ""
    """The option's name, if it is not the field's."""
    subpath: tuple[str, ...] = ()
    """The path below the field to the setting that is written."""
    metavar: str | None = None
    flag: str | None = None
    """The value that the option writes, if it takes none."""
    usual: bool = False
    """True if `run --help` shows it, not only `run --help-all`."""


GAME_SECTION, DEALS_SECTION, FORMAT_SECTION, MACHINE_SECTION = "Game", "Deals", "Format", "Machine"
"""Sections of the help text of `boneyard run`."""
ASK_FORCED = "Also ask if there is one option: slower, but the timing reveals no hands."
EFFORT = "Of sealed bots: million instructions for each question.  [as many as ms]"
CHALLENGERS = "gauntlet [the first bot], ladder [the last]: bot that meets the field; repeatable."
WITHOUT_LUCK = (
    "versus: take the luck of the tiles out of the points; mostly fewer boards are needed."
)
DEALS_WITH = (
    "Draw only deals such as doubles>=4: doubles, suit or pips in a hand, or spread of pips."
)
FROM_HELP = (
    "Go on from a position in one line, or a question of a game, [FOLDER/]GAME:QUESTION[:SEAT]; "
    "the seed draws hidden tiles anew."
)
SANDBOX_HELP = (
    "auto: the best that this machine supports; require: bots run in a sandbox, or nothing is "
    "played; off: plain processes. See `boneyard doctor`.  [default: auto]"
)
SEALED_HELP = (
    "Run the bots (Python, JavaScript, *.wasm) in WebAssembly: no files, no network, the same game "
    "anywhere; a ms is a million instructions."
)


class WrittenEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """An event file; the options of `boneyard run` write the fields that have a Setting."""

    bots: tuple[WrittenBot, ...]
    name: EntrantName | None = None
    out: CommandWord | None = None
    """The event's folder, as a path from the event file's; without one `runs/NAME` in the working
    folder, with the event's name or else the file's."""
    title: Annotated[Title, Setting(GAME_SECTION, "Title of the event, for its readers.")] = ""
    rules: Annotated[
        str | dict[str, Any],
        Setting(
            GAME_SECTION, "A named game or your own file; see `boneyard rules`.  [draw]", usual=True
        ),
    ] = "draw"
    """In a file also a table: `base` and the settings that differ from it."""
    seats: Annotated[
        SeatCount | None,
        Setting(GAME_SECTION, "Seats at a table.  [default: the fewest possible]", usual=True),
    ] = None
    boards: Annotated[
        Boards | None,
        Setting(
            GAME_SECTION,
            "Boards for each pairing; with versus the most.  [50, or all set]",
            usual=True,
        ),
    ] = None
    deals: Annotated[
        CommandWord | None,
        Setting(
            DEALS_SECTION,
            "Play the deals of this file, a board a line; see `boneyard help events`.",
        ),
    ] = None
    deals_from: Annotated[
        tuple[CommandWord, CommandWord] | None,
        Setting(
            DEALS_SECTION,
            "Play the deals of a game of a folder or log, or all.",
            metavar="FOLDER GAME",
        ),
    ] = None
    deals_with: Annotated[
        tuple[str, ...], Setting(DEALS_SECTION, DEALS_WITH, metavar="FILTER")
    ] = ()
    position: Annotated[str, Setting(GAME_SECTION, FROM_HELP, "from", metavar="POSITION")] = ""
    """The position from which every game goes on, in one line; it names the rules."""
    format: Annotated[
        Format,
        Setting(
            FORMAT_SECTION,
            "Format of the event.  [default: round-robin]",
            "",
            ("type",),
            usual=True,
        ),
        Setting(FORMAT_SECTION, "swiss: rounds.  [5]", "rounds", ("rounds",)),
        Setting(FORMAT_SECTION, CHALLENGERS, "challenger", ("challengers",), metavar="BOT"),
        Setting(FORMAT_SECTION, "versus: the lead if not better.  [0]", "h0", ("sprt", "h0")),
        Setting(FORMAT_SECTION, "versus: the lead if better.  [20]", "h1", ("sprt", "h1")),
        Setting(
            FORMAT_SECTION, "versus: unit of --h0 and --h1.  [elo]", "measure", ("sprt", "measure")
        ),
        Setting(FORMAT_SECTION, WITHOUT_LUCK, "without_luck", ("sprt", "without_luck")),
    ] = RoundRobin()
    teams: tuple[tuple[str, str], ...] = ()
    """Fixed partners, by the names of their bots; without any, partners are mixed."""
    clock: Annotated[
        Clock,
        Setting(
            GAME_SECTION, "Time for each question, in ms.", "move_ms", ("move_ms",), usual=True
        ),
        Setting(GAME_SECTION, "Time for the hello, in ms.", "start_ms", ("start_ms",)),
        Setting(GAME_SECTION, ASK_FORCED, "ask_forced", ("forced",), flag="ask"),
        Setting(GAME_SECTION, EFFORT, "effort", ("effort",)),
    ] = Clock()
    fouls: FoulPolicy = FoulPolicy()
    fresh_boards: Annotated[
        bool,
        Setting(FORMAT_SECTION, "Let bots that enter later play on boards that nobody has seen."),
    ] = False
    sandbox: Annotated[SandboxMode, Setting(MACHINE_SECTION, SANDBOX_HELP, usual=True)] = "auto"
    sealed: Annotated[bool, Setting(MACHINE_SECTION, SEALED_HELP, usual=True)] = False
    limits: Limits = Limits()
    withdrawn: tuple[str, ...] = ()
    """Names of bots that play no more; their results stay, and their files may be gone."""
    anchor: Annotated[
        Anchor | None,
        Setting(FORMAT_SECTION, "Give a bot this rating; later runs keep it.", metavar="NAME=ELO"),
    ] = None
    tune: dict[ParameterName, Parameter] = {}
    """Parameters of the only bot, for which the run searches better values: each stands as {name}
    in its command."""
    seed: int | None = None
    """The seed of all deals, for tests and demonstrations: anyone can then predict them."""
    luck: Annotated[
        bool, Setting("", "Then rate the bots with the luck of the tiles taken out, too.")
    ] = False

    def seats_at_table(self, rules: Ruleset) -> int:
        """Return the seats at a table of these rules; without a number, the usual one."""
        return self.seats or (4 if self.teams else playable_seat_counts(rules)[0])


def written_event(path: Path | None, overrides: Mapping[str, Any] | None = None) -> WrittenEvent:
    """Read an event file, with fields of the command line in the place of its own.

    A bot may be written as a string, its name, or with a clock `mine@200ms`, and an anchor as
    `mine=1500`. Without a file the bots are still missing. Raises UserError with the file and the
    path inside it.
    """
    if path is None:
        fields = _in_full(_merged({"bots": []}, overrides or {}))
        event: WrittenEvent = convert_or_explain(fields, WrittenEvent)
    else:
        event = load_toml(path, WrittenEvent, _in_full)
        if overrides:
            event = load_toml(path, WrittenEvent, lambda table: _in_full(_merged(table, overrides)))
    return event


def _merged(fields: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event's fields with those that are given in their place.

    Raises UserError for a setting that the format does not have.
    """
    form, new = fields.get("format"), overrides.get("format")
    if not new:
        return _laid_over(fields, overrides)
    kind = new.get("type") or (form.get("type") if isinstance(form, dict) else RoundRobin().name)
    for name in new:
        if name != "type" and kind in FORMATS and name not in FORMATS[kind].__struct_fields__:
            more = ", and --boards for how much is played" if name == "rounds" else ""
            raise UserError(
                f"{_options_below(name)}: a {kind} has no such choice; see --format{more}."
            )
    if isinstance(form, dict) and form.get("type") != kind:
        fields = {name: value for name, value in fields.items() if name != "format"}
    return _laid_over(fields, {**overrides, "format": {**new, "type": kind}})


def _options_below(name: str) -> str:
    """Return the options that write a setting of a format, or below it."""
    settings = WrittenEvent.__annotations__["format"].__metadata__
    return ", ".join(f"--{s.name.replace('_', '-')}" for s in settings if s.subpath[0] == name)


def _laid_over(fields: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` with those of `overrides` in their place, in each table of both likewise."""
    both = {**fields, **overrides}
    for name in fields.keys() & overrides.keys():
        if isinstance(fields[name], dict) and isinstance(overrides[name], dict):
            both[name] = _laid_over(fields[name], overrides[name])
    return both


def _in_full(fields: dict[str, Any]) -> dict[str, Any]:
    """Spell out the short forms of an event file. Raises UserError."""
    bots, anchor = fields.get("bots"), fields.get("anchor")
    if isinstance(bots, list):
        fields = fields | {
            "bots": [_bot_in_full(bot) if isinstance(bot, str) else bot for bot in bots]
        }
    return (
        fields | {"anchor": to_builtins(parse_anchor(anchor))}
        if isinstance(anchor, str)
        else fields
    )


def _bot_in_full(word: str) -> dict[str, Any]:
    name, clock = split_clock(word)
    return {"name": name, "clock": to_builtins(clock)} if clock else {"name": name}
