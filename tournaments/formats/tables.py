"""Formats that fix all tables beforehand: round robin, gauntlet, ladder, matches. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heapify, heappop, heapreplace
from itertools import combinations
from math import comb
from typing import ClassVar, Self

from msgspec.structs import replace

from arena.rules.english import count_in_digits
from protocol.errors import UserError, unknown_name
from tournaments.formats.base import BaseFormat, Contest, FixedTables, UnitMeeting, renamed_units

# Pairing designs: the tables of each day, with units as numbers. Deterministic.
#
# A unit is an entrant, or a team of two, that plays as one. Tables come in days. In every prefix of
# a design all units have been at equally many tables: give or take one, at tables of two or if all
# tables are played; otherwise give or take three, or four at five seats and more.


TableUnits = tuple[int, ...]
Day = tuple[TableUnits, ...]

MAX_COMPLETE_TABLES = 70
"""Up to so many tables of three or more seats all are played; of more, enough for all to meet."""


def round_robin(units: int, size: int) -> Iterable[Day]:
    """Return tables of `size` among these units at which all pairs meet equally often.

    If not all tables are played, it is equally often give or take one; at five seats and more,
    give or take three.
    """
    # A thousand units have half a million pairs: day by day they take no memory.
    return _large_tables(units, size) if size > 2 else (_cycles if units % 2 else _circle)(units)


@cache
def _large_tables(units: int, size: int) -> tuple[Day, ...]:
    if comb(units, size) <= MAX_COMPLETE_TABLES:
        return tuple((table,) for table in _levelled(units, size))
    # numpy, which it needs, takes a tenth of a second to import.
    from tournaments.formats.developed import developed_tables

    return tuple((table,) for table in _evenly(units, developed_tables(units, size)))


def gauntlet(challengers: Sequence[int], field: Sequence[int], size: int) -> tuple[Day, ...]:
    """Return tables of each challenger with the groups of the field that a round robin makes."""
    if size > 2:
        others = (table for day in _field(len(field), size - 1) for table in day)
        return tuple(
            tuple((unit, *(field[place] for place in table)) for unit in challengers)
            for table in others
        )
    days = []
    for step in range(len(field)):
        pairs = [(unit, field[(n + step) % len(field)]) for n, unit in enumerate(challengers)]
        days.append(tuple(_in_turn(pair, step) for pair in pairs))
    return tuple(days)


def _field(units: int, size: int) -> Iterable[Day]:
    return round_robin(units, size) if units > size else ((tuple(range(units)),),)


def _circle(units: int) -> Iterator[Day]:
    """Yield days on which each of an even number of units plays once."""
    places = range(units - 1)
    for day in places:
        ring = [units - 1, *places[day:], *places[:day]]
        first, other = ring[: units // 2], ring[: units // 2 - 1 : -1]
        # The others change seats as they move around the ring, the fixed unit from day to day.
        first[1::2], other[1::2] = other[1::2], first[1::2]
        pair, *others = zip(first, other, strict=True)
        yield _in_turn(pair, day), *others


def _in_turn(pair: tuple[int, int], turn: int) -> TableUnits:
    return pair if turn % 2 == 0 else (pair[1], pair[0])


def _cycles(units: int) -> Iterator[Day]:
    """Yield days on which each of an odd number of units plays twice, once in each seat.

    A day is one of Walecki's Hamiltonian cycles: every second edge of it, then the others. With
    one day for each bye instead, a unit could fall two tables behind.
    """
    for others in zigzags(units - 1, units // 2):
        cycle = [units - 1, *others]
        edges = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        yield (*edges[0:-1:2], edges[-1], *edges[1:-1:2])


def zigzags(ring: int, turns: int) -> Iterator[list[int]]:
    """Yield a zigzag through a ring of numbers, turned step by step.

    With one more number, which joins its ends, each is one of Walecki's Hamiltonian cycles.
    """
    zigzag = [step // 2 + 1 if step % 2 else -(step // 2) for step in range(ring)]
    for turn in range(turns):
        yield [(place + turn) % ring for place in zigzag]


def _levelled(units: int, size: int) -> list[TableUnits]:
    """Return all tables in an order in which no unit is ever two tables behind; found by search."""
    played = [0] * units
    met: Counter[TableUnits] = Counter()
    left = set(combinations(range(units), size))
    order: list[TableUnits] = []

    def placed(table: TableUnits, change: int) -> None:
        for unit in table:
            played[unit] += change
        for pair in combinations(table, 2):
            met[pair] += change

    def filled() -> bool:
        if not left:
            return True
        laggards = {unit for unit in range(units) if played[unit] == min(played)}
        # Either only units that are behind sit down, or all of them do.
        able = [table for table in left if laggards.issuperset(table) or laggards.issubset(table)]
        for table in sorted(able, key=lambda table: (_often(table, met), table)):
            left.remove(table)
            placed(table, 1)
            order.append(table)
            if filled():
                return True
            left.add(order.pop())
            placed(table, -1)
        return False

    filled()
    return order


def _often(table: TableUnits, met: Counter[TableUnits]) -> int:
    return sum(met[pair] ** 2 for pair in combinations(table, 2))


def _evenly(units: int, tables: Iterator[TableUnits]) -> Iterator[TableUnits]:
    """Yield the tables so that those come first whose units have played least."""
    played = [0] * units

    def long_seated(table: TableUnits) -> tuple[int, int, TableUnits]:
        return max(played[unit] for unit in table), sum(played[unit] for unit in table), table

    waiting = [long_seated(table) for table in set(tables)]
    heapify(waiting)
    while waiting:
        table = waiting[0][-1]
        # A waiting table's key only grows: one that is up to date and first is the smallest of all.
        if waiting[0] != long_seated(table):
            heapreplace(waiting, long_seated(table))
            continue
        heappop(waiting)
        for unit in table:
            played[unit] += 1
        yield table


# The round robin: every table of entrants plays all boards.


class RoundRobin(FixedTables, frozen=True, tag="round-robin"):
    """A format in which every table of entrants plays all boards."""

    def days(self, contest: Contest) -> Iterator[list[UnitMeeting]]:
        """Yield the tables, day by day."""
        units = contest.units
        for day in round_robin(len(units), contest.units_a_table):
            # Seat by seat: of half a million tables one by one takes three times as long.
            seats = (map(units.__getitem__, places) for places in zip(*day, strict=True))
            yield [*zip(*seats, strict=True)]

    def _why_lost(self, old: Contest, new: Contest) -> str:
        # With many bots only some tables of three or more are played; one more bot changes them.
        if old.teams == new.teams and len(new.units) > len(old.units):
            return "only a ladder adds a bot to so many: --format ladder"
        return super()._why_lost(old, new)


# The gauntlet and the ladder: challengers against the field.


class ChallengeFormat(FixedTables, frozen=True):
    """A format in which challengers meet the field."""

    USUAL_CHALLENGER: ClassVar[int]
    """Place of the challenger if none is named."""
    FIELD_MEETS: ClassVar[bool]

    challengers: tuple[str, ...] = ()
    """Names of the challengers; without any, the first bot of a gauntlet, the last of a ladder."""

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the format with other names of entrants in its settings."""
        return replace(self, challengers=renamed_units(self.challengers, names))

    def places(self, contest: Contest) -> tuple[list[int], list[int]]:
        """Return the places of the challengers, and of the field."""
        places = range(len(contest.units))
        names = [contest.unit_name(unit) for unit in contest.units]
        tested = [place for place in places if names[place] in self.challengers]
        tested = tested or [places[self.USUAL_CHALLENGER]]
        return tested, [place for place in places if place not in tested]

    def check(self, contest: Contest) -> None:
        """Refuse challengers that do not play, and a field that cannot fill a table.

        Raises UserError.
        """
        names = [contest.unit_name(unit) for unit in contest.units]
        for name in self.challengers:
            if name not in names:
                raise unknown_name("challenger", name, names)
        field = len(self.places(contest)[1])
        least = contest.units_a_table - (not self.FIELD_MEETS)
        if field < least:
            raise UserError(
                f"A {self.name} needs a field of {least}, but {field} "
                f"{'is' if field == 1 else 'are'} left besides the challengers."
            )

    def days(self, contest: Contest) -> list[list[UnitMeeting]]:
        """Return the tables, in days."""
        units, size = contest.units, contest.units_a_table
        challengers, field = self.places(contest)
        days = [
            [tuple(field[place] for place in table) for table in day]
            for day in (round_robin(len(field), size) if self.FIELD_MEETS else ())
        ]
        days += map(list, gauntlet(challengers, field, size))
        return [[tuple(units[place] for place in table) for table in day] for day in days]

    def introduce(self, contest: Contest) -> str:
        """Name the challengers, after a comma."""
        names = (contest.unit_name(contest.units[place]) for place in self.places(contest)[0])
        met = ", which met before" if self.FIELD_MEETS else ""
        return f", {', '.join(names)} against the field{met}"

    def count_fewest_tables(self, contest: Contest) -> int:
        """Return a lower bound of the tables: each challenger meets each of the field."""
        challengers, field = map(len, self.places(contest))
        pairs = challengers * field + self.FIELD_MEETS * comb(field, 2)
        return pairs // comb(contest.units_a_table, 2)


