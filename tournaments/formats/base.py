"""The questions that every format answers, and two bases: fixed tables, dependent rounds. Pure."""

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import comb
from typing import Annotated, ClassVar, NamedTuple, Protocol, Self, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from arena.document.blocks import Cell, Column, Media, Section
from arena.document.blocks import table as to_table
from arena.rules.english import count_in_digits, join_words
from arena.sandbox.command import Command
from protocol.errors import UserError
from protocol.records import Result
from protocol.ruleset import Ruleset, count_sides, rotations, side_of, target
from tournaments.formats.entrant import CLOCK_PATTERN, OwnClock, Values
from tournaments.rating.sprt import MAX_EVENT_BOARDS
from tournaments.rating.tables import Corrections, half_points

# The questions that every format answers, and the part of an event that it looks at. Pure.


R = TypeVar("R", bound=Iterable[Result])
VersionName = Annotated[
    str,
    Meta(
        pattern=rf"^[A-Za-z0-9_][A-Za-z0-9_-]{{0,39}}(@{CLOCK_PATTERN})?(@[1-9][0-9]{{0,3}})?(?!\n)$"
    ),
]
"""`mine` is the first version of an entrant, `mine@2` the second; `mine@200ms` and `mine@200ms@2`
have a clock of their own."""
MAX_STAGE_GAMES = 2_000_000
"""Most games of a stage: it is planned at once, and takes some 500 bytes for each."""
USUAL_BOARDS = 50
"""Boards of an event that names no number."""

Unit = tuple[int, ...]
"""Entrants that play as one: a single entrant (its index), or a team of two."""
UnitMeeting = tuple[Unit, ...]
"""The units at a table."""
LinkToGames = Callable[..., str]
"""A function that returns the address of the games in which all these entrants sat."""


class Pairings(NamedTuple):
    """Tables that all play the same boards."""

    days: Iterable[Sequence[UnitMeeting]]
    """The tables, in days, to be read once; any prefix is as balanced as it can be."""
    boards: range
    values: Mapping[Unit, Values] = {}
    """Values of parameters with which units play there; see `tournaments.formats.tune`."""


class LuckSource(Protocol):
    """A source of the luck of an event's games."""

    played: Callable[[], Collection[Result]]
    """The results of all games so far."""

    @property
    def has_luck(self) -> bool:
        """True if luck can be computed by the rules of the event."""

    def corrections(self, results: Iterable[Result]) -> Corrections:
        """Return the luck to take out of each game of which it is known. Raises UserError."""

    def compute(self, results: Iterable[Result]) -> Corrections:
        """Return the luck to take out of each game, after computing it. Raises UserError."""


def luck_of(results: object) -> LuckSource | None:
    """Return the source of luck that comes with results; None with a plain list."""
    source: LuckSource | None = getattr(results, "luck", None)
    return source


def find_luck(results: Iterable[Result]) -> Corrections | None:
    """Compute the luck of each game while no game is in play; None where no tile is drawn."""
    luck = luck_of(results)
    return luck.compute(results) if luck and luck.has_luck else None


def with_known_luck(results: Iterable[Result]) -> tuple[list[Result], Corrections | None]:
    """Return the games of known luck, and their luck; where no tile is drawn all games and None."""
    luck, games = luck_of(results), list(results)
    if luck is None or not luck.has_luck:
        return games, None
    corrections = luck.corrections(games)
    return [result for result in games if result.game in corrections], corrections


class SomeResults(list[Result]):
    """Results of an event, with the source of their luck."""

    def __init__(self, results: Iterable[Result], luck: LuckSource | None) -> None:
        super().__init__(results)
        self.luck = luck


class FinishedStages(Iterable[Result], Protocol):
    """The results of all stages that are over, and all with entrants that have withdrawn."""

    def latest(self) -> SomeResults:
        """Return the results of the last of them."""


