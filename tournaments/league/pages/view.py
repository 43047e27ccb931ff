"""The league as its pages show it: finished rounds, games by pair of bots, addresses. Pure.

A bot is all its versions; a page or a record of two bots joins the games of all their versions.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import Struct, field

from arena.analysis.timeline import opponents
from protocol.records import Result
from tournaments.formats.base import first_version
from tournaments.league.pages.rounds import CostliestRound, RoundFacts
from tournaments.league.ratings.standings import DivisionStandings, StandingRow
from tournaments.league.read import DivisionData, LeagueData, PlayedRound
from tournaments.league.records import AnyEntry, Benched, RoundPlan
from tournaments.report.html.replay_links import SITE_PAGE
from tournaments.report.log_facts import Evidence

SHOWN = 8
"""Lost games, and fouls, that a bot's page shows."""
HOME, ENTER, ARCHIVE, FEED = "index.html", "enter.html", "weeks/index.html", "feed.xml"
"""Addresses of pages, from the site's root."""

Pair = tuple[str, str]


class MetGame(NamedTuple):
    """A game that is over."""

    round: PlayedRound
    result: Result

    @property
    def replay(self) -> str:
        """Address of its replay."""
        game = quote(self.result.game)
        return f"{round_address(self.round)}{SITE_PAGE}#game={game}"


class Meeting(NamedTuple):
    """A game between two bots, from the side of one of them."""

    game: MetGame
    seat: int
    """The seat of the one,"""
    other: int
    """and that of the other."""

    @property
    def ahead(self) -> int:
        """Places before the other: more than 0 for a win, 0 for a draw."""
        return self.game.result.places[self.other] - self.game.result.places[self.seat]

    def turned(self) -> "Meeting":
        """Return the meeting from the other side."""
        return Meeting(self.game, self.other, self.seat)


class Tally(Struct):
    """Sums of meetings."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    against: int = 0

    def add(self, one: Meeting) -> None:
        """Add a meeting."""
        result, ahead = one.game.result, one.ahead
        self.games += 1
        self.wins += ahead > 0
        self.draws += ahead == 0
        self.points += result.scores[one.seat]
        self.against += result.scores[one.other]

    @property
    def record(self) -> str:
        """Games won, drawn and lost."""
        return f"{self.wins}–{self.draws}–{self.games - self.wins - self.draws}"

    @property
    def share(self) -> float:
        """Share of the games won, a draw ½."""
        return (self.wins + self.draws / 2) / self.games


class Loss(NamedTuple):
    """A game that a bot did not win."""

    game: MetGame
    seat: int
    """The bot's seat."""
    cost: CostliestRound | None
    """The round that cost it the most; None if the logs do not tell."""
    luck: Sequence[float] | None
    """Points that each seat owes to the tiles drawn; None if that is not known."""


class BotFacts(Struct):
    """Facts from the logs of a division about a bot."""

    losses: list[Loss] = field(default_factory=list)
    """The last games that it did not win, the latest first."""
    fouls: list[tuple[PlayedRound, Evidence]] = field(default_factory=list)
    """Examples of its fouls, the latest first."""
    luck: float = 0.0
    """Points that it owes to the tiles drawn,"""
    luck_games: int = 0
    """in so many games."""
    mistakes: float = 0.0
    """Points that its decisions lost,"""
    reviewed: int = 0
    """in so many rounds."""

    def add_foul(self, one: PlayedRound, evidence: Evidence) -> None:
        """Add a foul, if there is room."""
        if len(self.fouls) < SHOWN:
            self.fouls.append((one, evidence))


def tally(meetings: Sequence[Meeting]) -> Tally:
    """Sum up meetings."""
    sums = Tally()
    for one in meetings:
        sums.add(one)
    return sums


