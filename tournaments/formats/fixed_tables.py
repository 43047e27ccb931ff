"""The base of formats whose tables follow from the entrants alone. Pure."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from math import comb
from typing import ClassVar

from protocol.errors import UserError
from tournaments.formats.base import BaseFormat, Contest, FinishedStages, Meeting, Pairings

MOST_MIXED = 250
"""Most units at tables of three or more: choosing among all tables takes memory by the cube of
their number."""


class FixedTables(BaseFormat, frozen=True):
    """A format whose whole schedule is known before the first game."""

    IS_STATIC: ClassVar[bool] = True

    @abstractmethod
    def days(self, contest: Contest) -> list[list[Meeting]]:
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
        days = self.days(contest)
        boards = {contest.boards_of(table) for day in days for table in day}
        yield [
            Pairings(
                [[table for table in day if contest.boards_of(table) == own] for day in days], own
            )
            for own in sorted(boards, key=lambda boards: boards.start)
        ]

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return a complaint if a table is gone, unless a retired version sat there."""
        if not isinstance(new.format, FixedTables):
            return super().why_not_extended(old, new)
        lost = self._met(old) - new.format._met(new)
        for table in sorted(sorted(table) for table in lost):
            if new.retired.isdisjoint(name for unit in table for name in unit.split("+")):
                why = new.format._why_lost(old, new)
                return f"{' and '.join(table)} would not meet any more ({why})"
        return None

    def _met(self, contest: Contest) -> set[frozenset[str]]:
        days = self.days(contest)
        return {frozenset(map(contest.unit_name, table)) for day in days for table in day}

    def _why_lost(self, old: Contest, new: Contest) -> str:
        return "teams" if old.teams != new.teams else "format"
