"""How far above or below the core an entrant is at least: bounds for those outside it. Pure.

An entrant above the core lost nothing to it, so no rating is too high for it; but too low a rating
makes what it won unlikely. With d its lead (by rating and seat) in each of its pairs against the
core, and against those above the core who are below it, and w = 3 / (sides + 1),

    log P(rating) = w · Σ log p(d)

is how likely it was to win all. Its lower bound is the rating at which P is 5 %. w is exact for
two sides; at larger tables the pairs of a game depend on each other, and w makes the variance of
an entrant's points in a game of equals what it is. The core's ratings are taken as they are.
Below the core it is the other way around. Who of several parts is better, and how likely, follows
from the same P: 1 - P / 2 at equal ratings. Of two on the same side of the core only their own
games count; w is 1 for them, since a game has one pair of the two.
"""

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import numpy as np

from tournaments.rating import statistics as stats
from tournaments.rating.core import Core
from tournaments.rating.fit import Fit
from tournaments.rating.statistics import Bools, Floats

SURE = 0.05
"""How likely the results are if a bound is the true rating."""
FARTHEST = 500.0
"""Distance in natural logits within which bounds are looked for."""
PLACES = np.linspace(-1.0, 1.0, 65)
"""Where, from end to end of the core, two entrants of either side of it are taken to be level."""


class Sweep(NamedTuple):
    """Games of a part against the placed, of which it won all or lost all."""

    moved: Floats
    """Of each row: how much of its lead is the part's rating,"""
    lead: Floats
    """the rest of its lead, in natural logits,"""
    weight: Floats
    """and its games times w."""
    sign: int
    """1: it won them all, -1: it lost them all."""

    def log_chance(self, shift: Floats) -> Floats:
        """Log of how likely that is, if the part's zero is here, for each shift."""
        lead = self.sign * (self.moved * shift[:, None] + self.lead)
        return np.asarray((-np.logaddexp(0, -lead) * self.weight).sum(axis=1), np.float64)

    def bound(self) -> float:
        """The shift at which it is as likely as `SURE`."""
        low, high = -FARTHEST, FARTHEST
        while (middle := (low + high) / 2) not in (low, high):
            likely = float(self.log_chance(np.array([middle]))[0]) > log(SURE)
            low, high = (low, middle) if likely == (self.sign > 0) else (middle, high)
        return low


class Bounds(NamedTuple):
    """What is known of the entrants outside the core."""

    logit: Floats
    """Rating, or bound, of each entrant in natural logits; nan: neither."""
    sweeps: dict[int, Sweep]
    """Of each part outside the core, the games that bound its rating, if there are any."""


def bounds_of(fit: Fit, core: Core, sides: int) -> Bounds:
    """Bound the ratings of all parts outside the core."""
    cells, size = fit.cells, len(core.part)
    games = stats.sums(cells.row, cells.games, len(cells.design.column)) * 3 / (sides + 1)
    known = np.where(core.part == 0, fit.theta[:size], np.nan)
    found, sweeps = known.copy(), dict[int, Sweep]()
    for sign in (1, -1):
        # Those between bound who is farther out; those on the other side say nothing about it.
        placed = known.copy()
        for part in _outwards(core, sign):
            inside = core.part == part
            one = _sweep(fit, inside, placed, games, sign)
            if len(one.weight):
                sweeps[part] = one
                placed[inside] = found[inside] = fit.theta[:size][inside] + one.bound()
    return Bounds(found, sweeps)


def _outwards(core: Core, sign: int) -> Iterator[int]:
    """The parts above the core, or those below it, nearest first."""
    reached = (core.above if sign > 0 else core.above.T).sum(axis=1)
    wanted = ">" if sign > 0 else "<"
    parts = {
        part: int(many)
        for part, many, bound in zip(core.part.tolist(), reached, core.bound, strict=True)
        if bound == wanted
    }
    return iter(sorted(parts, key=lambda part: (parts[part], part)))


def _sweep(fit: Fit, inside: Bools, placed: Floats, games: Floats, sign: int) -> Sweep:
    """The results of a part against the placed, in either order of the two sides.

    Others outside, who are with it on a side of partners, are taken to be as good as it is.
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
    """The lead of each row's first side, with these ratings."""
    return fit.cells.design.at(np.concatenate((logits, fit.theta[len(logits) :])))


def chances(bounds: Bounds, fit: Fit, core: Core, games: Floats) -> Floats:
    """How likely the row's entrant is better than the column's; ½ within a part."""
    inside, logits = core.part == 0, fit.theta[: len(core.part)]
    # Whoever is above another won all of their games, which are independent of each other.
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
