"""league.json: the standings of a league for programs, in full precision. Pure."""

from msgspec import Struct

from protocol.codec import indented_json
from tournaments.league.ratings.cycles import Cycle
from tournaments.league.ratings.regressions import Regression
from tournaments.league.ratings.standings import StandingRow
from tournaments.league.ratings.timeline import TimelinePoint
from tournaments.league.records import ChosenTable
from tournaments.publication.league.view import DivisionView, LeagueView


class DivisionTable(Struct, frozen=True, kw_only=True):
    """A division."""

    name: str
    """Its name."""
    title: str
    """Its title for readers."""
    rules: str
    """The name of its rules; each round's event.json has them in full."""
    seats: int
    """Seats at a table."""
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
    cycles: list[Cycle]
    """Present versions that beat each other in a circle."""
    next: tuple[ChosenTable, ...]
    """Tables of the round that is to be played."""


class LeagueTable(Struct, frozen=True, kw_only=True):
    """The content of league.json."""

    title: str
    """The league's title."""
    divisions: list[DivisionTable]
    """Its divisions."""


def league_json(view: LeagueView) -> bytes:
    """Return the content of league.json."""
    table = LeagueTable(title=view.title, divisions=[_division(one) for one in view.divisions])
    return indented_json(table) + b"\n"


def _division(one: DivisionView) -> DivisionTable:
    standings = one.standings
    return DivisionTable(
        name=one.name,
        title=one.title,
        rules=one.data.rules.name,
        seats=one.data.seats,
        rounds=len(one.rounds),
        games=sum(len(played.results) for played in one.rounds),
        until=one.last.plan.time if one.last else "",
        standings=standings.rows,
        earlier=[row for row in standings.all_versions if not row.is_active],
        timeline=standings.timeline,
        regressions=standings.regressions,
        cycles=standings.cycles,
        next=one.next.plan.tables if one.next else (),
    )
