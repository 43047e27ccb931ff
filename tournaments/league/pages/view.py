"""The league as its pages show it: finished rounds, games by pair of bots, addresses. Pure.

A bot is all its versions; a page or a record of two bots joins the games of all their versions.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from arena.analysis.timeline import opponents
from arena.logs.catalog import replay_address
from protocol.records import Result
from tournaments.formats.base import first_version
from tournaments.league.ratings import DivisionTable, StandingRow
from tournaments.league.read import DivisionData, PlayedRound
from tournaments.league.records import RoundPlan
from tournaments.report.html.charts import Forest, forest_of
from tournaments.report.losses import GameSums

HOME = "index.html"
"""The address of the first page, from the site's root."""
MOST_DRAWN = 100
"""Bots of a division up to which their intervals are drawn: a page stays below 100 kB."""

Ranks = Mapping[str, int]
"""The rank of each bot."""


class News(NamedTuple):
    """Something that happened to a bot."""

    time: str
    bot: str
    kind: str
    """admitted, refused, withdrawn, benched, rank or worse."""
    title: str
    """A sentence, without its stop."""
    words: str
    """More, which may hold an author's words, all printable; empty if there is none."""


class RoundFacts(Struct, frozen=True, kw_only=True):
    """Facts from the files of a round, as far as the league's pages show them."""

    round: PlayedRound
    luck: dict[str, tuple[float, ...]] = {}
    """Points that each seat owes to the tiles drawn, by game; only games whose luck is known."""
    mistakes: dict[str, tuple[int, float]] = {}
    """Decisions that were reviewed and points lost by them, by version."""


class BotGame(NamedTuple):
    """A game that is over, from the side of one of its bots."""

    facts: RoundFacts
    result: Result
    seat: int

    @property
    def replay(self) -> str:
        """The address of its replay, from the site's root."""
        return f"{round_address(self.facts.round)}{replay_address(self.result.game)}"


class DivisionView(Struct, frozen=True, kw_only=True, dict=True):
    """A division as the pages show it."""

    data: DivisionData
    table: DivisionTable
    """Its ratings, as league.json has them."""
    facts: Sequence[RoundFacts]
    """Those of its rounds that are over and published, in order."""
    next: RoundPlan | None
    """The plan of the round that is being played, or that would be chosen now."""
    past: Sequence[tuple[str, Ranks]]
    """Weeks that are over, the last two, and the ranks at the end of each."""

    @cached_property
    def rows(self) -> Mapping[str, StandingRow]:
        """The row of the present version of each bot, by bot."""
        return {row.bot: row for row in self.table.standings}

    @cached_property
    def forest(self) -> Forest | None:
        """The intervals of its standings, unless they are too many or there are none."""
        rows = self.table.standings
        drawn = len(rows) <= MOST_DRAWN and any(row.elo is not None for row in rows)
        return forest_of([row.rating for row in rows], grid=False) if drawn else None

    @cached_property
    def games_of(self) -> Mapping[str, Sequence[BotGame]]:
        """The games of each bot, in order."""
        found = defaultdict[str, list[BotGame]](list)
        for facts in self.facts:
            for result in facts.round.results:
                for seat, name in enumerate(result.seats):
                    found[first_version(name)].append(BotGame(facts, result, seat))
        return found

    @cached_property
    def meetings(self) -> Mapping[str, Mapping[str, Sequence[tuple[BotGame, int]]]]:
        """The games of each bot with each other that it met, in order, and the other's seat."""
        found: defaultdict[str, defaultdict[str, list[tuple[BotGame, int]]]]
        found = defaultdict(lambda: defaultdict(list))
        seats = self.data.seats
        against = [opponents(self.data.rules, seats, seat) for seat in range(seats)]
        for bot, games in self.games_of.items():
            for game in games:
                for other in against[game.seat]:
                    if bot != (rival := first_version(game.result.seats[other])):
                        found[bot][rival].append((game, other))
        return found

    def record(self, bot: str, other: str) -> GameSums:
        """Return the sums of a bot's games against another."""
        sums = GameSums()
        for game, seat in self.meetings[bot][other]:
            sums.add(game.result, game.seat, (seat,))
        return sums

    def last_games(self) -> Iterator[BotGame]:
        """Yield a game of each table of the last round."""
        for last in self.facts[-1:]:
            for result in {frozenset(one.seats): one for one in last.round.results}.values():
                yield BotGame(last, result, 0)


def bot_address(bot: str) -> str:
    """Return the address of a bot's page, from the site's root."""
    return f"bots/{bot}.html"


def pairing_address(division: str, bot: str, other: str) -> str:
    """Return the address of the page of two bots."""
    first, second = sorted((bot, other))
    return f"pairings/{division}/{first}/{second}.html"


def round_address(one: PlayedRound) -> str:
    """Return the folder of a published round, with a slash."""
    return f"rounds/{one.plan.division}/{one.plan.number:04}/"
