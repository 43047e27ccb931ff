"""league.json: the standings of a league for programs, in full precision. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from protocol.codec import indented_json
from tournaments.league.ratings.regressions import Regression
from tournaments.league.ratings.standings import DivisionStandings, StandingRow, TimelinePoint
from tournaments.league.read import DivisionData, LeagueData
from tournaments.league.records import ChosenTable
from tournaments.rating.anchor import Anchor


class DivisionTable(Struct, frozen=True, kw_only=True):
    """A division."""

    name: str
    title: str
    """Its title for readers."""
    rules: str
    """The name of its rules; each round's event.json has them in full."""
    seats: int
    rounds: int
    """Rounds that are over."""
    games: int
    """Their games."""
    until: str
    """Time at which the last of them was chosen; empty if there is none."""
    standings: list[StandingRow]
    """Present versions, best first."""
    earlier: list[StandingRow]
    """Versions that play no more, best first."""
    timeline: dict[str, list[TimelinePoint]]
    """History of each bot's rating, by bot."""
    regressions: list[Regression]
    """Present versions that are worse than the one before."""
    next: tuple[ChosenTable, ...]
    """Tables of the round that is to be played."""


class LeagueTable(Struct, frozen=True, kw_only=True):
    """The content of league.json."""

    title: str
    anchor: Anchor
    """The house bot over which ratings are given, and its rating."""
    house: tuple[str, ...]
    """Sample bots that always play."""
    foul_sittings: int
    """Sittings in a row with a foul of its own after which a version is benched."""
    divisions: list[DivisionTable]


def league_table(data: LeagueData, standings: Mapping[str, DivisionStandings]) -> LeagueTable:
    """Return the content of league.json from the standings of each division."""
    settings = data.settings
    return LeagueTable(
        title=settings.title,
        anchor=settings.anchor,
        house=settings.house,
        foul_sittings=settings.quota.foul_sittings,
        divisions=[
            _division_table(data.divisions[name], found) for name, found in standings.items()
        ],
    )


def league_json(data: LeagueData, standings: Mapping[str, DivisionStandings]) -> bytes:
    """Return league.json."""
    return indented_json(league_table(data, standings)) + b"\n"


def _division_table(division: DivisionData, standings: DivisionStandings) -> DivisionTable:
    over = [one for one in division.rounds if one.is_over]
    return DivisionTable(
        name=division.settings.name,
        title=division.settings.title or division.settings.name,
        rules=division.rules.name,
        seats=division.seats,
        rounds=len(over),
        games=sum(len(one.results) for one in over),
        until=over[-1].plan.time if over else "",
        standings=standings.rows,
        earlier=[row for row in standings.all_versions if not row.is_active],
        timeline=standings.timeline,
        regressions=standings.regressions,
        next=next((one.plan.tables for one in division.rounds if not one.is_over), ()),
    )