class Gauntlet(ChallengeFormat, frozen=True, tag="gauntlet"):
    """A format in which each challenger meets the field; the field does not meet itself."""

    USUAL_CHALLENGER: ClassVar[int] = 0
    FIELD_MEETS: ClassVar[bool] = False


class Ladder(ChallengeFormat, frozen=True, tag="ladder"):
    """A round robin of the field, perhaps already finished, and each newcomer against the field."""

    USUAL_CHALLENGER: ClassVar[int] = -1
    FIELD_MEETS: ClassVar[bool] = True


# The matches: tables that the organiser names one by one.


class Matches(FixedTables, frozen=True, tag="matches"):
    """A format in which just the tables play that are named."""

    tables: tuple[tuple[str, ...], ...] = ()
    """Names of the bots at each table, or of the teams, as `ada+bob`."""

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the format with other names of entrants in its settings."""
        return replace(self, tables=tuple(renamed_units(table, names) for table in self.tables))

    def check(self, contest: Contest) -> None:
        """Refuse tables that cannot be played, and bots without a table. Raises UserError."""
        if not self.tables:
            raise UserError(
                'Matches need tables: name them in an event file, as tables = [["ada", "bob"]].'
            )
        names, size = [contest.unit_name(unit) for unit in contest.units], contest.units_a_table
        seated = dict.fromkeys(name for table in self.tables for name in table)
        for name in seated:
            if name not in names:
                raise unknown_name("bot in tables:", name, names)
        earlier_tables: set[frozenset[str]] = set()
        for table in self.tables:
            members = frozenset(table)
            text = f"[{', '.join(table)}]"
            if len(members) != len(table) or len(table) != size:
                kind = "teams" if contest.teams else "bots"
                raise UserError(f"Table {text} needs {size} different {kind} (tables).")
            if members in earlier_tables:
                raise UserError(f"Table {text} is there twice. Play more boards instead (boards).")
            earlier_tables.add(members)
        for name in names:
            if name not in seated:
                raise UserError(f"{name} sits at no table. Give it one, or leave it out (tables).")

    def check_size(self, contest: Contest) -> None:
        """Refuse a contest that is too large to plan. Raises UserError."""
        # The limit of its base is for tables that are chosen among all.
        BaseFormat.check_size(self, contest)

    def count_fewest_tables(self, contest: Contest) -> int:
        """Return the number of tables."""
        return len(self.tables)

    def days(self, contest: Contest) -> list[list[UnitMeeting]]:
        """Return the tables, in days: on a day nobody sits at two."""
        units = {contest.unit_name(unit): unit for unit in contest.units}
        left, days = [tuple(units[name] for name in table) for table in self.tables], []
        while left:
            day = list(_disjoint_tables(left))
            days.append(day)
            left = [table for table in left if table not in day]
        return days

    def introduce(self, contest: Contest) -> str:
        """Return the number of tables."""
        what = "chosen pair" if contest.units_a_table == 2 else "chosen table"
        return f" of {count_in_digits(len(self.tables), what)}"


def _disjoint_tables(tables: list[UnitMeeting]) -> Iterator[UnitMeeting]:
    """Yield the first tables at which nobody sits twice."""
    seated: set[int] = set()
    for table in tables:
        members = {entrant for unit in table for entrant in unit}
        if seated.isdisjoint(members):
            seated |= members
            yield table
