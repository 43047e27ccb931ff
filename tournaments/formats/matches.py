"""The matches: tables that the organiser names one by one. Pure."""

from collections.abc import Iterator, Mapping
from typing import Self

from msgspec.structs import replace

from arena.rules.english import count_in_digits
from protocol.errors import UserError, unknown_name
from tournaments.formats.base import BaseFormat, Contest, Meeting, renamed_units
from tournaments.formats.fixed_tables import FixedTables


class Matches(FixedTables, frozen=True, tag="matches"):
    """A format in which just the tables play that are named."""

    tables: tuple[tuple[str, ...], ...] = ()
    """Names of the bots at each table, or of the teams, as `ada+bob`."""

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the format with other names of entrants in its settings."""
        return replace(self, tables=tuple(renamed_units(one, names) for one in self.tables))

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
        known: set[frozenset[str]] = set()
        for table in self.tables:
            who = frozenset(table)
            shown = f"[{', '.join(table)}]"
            if len(who) != len(table) or len(table) != size:
                what = "teams" if contest.teams else "bots"
                raise UserError(f"Table {shown} needs {size} different {what} (tables).")
            if who in known:
                raise UserError(f"Table {shown} is there twice. Play more boards instead (boards).")
            known.add(who)
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

    def days(self, contest: Contest) -> list[list[Meeting]]:
        """Return the tables, in days: on a day nobody sits at two."""
        units = {contest.unit_name(unit): unit for unit in contest.units}
        left, days = [tuple(units[name] for name in table) for table in self.tables], []
        while left:
            day = list(_apart(left))
            days.append(day)
            left = [table for table in left if table not in day]
        return days

    def introduce(self, contest: Contest) -> str:
        """Return the number of tables, after a comma."""
        return f", {count_in_digits(len(self.tables), 'chosen table')}"


def _apart(tables: list[Meeting]) -> Iterator[Meeting]:
    """Yield the first tables at which nobody sits twice."""
    seated: set[int] = set()
    for table in tables:
        who = {one for unit in table for one in unit}
        if seated.isdisjoint(who):
            seated |= who
            yield table
