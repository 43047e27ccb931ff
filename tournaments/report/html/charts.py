"""The figures of the report as numbers: the place of each line and bar. Pure.

Places are percentages of a figure's width and height, so that it fits any screen and its text does
not stretch. Templates and styles decide the looks.
"""

from collections.abc import Sequence
from math import floor, log10
from typing import NamedTuple

import numpy as np

from arena.document.html import minus
from tournaments.formats.sprt_text import subsample
from tournaments.rating.ratings import Pool, Rating
from tournaments.rating.sprt import Step
from tournaments.rating.sprt_settings import Sprt
from tournaments.rating.statistics import Floats

TICKS = 5
"""The approximate number of ticks of an axis."""
MARGIN = 0.04
"""Share of an axis that stays free at either end."""
BINS = 21
"""Bars of a histogram; the middle one is about 0."""
REGULAR = 99
"""Percentage of all margins that lie between the outermost bars."""
POINTS = 400
"""Points of a walk that are drawn."""


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


def forest(pool: Pool) -> Forest:
    """Return the intervals of all ratings; for a bound, everything beyond it."""
    ends = [
        end
        for one in pool.entrants
        if one.elo is not None
        for end in (one.elo - (one.half_width or 0.0), one.elo + (one.half_width or 0.0))
    ]
    scale = axis(min(ends), max(ends))
    return Forest(scale.at(0), scale.ticks(), [_interval(scale, one) for one in pool.entrants])


def _interval(scale: Axis, one: Rating) -> Interval:
    if one.elo is None:
        return Interval("0%", "", "100%")
    if one.half_width is None:
        at = scale.at(one.elo)
        return Interval(at, "", "100%") if one.bound == ">" else Interval("0%", "", at)
    low, high = scale.at(one.elo - one.half_width), scale.at(one.elo + one.half_width)
    return Interval(low, scale.at(one.elo), high)


class Bar(NamedTuple):
    """A bar of a histogram; it stands on the figure's bottom."""

    x: str
    width: str
    y: str
    height: str
    side: int
    """-1: lost by so much, 1: won, 0: about level."""


class Histogram(NamedTuple):
    """The distribution of an entrant's margins."""

    bars: list[Bar]
    """Those that are not empty."""
    said: str
    """The same in words."""


class Histograms(NamedTuple):
    """Histograms of several entrants on one axis."""

    ends: tuple[str, str]
    """Points at which the outermost bars begin, which hold all that lies beyond."""
    of: dict[str, Histogram]
    """By entrant."""


def histograms(margins: dict[str, Floats]) -> Histograms:
    """Return the distribution of each entrant's margins, in points; none may be empty.

    Each is as tall as its tallest bar.
    """
    everything = np.abs(np.concatenate(list(margins.values())))
    width = nice(max(1.0, float(np.percentile(everything, REGULAR)) * 2 / (BINS - 2)))
    counts = {name: _counts(values, width) for name, values in margins.items()}
    of = {
        name: Histogram(_bars(count / count.max()), _said(margins[name]))
        for name, count in counts.items()
    }
    far = width * (BINS - 2) / 2
    return Histograms((label(-far), label(far)), of)


def _counts(values: Floats, width: float) -> Floats:
    middle = BINS // 2
    # Away from 0, so that a margin and its opposite are in opposite bars.
    place = np.sign(values) * np.ceil(np.abs(values) / width - 0.5)
    within = np.clip(place, -middle, middle) + middle
    return np.bincount(within.astype(np.int64), minlength=BINS).astype(np.float64)


def _bars(heights: Floats) -> list[Bar]:
    middle, wide = BINS // 2, 1 / BINS
    return [
        Bar(
            percent(at * wide + wide * 0.06),
            percent(wide * 0.88),
            percent(1 - height),
            percent(height),
            int(np.sign(at - middle)),
        )
        for at, height in enumerate(heights.tolist())
        if height
    ]


def _said(values: Floats) -> str:
    low, middle, high = (f"{value:+.0f}" for value in np.percentile(values, (25, 50, 75)))
    if len(values) == 1:
        return minus(f"One game: {middle}.")
    return minus(f"{len(values)} games, half of them from {low} to {high}; median {middle}.")


class Walk(NamedTuple):
    """The path of a sequential test; x and y run from 0 to 1000, y downwards."""

    path: str
    """Points of the ratio, board by board."""
    bounds: tuple[int, int, int]
    """The heights of H1's bound, of 0 and of H0's bound."""
    accepted_at: tuple[str, str]
    """The ratios at which H1 and H0 are accepted."""
    boards: int
    """Boards at the right end."""
    ticks: list[Tick]
    """Boards, along the bottom."""


def walk(settings: Sprt, steps: Sequence[Step]) -> Walk:
    """Return the walk so far; there must be a step."""
    low, high = settings.bounds
    drawn = subsample(steps, POINTS)
    scale = axis(min(low, *(one.llr for one in drawn)), max(high, *(one.llr for one in drawn)))
    last = drawn[-1].boards
    along = Axis(0, last)

    def height(value: float) -> int:
        return round(1000 * (scale.high - value) / (scale.high - scale.low))

    points = [(0, height(0.0)), *((round(1000 * s.boards / last), height(s.llr)) for s in drawn)]
    ticks = [tick._replace(label=tick.label.lstrip("+")) for tick in along.ticks()]
    path = " ".join(f"{x},{y}" for x, y in points)
    bounds = height(high), height(0.0), height(low)
    return Walk(path, bounds, (minus(f"{high:.2f}"), minus(f"{low:.2f}")), last, ticks)
