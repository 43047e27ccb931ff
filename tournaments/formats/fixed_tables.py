"""The base of formats whose tables follow from the entrants alone. Pure."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb
from typing import ClassVar

from arena.document.blocks import Cell, Column, Media, Section
from arena.document.blocks import table as to_table
from arena.rules.english import join_words
from protocol.errors import UserError
from protocol.records import Result
from tournaments.formats.base import (
    BaseFormat,
    Contest,
    FinishedStages,
    LinkToGames,
    Meeting,
    Pairings,
    Unit,
)
from tournaments.formats.dependent_rounds import match_points

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

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the teams with the highest win %, or the result by the ratings."""
        if not contest.teams or not results:
            return super().describe_lead(contest, results, is_over, ranks)
        scores = _team_scores(contest, results)
        (unit, score, games), *_ = scores
        if len(tied := [contest.unit_name(one[0]) for one in scores if one[1] == score]) > 1:
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
            shown = [to_table("Teams", columns, rows)]
            yield Section("Teams", shown, id="teams", titled=Media.FILES)

    def _met(self, contest: Contest) -> set[frozenset[str]]:
        days = self.days(contest)
        return {frozenset(map(contest.unit_name, table)) for day in days for table in day}

    def _why_lost(self, old: Contest, new: Contest) -> str:
        return "teams" if old.teams != new.teams else "format"


def _team_scores(contest: Contest, results: Sequence[Result]) -> list[tuple[Unit, float, int]]:
    """Return each team that has played, its score and its games, best first."""
    team_of = {contest.entrants[one].name: unit for unit in contest.units for one in unit}
    games = Counter(team for one in results for team in {team_of[name] for name in one.seats})
    halves: Counter[Unit] = Counter()
    for points in match_points(contest, results).values():
        halves.update(points)
    # Each of two partners counts two for a game won.
    found = [(unit, halves[unit] / (4 * many), many) for unit, many in games.items()]
    return sorted(found, key=lambda one: (-one[1], contest.units.index(one[0])))
