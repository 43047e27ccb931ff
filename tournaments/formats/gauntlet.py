"""The gauntlet and the ladder: challengers against the field. Pure."""

from collections.abc import Mapping
from math import comb
from typing import ClassVar, Self

from msgspec.structs import replace

from protocol.errors import UserError, unknown_name
from tournaments.formats.base import Contest, Meeting, renamed_units
from tournaments.formats.fixed_tables import FixedTables
from tournaments.formats.pairing.designs import gauntlet, round_robin


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
        every = range(len(contest.units))
        names = [contest.unit_name(unit) for unit in contest.units]
        tested = [place for place in every if names[place] in self.challengers]
        tested = tested or [every[self.USUAL_CHALLENGER]]
        return tested, [place for place in every if place not in tested]

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

    def days(self, contest: Contest) -> list[list[Meeting]]:
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
        met = ", which met before" * self.FIELD_MEETS
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
