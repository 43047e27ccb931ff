"""History of a bot's rating: on each day the rating of the version that played. Pure.

The ratings are those of the one fit of all results, not those that the table showed on that day.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from tournaments.formats.base import first_version
from tournaments.league.read import PlayedRound
from tournaments.rating.tables import Bound, Rating


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
