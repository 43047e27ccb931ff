"""Textbook statistics of arrays, pure: logistic regression, clustered errors, sums by cluster."""

from collections.abc import Iterator
from math import exp, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tournaments.rating.statistics import Z
from tournaments.rating.tables import Gain

Ints = NDArray[np.signedinteger[Any]]
"""Integers of any width: the values of a million games are stored as narrow as possible, so widen
columns before multiplying them with each other or with a count."""
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
NOTHING = 1e-9
"""Share of the model's variance below which a clustered variance counts as 0."""
SPARSE = 4
"""Ratio of codes to values above which values are sorted, not counted in a table."""
MIN_CLUSTERS = 10
"""Clusters below which an interval of a ratio of variances is worth nothing."""
CLUSTERS_A_BLOCK = 1024
"""Clusters whose scores are held at once."""
_ROUNDS = 1000
"""Most steps towards a maximum: with a prior each step removes much of the remaining distance."""
_CLOSE = 1e-10
"""Size of a step, in natural logits, after which further steps change no stored decimal."""
_FAR = 30.0
"""Lead in natural logits (5200 Elo) beyond which a rating without a prior diverges."""


def wide(values: Ints) -> NDArray[np.int64]:
    """Widen the values so that their products fit."""
    return values.astype(np.int64, copy=False)


def distinct(values: Ints) -> Ints:
    """Return the values that occur, ascending.

    The counts are not needed: without them numpy 2 imports its masked arrays, which takes 20 ms.
    """
    return np.unique(values, return_counts=True)[0]


