"""Rating bounds of entrants outside the core: at least how far above or below it they are. Pure.

An entrant above the core lost nothing to it, so no rating is too high for it; but too low a rating
makes what it won unlikely. With d its lead (by rating and seat) in each of its pairs against the
core, and against those above the core who are below it, and w = 3 / (sides + 1),

    log P(rating) = w · Σ log p(d)

is its probability of winning them all. Its lower bound is the rating at which P is 5 %. w is exact
for two sides; at larger tables the pairs of a game depend on each other, and w gives an entrant's
points in a game of equals their true variance. The core's ratings are taken as exact. Below the
core it is the other way around. The probability that one of several parts is better follows from
the same P: it is 1 - P / 2 at equal ratings. For two on the same side of the core only their own
games count; w is 1 for them, since a game has one pair of the two.
"""

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import numpy as np

from tournaments.rating import statistics
from tournaments.rating.core import Core
from tournaments.rating.fit import Fit
from tournaments.rating.statistics import Bools, Floats

SURE = 0.05
"""Probability of the results if a bound is the true rating."""
FARTHEST = 500.0
"""Distance in natural logits within which bounds are sought."""
PLACES = np.linspace(-1.0, 1.0, 65)
"""Levels across the core at which two entrants on opposite sides of it are compared."""


class Sweep(NamedTuple):
    """Games of a part against placed entrants; it won all or lost all of them."""

    moved: Floats
    """For each row: the share of the part's rating in its lead,"""
    lead: Floats
    """the rest of its lead, in natural logits,"""
    weight: Floats
    """and its games times w."""
    sign: int
    """1 if the part won them all, -1 if it lost them all."""

    def log_chance(self, shift: Floats) -> Floats:
        """Return the log probability of these results for each shift of the part's zero."""
        lead = self.sign * (self.moved * shift[:, None] + self.lead)
        return np.asarray((-np.logaddexp(0, -lead) * self.weight).sum(axis=1), np.float64)

    def bound(self) -> float:
        """Return the shift at which these results have the probability `SURE`."""
        low, high = -FARTHEST, FARTHEST
        while (middle := (low + high) / 2) not in (low, high):
            likely = float(self.log_chance(np.array([middle]))[0]) > log(SURE)
            low, high = (low, middle) if likely == (self.sign > 0) else (middle, high)
        return low


class Bounds(NamedTuple):
    """Ratings and bounds of a pool's entrants."""

    logit: Floats
    """Rating or bound of each entrant in natural logits; nan without either."""
    sweeps: dict[int, Sweep]
    """Games that bound the rating of each part outside the core, if there are any."""


def bounds_of(fit: Fit, core: Core, sides: int) -> Bounds:
    """Bound the ratings of all parts outside the core."""
    cells, size = fit.cells, len(core.part)
    games = statistics.sums(cells.row, cells.games, len(cells.design.column)) * 3 / (sides + 1)
    known = np.where(core.part == 0, fit.theta[:size], np.nan)
    found, sweeps = known.copy(), dict[int, Sweep]()
    for sign in (1, -1):
        # Entrants in between bound those farther out; entrants on the other side tell nothing.
        placed = known.copy()
        for part in _outwards(core, sign):
            inside = core.part == part
            one = _sweep(fit, inside, placed, games, sign)
            if len(one.weight):
                sweeps[part] = one
                placed[inside] = found[inside] = fit.theta[:size][inside] + one.bound()
    return Bounds(found, sweeps)


def _outwards(core: Core, sign: int) -> Iterator[int]:
    """Return the parts above the core, or those below it, the nearest first."""
    reached = (core.above if sign > 0 else core.above.T).sum(axis=1)
    wanted = ">" if sign > 0 else "<"
    parts = {
        part: int(many)
        for part, many, bound in zip(core.part.tolist(), reached, core.bound, strict=True)
        if bound == wanted
    }
    return iter(sorted(parts, key=lambda part: (parts[part], part)))


def _sweep(fit: Fit, inside: Bools, placed: Floats, games: Floats, sign: int) -> Sweep:
    """Collect the results of a part against placed entrants, in either order of the two sides.

    Unplaced partners of its members are assumed to be as strong as the part.
    """
    members = fit.cells.design.column[:, :-2]  # The last two columns are the seats.
    own, half = inside[members], members.shape[1] // 2
    first, second = slice(half), slice(half, None)
    unknown = np.isnan(placed)
    logits = np.where(unknown, 0.0, placed)
    logits[inside] = fit.theta[: len(inside)][inside]
    lead = _at(fit, logits)
    found = []
    for ours, theirs, way in ((first, second, 1), (second, first, -1)):
        use = own[:, ours].any(axis=1) & ~unknown[members[:, theirs]].any(axis=1) & (games > 0)
        moved = unknown[members[use, ours]].mean(axis=1)
        found.append((moved, way * lead[use], games[use]))
    moved, leads, weight = (np.concatenate(both) for both in zip(*found, strict=True))
    return Sweep(moved, leads, weight, sign)


def _at(fit: Fit, logits: Floats) -> Floats:
    """Return the lead of each row's first side, with these ratings."""
    return fit.cells.design.at(np.concatenate((logits, fit.theta[len(logits) :])))


def chances(bounds: Bounds, fit: Fit, core: Core, games: Floats) -> Floats:
    """Return the probabilities that the row's entrant is better than the column's; ½ in a part."""
    inside, logits = core.part == 0, fit.theta[: len(core.part)]
    # An entrant above another won all of their games, which are independent of each other.
    only = core.above & ~core.above.T
    won = 1 - np.exp(log(0.5) * games) / 2
    better = np.where(only, won, np.where(only.T, 1 - won, 0.5))
    low, high = logits[inside].min(), logits[inside].max()
    between = (low + high) / 2 + ((high - low) / 2 + 1) * PLACES
    levels: dict[int, list[tuple[int, Floats]]] = {1: [], -1: []}
    for i in np.flatnonzero(~inside).tolist():
        sweep = bounds.sweeps.get(int(core.part[i]))
        if sweep is not None:
            worse = np.exp(sweep.log_chance(logits[inside] - logits[i])) / 2
            better[i, inside] = 1 - worse if sweep.sign > 0 else worse
            better[inside, i] = 1 - better[i, inside]
            levels[sweep.sign].append((i, sweep.log_chance(between - logits[i])))
    if levels[-1]:
        below, chance = zip(*levels[-1], strict=True)
        for i, own in levels[1]:
            better[i, below] = 1 - np.exp((own + np.stack(chance)).max(axis=1)) / 2
            better[below, i] = 1 - better[i, below]
    return better
