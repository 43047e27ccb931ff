"""The report about a week of a league, as blocks of a page. Pure.

Everything in it was so at the end of the week: a week that is over has the same report at any time.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from msgspec.structs import replace

from arena.document.blocks import Block, Cell, Column, Paragraph, Section, bullets, table
from arena.rules.english import count_in_digits
from tournaments.league.conduct import describe_fouls
from tournaments.league.journal import describe_entry
from tournaments.league.ratings import DivisionTable, StandingRow, rate_division
from tournaments.league.read import (
    LeagueData,
    days_of,
    parse_time,
    week_of,
)
from tournaments.league.records import Admitted, AnyEntry, Refused, one_line

LONGEST = 160
"""Characters of a text of an author, or about one's files."""


def week_blocks(league: LeagueData, week: str) -> list[Block]:
    """Return the report about a week that is over, such as 2026-W47, without its title."""
    now = league_at_end(league, week)
    first, last = days_of(week)
    entries = [one for one in now.register if _week(one) == week]
    when = f"{first.day} {first:%B} to {last.day} {last:%B %Y}"
    return [
        Paragraph(f"Week {week}, {when}."),
        *(_division(now, name, week) for name in now.divisions),
        *list_section("Pushes", _pushes(entries)),
    ]


def league_at_end(league: LeagueData, week: str) -> LeagueData:
    """Return the league as its files told it at the end of a week."""
    return replace(
        league,
        register=[one for one in league.register if _week(one) <= week],
        divisions={
            name: replace(one, rounds=[played for played in one.rounds if played.week <= week])
            for name, one in league.divisions.items()
        },
    )


def week_before(week: str) -> str:
    """Return the week before a week."""
    return f"{days_of(week)[0] - timedelta(days=1):%G-W%V}"


def ranks_at_end(league: LeagueData, division: str, week: str) -> dict[str, int]:
    """Return the rank of each bot in a division at the end of a week."""
    then = league_at_end(league, week)
    rows = rate_division(then.divisions[division], then).standings
    return {row.bot: row.rank for row in rows if row.rank}


def _division(now: LeagueData, name: str, week: str) -> Section:
    data = now.divisions[name]
    found, before = rate_division(data, now), ranks_at_end(now, name, week_before(week))
    compared = count_in_digits(found.comparisons, "new version")
    news = (
        *(f"**{row.flag}** (of {compared} compared)" for row in found.regressions),
        *(
            f"{row.name} is better than {row.before}: {row.gain.text()} Elo"
            for row in found.standings
            if row.gain.half_width and row.gain.low > 0
        ),
        *describe_fouls(one for one in data.over if one.week == week),
        *(
            f"{row.name} {row.bench.why}"
            for row in found.all_versions
            if row.bench and week_of(parse_time(row.bench.time)) == week
        ),
        *(
            f"round {one.plan.number} was closed before its end: {_quoted(one.closed.why)}"
            for one in data.rounds
            if one.closed and one.week == week
        ),
    )
    standings = _standings(found, before, now.settings.anchor.name)
    return Section(data.settings.title or name, [standings, *([bullets(news)] if news else [])])


def _standings(found: DivisionTable, before: Mapping[str, int], anchor: str) -> Block:
    if not any(row.games for row in found.standings):
        return Paragraph("No game was played yet.")
    columns = [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        Column("moved"),
        Column("win %"),
    ]
    return table(
        f"Standings, {anchor} = 0", columns, (_row(row, before) for row in found.standings)
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
    if row.bot not in before:
        return "new"
    moved = before[row.bot] - row.rank if row.rank else 0
    return f"{moved:+}" if moved else "="


def _week(entry: AnyEntry) -> str:
    return week_of(parse_time(entry.time))


def _pushes(entries: Iterable[AnyEntry]) -> Iterator[str]:
    """Word what came of each bot's pushes; of several that are refused the last."""
    authors = (one for one in entries if not (isinstance(one, Admitted) and one.house))
    shown = {(one.bot, "" if isinstance(one, Refused) else one.version): one for one in authors}
    for _, one in sorted(shown.items()):
        kind, words = describe_entry(one)
        yield f"{kind}: {_quoted(words)}"


def list_section(title: str, lines: Iterable[str]) -> Iterator[Section]:
    """Yield a section with a list, if it has any items."""
    if items := [*lines]:
        yield Section(title, [bullets(items)])


def _quoted(text: str) -> str:
    """Quote words that an author may have chosen, so that they are neither marks nor a link."""
    quoted = one_line(text, LONGEST).replace("`", "'")
    return f"`{quoted}`"