def numbered(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the codes that occur (of 0 to size - 1), ascending, and each value's place among them.

    Like `numpy.unique`, but without sorting if a table of all codes takes less memory.
    """
    if size > SPARSE * len(codes):
        values, place = np.unique(codes, return_inverse=True)
        return values, place
    values = np.flatnonzero(np.bincount(codes, minlength=size))
    number = np.zeros(size, np.int32)
    number[values] = np.arange(len(values))
    return values, number[codes]


def sums(index: Ints, values: Floats | Ints, size: int) -> Floats:
    """Sum the values at each index from 0 to size - 1."""
    return np.bincount(index, values, size).astype(np.float64)


class Design(NamedTuple):
    """Sparse rows of a linear predictor: row k is the sum of value[k, i] at column[k, i]."""

    column: Ints
    value: Floats
    size: int

    def predict(self, theta: Floats) -> Floats:
        """Return the predictor of each row."""
        return np.asarray((self.value * theta[self.column]).sum(axis=1), np.float64)

    def total(self, weights: Floats) -> Floats:
        """Sum the rows, each times its weight."""
        flat = (self.value * weights[:, None]).ravel()
        return sums(self.column.ravel(), flat, self.size)

    def squares(self, weights: Floats) -> Floats:
        """Sum each row's outer product with itself, times its weight."""
        cell = self.column[:, :, None] * self.size + self.column[:, None, :]
        value = self.value[:, :, None] * self.value[:, None, :] * weights[:, None, None]
        return sums(cell.ravel(), value.ravel(), self.size**2).reshape(self.size, self.size)


def logistic(
    design: Design, games: Floats, points: Floats, pinned: Floats, prior: float
) -> tuple[Floats, Floats]:
    """Find the coefficients (natural logits), and the games' information about them.

    Row k won `points[k]` of `games[k]`. `prior` virtual draws for each coefficient are spread over
    the rows by their leverage: with 1 this is Jeffreys' prior, Firth's correction of the bias;
    with 0 it is maximum likelihood. `pinned` is added to the information to hold directions that
    no row sees. ValueError if the maximum is not finite.
    """
    theta: Floats = np.zeros(design.size)
    draws: Floats = np.zeros(len(games))
    for _ in range(_ROUNDS):
        if prior:
            draws = prior * _leverage(design, games, theta, pinned)
        tried, won = games + draws, points + draws / 2
        p = expected_share(design.predict(theta))
        information = design.squares(tried * p * (1 - p)) + pinned
        try:
            step = np.asarray(
                np.linalg.solve(information, design.total(won - tried * p)), np.float64
            )
        except np.linalg.LinAlgError:
            break
        theta = theta + _shortened(step, theta, design, tried, won)
        if not prior and np.abs(design.predict(theta)).max(initial=0) > _FAR:
            break
        if np.abs(step).max() < _CLOSE:
            p = expected_share(design.predict(theta))
            return theta, design.squares(games * p * (1 - p)) + pinned
    raise ValueError("no finite ratings fit these results; use a prior above 0")


def _leverage(design: Design, games: Floats, theta: Floats, pinned: Floats) -> Floats:
    """Return, for each row, how many coefficients its games inform, without pinned directions."""
    p = expected_share(design.predict(theta))
    weight = games * p * (1 - p)
    covariance = np.linalg.inv(design.squares(weight) + pinned)
    spread = np.zeros(len(weight))
    for column, value in zip(design.column.T, design.value.T, strict=True):
        for other, other_value in zip(design.column.T, design.value.T, strict=True):
            spread += value * other_value * covariance[column, other]
    return np.asarray(weight * spread, np.float64)


def expected_share(logit: Floats) -> Floats:
    """Return the expected share of the points, given the lead in natural logits."""
    return np.asarray(np.exp(-np.logaddexp(0, -logit)), np.float64)


def _shortened(
    step: Floats, theta: Floats, design: Design, games: Floats, points: Floats
) -> Floats:
    """Halve the step until the likelihood does not fall: Newton's method may overshoot far away."""

    def likelihood(point: Floats) -> float:
        logit = design.predict(point)
        return float((points * logit - games * np.logaddexp(0, logit)).sum())

    least = likelihood(theta)
    least -= 1e-12 * abs(least)
    while np.abs(step).max() > 1e-9 and likelihood(theta + step) < least:
        step = step / 2
    return step


def clustered(design: Design, row: Ints, cluster: Ints, misfit: Floats, bread: Floats) -> Floats:
    """Return the CR1 sandwich covariance; nan with fewer than two clusters.

    Observation i belongs to design row `row[i]` and to `cluster[i]` (ascending from 0).
    """
    count = int(cluster.max(initial=-1)) + 1
    meat = np.zeros((design.size, design.size))
    for block in score_blocks(design, row, cluster, misfit):
        meat += block.scores.T @ block.scores
    factor = count / (count - 1) if count > 1 else np.nan
    return np.asarray(factor * bread @ meat @ bread, np.float64)


class Block(NamedTuple):
    """A block of consecutive clusters."""

    use: slice
    cluster: Ints
    """The cluster of each row, counted from 0 within the block."""
    scores: Floats
    """Each cluster's sum of misfit times design row."""


def score_blocks(design: Design, row: Ints, cluster: Ints, misfit: Floats) -> Iterator[Block]:
    """Yield the scores of all clusters, see `clustered`.

    They come in blocks to bound the memory: a dense score matrix would be clusters x columns.
    """
    for first in range(0, int(cluster.max(initial=-1)) + 1, CLUSTERS_A_BLOCK):
        low, high = np.searchsorted(cluster, (first, first + CLUSTERS_A_BLOCK))
        use, near = slice(int(low), int(high)), cluster[low:high] - first
        cell = near[:, None] * design.size + design.column[row[use]]
        value = design.value[row[use]] * misfit[use, None]
        scores = sums(cell.ravel(), value.ravel(), CLUSTERS_A_BLOCK * design.size)
        yield Block(use, near, scores.reshape(CLUSTERS_A_BLOCK, -1))


def reach(graph: Bools) -> Bools:
    """Return which nodes each node reaches along the arrows of `graph`; each reaches itself."""
    reached = graph | np.eye(len(graph), dtype=np.bool_)
    while True:
        further = (reached.astype(np.float32) @ reached.astype(np.float32)) > 0
        if (further == reached).all():
            return reached
        reached = further


class Clusters(NamedTuple):
    """Values summed by group, and by cluster within the group; one entry for each group."""

    size: Floats
    clusters: Floats
    mean: Floats
    clustered: Floats
    """Sum over clusters of the squared sum of deviations."""


def by_cluster(
    group: Ints, cluster: Ints, value: Ints, groups: int, weight: Ints | None = None
) -> Clusters:
    """Sum integers by group and cluster (both numbered from 0); an empty group has mean 0.

    `weight`: that of each value; without it all have 1.
    """
    weight = np.ones_like(value) if weight is None else weight
    size = sums(group, weight, groups)
    # Integer sums first: they are exact, so the order of the values cannot matter.
    mean = sums(group, weight * value, groups) / np.maximum(size, 1)
    owner, _, deviation = _deviations(group, cluster, value, groups, weight)
    clusters = sums(owner, np.ones_like(owner), groups)
    return Clusters(size, clusters, mean, sums(owner, deviation**2, groups))


def _deviations(
    group: Ints, cluster: Ints, value: Ints, groups: int, weight: Ints
) -> tuple[Ints, Ints, Floats]:
    """Sum deviations from the group's mean by group and cluster: group, cluster and sum of each."""
    total = weight * value
    mean = sums(group, total, groups) / np.maximum(sums(group, weight, groups), 1)
    codes = wide(cluster) * groups + group
    cells, cell = numbered(codes, int(codes.max(initial=-1)) + 1)
    owner = cells % groups
    deviation = sums(cell, total, len(cells)) - sums(cell, weight, len(cells)) * mean[owner]
    return owner, cells // groups, deviation


def variance_ratio(
    design: Design, row: Ints, cluster: Ints, values: tuple[Ints, Ints]
) -> Gain | None:
    """Return the variance of the scores by the first values over that by the second.

    A score is a cluster's sum of a value's deviation from the mean of its row, times the row: what
    moves ratings, see `clustered`. The interval takes clusters as independent. None with fewer than
    `MIN_CLUSTERS` clusters, or if either variance is 0.
    """
    parts = []
    for value in values:
        deviations = _deviations(row, cluster, value, len(design.column), np.ones_like(value))
        blocks = score_blocks(design, *deviations)
        parts.append(np.concatenate([np.square(block.scores).sum(axis=1) for block in blocks]))
    return _ratio(*parts)


def saving(group: Ints, cluster: Ints, value: Ints, groups: int) -> Gain | None:
    """Divide the variance of group totals, were values independent, by the clustered one.

    Both are summed over the groups with several clusters G and more values n than clusters:
    Σ n/(n-1) Σ(y - ȳ)²  /  Σ G/(G-1) Σ(cluster's sum of y - ȳ)². The interval, and
    when it is None, are as in `variance_ratio`.
    """
    stats = by_cluster(group, cluster, value, groups)
    use = (stats.clusters > 1) & (stats.size > stats.clusters)
    parts = []
    # By themselves values are clusters of one.
    for count, labels in ((stats.size, np.arange(len(value))), (stats.clusters, cluster)):
        owner, place, deviation = _deviations(group, labels, value, groups, np.ones_like(value))
        factor = np.where(use, count / np.maximum(count - 1, 1), 0.0)
        index = cluster[place] if labels is not cluster else place
        size = int(cluster.max(initial=-1)) + 1
        parts.append(sums(index, factor[owner] * deviation**2, size))
    return _ratio(*parts)


def _ratio(first: Floats, second: Floats) -> Gain | None:
    """Return the ratio of two sums over clusters, with its interval; None of too few or of 0."""
    clusters, total, other = np.count_nonzero(first), float(first.sum()), float(second.sum())
    if clusters < MIN_CLUSTERS or not (total > 0 and other > NOTHING * total):
        return None
    error = sqrt(float(np.square(first / total - second / other).sum()))
    ends = (total / other * exp(sign * Z * error) for sign in (0, -1, 1))
    return Gain(*(round(end, 6) for end in ends))
