"""The round robin: every table of entrants plays all boards. Pure."""

from tournaments.formats.base import Contest, Meeting
from tournaments.formats.fixed_tables import FixedTables
from tournaments.formats.pairing.designs import round_robin


class RoundRobin(FixedTables, frozen=True, tag="round-robin"):
    """A format in which every table of entrants plays all boards."""

    def days(self, contest: Contest) -> list[list[Meeting]]:
        """Return the tables, in days."""
        units = contest.units
        return [
            [tuple(units[place] for place in table) for table in day]
            for day in round_robin(len(units), contest.units_a_table)
        ]

    def _why_lost(self, old: Contest, new: Contest) -> str:
        # With many bots only some tables of three or more are played; one more bot changes them.
        if old.teams == new.teams and len(new.units) > len(old.units):
            return "only a ladder adds a bot to so many: --format ladder"
        return super()._why_lost(old, new)
