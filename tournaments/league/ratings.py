"""Ratings of a league's division: the table of all versions, from one fit of all results. Pure.

Every version is an entrant of its own, and one fit takes all results of the division at once. So a
rating does not depend on the order of the games, and the rating of an old version is still mended
by what its opponents did later. The level is the league's anchor, a house bot that plays for ever.

A new version is compared with the one before. The probability that it is worse is one-sided and
comes from the fit, with boards as clusters. But a league chooses its tables by earlier results: a
version whose rating is off by chance is soon far from all others, plays less, and stays off. And
whoever looks each day sees the worst day. So errors are taken `WIDER` times as wide here. Then of
versions that are as strong as the ones before, at most one in twenty is ever flagged (simulated:
tournaments/METHODS.md).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from statistics import NormalDist, median

from msgspec import Struct
from msgspec.structs import asdict, replace

from arena.rules.english import count_in_digits, join_words
from protocol.records import Result
from tournaments.formats.base import first_version, version_number
from tournaments.league.state import (
    ChosenTable,
    DivisionData,
    EarlyEnd,
    LeagueData,
    benched_versions,
)
from tournaments.rating.ratings import FINE, fit
from tournaments.rating.statistics import WRONG, Estimate, rank_intervals
from tournaments.rating.tables import Anchor, Pool, Rating
from tournaments.report.scaling import contrast

ENOUGH_BOARDS = 10
"""Boards of a version that has a rank, unless the others have fewer: with 5 its interval is half
as wide again as theirs, and of 20 equal bots the least known one is first too often. Two versions
are not compared before both have played as many."""
CHANCE = 0.95
"""Probability from which a version is flagged as worse."""
WIDER = 1.5
"""Factor on the error of a lead, for the choice of tables by results and for many looks."""
TINY = 1e-9
"""Probability below which a likelihood of superiority is rounded to 0."""


class StandingRow(Rating, frozen=True, kw_only=True):
    """A version's line in the table of a division; without a game its numbers are 0.

    `ranks` are those among the present versions; (0, 0) for a version without a rank.
    """

    bot: str
    rank: int | None
    """Rank among the present versions of authors; None for others, and after too few boards."""
    is_house: bool
    is_active: bool
    """True for the present version of a bot that plays in this division."""
    bench: EarlyEnd | None
    """Its bench, if it plays no more because it fouled too often; then it has no rank."""
    since: str
    """Day of its admission, such as 2026-11-22."""
    before: str
    """Version of the bot that it is compared with: the last before it that played enough, or else
    the last that played; empty if none did."""
    gain: Estimate
    """Elo over that version, if both have a rating."""
    worse: float | None
    """Probability that a present version is worse than that one, if both played enough."""

    better: dict[str, float]
    """Probability that a version of authors is better than each house bot that played enough."""

    @property
    def rating(self) -> Estimate:
        """Its Elo; the anchor's is exact, without ±."""
        return Estimate(self.elo, self.half_width or None, self.bound)

    def stands_last(self) -> bool:
        """Tell whether it stands below all others: a bot of authors without a rank."""
        return self.rank is None and not (self.is_house and self.games)

    @property
    def is_worse(self) -> bool:
        """True if it is flagged as worse than the version before."""
        return self.worse is not None and self.worse >= CHANCE

    @property
    def flag(self) -> str:
        """The finding in words, as in: mine@7 is worse than mine@6: 97 %."""
        chance = self.worse or 0.0
        words = "over 99.9 %" if chance > 0.999 else f"{100 * chance:.0f} %"
        return f"{self.name} is worse than {self.before}: {words}"


