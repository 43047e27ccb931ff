"""The base of formats whose rounds follow from the results of those before. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from protocol.records import Result
from protocol.ruleset import count_sides, side_of
from tournaments.formats.base import BaseFormat, Contest, Unit
from tournaments.rating.game_result import half_points


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
        if new.retired != old.retired:
            return f"bot {min(new.retired ^ old.retired)} has changed, and {depend} those it played"
        if [one.name for one in old.entrants] != [one.name for one in new.entrants]:
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
    unit_of = {contest.entrants[one].name: unit for unit in contest.units for one in unit}
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


def half(halves: int) -> str:
    """Format half points as people write them: 2½."""
    whole = halves // 2
    return f"{whole}" if halves % 2 == 0 else f"{whole or ''}½"
