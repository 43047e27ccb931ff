"""Cycles: trios of bots of which each beats the next, although one number each cannot say so. Pure.

Ratings are transitive: in natural logits the leads of a over b, of b over c and of c over a add up
to 0. For each trio whose three pairs have met on enough boards, the likeliest shares of its three
pairs that are transitive (`_transitive`) are held against the shares that it had, by the ratio of
their likelihoods. Games on one board depend on each other, so the square root of that ratio is
divided by the larger of two errors, over that of independent games: the trio's own, with boards as
clusters, and that of all pairs together, since an error of a few boards may be small by chance.

A trio is a cycle if each had more than half of the points against the next, and if its misfit would
come up by chance, in any trio of a transitive field, in at most one of twenty divisions (Bonferroni
over all trios). Other games of the three take no part, nor do their ratings, so it does not matter
that a choice of tables lets some pairs meet more often.
"""

from collections.abc import Collection, Iterable
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from protocol.records import Result
from tournaments.rating import statistics
from tournaments.rating.ratings import FINE
from tournaments.rating.statistics import Bools, Floats, Ints
from tournaments.rating.tally import Tally, collect

WRONG = 0.05
"""Probability of any cycle in a transitive field."""
FEWEST_BOARDS = 10
"""Boards on which each pair of a trio must have met."""
MOST_PAIRS = 1000
"""Pairs that are looked at, those with the most games first: it bounds memory and time."""
HALVINGS = 50
"""Halvings of the interval in which the transitive shares are sought."""


class Cycle(Struct, frozen=True, kw_only=True):
    """Three versions of which each beats the next, and the last the first."""

    versions: tuple[str, str, str]
    """The versions; the first is the first by name."""
    shares: tuple[float, float, float]
    """Share of the points of each against the next, 0 to 1; draws count ½."""
    games: tuple[int, int, int]
    """Games of each with the next, or pairs of seats at larger tables."""
    chance: float
    """Probability that a transitive field shows no such trio by chance, 0.95 to 1."""
    sentence: str
    """The finding in words."""


def search_cycles(results: Iterable[Result], names: Collection[str]) -> tuple[list[Cycle], int]:
    """Return the cycles among these versions, the plainest first, and the number of trios tried.

    No two cycles share two versions: of such the plainer one is named. Not for games of partners,
    since what a pair of entrants scores depends on their partners.
    """
    met = [one for one in results if sum(seat in names for seat in one.seats) > 1]
    if not met:
        return [], 0
    pairs = _pairs(collect(met, partners=False), names)
    trios = _trios(pairs)
    if not len(trios):
        return [], 0
    points = _around(pairs, trios, pairs.points)
    games = pairs.games[trios]
    misfit = _misfit(games, points) / np.sqrt(_dispersion(pairs, trios))
    turned = np.where(misfit[:, None] > 0, points, games - points)
    circle: Bools = np.asarray((turned > games / 2).all(axis=1), np.bool_)
    found = list[Cycle]()
    for place in np.argsort(-np.abs(misfit), kind="stable").tolist():
        chance = 1 - len(trios) * erfc(abs(float(misfit[place])) / sqrt(2))
        if chance < 1 - WRONG:
            break
        if circle[place]:
            cycle = _cycle(pairs, trios[place], points[place], float(misfit[place]), chance)
            if all(len({*cycle.versions} & {*other.versions}) < 2 for other in found):
                found.append(cycle)
    return found, len(trios)


class _Pairs(NamedTuple):
    """The pairs of entrants that met on enough boards; the first of a pair is the first by name."""

    names: tuple[str, ...]
    members: Ints
    """For each pair: its two entrants,"""
    games: Floats
    """its games,"""
    points: Floats
    """the points of the first in them,"""
    boards: Floats
    """and the boards."""
    misfits: Floats
    """For each board and pair: the points of the first over its mean share of the games there."""

    @property
    def information(self) -> Floats:
        """Return the information of each pair's games about its lead in natural logits."""
        share = (self.points + 0.5) / (self.games + 1)
        return np.asarray((self.games + 1) * share * (1 - share), np.float64)


def _pairs(tally: Tally, names: Collection[str]) -> _Pairs:
    size = len(tally.names)
    wanted = np.array([name in names for name in tally.names], np.bool_)
    left, right = statistics.wide(tally.left[:, 0]), statistics.wide(tally.right[:, 0])
    use: Bools = wanted[left] & wanted[right] & (left != right)
    codes = np.minimum(left, right) * size + np.maximum(left, right)
    first = np.where(left < right, tally.half, 2 - tally.half) / 2
    met = np.bincount(codes[use], minlength=size**2)
    most = np.sort(np.lexsort((np.arange(size**2), -met))[:MOST_PAIRS])
    number = np.full(size**2, -1)
    number[most] = np.arange(len(most))
    use &= number[codes] >= 0
    boards = np.unique(tally.board[use], return_inverse=True)[1]
    cell = boards * len(most) + number[codes[use]]
    shape = int(boards.max(initial=-1)) + 1, len(most)
    games, points = (
        statistics.sums(cell, value, shape[0] * shape[1]).reshape(shape)
        for value in (np.ones_like(cell), first[use])
    )
    often = np.count_nonzero(games, axis=0)
    enough = often >= FEWEST_BOARDS
    most, games, points = most[enough], games[:, enough], points[:, enough]
    share = points.sum(axis=0) / games.sum(axis=0)
    return _Pairs(
        names=tally.names,
        members=np.stack(np.divmod(most, size), axis=1),
        games=games.sum(axis=0),
        points=points.sum(axis=0),
        boards=often[enough].astype(np.float64),
        misfits=points - games * share,
    )