class DivisionTable(Struct, frozen=True, kw_only=True):
    """All that the results of a division tell about its bots, as league.json has it."""

    name: str
    title: str
    rules: str
    """The name of its rules; each round's event.json has them in full."""
    seats: int
    rounds: int
    """Rounds that are over."""
    games: int
    until: str
    """Time at which the last of them was chosen; empty if there is none."""
    standings: list[StandingRow]
    """Present versions, best first; those without a rank stand last."""
    earlier: list[StandingRow]
    """Versions that play no more, best first."""
    history: dict[str, dict[str, str]]
    """The version of each bot on each day on which it played: its rating was the bot's."""
    next: tuple[ChosenTable, ...]
    """Tables of the round that is to be played."""
    champions: tuple[str, ...] = ()
    """The winner of the final, or those who share the title."""
    verdict: str = ""
    """A sentence about the end of the final."""

    @property
    def all_versions(self) -> list[StandingRow]:
        """All versions that play or played."""
        return [*self.standings, *self.earlier]

    @property
    def regressions(self) -> list[StandingRow]:
        """Present versions that are worse than the one before, the surest first."""
        flagged = (row for row in self.standings if row.is_worse)
        return sorted(flagged, key=lambda row: row.worse or 0.0, reverse=True)

    def describe_zero(self, anchor: Anchor) -> str:
        """Return a sentence about the level of the Elo: it is the anchor's once that is rated."""
        if any(row.name == anchor.name and not row.bound for row in self.all_versions):
            return f"{anchor.name} is set to {anchor.elo:+g} Elo."
        return "0 Elo is the average of the bots without < or >."

    @property
    def comparisons(self) -> int:
        """Number of present versions that were compared with the one before."""
        return sum(row.worse is not None for row in self.standings)


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


def rate_division(division: DivisionData, league: LeagueData) -> DivisionTable:
    """Rate all versions of a division by all results of its finished rounds."""
    results, over = list(division.results()), division.over
    champions, verdict = title_of(division)
    rows = _rows(division, league, results)
    return DivisionTable(
        name=division.settings.name,
        title=division.settings.title or division.settings.name,
        rules=division.rules.name,
        seats=division.seats,
        rounds=len(over),
        games=len(results),
        until=over[-1].plan.time if over else "",
        standings=sorted((row for row in rows if row.is_active), key=StandingRow.stands_last),
        earlier=[row for row in rows if not row.is_active],
        history=_history(division, {row.name for row in rows if row.bound != "?"}),
        next=division.playing.plan.tables if division.playing else (),
        champions=champions,
        verdict=verdict,
    )


def title_of(division: DivisionData) -> tuple[tuple[str, ...], str]:
    """Return who has the title, by the boards of the final alone, and a sentence with the reason.

    Of finalists that are equally good at most one final in twenty leaves any out: so each of the
    n (n - 1) leads that there may be is certain only at its share of 5 % (Bonferroni).
    """
    final = division.final
    if final is None or not final.is_over:
        return (), ""
    pools = fit(final.results, partners=division.rules.deal.partners).pools if final.results else ()
    if not pools:
        return (), "The final was closed before any board was over."
    pool, names = pools[0], [row.name for row in pools[0].entrants]
    level = 1 - WRONG / (len(names) * (len(names) - 1))
    champions = tuple(
        name for place, name in enumerate(names) if not place or pool.los[0][place] <= level
    )
    lead = contrast(pool, {0: 1.0, 1: -1.0}).text()
    boards = count_in_digits(final.plan.boards, "board")
    if len(champions) == 1:
        return champions, f"{names[0]} is the champion: {lead} Elo over {names[1]} in the final."
    return champions, (
        f"{join_words(champions)} share the title: {boards} at each table of the final leave open "
        f"who is best ({names[0]} over {names[1]}: {lead} Elo)."
    )


def _rows(division: DivisionData, league: LeagueData, results: list[Result]) -> list[StandingRow]:
    partners, quota = division.rules.deal.partners, league.settings.quota
    active, house = league.active(division.settings.name), league.settings.house
    benched = benched_versions(division.rounds, quota.foul_sittings, house)
    pools = _pools(results, partners, league.settings.anchor)
    main = _RatedPool(pools[0] if pools else None)
    # House bots carry the level; authors compare themselves with each other.
    ranked = main.ranked(
        name for name in active if name not in benched and first_version(name) not in house
    )
    ranks = dict(zip(ranked, main.rank_intervals(ranked), strict=True))
    # A version that no game connects with the anchor has no rating.
    ratings = [*main.entrants.values()]
    others = (rating for pool in pools[1:] for rating in pool.entrants)
    ratings += [replace(rating, elo=None, half_width=None, bound="?") for rating in others]
    played = [rating.name for rating in ratings]
    ratings += [_newcomer(name) for name in active if name not in played]
    before = _versions_before(played, {row.name for row in ratings if row.boards >= ENOUGH_BOARDS})
    worse = {name: main.worse(name, before[name]) for name in active if name in before}
    versions = league.versions
    return [
        StandingRow(
            **asdict(rating) | {"ranks": ranks.get(rating.name, (0, 0))},
            bot=first_version(rating.name),
            rank=ranked.index(rating.name) + 1 if rating.name in ranks else None,
            is_house=first_version(rating.name) in house,
            is_active=rating.name in active,
            bench=benched.get(rating.name),
            since=versions[rating.name].time[:10] if rating.name in versions else "",
            before=before.get(rating.name, ""),
            gain=main.lead(rating.name, before.get(rating.name, "")),
            worse=worse.get(rating.name),
            better=main.better(rating.name, () if first_version(rating.name) in house else house),
        )
        for rating in ratings
    ]


