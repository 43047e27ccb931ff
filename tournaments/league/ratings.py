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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from statistics import NormalDist, median

from msgspec import Struct
from msgspec.structs import asdict, replace

from arena.document.blocks import Cell, Column, DocumentBlock, Paragraph, Section, bullets, table
from arena.rules.english import count_in_digits
from protocol.records import Result
from tournaments.formats.base import first_version, version_number
from tournaments.league.state import (
    Admitted,
    AnyEntry,
    ChosenTable,
    DivisionData,
    EarlyEnd,
    LeagueData,
    Refused,
    benched_versions,
    days_of,
    describe_entry,
    describe_fouls,
    one_line,
    parse_time,
    week_of,
)
from tournaments.rating.ratings import FINE, fit
from tournaments.rating.statistics import Estimate, rank_intervals
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
    is_sure: bool
    """True if it would be flagged even if all comparisons of the division together may give a false
    alarm in one of twenty cases (Holm)."""

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

    @property
    def all_versions(self) -> list[StandingRow]:
        """All versions that play or played."""
        return [*self.standings, *self.earlier]

    @property
    def regressions(self) -> list[StandingRow]:
        """Present versions that are worse than the one before, the surest first."""
        flagged = (row for row in self.standings if row.is_worse)
        return sorted(flagged, key=lambda row: row.worse or 0.0, reverse=True)

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
    alarms = surely_worse({name: chance for name, chance in worse.items() if chance is not None})
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
            is_sure=rating.name in alarms,
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


def surely_worse(chances: Mapping[str, float]) -> set[str]:
    """Return the versions that are worse if all comparisons may give one false alarm in twenty."""
    alarms = set[str]()
    ordered = sorted(chances, key=lambda name: chances[name], reverse=True)
    for left, name in zip(range(len(ordered), 0, -1), ordered, strict=True):
        if 1 - chances[name] > (1 - CHANCE) / left:
            break
        alarms.add(name)
    return alarms


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


# The report about a week of a league, as blocks of a page. Pure.
#
# Everything in it was so at the end of the week: a week that is over has the same report at any
# time.


MAX_QUOTE_LENGTH = 160
"""Characters of a text of an author, or about one's files."""


def week_blocks(league: LeagueData, week: str) -> list[DocumentBlock]:
    """Return the report about a week that is over, such as 2026-W47, without its title."""
    now = league_at_end(league, week)
    first, last = days_of(week)
    entries = [entry for entry in now.register if _week(entry) == week]
    dates = f"{first.day} {first:%B} to {last.day} {last:%B %Y}"
    return [
        Paragraph(f"Week {week}, {dates}."),
        *(_division(now, name, week) for name in now.divisions),
        *list_section("Pushes", _pushes(entries)),
    ]


def league_at_end(league: LeagueData, week: str) -> LeagueData:
    """Return the league as its files told it at the end of a week."""
    return replace(
        league,
        register=[entry for entry in league.register if _week(entry) <= week],
        divisions={
            name: replace(data, rounds=[played for played in data.rounds if played.week <= week])
            for name, data in league.divisions.items()
        },
    )


def week_before(week: str) -> str:
    """Return the week before a week."""
    return f"{days_of(week)[0] - timedelta(days=1):%G-W%V}"


def ranks_at_end(league: LeagueData, division: str, week: str) -> dict[str, int]:
    """Return the rank of each bot in a division at the end of a week."""
    snapshot = league_at_end(league, week)
    rows = rate_division(snapshot.divisions[division], snapshot).standings
    return {row.bot: row.rank for row in rows if row.rank}


def _division(now: LeagueData, name: str, week: str) -> Section:
    data = now.divisions[name]
    division, before = rate_division(data, now), ranks_at_end(now, name, week_before(week))
    compared = count_in_digits(division.comparisons, "new version")
    news = (
        *(f"**{row.flag}** (of {compared} compared)" for row in division.regressions),
        *(
            f"{row.name} is better than {row.before}: {row.gain.text()} Elo"
            for row in division.standings
            if row.gain.half_width and row.gain.low > 0
        ),
        *describe_fouls(round for round in data.over if round.week == week),
        *(
            f"{row.name} {row.bench.why}"
            for row in division.all_versions
            if row.bench and week_of(parse_time(row.bench.time)) == week
        ),
        *(
            f"round {round.plan.number} was closed before its end: {_quoted(round.closed.why)}"
            for round in data.rounds
            if round.closed and round.week == week
        ),
    )
    standings = _standings(division, before, now.settings.anchor.name)
    return Section(data.settings.title or name, [standings, *([bullets(news)] if news else [])])


def _standings(division: DivisionTable, before: Mapping[str, int], anchor: str) -> DocumentBlock:
    if not any(row.games for row in division.standings):
        return Paragraph("No game was played yet.")
    columns = [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        Column("moved"),
        Column("win %"),
    ]
    return table(
        f"Standings, {anchor} = 0", columns, (_row(row, before) for row in division.standings)
    )


def _row(row: StandingRow, before: Mapping[str, int]) -> list[Cell]:
    place = "benched" if row.bench else f"{row.rank or '–'}"
    return [
        Cell(place),
        Cell(row.name),
        row.rating.cell(),
        Cell(_moved(row, before)),
        Cell(f"{100 * row.win_share:.0f}" if row.games else ""),
    ]


def _moved(row: StandingRow, before: Mapping[str, int]) -> str:
    """Word by how many ranks a bot has risen or fallen."""
    if row.is_house:
        return ""
    if row.bot not in before:
        return "new"
    moved = before[row.bot] - row.rank if row.rank else 0
    return f"{moved:+}" if moved else "="


def _week(entry: AnyEntry) -> str:
    return week_of(parse_time(entry.time))


def _pushes(entries: Iterable[AnyEntry]) -> Iterator[str]:
    """Word what came of each bot's pushes; of several that are refused the last."""
    authors = (entry for entry in entries if not (isinstance(entry, Admitted) and entry.house))
    pushes = {(e.bot, "" if isinstance(e, Refused) else e.version): e for e in authors}
    for _, entry in sorted(pushes.items()):
        kind, words = describe_entry(entry)
        yield f"{kind}: {_quoted(words)}"


def list_section(title: str, lines: Iterable[str]) -> Iterator[Section]:
    """Yield a section with a list, if it has any items."""
    if items := [*lines]:
        yield Section(title, [bullets(items)])


def _quoted(text: str) -> str:
    """Quote words that an author may have chosen, so that they are neither marks nor a link."""
    quoted = one_line(text, MAX_QUOTE_LENGTH).replace("`", "'")
    return f"`{quoted}`"
