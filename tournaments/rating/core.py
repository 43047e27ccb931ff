"""The core of a pool: entrants connected by results both ways, and the places of the others. Pure.

Draw an arrow from each entrant to each from which it took points: for a win one arrow, for a tie
one in each direction, at any number of seats for every two on different sides. Entrants that all
reach each other along the arrows are a part. Only results within a part tell by how much one is
better than another; an entrant that lost nothing to a part is above it by an unknown lead, however
much it won. A game of partners from several parts rates nobody, so the parts are found again
without it.

The largest part is the core; of equally large ones, the one with more games, then the one with
the first name. Where nobody took points off each other every part is one entrant: then the anchor
is the core, if there is one. The level of the ratings is the mean of the core, without entrants
whose place in it depends on a single board: the others stay connected by the arrows that points on
two boards or more have drawn. If these are at most half of the core, it is the whole core's mean.
"""

from typing import NamedTuple

import numpy as np

from tournaments.rating import statistics
from tournaments.rating.statistics import Bools, Ints, wide
from tournaments.rating.tables import Bound
from tournaments.rating.tally import Tally


class Core(NamedTuple):
    """The parts of a pool, by entrant."""

    part: Ints
    """The part of each entrant; 0 is the core."""
    bound: tuple[Bound, ...]
    """Its place: '' in the core; '>' took points off it, perhaps through others, and lost
    none to it; '<' the other way around; '?' nothing leads from one to the other, or both ways
    lead through games of partners that rate nobody."""
    above: Bools
    """True if the row's entrant took points off the column's, perhaps through others."""
    level: Bools
    """The entrants whose mean is the level."""


def core_of(tally: Tally, anchor: str | None = None) -> Core:
    """Find the parts of a pool; `anchor` is the entrant whose rating is fixed beforehand."""
    within: Bools = np.ones(len(tally.board), np.bool_)
    while True:
        way = _reach(tally, within)
        part = _parts(tally, way & way.T, anchor)
        still = of_one_part(part, tally.left, tally.right)
        if (still == within).all():
            break
        within = still
    above = _reach(tally, np.ones_like(within))
    return Core(part, _bounds(part, above), above, _level(tally, part, within))


def of_one_part(part: Ints, left: Ints, right: Ints) -> Bools:
    """Tell of each pair of sides whether all its members are of one part."""
    parts = part[np.hstack((left, right))]
    return np.asarray((parts == parts[:, :1]).all(axis=1), np.bool_)


def _reach(tally: Tally, use: Bools) -> Bools:
    size = len(tally.names)
    drawn = np.zeros(size**2, np.bool_)
    drawn[_arrows(tally, use)[0]] = True
    return statistics.reach(drawn.reshape(size, size))


def _arrows(tally: Tally, use: Bools) -> tuple[Ints, Ints]:
    """Return these pairs' arrows, as row times size plus column, and their boards."""
    size, codes, boards = len(tally.names), [], []
    for left in wide(tally.left).T:
        for right in wide(tally.right).T:
            for one, other, half in ((left, right, tally.half), (right, left, 2 - tally.half)):
                took = use & (half > 0)
                codes.append(one[took] * size + other[took])
                boards.append(wide(tally.board[took]))
    return np.concatenate(codes), np.concatenate(boards)


def _parts(tally: Tally, mutual: Bools, anchor: str | None) -> Ints:
    """Assign numbers to the parts by size, then by games, then by the first name.

    If every part is a single entrant, the anchor's part is the first.
    """
    first = mutual.argmax(axis=1)
    size = len(first)
    seen = np.concatenate((tally.left.ravel(), tally.right.ravel()))
    members, games = np.bincount(first, minlength=size), np.bincount(first[seen], minlength=size)
    order = sorted(set(first.tolist()), key=lambda one: (-members[one], -games[one], one))
    if len(order) == size and anchor in tally.names:
        order.sort(key=lambda one: tally.names[one] != anchor)
    number = np.zeros(size, np.int64)
    number[order] = np.arange(len(order))
    return np.asarray(number[first], np.int64)


def _bounds(part: Ints, above: Bools) -> tuple[Bound, ...]:
    core = part == 0
    names: dict[tuple[bool, bool], Bound] = {(True, False): ">", (False, True): "<"}
    return tuple(
        "" if core[i] else names.get((bool(above[i, core].any()), bool(above[core, i].any())), "?")
        for i in range(len(part))
    )


def _level(tally: Tally, part: Ints, within: Bools) -> Bools:
    size, core = len(part), part == 0
    arrows, boards = _arrows(tally, within)
    on_boards = statistics.distinct(arrows * (boards.max(initial=0) + 1) + boards)
    arrows = on_boards // (boards.max(initial=0) + 1)
    drawn = (np.bincount(arrows, minlength=size**2) > 1).reshape(size, size)
    way = statistics.reach(drawn & core & core[:, None])
    sure = max((way & way.T)[core], key=lambda row: int(row.sum()))
    return np.asarray(sure if 2 * sure.sum() > core.sum() else core, np.bool_)
