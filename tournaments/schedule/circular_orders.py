"""Circular orders of a table: who sits beside whom, on which side. Pure."""

from collections.abc import Iterator
from itertools import permutations

from tournaments.formats.pairing.designs import zigzags

Table = tuple[int, ...]


ALL_WAYS = 4
"""Most seats at which a table sits in every circular order."""


def circular_orders(size: int) -> tuple[Table, ...]:
    """Return circular orders of a table in which everybody has everybody as often on each side.

    Over all of them, each is as often on the left as on the right of each other; over the first
    half, unless there are eight seats, each sits beside each other equally often. Up to four seats
    these are all circular orders; for more seats, as few as are needed.
    """
    if size <= ALL_WAYS:
        return tuple((0, *others) for others in permutations(range(1, size)))
    if size == len(EIGHT[0]):
        return EIGHT
    one_way = tuple(_walecki(size))
    return one_way + tuple((0, *reversed(others)) for _, *others in one_way)


EIGHT = (
    (0, 1, 4, 5, 7, 2, 3, 6),
    (0, 3, 1, 6, 7, 5, 2, 4),
    (0, 4, 1, 7, 3, 2, 6, 5),
    (0, 6, 2, 1, 3, 5, 4, 7),
    (0, 5, 1, 2, 7, 6, 4, 3),
    (0, 2, 5, 3, 7, 4, 6, 1),
    (0, 7, 1, 5, 6, 3, 4, 2),
)
"""Circular orders in which everybody has everybody once on the left; found by search (Tillson)."""


def _walecki(size: int) -> Iterator[Table]:
    """Yield Hamiltonian cycles through 0 that have every pair once, or twice for an even size."""
    ring = size - 1
    for others in zigzags(ring, ring // 2 if size % 2 else ring):
        yield 0, *(1 + other for other in others)
