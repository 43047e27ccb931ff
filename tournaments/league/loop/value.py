"""The worth of luck and of choices in a league's rounds, for the pages of its bots."""

from collections.abc import Iterator

from tournaments.commands.report import take_luck_out
from tournaments.commands.review import ReviewOptions, write_review
from tournaments.league.read import DivisionData, PlayedRound
from tournaments.league.settings import LeagueSettings
from tournaments.storage.luck_store import LuckStore


def value_round(settings: LeagueSettings, division: DivisionData, one: PlayedRound) -> str:
    """Compute what a round that is over lacks of its luck and review; return what, in words.

    Raises UserError, OSError.
    """
    return " and ".join(_value(settings, division, one))


def _value(settings: LeagueSettings, division: DivisionData, one: PlayedRound) -> Iterator[str]:
    from arena.valuation.batch import (
        why_no_values,
    )  # It takes numpy, which most leagues need later.

    if why_no_values(division.rules):
        return
    if settings.luck and _lacks_luck(division, one):
        take_luck_out(one.folder)
        yield "luck"
    if settings.review and not one.folder.review.exists():
        write_review(one.folder, ReviewOptions(one.folder.path))
        yield "review"


def _lacks_luck(division: DivisionData, one: PlayedRound) -> bool:
    from arena.valuation.luck import has_draws

    known = LuckStore(one.folder, one.event)
    return has_draws(division.rules, division.seats) and any(
        known.known(result) is None for result in one.results
    )
