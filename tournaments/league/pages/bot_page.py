"""The page of a bot: its places, lost games, record, luck, fouls, checks, in words. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from arena.rules.english import count_in_digits
from protocol.codec import printable
from tournaments.formats.base import first_version
from tournaments.league.pages.charts import history_chart
from tournaments.league.pages.view import (
    BotGame,
    DivisionView,
    News,
)
from tournaments.league.ratings import StandingRow
from tournaments.league.read import LeagueData
from tournaments.league.records import AnyEntry, RoundPlan
from tournaments.rating.game_result import own_fouls
from tournaments.report.html.charts import Chart

SHOWN = 8
"""Lost games, and games with fouls, that the page shows."""
REFUSED = 5
"""Refused pushes that are shown."""


class BotPage:
    """The facts of the league about a bot."""

    def __init__(
        self,
        league: LeagueData,
        divisions: Iterable[DivisionView],
        bot: str,
        news: Sequence[News],
    ) -> None:
        """`news`: those about it, the latest first."""
        self.name, self.news = bot, news
        self._versions, self._history = league.versions, league.histories[bot]
        latest = self._history.admitted[-1:]
        self.about = "".join(printable(one.about, 200) for one in latest)
        self.author = "".join(printable(one.author, 80) for one in latest)
        self.push = next((one for one in news if one.kind not in ("rank", "worse")), None)
        self.divisions = [
            BotInDivision(one, bot)
            for one in divisions
            if bot in one.table.history or bot in one.rows
        ]

    @property
    def present(self) -> list["BotInDivision"]:
        """The divisions in which it plays."""
        return [one for one in self.divisions if one.row]

    @property
    def checks(self) -> list[AnyEntry]:
        """The last refused pushes, the latest first, and the last admission."""
        refused = [*self._history.refused.values()][: -REFUSED - 1 : -1]
        return [*refused, *[one for one in self._history.admitted if one.check][-1:]]

    def fingerprint(self, version: str) -> str:
        """Return the fingerprint of a version's files; empty if it is not known."""
        known = self._versions.get(version)
        return known.fingerprint if known else ""


def _next(plan: RoundPlan, version: str) -> str:
    met = {name for one in plan.tables if version in one.entrants for name in one.entrants}
    if met:
        return f"Next: against {', '.join(sorted(met - {version}))} in round {plan.number}."
    return f"Not in round {plan.number}: {plan.held.get(version, 'other tables tell more')}."


class BotInDivision(NamedTuple):
    """The facts of a division about a bot."""

    division: DivisionView
    bot: str

    @property
    def row(self) -> StandingRow | None:
        """The row of its present version."""
        return self.division.rows.get(self.bot)

    def place(self) -> Iterator[str]:
        """Yield sentences about its place and its next opponents."""
        row, where = self.row, self.division.table.title
        if row is None:
            return
        if row.bench:
            yield f"**Benched** in {where} until it changes."
            return
        if row.rank is None and row.elo is None:
            yield f"**Not rated yet** in {where}."
        else:
            of = len(self.division.table.standings)
            place = f"Place {row.rank} of {of}" if row.rank else "No place yet"
            games = count_in_digits(row.games, "game")
            yield f"**{place}** in {where}: {row.rating.text()} Elo after {games}."
        if row.gain.value is not None:
            yield f"{row.gain.text()} Elo against {row.before}."
        if row.is_worse:
            yield f"**{row.flag}.**"
        if self.division.next:
            yield _next(self.division.next, row.name)

    @property
    def versions(self) -> list[StandingRow]:
        """Its versions, the latest first."""
        own = [one for one in self.division.table.all_versions if one.bot == self.bot]
        return sorted(own, key=lambda one: one.since, reverse=True)

    @property
    def met(self) -> list[str]:
        """The bots that it met, those of most games first."""
        met = self.division.meetings.get(self.bot, {})
        return sorted(met, key=lambda rival: (-len(met[rival]), rival))

    def history(self) -> Chart | None:
        """Return its rating over time."""
        rows = {row.name: row for row in self.versions}
        played = self.division.table.history.get(self.bot, {})
        return history_chart({day: rows[name] for day, name in played.items()}, self.bot)

    @property
    def _games(self) -> Sequence[BotGame]:
        return self.division.games_of.get(self.bot, ())

    def losses(self) -> list[BotGame]:
        """Return the last games that it did not win, the latest first."""
        lost = (one for one in reversed(self._games) if one.result.places[one.seat] > 1)
        return [*islice(lost, SHOWN)]

    def fouls(self) -> list[BotGame]:
        """Return the last games in which it fouled, the latest first."""
        fouled = (one for one in reversed(self._games) if one.seat in own_fouls(one.result))
        return [*islice(fouled, SHOWN)]

    def luck(self) -> Iterator[str]:
        """Yield what luck and mistakes cost it, in sentences."""
        luck = [
            points[one.seat]
            for one in self._games
            if (points := one.facts.luck.get(one.result.game))
        ]
        if luck:
            a_game = sum(luck) / len(luck)
            way, games = "gave it" if a_game >= 0 else "cost it", count_in_digits(len(luck), "game")
            yield f"The tiles drawn {way} {abs(a_game):.1f} points a game, over {games}."
        both = (item for one in self.division.facts for item in one.mistakes.items())
        if own := [sums for name, sums in both if first_version(name) == self.bot]:
            many, loss = sum(many for many, _ in own), sum(loss for _, loss in own)
            yield (
                f"It lost {loss / max(many, 1):.2f} points a decision, over "
                f"{count_in_digits(many, 'reviewed decision')}. The reports of the rounds name the "
                "dearest ones."
            )
