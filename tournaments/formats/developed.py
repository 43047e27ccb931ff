"""Designs for many units at tables of three or more: tables turned around a circle. Pure."""

import random
from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Small = NDArray[np.int16]
DesignTable = tuple[int, ...]

FEW_SEATS = 4
"""Most seats at which all tables are candidates."""
CANDIDATE_TABLES = 40_000
"""Tables drawn as candidates at more seats: 40 units would have 77 million at eight seats."""
TRIED = 10
"""Candidates that are tried for the most even meetings."""


def developed_tables(units: int, size: int) -> Iterator[DesignTable]:
    """Yield tables turned around the circle of units, so that everybody plays equally often.

    There are enough of them that every two units have met, all about equally often.
    """
    bases = _bases(units, size)
    picks: list[int] = []
    enough, spread = 0, units * len(bases)
    for base, met in _next_bases(bases, units):
        picks.append(base)
        gap = int(met.max() - met.min())
        if met.min() > 0 and gap < spread:
            enough, spread = len(picks), gap
        if spread <= 1 or (enough and size > FEW_SEATS and len(picks) >= TRIED):
            break
    for base in picks[:enough]:
        for turn in range(units):
            yield tuple(sorted((unit + turn) % units for unit in bases[base].tolist()))


def _bases(units: int, size: int) -> Small:
    """Return tables with the first unit: all of them, or a sample if they are too many."""
    if size <= FEW_SEATS or comb(units - 1, size - 1) <= CANDIDATE_TABLES:
        others: Iterable[DesignTable] = combinations(range(1, units), size - 1)
    else:
        # The same sample every time: every Python draws the same sequence from the same seed.
        chance = random.Random(units * CANDIDATE_TABLES + size)
        others = sorted({_drawn(chance, units, size - 1) for _ in range(CANDIDATE_TABLES)})
    # Small integers: 200 units have 1.3 million bases at tables of four.
    bases = np.fromiter(chain.from_iterable(others), np.int16).reshape(-1, size - 1)
    return np.hstack((np.zeros((len(bases), 1), np.int16), bases))


def _drawn(chance: random.Random, units: int, count: int) -> DesignTable:
    """Draw a number of units besides the first."""
    others: set[int] = set()
    while len(others) < count:
        others.add(1 + int(chance.random() * (units - 1)))
    return tuple(sorted(others))


def _next_bases(bases: Small, units: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the base whose distances were played least, and how often each distance is played then.

    Every base is yielded at most once, so no table is played twice.
    """
    distances, times = _distances(bases, units)
    pairs = range(distances.shape[1])
    # A base adds to the sum of the squares: the squares of its own distances, and twice
    # its distances times their counts so far.
    squares = sum(
        times[:, pair] * times[:, other] * (distances[:, pair] == distances[:, other])
        for pair in pairs
        for other in pairs
    ) + np.zeros(len(bases), np.int64)
    met = np.zeros(units // 2 + 1, np.int64)
    for _ in range(len(bases)):
        best = int(
            np.argmin(squares + 2 * sum(times[:, pair] * met[distances[:, pair]] for pair in pairs))
        )
        np.add.at(met, distances[best], times[best])
        squares[best] = np.iinfo(np.int64).max // 2
        yield best, met[1:]


def _distances(bases: Small, units: int) -> tuple[Small, Small]:
    """Return, for each base, its pairs' distances around the circle, and their weights."""
    first, other = np.triu_indices(bases.shape[1], 1)
    distances = bases[:, other] - bases[:, first]
    distances = np.minimum(distances, np.int16(units) - distances)
    return distances, np.where(2 * distances == units, np.int16(2), np.int16(1))
