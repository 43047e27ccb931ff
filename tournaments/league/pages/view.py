"""The league as its pages show it: finished rounds, games by pair of bots, addresses. Pure.

A bot is all its versions; a page or a record of two bots joins the games of all their versions.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote

from msgspec import Struct

from arena.analysis.timeline import opponents
from arena.document.blocks import Cell
from protocol.records import Result
from tournaments.formats.base import first_version
from tournaments.league.pages.rounds import RoundFacts
from tournaments.league.ratings.standings import DivisionTable, StandingRow
from tournaments.league.read import DivisionData, LeagueData, PlayedRound
from tournaments.league.records import AnyEntry, RoundPlan
from tournaments.report.html.replay_links import SITE_PAGE

HOME, FEED = "index.html", "feed.xml"
"""Addresses of the first page and of the feed, from the site's root."""

Ranks = Mapping[str, int]
"""The rank of each bot."""


class Meeting(NamedTuple):
    """A game between two bots that is over, from the side of one of them."""

    round: PlayedRound
    result: Result
    seat: int
    """The seat of the one,"""
    other: int
    """and that of the other."""


class DivisionView(Struct, frozen=True, kw_only=True, dict=True):
    """A division as the pages show it."""

    data: DivisionData
    table: DivisionTable
    """Its ratings, as league.json has them."""
    rounds: Sequence[PlayedRound]
    """Its rounds that are over and published, in order."""
    facts: Sequence[RoundFacts]
    """The facts of each of them."""
    next: RoundPlan | None
    """The plan of the round that is being played, or that would be chosen now."""
    past: Sequence[tuple[str, Ranks]]
    """Weeks that are over, the last two, and the ranks at the end of each."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.data.settings.name

    @property
    def title(self) -> str:
        """Its title for readers."""
        return self.data.settings.title or self.name

    @cached_property
    def rows(self) -> Mapping[str, StandingRow]:
        """The row of the present version of each bot, by bot."""
        return {row.bot: row for row in self.table.standings}

    @cached_property
    def meetings(self) -> Mapping[str, Mapping[str, Sequence[Meeting]]]:
        """The games of each bot with each other that it met, in order, from its side."""
        found: defaultdict[str, defaultdict[str, list[Meeting]]]
        found = defaultdict(lambda: defaultdict(list))
        seats = range(self.data.seats)
        against = {seat: opponents(self.data.rules, len(seats), seat) for seat in seats}
        for one in self.rounds:
            for result in one.results:
                bots = [first_version(name) for name in result.seats]
                for seat, bot in enumerate(bots):
                    for other in against[seat]:
                        if bot != bots[other]:
                            found[bot][bots[other]].append(Meeting(one, result, seat, other))
        return found

    @cached_property
    def games_of(self) -> Mapping[str, Sequence[tuple[int, Result, int]]]:
        """The games of each bot in order, with the place of their round and the bot's seat."""
        found: defaultdict[str, list[tuple[int, Result, int]]] = defaultdict(list)
        for place, one in enumerate(self.rounds):
            for result in one.results:
                for seat, name in enumerate(result.seats):
                    found[first_version(name)].append((place, result, seat))
        return found

    @cached_property
    def mistakes(self) -> Mapping[str, tuple[int, float]]:
        """Rounds of each bot that were reviewed, and the points that its decisions lost in them."""
        found: dict[str, tuple[int, float]] = {}
        for facts in self.facts:
            for name, (many, loss) in facts.mistakes.items():
                rounds, lost = found.get(first_version(name), (0, 0.0))
                found[first_version(name)] = rounds + many, lost + loss
        return found


class LeagueView(Struct, frozen=True, kw_only=True, dict=True):
    """A league as the pages show it."""

    data: LeagueData
    divisions: Sequence[DivisionView]

    @cached_property
    def entries(self) -> Mapping[str, Sequence[AnyEntry]]:
        """The register's lines about each bot, by bot, in the order in which the bots came."""
        found: defaultdict[str, list[AnyEntry]] = defaultdict(list)
        for entry in self.data.register:
            found[entry.bot].append(entry)
        return found

    @cached_property
    def emblems(self) -> Mapping[str, int]:
        """The number of the emblem of each bot and version: it never changes."""
        numbers = {bot: number for number, bot in enumerate(self.entries)}
        versions = {name: numbers[one.bot] for name, one in self.data.versions.items()}
        return {**versions, **numbers}

    def rows_of(self, bot: str) -> list[tuple[DivisionView, StandingRow]]:
        """Return the row of a bot's present version in each division in which it plays."""
        return [(one, one.rows[bot]) for one in self.divisions if bot in one.rows]


def record_cells(meetings: Sequence[Meeting]) -> tuple[Cell, ...]:
    """Return the cells of a record: games, won and lost, win %, points."""
    games = len(meetings)
    ahead = [one.result.places[one.other] - one.result.places[one.seat] for one in meetings]
    wins, draws = sum(lead > 0 for lead in ahead), ahead.count(0)
    points, against = (
        sum(one.result.scores[seat] for one, seat in side) / games
        for side in ([(one, one.seat) for one in meetings], [(one, one.other) for one in meetings])
    )
    return (
        Cell(f"{games}"),
        Cell(f"{wins}–{draws}–{games - wins - draws}"),
        Cell(f"{100 * (wins + draws / 2) / games:.1f}"),
        Cell(f"{points:.1f} – {against:.1f}"),
    )


def game_values(one: PlayedRound, result: Result, note: str = "") -> dict[str, object]:
    """Return a game as a line: the best first; without a note its fouls."""
    seats = sorted(range(len(result.seats)), key=lambda seat: result.places[seat])
    fouls = [f"{first_version(result.seats[foul.seat])}: {foul.foul}" for foul in result.fouls]
    return {
        "seats": [(result.seats[seat], result.scores[seat]) for seat in seats],
        "note": note or (f"foul of {', '.join(fouls)}" if fouls else ""),
        "replay": replay_address(one, result.game),
    }


def bot_address(bot: str) -> str:
    """Return the address of a bot's page, from the site's root."""
    return f"bots/{bot}.html"


def badge_address(division: str, bot: str) -> str:
    """Return the address of a bot's badge."""
    return f"badges/{division}/{bot}.svg"


def pairing_address(division: str, bot: str, other: str) -> str:
    """Return the address of the page of two bots."""
    first, second = sorted((bot, other))
    return f"pairings/{division}/{first}/{second}.html"


def round_address(one: PlayedRound) -> str:
    """Return the folder of a published round, with a slash."""
    return f"rounds/{one.plan.division}/{one.plan.number:04}/"


def replay_address(one: PlayedRound, game: str) -> str:
    """Return the address of a game's replay."""
    return f"{round_address(one)}{SITE_PAGE}#game={quote(game)}"