class Entrant(Struct, frozen=True, forbid_unknown_fields=True):
    """A rated bot: a command, and the fingerprint of its files."""

    name: VersionName
    command: Command
    fingerprint: str
    """SHA-256 of the command and of the files that it names."""
    retired: bool = False
    """True if the entrant plays no more: another version took its place, or it has withdrawn."""
    first_board: Annotated[int, Meta(ge=1, le=MAX_EVENT_BOARDS)] = 1
    """The first board that the entrant plays; boards before it were public when the bot came."""
    clock: OwnClock | UnsetType = UNSET
    """Its own clock with both times; left out where it has the event's."""
    withdrawn_after: Annotated[int, Meta(ge=0, le=MAX_EVENT_BOARDS)] | UnsetType = UNSET
    """The last board that had begun when it withdrew, 0 before any; left out if it has not."""
    emblem: Annotated[int, Meta(ge=0, le=MAX_EVENT_BOARDS)] | UnsetType = UNSET
    """Number of its emblem on the pages of its league; left out where that is its place."""

    def __post_init__(self) -> None:
        """Refuse one that has withdrawn and plays on. Raises ValueError."""
        if self.withdrawn_after is not UNSET and not self.retired:
            raise ValueError("withdrawn_after belongs to an entrant that is retired")

    @property
    def is_replaced(self) -> bool:
        """True if another version took its place."""
        return self.retired and self.withdrawn_after is UNSET


def first_version(name: str) -> str:
    """Return an entrant's name before its files changed: that of `mine@200ms@2` is `mine@200ms`."""
    first, _, version = name.rpartition("@")
    return first if version.isdecimal() else name


def version_number(name: str) -> int:
    """Return the number of an entrant's version: 1 for `mine`, 2 for `mine@2`."""
    return int(name.removeprefix(first_version(name)).lstrip("@") or 1)


def plain_name(name: str) -> str:
    """Return an entrant's name without its clock and its version."""
    return name.partition("@")[0]