class DivisionView(Struct, frozen=True, kw_only=True, dict=True):
    """A division as the pages show it."""

    data: DivisionData
    """Its settings and rounds."""
    standings: DivisionStandings
    """Its ratings."""
    rounds: Sequence[PlayedRound]
    """Its rounds that are over and published, in order."""
    facts: Sequence[RoundFacts]
    """The facts of each of them."""
    next: RoundPlan | None
    """The plan of the round that is being played, or that would be chosen now."""
    moved: Mapping[str, int]
    """Ranks that each bot has won since about a week ago."""
    benched: Mapping[str, Benched]
    """The benches that hold, by version."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.data.settings.name

    @property
    def title(self) -> str:
        """Its title for readers."""
        return self.data.settings.title or self.name

    @property
    def rules_address(self) -> str:
        """Address of its rules."""
        return f"rules/{self.name}.html"

    @property
    def rounds_address(self) -> str:
        """Address of the list of its rounds."""
        return f"rounds/{self.name}/index.html"

    @property
    def last(self) -> PlayedRound | None:
        """Its last round that is over."""
        return self.rounds[-1] if self.rounds else None

    @cached_property
    def rows(self) -> Mapping[str, StandingRow]:
        """The row of the present version of each bot, by bot."""
        return {row.bot: row for row in self.standings.rows}

    @cached_property
    def meetings(self) -> Mapping[Pair, Sequence[Meeting]]:
        """The games of each two bots that met, in order, by their names in alphabetical order."""
        found: defaultdict[Pair, list[Meeting]] = defaultdict(list)
        partners = {
            seat: opponents(self.data.rules, self.data.seats, seat)
            for seat in range(self.data.seats)
        }
        for game in self.games():
            bots = [first_version(name) for name in game.result.seats]
            for seat, bot in enumerate(bots):
                for other in partners[seat]:
                    if bot < bots[other]:
                        found[bot, bots[other]].append(Meeting(game, seat, other))
        return found

    @cached_property
    def rivals(self) -> Mapping[str, Sequence[str]]:
        """The bots that each bot has met, by name."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for one, other in sorted(self.meetings):
            found[one].append(other)
            found[other].append(one)
        return found

    @cached_property
    def facts_of(self) -> Mapping[str, BotFacts]:
        """The facts that the logs tell of each bot, by bot."""
        found: defaultdict[str, BotFacts] = defaultdict(BotFacts)
        for one, facts in zip(reversed(self.rounds), reversed(self.facts), strict=True):
            for evidence in facts.evidence:
                found[first_version(evidence.entrant)].add_foul(one, evidence)
            for result in reversed(one.results):
                luck = facts.points_of_luck.get(result.game)
                for seat, name in enumerate(result.seats):
                    bot = found[first_version(name)]
                    if luck:
                        bot.luck_games += 1
                        bot.luck += luck[seat]
                    if result.places[seat] > 1 and len(bot.losses) < SHOWN:
                        cost = facts.costliest.get(result.game, ())
                        bot.losses.append(
                            Loss(MetGame(one, result), seat, cost[seat] if cost else None, luck)
                        )
            for name, sums in facts.mistakes.items():
                found[first_version(name)].reviewed += sums.rounds
                found[first_version(name)].mistakes += sums.loss
        return found

    def games(self) -> Iterator[MetGame]:
        """Yield all games of finished rounds."""
        return (MetGame(one, result) for one in self.rounds for result in one.results)

    def between(self, bot: str, other: str) -> Sequence[Meeting]:
        """Return the games of a bot with another, from its side."""
        if bot < other:
            return self.meetings.get((bot, other), ())
        return [one.turned() for one in self.meetings.get((other, bot), ())]

    def pairing_address(self, bot: str, other: str) -> str:
        """Return the address of the page of two bots."""
        first, second = sorted((bot, other))
        return f"pairings/{self.name}/{first}/{second}.html"


class LeagueView(Struct, frozen=True, kw_only=True, dict=True):
    """A league as the pages show it."""

    data: LeagueData
    """Its settings and register."""
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

    @property
    def title(self) -> str:
        """Its title."""
        return self.data.settings.title

    def rows_of(self, bot: str) -> list[tuple[DivisionView, StandingRow]]:
        """Return the row of a bot's present version in each division in which it plays."""
        return [(one, one.rows[bot]) for one in self.divisions if bot in one.rows]

    def navigation(self, root: str) -> list[tuple[str, str]]:
        """Return the addresses and labels of the main pages, from a folder that `root` leaves."""
        rules = [
            (one.rules_address, "Rules" if len(self.divisions) == 1 else f"Rules: {one.title}")
            for one in self.divisions[:3]
        ]
        pages = [
            (HOME, self.title), *rules, (ENTER, "How to enter"), (ARCHIVE, "Archive"),
        ]  # fmt: skip
        return [(root + address, label) for address, label in pages]


def bot_address(bot: str) -> str:
    """Return the address of a bot's page, from the site's root."""
    return f"bots/{bot}.html"


def bot_feed_address(bot: str) -> str:
    """Return the address of a bot's feed."""
    return f"bots/{bot}.xml"


def badge_address(division: str, bot: str) -> str:
    """Return the address of a bot's badge."""
    return f"badges/{division}/{bot}.svg"


def round_address(one: PlayedRound) -> str:
    """Return the folder of a published round, with a slash."""
    return f"rounds/{one.plan.division}/{one.plan.number:04}/"


def elo_text(row: Any) -> tuple[str, str]:
    """Return a rating as +12 and half the width of its interval, which may be empty."""
    if row.elo is None:
        return "?", ""
    half = f"{row.half_width:.0f}" if row.half_width else ""  # The anchor's is 0.
    elo = round(row.elo)
    return f"{row.bound}{elo:+,}" if elo else f"{row.bound}0", half
