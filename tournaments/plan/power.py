"""Number of boards that would separate two entrants, estimated after a run, in words too. Pure.

An error falls with the root of the boards. With d the measured lead, e its
standard error after n boards, two entrants' interval leaves out 0 with probability 0.8 after

    N = n · ((1.960 + 0.842) · e / d)²     boards, if d is the true lead.
"""

from math import ceil, sqrt

from msgspec import Struct

from protocol.errors import UserError, unknown_name
from tournaments.rating.sprt import MAX_EVENT_BOARDS
from tournaments.rating.statistics import Error, Estimate, Z, degrees_of_freedom
from tournaments.rating.tables import Pool, Ratings

POWER = 0.8416212335729143
"""Normal quantile of 0.8, the probability that the boards separate the entrants."""


class Separation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lead of one entrant over another, and the boards that would separate them."""

    one: str
    """The entrant that is ahead."""
    other: str
    """The entrant behind."""
    elo: float
    """Measured lead, in Elo."""
    half_width: float
    """Half width of the lead's 95 % interval, in Elo."""
    played: int
    """Boards played for each pairing."""
    needed: int | None = None
    """Boards for each pairing, played ones included, that separate them with probability 0.8 if
    that is the true lead; None, left out of JSON, if a million is too few."""
    needed_range: tuple[int, int | None]
    """The same if the true lead is larger or smaller by its standard error. The second is None if a
    million is too few."""

    @property
    def is_apart(self) -> bool:
        """True if the results separate them already."""
        return self.elo > self.half_width


def separations(
    ratings: Ratings, boards: int, pair: tuple[str, str] | None = None
) -> tuple[Separation, ...]:
    """Return the separation of the pair, or of all neighbours in the tables.

    `boards`: boards played for each pairing. Neighbours whose difference the results leave unknown
    are left out. Raises UserError for an unknown entrant, or if the results do not compare the two.
    """
    if pair is None:
        return tuple(
            separation
            for pool in ratings.pools
            for place in range(len(pool.entrants) - 1)
            if (separation := _separation(pool, place, place + 1, boards))
        )
    places = {
        rating.name: (pool, place)
        for pool in ratings.pools
        for place, rating in enumerate(pool.entrants)
    }
    for name in pair:
        if name not in places:
            raise unknown_name("entrant", name, places)
    (pool, first), (other_pool, other) = (places[name] for name in pair)
    if pool is not other_pool or first == other:
        raise UserError(f"No games connect {pair[0]} and {pair[1]}: they cannot be separated.")
    separation = _separation(pool, min(first, other), max(first, other), boards)
    if separation is None:
        raise UserError(
            f"{pair[0]} and {pair[1]} did not take points off each other in both directions, "
            "directly or through others, so the number of boards is unknown."
        )
    return (separation,)


def _separation(pool: Pool, first: int, other: int, boards: int) -> Separation | None:
    """Return a separation; None if the results leave the difference unknown."""
    error = pool.errors[first][other]
    if error is None:
        return None
    elo = (pool.entrants[first].compared_elo or 0.0) - (pool.entrants[other].compared_elo or 0.0)
    low, high = (_needed(elo + sign * error, error, boards) for sign in (1, -1))
    return Separation(
        one=pool.entrants[first].name,
        other=pool.entrants[other].name,
        elo=round(elo, 2),
        half_width=round(Error(error, degrees_of_freedom(boards)).half_width(), 2),
        played=boards,
        needed=_needed(elo, error, boards),
        needed_range=(low or MAX_EVENT_BOARDS, high),
    )


def _needed(elo: float, error: float, boards: int) -> int | None:
    if error * (Z + POWER) * sqrt(boards) >= elo * sqrt(MAX_EVENT_BOARDS):
        return None
    return ceil(boards * ((Z + POWER) * error / elo) ** 2)


def lead_text(pair: Separation) -> str:
    """Return the lead of one bot over another and its error, both in Elo."""
    lead = Estimate(pair.elo, pair.half_width)
    if round(pair.elo) == 0:
        return f"{pair.one} and {pair.other} are level (± {pair.half_width:.0f} Elo)"
    return f"{pair.one} is {lead.text(sign='')} Elo ahead of {pair.other}"


def separation_text(pair: Separation) -> str:
    """Write a separation as a sentence for people."""
    lead = f"{lead_text(pair)} after {pair.played:,} boards"
    if pair.is_apart:
        return f"{lead}: they are separated."
    if pair.needed is None:
        return f"{lead}: a million boards would probably not separate them."
    least, most = pair.needed_range
    more = "or more" if most is None else f"to {most:,}"
    return f"{lead}: {least:,} {more} boards for each pairing would probably separate them."
