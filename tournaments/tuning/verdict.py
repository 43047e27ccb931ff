"""The lead of new values over the start values, and the answer of a tune. Pure."""

from collections.abc import Sequence
from math import sqrt

from msgspec import Struct

from protocol.records import Result
from tournaments.rating.statistics import t_quantile
from tournaments.rating.tables import Anchor, Corrections


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer of a tune: the lead of the tuned bot on deals of their own."""

    boards: int
    points: float
    """The tuned bot's lead, in points a game, with the luck of the tiles taken out."""
    points_half_width: float
    elo: float | None
    """The same lead in Elo; None if it is too one-sided for a rating."""
    elo_half_width: float | None

    @property
    def is_better(self) -> bool:
        """True if the 95 % interval of the lead is above 0."""
        return self.points > self.points_half_width

    @property
    def is_worse(self) -> bool:
        """True if the 95 % interval of the lead is below 0."""
        return -self.points > self.points_half_width


def mean_lead(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of two or more independent leads, and half its interval by Student's t."""
    many = len(values)
    mean = sum(values) / many
    error = sqrt(sum((one - mean) ** 2 for one in values) / (many - 1) / many)
    return mean, t_quantile(0.975, many - 1) * error


def verdict_of(
    values: Sequence[float],
    results: Sequence[Result],
    tuned: str,
    start: str,
    *,
    partners: bool,
    luck: Corrections | None,
) -> Verdict:
    """Return the answer after two or more boards with these leads in points, and their games."""
    from tournaments.rating.ratings import fit

    anchor = Anchor(start, 0.0)
    pools = fit(results, partners=partners, anchor=anchor, corrections=luck).pools
    rated = next(one for pool in pools for one in pool.entrants if one.name == tuned)
    elo, half = rated.elo, rated.half_width
    if rated.corrected and rated.corrected.elo is not None:
        elo, half = rated.corrected.elo, rated.corrected.half_width
    lead, half_width = mean_lead(values)
    return Verdict(
        boards=len(values),
        points=round(lead, 6),
        points_half_width=round(half_width, 6),
        elo=elo if half is not None else None,
        elo_half_width=half,
    )
