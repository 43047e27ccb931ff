"""Standings of a division: the table of all versions, from one fit of all results. Pure.

Every version is an entrant of its own, and one fit takes all results of the division at once. So a
rating does not depend on the order of the games, and the rating of an old version is still mended
by what its opponents did later. The level is the league's anchor, a house bot that plays for ever.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from protocol.records import Result
from tournaments.formats.base import first_version, version_number
from tournaments.league.conduct import benched_versions
from tournaments.league.ratings.regressions import (
    RatedPool,
    Regression,
    comparable,
    find_regressions,
)
from tournaments.league.read import DivisionData, LeagueData, PlayedRound
from tournaments.league.records import ChosenTable
from tournaments.rating.anchor import Anchor
from tournaments.rating.ratings import fit
from tournaments.rating.tables import Bound, Pool, Rating


class TimelinePoint(Struct, frozen=True, kw_only=True):
    """The rating of a bot on a day."""

    day: str
    """The day, such as 2026-11-22."""
    version: str
    """The version that played; of several the last."""
    elo: float | None
    """Its Elo over the anchor, or a bound."""
    half_width: float | None
    """Half width of the 95 % interval of `elo`, in Elo."""
    bound: Bound
    """As in `tournaments.rating.tables.Rating`."""


def rating_history(
    rounds: Iterable[PlayedRound], ratings: Mapping[str, Rating]
) -> dict[str, list[TimelinePoint]]:
    """Return the history of each bot, by bot, with a point for each day on which it played."""
    played: dict[str, dict[str, Rating]] = {}
    for one in rounds:
        if one.is_over:
            for name in {name for result in one.results for name in result.seats}:
                if name in ratings:
                    played.setdefault(first_version(name), {})[one.day] = ratings[name]
    return {bot: [_point(*point) for point in own.items()] for bot, own in sorted(played.items())}


def _point(day: str, rating: Rating) -> TimelinePoint:
    return TimelinePoint(
        day=day,
        version=rating.name,
        elo=rating.elo,
        half_width=rating.half_width,
        bound=rating.bound,
    )


FORM = 10
"""Games of a version's form."""
ENOUGH_BOARDS = 10
"""Boards of a version that has a rank, unless the others have fewer: with 5 its interval is half
as wide again as theirs, and of 20 equal bots the least known one is first too often."""


class StandingRow(Struct, frozen=True, kw_only=True):
    """A version's line in the table of a division."""

    rank: int | None
    """Rank among the present versions; None for others, and while it has played too little."""
    ranks: tuple[int, int] | None
    """Best and worst rank among the present versions that results leave open (two at 95 %)."""
    bot: str
    version: str
    elo: float | None
    """Elo over the anchor; a 95 % bound if `bound` tells so; None if no game connects the two."""
    half_width: float | None
    """Half width of the 95 % interval of `elo`, in Elo; None without a rating."""
    bound: Bound
    """As in `tournaments.rating.tables.Rating`."""
    games: int
    """Games played."""
    boards: int
    """Boards played on."""
    win_share: float | None
    """Share of wins in its pairs, 0 to 1, a draw ½; None before its first game."""
    margin: float | None
    """Mean margin in points, as in `tournaments.rating.tables.Rating`."""
    fouls: int
    """Fouls committed."""
    is_house: bool
    """True for a house bot."""
    is_active: bool
    """True for the present version of a bot that plays in this division."""
    is_benched: bool
    """True if it plays no more because it fouled too often; then it has no rank."""
    since: str
    """Day of its admission, such as 2026-11-22."""
    form: tuple[str, ...]
    """Its last games, the latest last: W for the first place alone, D for a shared one, else L."""
    before: str
    """Version of the bot that it is compared with: the last before it that played, or none."""
    change: float | None
    """Elo over that version; None without one, or if either has no rating."""
    change_half_width: float | None
    """Half width of the 95 % interval of `change`, in Elo."""


def elo_text(row: StandingRow) -> tuple[str, str]:
    """Return a rating as +12 and half the width of its interval, which may be empty."""
    if row.elo is None:
        return "?", ""
    half = f"{row.half_width:.0f}" if row.half_width else ""  # The anchor's is 0.
    elo = round(row.elo)
    return f"{row.bound}{elo:+,}" if elo else f"{row.bound}0", half