def renamed_units(units: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of units, `ada` or `ada+bob`, with other names of entrants."""
    return tuple("+".join(names.get(name, name) for name in unit.split("+")) for unit in units)


class Contest:
    """The part of an event that its format looks at."""

    __slots__ = ()

    rules: Ruleset
    seats: int
    boards: int
    """Boards that each pairing plays, each in every seating; with versus the most."""
    boards_a_sitting: int
    """Boards that one set of processes plays."""
    format: "BaseFormat"
    teams: tuple[tuple[str, str], ...]
    """Fixed partners, by name; without any, partners are mixed."""
    entrants: tuple[Entrant, ...]
    """Bots that play, and versions that played before them."""
    repeats: tuple[tuple[int, int], ...]

    @property
    def first_board_of(self) -> dict[int, int]:
        """For each board that repeats a deal the first board that has it: they are one board."""
        return dict(self.repeats)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Units of the present versions, in the order of the plan.

        Those that have withdrawn keep their places: so nobody else is paired or seated anew.
        """
        if not self.teams:
            return tuple((n,) for n, entrant in enumerate(self.entrants) if not entrant.is_replaced)
        index = {entrant.name: n for n, entrant in enumerate(self.entrants)}
        return tuple((index[name], index[other]) for name, other in self.teams)

    @property
    def units_a_table(self) -> int:
        """Number of units at a table."""
        return 2 if self.teams else self.seats

    def unit_name(self, unit: Unit) -> str:
        """Return the name of a unit: `ada`, or `ada+bob`."""
        return "+".join(self.entrants[entrant].name for entrant in unit)

    @property
    def target(self) -> int:
        """Points to which a game is played."""
        return target(self.rules, self.seats)

    @property
    def retired(self) -> frozenset[str]:
        """Names of the entrants that play no more."""
        return frozenset(entrant.name for entrant in self.entrants if entrant.retired)

    @property
    def replaced(self) -> frozenset[str]:
        """Names of the versions whose place another version took."""
        return frozenset(entrant.name for entrant in self.entrants if entrant.is_replaced)

    @property
    def withdrawn(self) -> frozenset[str]:
        """Names of the entrants that have withdrawn."""
        return self.retired - self.replaced

    def has_withdrawn(self, unit: Unit) -> bool:
        """Tell whether a unit, or one of its members, has withdrawn: nobody plays its tables."""
        return any(self.entrants[entrant].retired for entrant in unit)

    def boards_of(self, table: Iterable[Unit]) -> range:
        """Return the boards of a table: `boards` from the first that all its units play."""
        first = max(self.entrants[entrant].first_board for unit in table for entrant in unit)
        return range(first, first + self.boards)

    def rated(self, results: Sequence[Result]) -> Sequence[Result]:
        """Return the games by which entrants are rated, each put on the first board of its deal.

        So statistics that treat boards as independent treat deals as independent.
        """
        rated, first = self.format.rated(self, results), self.first_board_of
        if not first:
            return rated
        games = (replace(result, board=first.get(result.board, result.board)) for result in rated)
        return SomeResults(games, luck_of(rated))

    def active_results(self, results: R) -> R | list[Result]:
        """Return the games without replaced versions: they alone decide the pairings."""
        old = self.replaced
        if not old:
            return results
        return SomeResults((r for r in results if old.isdisjoint(r.seats)), luck_of(results))


class BaseFormat(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A format: it decides the pairings."""

    BOARDS_A_SITTING: ClassVar[int] = 25
    """Boards that one set of processes plays: enough to make the cost of starting them
    negligible."""
    IS_STATIC: ClassVar[bool] = False
    """True if the whole schedule is known before the first game."""
    EACH: ClassVar[str] = " a pairing"
    """The words after a number of boards: what plays so many, such as a pairing or a match."""
    HAS_COPIES: ClassVar[bool] = False
    """True if its entrants are one bot that plays in several ways."""
    ESTIMATE: ClassVar[str] = ""
    """The words before the time that is left, if not all planned games may be played."""

    @property
    def name(self) -> str:
        """Name in an event file."""
        return str(self.__struct_config__.tag)

    # --- to be planned ---

    def with_boards(self, option: int | None, file_boards: int | None) -> tuple[Self, int]:
        """Return the format, and the event's boards: of the command line, of the event file.

        Raises UserError.
        """
        return self, option or file_boards or USUAL_BOARDS

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the format with other names of entrants in its settings."""
        return self

    @property
    def takes_luck_out(self) -> bool:
        """True if the luck of the tiles is taken out of each game before it decides anything."""
        return False

    def check(self, contest: Contest) -> None:
        """Refuse entrants and seats that the format cannot pair. Raises UserError."""

    def check_size(self, contest: Contest) -> None:
        """Refuse a contest that is too large to plan. Raises UserError."""
        mixed = contest.rules.deal.partners and not contest.teams
        tables = self.count_fewest_tables(contest)
        games = tables * contest.boards * contest.seats * (3 if mixed else 1)
        if games > MAX_STAGE_GAMES:
            raise UserError(
                f"The event has at least {games:,} games; at most {MAX_STAGE_GAMES:,} can be "
                "planned at once. Choose fewer boards (boards) or a Swiss (format)."
            )

    @abstractmethod
    def count_fewest_tables(self, contest: Contest) -> int:
        """Return a lower bound of the tables of a stage."""

    def count_rounds(self, contest: Contest) -> int:
        """Return the number of rounds, each planned from the results before it."""
        return 1

    def boards_a_round(self, contest: Contest) -> int:
        """Return the most boards of a round."""
        return contest.boards

    # --- to be scheduled ---

    @abstractmethod
    def stages(self, contest: Contest, before: FinishedStages) -> Iterator[Sequence[Pairings]]:
        """Yield the tables of each stage, which follow from the results of the stages `before`.

        The next one is asked for only when the last one is over and its results are in `before`.
        """

    def count_later_games(self, contest: Contest, board: int, games: int) -> int:
        """Estimate the games after a stage with this last board and this number of games."""
        return 0

    def set_values(self, command: Command, values: Values) -> Command:
        """Return a bot's command with these values of its parameters; only a tune has any."""
        raise NotImplementedError

    # --- to be extended ---

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return why the new contest cannot extend an old one of this format; None if it can."""
        if type(new.format) is not type(self):
            return f"it is a {self.name}, which cannot become a {new.format.name} (format)"
        return None

    # --- to be forecast ---

    def expect_boards(self, contest: Contest, results: Sequence[Result]) -> int | None:
        """Estimate the boards until the end, if all are like these; None: all are played."""
        return None

    @property
    def unstopped(self) -> "BaseFormat":
        """A format of the same tables that plays all boards, whatever the results."""
        return self

    def describe_forecast(self, boards: int, most: int, rounds: int) -> str:
        """Describe the format and its boards: those expected, the most, and the rounds."""
        return f"{self.name}: {boards} boards{self.EACH}"

    # --- to be reported ---

    def rated(self, contest: Contest, results: Sequence[Result]) -> Sequence[Result]:
        """Return the games by which entrants are rated."""
        return results

    def describe_boards(self, contest: Contest) -> str:
        """Describe the number of boards."""
        return f"{count_in_digits(contest.boards, 'deal')}{self.EACH}"

    def introduce(self, contest: Contest) -> str:
        """Return what the format's name does not say, after a comma; mostly nothing."""
        return ""

    def find_winner(
        self, contest: Contest, results: Sequence[Result], is_over: bool
    ) -> tuple[str, str] | None:
        """Return the winner and the title, as a sentence; None before the end, or without one."""
        return None

    def describe_state(self, contest: Contest, results: Iterable[Result]) -> str:
        """Return the state of the format's question in a line; empty without a question."""
        return ""

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the winner, or the main result so far; `ranks` tells it by the ratings."""
        winner = self.find_winner(contest, results, is_over)
        return f"**{winner[0]}** {winner[1]}" if winner else ranks

    def describe_bias(self, contest: Contest, results: Sequence[Result]) -> str:
        """Say by how much the ratings err because results decided who plays on; mostly nothing."""
        return ""

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the sections of the report that only this format has."""
        yield from ()


# The base of formats whose rounds follow from the results of those before. Pure.


class DependentRounds(BaseFormat, frozen=True):
    """A format whose rounds follow from the results of those before, and from its field."""

    def count_fewest_tables(self, contest: Contest) -> int:
        """Return the number of tables of the first round."""
        return len(contest.units) // contest.units_a_table

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return why the new contest cannot extend an old one of this format; None if it can."""
        if why := super().why_not_extended(old, new):
            return why
        depend = f"the rounds of a {self.name} depend on"
        if changed := new.replaced ^ old.replaced:
            return f"bot {min(changed)} has changed, and {depend} those it played"
        if [entrant.name for entrant in old.entrants] != [entrant.name for entrant in new.entrants]:
            return f"{depend} the earlier ones, so its bots cannot change"
        if old.teams != new.teams:
            return "its teams cannot change (teams)"
        if old.boards != new.boards:
            return f"{depend} the earlier ones, so their boards cannot change (boards)"
        return None

    def describe_forecast(self, boards: int, most: int, rounds: int) -> str:
        """Describe the format and its boards: those expected, the most, and the rounds."""
        return f"{self.name}: {rounds} rounds, {boards} boards{self.EACH}"


Halves = Counter[Unit]
"""Half points of each unit: two for each opponent that it finished ahead of, one for a tie."""


def match_points(contest: Contest, results: Iterable[Result]) -> dict[frozenset[Unit], Halves]:
    """Return the half points that each table of units made, over all these games."""
    partners = contest.rules.deal.partners
    unit_of = {contest.entrants[entrant].name: unit for unit in contest.units for entrant in unit}
    met: defaultdict[frozenset[Unit], Halves] = defaultdict(Counter)
    for result in results:
        sides = count_sides(partners, len(result.seats))
        table = frozenset(unit_of[name] for name in result.seats)
        # List a unit without a point too.
        met[table].update(dict.fromkeys(table, 0))
        for seat, name in enumerate(result.seats):
            side = side_of(partners, seat)
            met[table][unit_of[name]] += half_points(result.places[:sides], side)
    return dict(met)


def is_complete(contest: Contest, table: Iterable[Unit], halves: int, boards: int) -> bool:
    """Tell whether a table has played all games on so many boards, by its units' half points."""
    seats = tuple(entrant for facing in zip(*table, strict=True) for entrant in facing)
    partners = contest.rules.deal.partners
    games = boards * len(rotations(seats)) * (3 if partners and not contest.teams else 1)
    # In each game each seat wins or loses a half point against each other side.
    return halves == games * len(seats) * (count_sides(partners, len(seats)) - 1)


def half(halves: int) -> str:
    """Format half points as people write them: 2½."""
    points = halves // 2
    return f"{points}" if halves % 2 == 0 else f"{points or ''}½"


# The base of formats whose tables follow from the entrants alone. Pure.


MOST_MIXED = 250
"""Most units at tables of three or more: choosing among all tables takes memory by the cube of
their number."""


class FixedTables(BaseFormat, frozen=True):
    """A format whose whole schedule is known before the first game."""

    IS_STATIC: ClassVar[bool] = True

    @abstractmethod
    def days(self, contest: Contest) -> Iterable[list[UnitMeeting]]:
        """Return the tables, in days."""

    def check_size(self, contest: Contest) -> None:
        """Refuse a contest that is too large to plan. Raises UserError."""
        units = len(contest.units)
        if contest.units_a_table > 2 and units > MOST_MIXED:
            raise UserError(
                f"{units} bots are too many for tables of {contest.units_a_table}: at most "
                f"{MOST_MIXED} can play. Choose a Swiss (format) or fewer bots."
            )
        super().check_size(contest)

    def count_fewest_tables(self, contest: Contest) -> int:
        """Return a lower bound of the tables: every two units meet."""
        return comb(len(contest.units), 2) // comb(contest.units_a_table, 2)

    def stages(self, contest: Contest, before: FinishedStages) -> Iterator[Sequence[Pairings]]:
        """Yield one stage: tables of the entrants that were there first, then of latecomers."""
        if len(firsts := {entrant.first_board for entrant in contest.entrants}) == 1:
            # Else each table is asked for its boards, which takes longer than all days.
            yield [Pairings(self.days(contest), range(min(firsts), min(firsts) + contest.boards))]
            return
        days = [*self.days(contest)]
        boards = {contest.boards_of(table) for day in days for table in day}
        yield [
            Pairings(
                [[table for table in day if contest.boards_of(table) == span] for day in days], span
            )
            for span in sorted(boards, key=lambda boards: boards.start)
        ]

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return a complaint if a table is gone, unless a retired version sat there."""
        if not isinstance(new.format, FixedTables):
            return super().why_not_extended(old, new)
        lost_tables = self._met(old) - new.format._met(new)
        for table in sorted(sorted(table) for table in lost_tables):
            if new.retired.isdisjoint(name for unit in table for name in unit.split("+")):
                why = new.format._why_lost(old, new)
                return f"{' and '.join(table)} would not meet any more ({why})"
        return None

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the teams with the highest win %, or the result by the ratings."""
        if not contest.teams or not results:
            return super().describe_lead(contest, results, is_over, ranks)
        scores = _team_scores(contest, results)
        (unit, score, games), *_ = scores
        if len(tied := [contest.unit_name(row[0]) for row in scores if row[1] == score]) > 1:
            return f"{join_words(tied)} share the highest win %: {100 * score:.1f}."
        win = f"{100 * score:.1f} in {games:,} games"
        return f"**{contest.unit_name(unit)}** has the highest win %: {win}."

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the table of the teams, if there are teams."""
        if contest.teams and results:
            columns = [Column("#", "rank"), Column("team", "name")]
            columns += map(Column, ("games", "win %"))
            rows: list[tuple[str | Cell, ...]] = [
                (
                    f"{place}",
                    # One of the partners is enough, because they sit together.
                    Cell(contest.unit_name(unit), href=link(contest.entrants[unit[0]].name)),
                    *(f"{games}", f"{100 * score:.1f}"),
                )
                for place, (unit, score, games) in enumerate(_team_scores(contest, results), 1)
            ]
            blocks = [to_table("Teams", columns, rows)]
            yield Section("Teams", blocks, id="teams", titled=Media.FILES)

    def _met(self, contest: Contest) -> set[frozenset[str]]:
        days = self.days(contest)
        return {frozenset(map(contest.unit_name, table)) for day in days for table in day}

    def _why_lost(self, old: Contest, new: Contest) -> str:
        return "teams" if old.teams != new.teams else "format"


def _team_scores(contest: Contest, results: Sequence[Result]) -> list[tuple[Unit, float, int]]:
    """Return each team that has played, its score and its games, best first."""
    team_of = {contest.entrants[entrant].name: unit for unit in contest.units for entrant in unit}
    games = Counter(team for result in results for team in {team_of[name] for name in result.seats})
    halves: Counter[Unit] = Counter()
    for points in match_points(contest, results).values():
        halves.update(points)
    # Each of two partners counts two for a game won.
    scores = [(unit, halves[unit] / (4 * count), count) for unit, count in games.items()]
    return sorted(scores, key=lambda row: (-row[1], contest.units.index(row[0])))
