"""Formats that name their tables: the gauntlet, the ladder, and matches one by one. Pure."""

from collections.abc import Iterator, Mapping
from math import comb
from typing import ClassVar, Self

from msgspec.structs import replace

from arena.rules.english import count_in_digits
from protocol.errors import UserError, unknown_name
from tournaments.formats.base import BaseFormat, Contest, FixedTables, UnitMeeting, renamed_units
from tournaments.formats.round_robin import gauntlet, round_robin

# The gauntlet and the ladder: challengers against the field. Pure.


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


# The matches: tables that the organiser names one by one. Pure.


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