def _pools(results: list[Result], partners: bool, anchor: Anchor) -> list[Pool]:
    """Fit all results; the first pool is that of the anchor, or else the largest."""
    pools = fit(results, partners=partners, anchor=anchor).pools if results else ()
    return sorted(pools, key=lambda pool: all(row.name != anchor.name for row in pool.entrants))


class _RatedPool:
    """The pool of a division whose ratings are compared."""

    def __init__(self, pool: Pool | None) -> None:
        self.entrants = {row.name: row for row in pool.entrants} if pool else {}
        """The rating of each version, best first."""
        self._place = {name: place for place, name in enumerate(self.entrants)}
        self._los = pool.los if pool else ()
        self._pool = pool

    def ranked(self, names: Iterable[str]) -> list[str]:
        """Return those that played on enough boards, or on half as many as most, best first."""
        present = {*names}
        boards = {name: row.boards for name, row in self.entrants.items() if name in present}
        enough = min(ENOUGH_BOARDS, median(boards.values()) / 2) if boards else 0
        return [name for name in boards if boards[name] >= enough]

    def rank_intervals(self, names: Sequence[str]) -> Sequence[tuple[int, int]]:
        """Return the ranks among these versions that the results leave open."""
        places = [self._place[name] for name in names]
        return rank_intervals([[self._los[place][other] for other in places] for place in places])

    def lead(self, name: str, other: str) -> Estimate:
        """Return a version's Elo over the other."""
        if self._pool is None or not {name, other} <= self.entrants.keys():
            return Estimate(None)
        return contrast(self._pool, {self._place[name]: 1.0, self._place[other]: -1.0})

    def better(self, name: str, house: Iterable[str]) -> dict[str, float]:
        """Return the probability that a version is better than each of these, as far as known."""
        chances = {bot: self.worse(bot, name) for bot in house}
        return {bot: chance for bot, chance in chances.items() if chance is not None}

    def worse(self, newer: str, older: str) -> float | None:
        """Return the probability that one is worse; None unless both have played enough."""
        pair = [self.entrants[name] for name in (newer, older) if name in self.entrants]
        if len(pair) < 2 or any(row.boards < ENOUGH_BOARDS for row in pair):
            return None
        return widened(self._los[self._place[older]][self._place[newer]])


def widened(likelihood: float) -> float:
    """Return the likelihood that one is better, with its error `WIDER` times as wide."""
    normal = NormalDist()
    z = normal.inv_cdf(min(max(likelihood, TINY), 1 - TINY))
    return round(normal.cdf(z / WIDER), FINE)


def _newcomer(name: str) -> Rating:
    return Rating(
        name=name, elo=None, half_width=None, bound="?", ranks=(0, 0), games=0, boards=0,
        win_share=0.0, margin=None, margin_half_width=None, fouls=0,
    )  # fmt: skip


def _versions_before(names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return what each version is compared with; `known`: those that have played enough.

    Who pushes often leaves versions that hardly played: they would hide that a bot became worse.
    """
    before, last = dict[str, str](), dict[str, str]()
    for name in sorted(names, key=version_number):
        bot = first_version(name)
        if bot in last:
            before[name] = last[bot]
        if name in known or last.get(bot) not in known:
            last[bot] = name
    return before


def _history(division: DivisionData, rated: Collection[str]) -> dict[str, dict[str, str]]:
    history = defaultdict[str, dict[str, str]](dict)
    for round in division.over:
        for name in {name for result in round.results for name in result.seats}:
            if name in rated:
                history[first_version(name)][round.day] = name
    return dict(sorted(history.items()))
