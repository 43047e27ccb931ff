"""The news of a league, item by item, for its pages and feeds. Pure."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from arena.rules.english import count_in_digits
from protocol.codec import printable
from tournaments.league.pages.archive import Ranks
from tournaments.league.pages.view import LeagueView
from tournaments.league.records import Admitted, AnyEntry, Benched, CheckSummary, Refused

LONGEST = 500
"""The largest length of an item's words, in characters."""
DAYS = 60
"""The last days whose changes of ranks are told."""

Kind = Literal["admitted", "refused", "left", "back", "benched", "rank", "worse"]


class News(NamedTuple):
    """Something that happened to a bot."""

    time: str
    """The time, as in the register."""
    bot: str
    kind: Kind
    title: str
    """A sentence, without its stop."""
    words: str
    """More, which may hold an author's words; empty if there is none."""
    id: str
    """A name that no other item has, and that stays."""


def league_news(view: LeagueView, ranks: Ranks) -> list[News]:
    """Return all that happened, the latest first."""
    items = [item for entry in view.data.register for item in _entry_news(entry)]
    items += [*_regression_news(view), *_rank_news(view, ranks)]
    return sorted(items, key=lambda one: (one.time, one.id), reverse=True)


def _entry_news(entry: AnyEntry) -> Iterator[News]:
    bot, words = entry.bot, ""
    kind: Kind = "left"
    match entry:
        case Admitted(house=True):
            return
        case Admitted():
            kind = "admitted"
            first = entry.version == bot
            title = f"{bot} joined the league" if first else f"{entry.version} was admitted"
            words = f"“{printable(entry.about, 200)}”" if entry.about else ""
        case Refused():
            kind, title, words = "refused", f"A push of {bot} was refused", entry.why
        case Benched():
            kind, words = "benched", entry.why
            title = f"{entry.version} is benched in {entry.division} until it changes"
        case _:
            title = f"{bot} was withdrawn"
    # The bot's page has them all.
    safe = printable(words.strip().split("\n")[0].rstrip(":"), LONGEST)
    yield News(entry.time, bot, kind, title, safe, f"{kind} {entry.time} {bot}")


def check_words(check: CheckSummary) -> str:
    """Return the result of a check in a sentence."""
    passed = sum(step.verdict == "passed" for step in check.steps)
    steps = count_in_digits(len(check.steps), "step")
    return (
        f"Check: {printable(check.verdict, 200)}, {passed} of {steps} passed in "
        f"{check.seconds:.0f} s at sandbox level {printable(check.sandbox, 20)}."
    )


def _regression_news(view: LeagueView) -> Iterator[News]:
    for division in view.divisions:
        for one in division.standings.regressions:
            admitted = view.data.versions.get(one.newer)
            words = "" if one.lead is None else f"{one.lead:+.0f} ± {one.half_width or 0:.0f} Elo."
            if admitted:
                title = f"{one.sentence} in {division.title}"
                key = f"worse {division.name} {one.newer}"
                yield News(admitted.time, one.bot, "worse", title, words, key)


def _rank_news(view: LeagueView, ranks: Ranks) -> Iterator[News]:
    for before, day in pairwise(sorted(ranks)[-DAYS:]):
        for division in view.divisions:
            then = ranks[before].get(division.name, {})
            for bot, rank in ranks[day].get(division.name, {}).items():
                was = then.get(bot, rank)
                if was == rank or bot not in view.entries:
                    continue
                way = "rose" if rank < was else "fell"
                title = f"{bot} {way} from place {was} to {rank}"
                key = f"rank {division.name} {day} {bot}"
                words = f"In {division.title}."
                yield News(f"{day}T23:59:59Z", bot, "rank", title, words, key)
