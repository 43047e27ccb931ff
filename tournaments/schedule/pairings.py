"""Which units meet at which tables, as numbers: designs, pure and the same every time.

A unit is what sits down together: an entrant, or a team of two. Tables come in days. In every
prefix of a design everybody has been at as many tables as anybody else, give or take one, at
tables of two or where all tables are played; where only some are, give or take three, or four
at five seats and more.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from heapq import heapify, heappop, heapreplace
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tournaments.plan.seats import ALL_WAYS, Table

Small = NDArray[np.int16]
Day = tuple[Table, ...]

ALL = 70
"""So many tables of three or more are all played; of more, as many as make everybody meet."""
SAMPLE = 40_000
"""At more seats tables are chosen from so many: of all, 40 units would have 77 million at eight."""
TRIED = 10
"""And so many of them are tried for the most even meetings."""


@cache
def round_robin(units: int, size: int) -> tuple[Day, ...]:
    """Tables of `size` from so many units, each two units meeting equally often.

    Equally often, give or take one, where not all tables are played; at five seats and more, give
    or take three.
    """
    if size == 2:
        return tuple(_cycles(units) if units % 2 else _circle(units))
    if comb(units, size) <= ALL:
        return tuple((table,) for table in _levelled(units, size))
    return tuple((table,) for table in _evenly(units, _developed(units, size)))


def gauntlet(challengers: Sequence[int], field: Sequence[int], size: int) -> tuple[Day, ...]:
    """Each challenger at a table with each choice of the field that a round robin would make."""
    if size > 2:
        others = (table for day in _field(len(field), size - 1) for table in day)
        return tuple(
            tuple((one, *(field[other] for other in table)) for one in challengers)
            for table in others
        )
    days = []
    for step in range(len(field)):
        pairs = [(one, field[(n + step) % len(field)]) for n, one in enumerate(challengers)]
        days.append(tuple(_in_turn(pair, step) for pair in pairs))
    return tuple(days)


def _field(units: int, size: int) -> tuple[Day, ...]:
    return round_robin(units, size) if units > size else ((tuple(range(units)),),)


def _circle(units: int) -> Iterator[Day]:
    """An even number: days on which everybody plays once."""
    for day in range(units - 1):
        ring = [units - 1, *((day + step) % (units - 1) for step in range(units - 1))]
        pairs = zip(ring[: units // 2], reversed(ring[units // 2 :]), strict=True)
        # The fixed one changes seats from day to day, the others as they move around the ring.
        yield tuple(_in_turn(pair, place or day) for place, pair in enumerate(pairs))


def _in_turn(pair: tuple[int, int], turn: int) -> Table:
    return pair if turn % 2 == 0 else (pair[1], pair[0])


def _cycles(units: int) -> Iterator[Day]:
    """An odd number: days on which everybody plays twice, once in each seat.

    A day is one of Walecki's Hamiltonian cycles: every second edge of it, then the others. With
    one day for each bye instead, somebody would lie two tables behind.
    """
    half = units // 2
    zigzag = [step // 2 + 1 if step % 2 else -(step // 2) for step in range(2 * half)]
    for turn in range(half):
        cycle = [units - 1, *((place + turn) % (2 * half) for place in zigzag)]
        edges = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        yield (*edges[0:-1:2], edges[-1], *edges[1:-1:2])


def _levelled(units: int, size: int) -> list[Table]:
    """All tables, in an order in which nobody ever is two tables behind: found by trying."""
    played = [0] * units
    met: Counter[Table] = Counter()
    left = set(combinations(range(units), size))
    order: list[Table] = []

    def placed(table: Table, by: int) -> None:
        for one in table:
            played[one] += by
        for pair in combinations(table, 2):
            met[pair] += by

    def filled() -> bool:
        if not left:
            return True
        behind = {one for one in range(units) if played[one] == min(played)}
        # Either only those who are behind sit down, or all of them do.
        able = [table for table in left if behind.issuperset(table) or behind.issubset(table)]
        for table in sorted(able, key=lambda table: (_often(table, met), table)):
            left.remove(table)
            placed(table, 1)
            order.append(table)
            if filled():
                return True
            left.add(order.pop())
            placed(table, -1)
        return False

    filled()
    return order


def _often(table: Table, met: Counter[Table]) -> int:
    return sum(met[pair] ** 2 for pair in combinations(table, 2))


def _developed(units: int, size: int) -> Iterator[Table]:
    """Tables that are turned around the circle of units, so that everybody plays equally often.

    So many that every two units have met, all about equally often.
    """
    bases = _bases(units, size)
    chosen: list[int] = []
    enough, spread = 0, units * len(bases)
    for base, met in _next_bases(bases, units):
        chosen.append(base)
        apart = int(met.max() - met.min())
        if met.min() > 0 and apart < spread:
            enough, spread = len(chosen), apart
        if spread <= 1 or (enough and size > ALL_WAYS and len(chosen) >= TRIED):
            break
    for base in chosen[:enough]:
        for turn in range(units):
            yield tuple(sorted((one + turn) % units for one in bases[base].tolist()))


def _bases(units: int, size: int) -> Small:
    """Tables at which the first unit sits: all, or as many as can be looked at."""
    if size <= ALL_WAYS or comb(units - 1, size - 1) <= SAMPLE:
        others: Iterable[Table] = combinations(range(1, units), size - 1)
    else:
        # The same every time: on every Python a seed has the same sequence of `random`.
        chance = random.Random(units * SAMPLE + size)
        others = sorted({_drawn(chance, units, size - 1) for _ in range(SAMPLE)})
    # Small numbers: 200 units have 1.3 million bases at tables of four.
    bases = np.fromiter(chain.from_iterable(others), np.int16).reshape(-1, size - 1)
    return np.hstack((np.zeros((len(bases), 1), np.int16), bases))


def _drawn(chance: random.Random, units: int, many: int) -> Table:
    """So many of the units besides the first."""
    who: set[int] = set()
    while len(who) < many:
        who.add(1 + int(chance.random() * (units - 1)))
    return tuple(sorted(who))


def _next_bases(bases: Small, units: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each next one is that whose distances have been played least; and how often they are then.

    Nobody sits down twice at the same table.
    """
    apart, times = _distances(bases, units)
    pairs = range(apart.shape[1])
    # What a base adds to the sum of the squares: that of its own distances, and twice
    # what they are times what they were.
    own = sum(
        times[:, one] * times[:, other] * (apart[:, one] == apart[:, other])
        for one in pairs
        for other in pairs
    ) + np.zeros(len(bases), np.int64)
    met = np.zeros(units // 2 + 1, np.int64)
    for _ in range(len(bases)):
        best = int(np.argmin(own + 2 * sum(times[:, one] * met[apart[:, one]] for one in pairs)))
        np.add.at(met, apart[best], times[best])
        own[best] = np.iinfo(np.int64).max // 2
        yield best, met[1:]


def _distances(bases: Small, units: int) -> tuple[Small, Small]:
    """Of each base every two units' distance around the circle, and how often it comes about."""
    one, other = np.triu_indices(bases.shape[1], 1)
    apart = bases[:, other] - bases[:, one]
    apart = np.minimum(apart, np.int16(units) - apart)
    return apart, np.where(2 * apart == units, np.int16(2), np.int16(1))


def _evenly(units: int, tables: Iterator[Table]) -> Iterator[Table]:
    """In an order in which those sit down who have sat least."""
    played = [0] * units

    def long_seated(table: Table) -> tuple[int, int, Table]:
        return max(played[one] for one in table), sum(played[one] for one in table), table

    waiting = [long_seated(table) for table in set(tables)]
    heapify(waiting)
    while waiting:
        table = waiting[0][-1]
        # Who waits only comes to have sat longer: whoever still is first is so among all.
        if waiting[0] != long_seated(table):
            heapreplace(waiting, long_seated(table))
            continue
        heappop(waiting)
        for one in table:
            played[one] += 1
        yield table