def _trios(pairs: _Pairs) -> Ints:
    """Return the pairs of each trio a < b < c: of a and b, of b and c, of a and c."""
    size = len(pairs.names)
    number = np.full((size, size), -1)
    number[pairs.members[:, 0], pairs.members[:, 1]] = np.arange(len(pairs.members))
    a_b = np.repeat(np.arange(len(pairs.members)), size)
    c = np.tile(np.arange(size), len(pairs.members))
    b_c, a_c = number[pairs.members[a_b, 1], c], number[pairs.members[a_b, 0], c]
    trios: Ints = np.stack((a_b, b_c, a_c), axis=1)[(b_c >= 0) & (a_c >= 0)]
    return trios


def _around(pairs: _Pairs, trios: Ints, points: Floats) -> Floats:
    """Return the points of a against b, of b against c and of c against a."""
    own, games = points[trios], pairs.games[trios]
    own[:, 2] = games[:, 2] - own[:, 2]
    return own


def _misfit(games: Floats, points: Floats) -> Floats:
    """Return the signed root of the likelihood ratio of each trio's shares to transitive ones.

    Half a point a side is added to each pair, so that both are finite.
    """
    games, points = games + 1, points + 0.5
    moved = _transitive(games, points)
    ratio = np.zeros(len(games))
    for own, whole in (
        (points, points - moved[:, None]),
        (games - points, games - points + moved[:, None]),
    ):
        ratio += 2 * (own * np.log(own / whole)).sum(axis=1)
    return np.asarray(np.sign(moved) * np.sqrt(np.maximum(ratio, 0)), np.float64)


def _transitive(games: Floats, points: Floats) -> Floats:
    """Return the points to take from each of a trio's pairs that make it transitive.

    The likelihood under the condition that the logits of the three shares add up to 0 is greatest
    where each pair has lost the same number of points, by Lagrange.
    """
    low, high = (points - games).max(axis=1), points.min(axis=1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rest = points - middle[:, None]
        above = np.log(rest / (games - rest)).sum(axis=1) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2, np.float64)


def _dispersion(pairs: _Pairs, trios: Ints) -> Floats:
    """Return the variance of each trio's misfit with boards as clusters, over the model's."""
    factor = pairs.boards / (pairs.boards - 1)
    scores = pairs.misfits * np.sqrt(factor) / pairs.information
    products = scores.T @ scores
    signs = np.array([1.0, 1.0, -1.0])
    clustered = np.zeros(len(trios))
    for one, other in np.ndindex(3, 3):
        clustered += signs[one] * signs[other] * products[trios[:, one], trios[:, other]]
    share = pairs.points / pairs.games
    model = float((pairs.games * share * (1 - share)).sum())
    together = float((factor * (pairs.misfits**2).sum(axis=0)).sum()) / model if model else 1.0
    own: Floats = clustered / (1 / pairs.information)[trios].sum(axis=1)
    return np.maximum(own, together)


def _cycle(pairs: _Pairs, trio: Ints, points: Floats, misfit: float, chance: float) -> Cycle:
    a, b = pairs.members[trio[0]].tolist()
    c = int(pairs.members[trio[1], 1])
    games = pairs.games[trio]
    shares = points / games
    order, around = (a, b, c), (0, 1, 2)
    if misfit < 0:  # a beats c, c beats b, b beats a.
        order, around, shares = (a, c, b), (2, 1, 0), 1 - shares
    names = tuple(pairs.names[one] for one in order)
    own = [round(float(shares[one]), FINE) for one in around]
    return Cycle(
        versions=(names[0], names[1], names[2]),
        shares=(own[0], own[1], own[2]),
        games=tuple(int(games[one]) for one in around),  # type: ignore[arg-type]
        chance=round(chance, FINE),
        sentence=_sentence(names, own),
    )


def _sentence(names: tuple[str, ...], shares: list[float]) -> str:
    beats = ", ".join(
        f"{one} beats {names[(place + 1) % 3]} ({100 * share:.0f} %)"
        for place, (one, share) in enumerate(zip(names, shares, strict=True))
    )
    return f"{beats}: no three ratings can tell this."
