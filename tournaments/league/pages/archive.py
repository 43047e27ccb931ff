"""The past of a league as it was then: ranks by day, standings by week.

Ratings come from one fit of all results, so those of last month change with every game. Here stands
what was true at the time. A day's ranks are kept when the day is published, and a day that nobody
published has none. A week's standings follow from the files of the league at any later time.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from msgspec import Struct

from arena.files import read_file, write_atomic
from protocol.codec import DamagedRecordError, decode_json, encode_json, indented_json
from tournaments.league.ratings.standings import StandingRow, division_standings
from tournaments.league.read import LeagueData
from tournaments.league.weeks import league_at_end

RANKS = "ranks.json"
"""The file of the ranks by day."""
WEEKS = "weeks"
"""The folder of the archive."""
SPAN = timedelta(days=7)
"""The time over which the front page tells who has moved."""

Ranks = dict[str, dict[str, dict[str, int]]]
"""The rank of each bot by division, by the last day on which a round was played."""


class Week(Struct, frozen=True, kw_only=True):
    """A week that is over: the standings at its end."""

    week: str
    """The ISO week, such as 2026-W47."""
    rounds: int
    """Rounds that it saw."""
    games: int
    """Games of these rounds."""
    divisions: dict[str, list[StandingRow]]
    """The present versions of each division, best first."""


def read_ranks(site: Path, today: str) -> Ranks:
    """Return the ranks that were published before; none if the file is missing or damaged.

    Days that have not come yet were published by a clock that was wrong.
    """
    try:
        ranks = decode_json(read_file(site / RANKS), Ranks)
    except (OSError, DamagedRecordError):
        return {}
    return {day: ranks[day] for day in ranks if day <= today}


def ranks_json(ranks: Ranks) -> bytes:
    """Return the content of the file of ranks."""
    return encode_json(ranks) + b"\n"


def ranks_moved(ranks: Ranks, division: str, present: Mapping[str, int]) -> dict[str, int]:
    """Return how many ranks each bot has won since a week before the last day, or the first."""
    days = sorted(ranks)
    if len(days) < 2:
        return {}
    wanted = (date.fromisoformat(days[-1]) - SPAN).isoformat()
    before = max((day for day in days if day <= wanted), default=days[0])
    then = ranks[before].get(division, {})
    return {bot: then[bot] - rank for bot, rank in present.items() if bot in then}


def past_weeks(data: LeagueData, site: Path, this_week: str) -> Iterator[Week]:
    """Yield the weeks before this one in which a round was played, the first one first.

    A week is computed once and kept in the site. Raises OSError.
    """
    rounds = [one for division in data.divisions.values() for one in division.rounds if one.is_over]
    for week in sorted({one.week for one in rounds if one.week < this_week}):
        path = site / WEEKS / f"{week}.json"
        own = [one for one in rounds if one.week == week]
        games = sum(len(one.results) for one in own)
        try:
            kept = decode_json(read_file(path), Week)
        except (OSError, DamagedRecordError):
            kept = None
        if kept is None or (kept.rounds, kept.games) != (len(own), games):
            tables = _standings_after(data, week)
            kept = Week(week=week, rounds=len(own), games=games, divisions=tables)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, [indented_json(kept), b"\n"])
        yield kept


def _standings_after(data: LeagueData, week: str) -> dict[str, list[StandingRow]]:
    """Return the standings at the end of a week, from what had happened by then."""
    then = league_at_end(data, week)
    return {name: division_standings(one, then).rows for name, one in then.divisions.items()}


def week_changes(weeks: Sequence[Week]) -> Iterator[tuple[Week, dict[str, dict[str, int]]]]:
    """Yield each week, with the ranks that bots won in it by division and bot."""
    before: dict[str, dict[str, int]] = {}
    for one in weeks:
        now = {
            name: {row.bot: row.rank for row in rows if row.rank}
            for name, rows in one.divisions.items()
        }
        yield (
            one,
            {
                name: {
                    bot: before[name][bot] - rank
                    for bot, rank in ranks.items()
                    if bot in before.get(name, {})
                }
                for name, ranks in now.items()
            },
        )
        before = now
