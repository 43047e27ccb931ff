"""The figure of ratings with their intervals on one axis, and axes as numbers. Pure."""

from collections.abc import Sequence
from math import floor, log10
from typing import NamedTuple, Protocol

from arena.document.html import minus
from tournaments.rating.tables import Bound, Pool

TICKS = 5
"""The approximate number of ticks of an axis."""


MARGIN = 0.04
"""Share of an axis that stays free at either end."""


class Tick(NamedTuple):
    """A mark on an axis."""

    at: str
    """The place, in percent."""
    label: str
    """The text."""


class Axis(NamedTuple):
    """A range of values from left to right."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Return the place of a value, in percent."""
        return percent((value - self.low) / (self.high - self.low))

    def ticks(self) -> list[Tick]:
        """Return round values within the range."""
        step = nice((self.high - self.low) / TICKS)
        first = floor(self.low / step) + 1
        values = [step * n for n in range(first, floor(self.high / step) + 1)]
        return [Tick(self.at(value), label(value)) for value in values]


def axis(low: float, high: float) -> Axis:
    """Return an axis that holds both values well inside."""
    free = MARGIN * (high - low) or 1.0
    return Axis(low - free, high + free)


def percent(share: float) -> str:
    """Format a share in percent, short and never outside the figure by much."""
    return f"{100 * min(max(share, -1.0), 2.0):.2f}".rstrip("0").rstrip(".") + "%"


def nice(step: float) -> float:
    """Return the next step up that people count in: 1, 2, 5, 10."""
    power = 10.0 ** floor(log10(step))
    return next(power * one for one in (1, 2, 5, 10) if power * one >= step * 0.999)


def label(value: float) -> str:
    """Format a value on an axis: +20, −0.5, 0."""
    return minus(f"{value:+g}") if abs(value) > 1e-12 else "0"


class Interval(NamedTuple):
    """A rating in the forest plot."""

    low: str
    """The place of the 95 % interval's lower end."""
    middle: str
    """The place of the rating; empty if there is none."""
    high: str
    """The place of the 95 % interval's upper end."""


class Forest(NamedTuple):
    """Ratings with their intervals on one axis."""

    zero: str
    """The place of 0 Elo."""
    ticks: list[Tick]
    """The axis."""
    rows: list[Interval]
    """In the order of the pool."""


class Estimated(Protocol):
    """A rating with its interval, or a bound: a line of a report, or of a league's table."""

    @property
    def elo(self) -> float | None:
        """The rating, in Elo."""

    @property
    def half_width(self) -> float | None:
        """Half width of its 95 % interval; None for a bound."""

    @property
    def bound(self) -> Bound:
        """As in `tournaments.rating.tables.Rating`."""


def place_intervals(pool: Pool) -> Forest:
    """Return the intervals of all ratings; for a bound, everything beyond it."""
    return place_estimates(pool.entrants)


def place_estimates(ratings: Sequence[Estimated]) -> Forest:
    """Return the intervals of these ratings, of which one at least has an Elo."""
    ends = [
        end
        for one in ratings
        if one.elo is not None
        for end in (one.elo - (one.half_width or 0.0), one.elo + (one.half_width or 0.0))
    ]
    scale = axis(min(ends), max(ends))
    return Forest(scale.at(0), scale.ticks(), [_interval(scale, one) for one in ratings])


def _interval(scale: Axis, one: Estimated) -> Interval:
    if one.elo is None:
        return Interval("0%", "", "100%")
    if one.half_width is None:
        at = scale.at(one.elo)
        return Interval(at, "", "100%") if one.bound == ">" else Interval("0%", "", at)
    low, high = scale.at(one.elo - one.half_width), scale.at(one.elo + one.half_width)
    return Interval(low, scale.at(one.elo), high)
