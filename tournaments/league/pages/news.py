"""The news of a league, item by item, for its pages. Pure."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from tournaments.league.journal import describe_entry
from tournaments.league.pages.view import DivisionView, News
from tournaments.league.read import LeagueData, days_of
from tournaments.league.records import Admitted, AnyEntry, one_line

LONGEST = 500
"""The largest length of an item's words, in characters."""


def league_news(league: LeagueData, divisions: Iterable[DivisionView]) -> list[News]:
    """Return all that happened, the latest first."""
    items = [item for entry in league.register for item in _entry_news(entry)]
    items += [item for division in divisions for item in _division_news(league, division)]
    return sorted(items, key=lambda one: (one.time, one.title), reverse=True)


def _entry_news(entry: AnyEntry) -> Iterator[News]:
    if isinstance(entry, Admitted) and entry.house:
        return
    kind, words = describe_entry(entry)
    # The bot's page has all lines of a reason.
    subject, _, why = one_line(words.split("\n")[0], LONGEST).partition(": ")
    yield News(entry.time, entry.bot, kind, f"{subject} was {kind}", why.rstrip(":"))


def _division_news(league: LeagueData, division: DivisionView) -> Iterator[News]:
    """Yield the benches and regressions of a division, and the ranks that changed in a week."""
    table = division.table
    for row in table.all_versions:
        if bench := row.bench:
            title = f"{row.name} is benched in {table.name} until it changes"
            yield News(bench.time, row.bot, "benched", title, bench.why)
    for row in table.regressions:
        if admitted := league.versions.get(row.name):
            words = "" if row.gain.value is None else f"{row.gain.text()} Elo."
            title = f"{row.flag} in {table.title}"
            yield News(admitted.time, row.bot, "worse", title, words)
    for (_, before), (week, after) in pairwise(division.past):
        for bot, rank in after.items():
            if (was := before.get(bot, rank)) != rank:
                way = "rose" if rank < was else "fell"
                title = f"{bot} {way} from place {was} to {rank} in {week}"
                time = f"{days_of(week)[1]}T23:59:59Z"
                yield News(time, bot, "rank", title, f"In {table.title}.")