class DivisionTable(Struct, frozen=True, kw_only=True):
    """All that the results of a division tell about its bots, as league.json has it."""

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
    """Present versions, best first; those without a rank stand last."""
    earlier: list[StandingRow]
    """Versions that play no more, best first."""
    timeline: dict[str, list[TimelinePoint]]
    """History of each bot's rating, by bot."""
    regressions: list[Regression]
    """Present versions that are worse than the one before."""
    comparisons: int
    """Number of present versions that were compared with the one before."""
    next: tuple[ChosenTable, ...]
    """Tables of the round that is to be played."""

    @property
    def all_versions(self) -> list[StandingRow]:
        """All versions that play or played."""
        return [*self.standings, *self.earlier]


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
    results = list(division.results())
    partners = division.rules.deal.partners
    active = league.active(division.settings.name)
    quota, house = league.settings.quota, league.settings.house
    benched = benched_versions(division.rounds, quota.foul_sittings, house)
    pools = _pools(results, partners, league.settings.anchor)
    main = RatedPool(pools[0] if pools else None)
    ranked = ranked_versions(main, main.of({*active} - benched.keys()))
    before = _versions_before([rating.name for pool in pools for rating in pool.entrants])
    facts = _Facts(
        rank={name: place for place, name in enumerate(ranked, 1)},
        ranks=dict(zip(ranked, main.rank_intervals(ranked), strict=True)),
        playing=frozenset(active),
        benched=frozenset(benched),
        house=house,
        since=_first_days(division, league),
        form=_form(results, partners),
        before=before,
    )
    rows = [_row(rating, main, facts) for rating in main.ratings]
    rows += [_row(_unrated(rating), main, facts) for pool in pools[1:] for rating in pool.entrants]
    played = {row.version for row in rows}
    rows += [_row(_newcomer(name), main, facts) for name in active if name not in played]
    present = [row.version for row in rows if row.is_active]
    pairs = [(name, before[name]) for name in present if before.get(name)]
    compared = comparable(pairs, main)
    over = [one for one in division.rounds if one.is_over]
    return DivisionTable(
        name=division.settings.name,
        title=division.settings.title or division.settings.name,
        rules=division.rules.name,
        seats=division.seats,
        rounds=len(over),
        games=len(results),
        until=over[-1].plan.time if over else "",
        standings=sorted((row for row in rows if row.is_active), key=lambda row: row.rank is None),
        earlier=[row for row in rows if not row.is_active],
        timeline=rating_history(division.rounds, main.by_name),
        regressions=find_regressions(compared, main),
        comparisons=len(compared),
        next=next((one.plan.tables for one in division.rounds if not one.is_over), ()),
    )


def _pools(results: list[Result], partners: bool, anchor: Anchor) -> list[Pool]:
    """Fit all results; the first pool is that of the anchor, or else the largest."""
    pools = fit(results, partners=partners, anchor=anchor).pools if results else ()
    return sorted(pools, key=lambda pool: all(one.name != anchor.name for one in pool.entrants))


def ranked_versions(main: RatedPool, names: Sequence[str]) -> list[str]:
    """Return the versions that played on enough boards, or on half as many as most others."""
    boards = {name: main.by_name[name].boards for name in names}
    enough = min(ENOUGH_BOARDS, median(boards.values()) / 2) if boards else 0
    return [name for name in names if boards[name] >= enough]


class _Facts(NamedTuple):
    """Facts about versions beside their ratings, each by version."""

    rank: Mapping[str, int]
    ranks: Mapping[str, tuple[int, int]]
    playing: frozenset[str]
    benched: frozenset[str]
    house: Collection[str]
    since: Mapping[str, str]
    form: Mapping[str, tuple[str, ...]]
    before: Mapping[str, str]


def _row(rating: Rating, main: RatedPool, facts: _Facts) -> StandingRow:
    name = rating.name
    before = facts.before.get(name, "")
    change = main.lead(name, before) if before else None
    return StandingRow(
        rank=facts.rank.get(name),
        ranks=facts.ranks.get(name),
        bot=first_version(name),
        version=name,
        elo=rating.elo,
        half_width=rating.half_width,
        bound=rating.bound,
        games=rating.games,
        boards=rating.boards,
        win_share=rating.win_share if rating.games else None,
        margin=rating.margin,
        fouls=rating.fouls,
        is_house=first_version(name) in facts.house,
        is_active=name in facts.playing,
        is_benched=name in facts.benched,
        since=facts.since.get(name, ""),
        form=facts.form.get(name, ()),
        before=before,
        change=change[0] if change else None,
        change_half_width=change[1] if change else None,
    )


def _unrated(rating: Rating) -> Rating:
    """Take the rating from a version that no game connects with the anchor."""
    return replace(rating, elo=None, half_width=None, bound="?")


def _newcomer(name: str) -> Rating:
    return Rating(
        name=name, elo=None, half_width=None, bound="?", ranks=(0, 0), games=0, boards=0,
        win_share=0.0, margin=None, margin_half_width=None, fouls=0,
    )  # fmt: skip


def _versions_before(names: Iterable[str]) -> dict[str, str]:
    by_bot = defaultdict[str, list[str]](list)
    for name in sorted(names, key=version_number):
        by_bot[first_version(name)].append(name)
    return {new: old for own in by_bot.values() for old, new in pairwise(own)}


def _first_days(division: DivisionData, league: LeagueData) -> dict[str, str]:
    days = {name: one.time[:10] for name, one in league.versions.items()}
    for one in division.rounds:
        for table in one.plan.tables:
            for name in table.entrants:
                days.setdefault(name, one.day)
    return days


def _form(results: Iterable[Result], partners: bool) -> dict[str, tuple[str, ...]]:
    games = defaultdict[str, deque[str]](lambda: deque(maxlen=FORM))
    share = 2 if partners else 1
    for result in results:
        first = "W" if result.places.count(1) <= share else "D"
        for name, place in zip(result.seats, result.places, strict=True):
            games[name].append(first if place == 1 else "L")
    return {name: tuple(letters) for name, letters in games.items()}
