"""Bots that play at several clocks: their Elo against time. Pure.

A doubling of the time is worth the slope of the least-squares line of Elo over log2(time). It is a
contrast of ratings, c with Σc = 0, so its variance follows from the errors e of their differences:

    Var(c·r) = -½ Σ c[i] c[j] e[i,j]²
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from math import log2, sqrt
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from protocol.messages import Clock
from tournaments.formats.base import plain_name
from tournaments.formats.entrant import write_time
from tournaments.plan.event import Event
from tournaments.rating.statistics import Error, Estimate, degrees_of_freedom
from tournaments.rating.tables import Bound, Pool


class ScalingPoint(Struct, frozen=True, kw_only=True):
    """A bot at one of its clocks."""

    name: str
    move_ms: int
    bank_ms: int
    """Reserve for a whole game, in ms."""
    elo: float | None
    half_width: float | None
    """Half width of the 95 % interval of `elo`, in Elo; None outside the core."""
    bound: Bound
    fouls: int
    gain: float | None = None
    """Elo over the next shorter clock; None at the shortest, or if they cannot be compared."""
    gain_half_width: float | None = None
    """Half width of the 95 % interval of `gain`, in Elo."""
    is_effort: Literal[True] | UnsetType = UNSET
    """True if its clock counts million instructions; left out if ms."""

    @property
    def time(self) -> str:
        """Return the time for a question in words."""
        return f"{self.move_ms}M" if self.is_effort else write_time(self.move_ms)


class Scaling(Struct, frozen=True, kw_only=True):
    """A bot at several clocks."""

    entrant: str
    """Its name without a clock; with several names, all of them."""
    points: tuple[ScalingPoint, ...]
    doubling: float | None
    """Elo for each doubling of the time, on average over the points of the core; None with fewer
    than two of them."""
    doubling_half_width: float | None
    """Half width of the 95 % interval of `doubling`, in Elo."""


def scalings(event: Event, pool: Pool) -> tuple[Scaling, ...]:
    """Return each bot of a pool whose present files play at several clocks."""
    if not any(bot.clock for bot in event.entrants):
        return ()
    groups: defaultdict[str, dict[str, Clock]] = defaultdict(dict)
    for index, bot in enumerate(event.entrants):
        if not bot.retired:
            groups[bot.fingerprint][bot.name] = event.clock_of(index)
    rated = (
        {rating.name: clocks[rating.name] for rating in pool.entrants if rating.name in clocks}
        for clocks in groups.values()
    )
    return tuple(_scaling(pool, clocks) for clocks in rated if len({*clocks.values()}) > 1)


def _scaling(pool: Pool, clocks: Mapping[str, Clock]) -> Scaling:
    """Return a bot of a pool at these clocks, by entrant."""
    rated = [(clocks[r.name], i, r) for i, r in enumerate(pool.entrants) if r.name in clocks]
    rated.sort(key=lambda row: (row[0].move_ms, row[0].bank_ms))
    order = [index for _, index, _ in rated]
    gains = [Estimate(None), *(contrast(pool, {a: -1.0, b: 1.0}) for a, b in pairwise(order))]
    points = tuple(
        ScalingPoint(
            name=rating.name,
            move_ms=clock.move_ms,
            bank_ms=clock.bank_ms,
            is_effort=True if clock.effort else UNSET,
            elo=rating.elo,
            half_width=rating.half_width,
            bound=rating.bound,
            fouls=rating.fouls,
            gain=gain.value,
            gain_half_width=gain.half_width,
        )
        for (clock, _, rating), gain in zip(rated, gains, strict=True)
    )
    core = [(log2(clock.move_ms), index) for clock, index, rating in rated if not rating.bound]
    mean = sum(x for x, _ in core) / max(1, len(core))
    spread = sum((x - mean) ** 2 for x, _ in core)
    slope = {index: (x - mean) / spread for x, index in core} if spread else {}
    doubling = contrast(pool, slope)
    return Scaling(
        entrant="/".join(dict.fromkeys(map(plain_name, clocks))),
        points=points,
        doubling=doubling.value,
        doubling_half_width=doubling.half_width,
    )


def contrast(pool: Pool, weights: Mapping[int, float]) -> Estimate:
    """Return a weighted sum of ratings whose weights add up to 0, if it is known."""
    value = variance = 0.0
    for i, weight in weights.items():
        elo = pool.entrants[i].compared_elo
        if elo is None or pool.entrants[i].bound:
            return Estimate(None)
        value += weight * elo
        for j, other in weights.items():
            error = pool.error(i, j)
            if error is None:
                return Estimate(None)
            variance -= weight * other * error**2 / 2
    if not weights:
        return Estimate(None)
    boards = min(pool.entrants[i].boards for i in weights)
    width = Error(sqrt(max(0.0, variance)), degrees_of_freedom(boards)).half_width()
    return Estimate(round(value, 6), round(width, 6))
