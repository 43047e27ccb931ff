"""Textbook statistics of single numbers, pure: Student's t, errors, ranks, intervals."""

from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, erf, log, pi, sin, sqrt
from statistics import NormalDist
from typing import NamedTuple, Protocol

from arena.document.blocks import UNKNOWN_CELL, Cell
from tournaments.rating.tables import FEWEST_BOARDS, Bound

# Textbook statistics of single numbers, pure: Student's t, errors, ranks.


ELO = 400 / log(10)
"""Elo of one natural logit."""
Z = 1.959963984540054
"""Normal quantile of a two-sided 95 % interval."""
WRONG = 0.05
"""Probability that an interval does not hold the truth."""
_CLOSED_FORM = 200
"""Degrees of freedom up to which Student's t is summed in closed form."""


def normal_cdf(z: float) -> float:
    """Return the probability that a standard normal variable is at most `z`."""
    return (1 + erf(z / sqrt(2))) / 2


def t_cdf(t: float, df: int) -> float:
    """Return the probability that Student's t with `df` degrees of freedom is at most `t`.

    Closed form of Abramowitz & Stegun 26.7.3 (odd) and 26.7.4 (even); from 201 degrees the
    normal approximation 26.7.8, whose error is then below 3e-6. ValueError if `df` < 1.
    """
    if df < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {df}")
    if df > _CLOSED_FORM:
        return normal_cdf(t * (1 - 1 / (4 * df)) / sqrt(1 + t * t / (2 * df)))
    # Rounding of the sum may exceed the limits slightly.
    return min(1.0, max(0.0, (1 + _central_probability(atan(t / sqrt(df)), df)) / 2))


def _central_probability(theta: float, df: int) -> float:
    """Return the signed probability of lying between -t and t, theta = atan(t / sqrt(df))."""
    square, odd = cos(theta) ** 2, df % 2
    term, total = (cos(theta), 0.0) if odd else (1.0, 0.0)
    for power in range(odd, df - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    return 2 / pi * (theta + sin(theta) * total) if odd else sin(theta) * total


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: int) -> float:
    """Return the `p` quantile of Student's t with `df` degrees of freedom.

    ValueError unless 0 < p < 1 and df >= 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"a quantile needs a probability between 0 and 1, not {p}")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_cdf(middle, df) < p else (low, middle)
    return high


class Error(NamedTuple):
    """The standard error of an estimate."""

    size: float
    """Standard error, in the estimate's unit."""
    df: int
    """Degrees of freedom of its Student's t; 0 for a normal distribution."""

    def half_width(self, wrong: float = WRONG) -> float:
        """Return half the width of the interval that misses the truth with probability `wrong`."""
        p = 1 - wrong / 2
        quantile = t_quantile(p, self.df) if self.df else NormalDist().inv_cdf(p)
        return self.size * quantile

    def cdf(self, deviation: float) -> float:
        """Return the probability that an estimate's signed error is at most `deviation`."""
        z = deviation / self.size
        return t_cdf(z, self.df) if self.df else normal_cdf(z)


def degrees_of_freedom(boards: int) -> int:
    """Return the degrees of an error from so many boards; 0 if games count as independent."""
    return boards - 1 if boards >= FEWEST_BOARDS else 0


def rank_intervals(los: Sequence[Sequence[float]]) -> tuple[tuple[int, int], ...]:
    """Return each entrant's best and worst rank that its likelihoods of superiority leave open.

    Two are in order if the 95 % interval of their difference leaves out 0, as it is shown.
    The best rank is 1 + the number that are better, the worst n - the number that are worse.
    """
    size, level = len(los), 1 - WRONG / 2
    return tuple(
        (1 + sum(other[i] > level for other in los), size - sum(p > level for p in los[i]))
        for i in range(size)
    )


# A value with its 95 % interval, or a bound of it, and the one way to write it. Pure.


class Estimate(NamedTuple):
    """A value with half the width of its 95 % interval, or a bound."""

    value: float | None
    """The value or the bound; None if it is not known."""
    half_width: float | None = None
    """None if it is not known, and for a bound."""
    bound: Bound = ""

    @property
    def low(self) -> float:
        """The lower end of the interval; the value itself if its width is not known."""
        return (self.value or 0.0) - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """The upper end of the interval; the value itself if its width is not known."""
        return (self.value or 0.0) + (self.half_width or 0.0)

    def cell(self, decimals: int = 0, sign: str = "+") -> Cell:
        """Write a value as +12, a bound as >+120, and the half width as small print."""
        if self.value is None:
            return Cell(self.bound or UNKNOWN_CELL)
        # A value that rounds to 0 has no minus.
        text = f"{self.bound}{round(self.value, decimals) + 0.0:{sign}.{decimals}f}"
        return Cell(text, "" if self.half_width is None else f"{self.half_width:.{decimals}f}")

    def text(self, decimals: int = 0, sign: str = "+") -> str:
        """Write both in a sentence: +12 ± 3."""
        cell = self.cell(decimals, sign)
        return f"{cell.text} ± {cell.detail}" if cell.detail else cell.text


class _HasElo(Protocol):
    @property
    def elo(self) -> float | None: ...
    @property
    def half_width(self) -> float | None: ...
    @property
    def bound(self) -> Bound: ...


def elo_of(rating: _HasElo) -> Estimate:
    """Return the rating of a line of a table, in Elo, or its bound."""
    return Estimate(rating.elo, rating.half_width, rating.bound)
