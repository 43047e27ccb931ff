"""Designs: everybody meets everybody equally, and any prefix is balanced."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import pytest

from tournaments.formats.tables import MAX_COMPLETE_TABLES, round_robin


def count_tables(tables: Sequence[tuple[int, ...]]) -> Counter[int]:
    return Counter(unit for table in tables for unit in table)


def spreads(tables: Sequence[tuple[int, ...]], units: int) -> Iterator[int]:
    """Yield after each table the difference between the most and the fewest tables of a unit."""
    counts = [0] * units
    for table in tables:
        for unit in table:
            counts[unit] += 1
        yield max(counts) - min(counts)


FEW = [(units, size) for size in (2, 3, 4) for units in (*range(size, 14), 30)]
LARGER = [(units, size) for size in (5, 6, 7, 8) for units in range(size, 12)] + [(30, 8)]
"""Units and seats: at more than four seats, meetings are as even as tables can be found."""


@pytest.mark.parametrize(("units", "size"), [*FEW, *LARGER])
def test_in_a_round_robin_everybody_meets_everybody_equally(units: int, size: int) -> None:
    tables = [table for day in round_robin(units, size) for table in day]
    met = Counter(frozenset(pair) for table in tables for pair in combinations(table, 2))
    assert len(met) == units * (units - 1) // 2
    is_partial = size > 2 and comb(units, size) > MAX_COMPLETE_TABLES
    assert max(met.values()) - min(met.values()) <= (is_partial if size < 5 else 3 * is_partial)
    assert len({frozenset(table) for table in tables}) == len(tables)
    assert all(len(set(table)) == size for table in tables)
    assert len({count_tables(tables)[unit] for unit in range(units)}) == 1
    if size < 5:
        # With 13 at four seats any two tables share somebody: nobody can do better than three.
        allowed = (3 if (units, size) == (13, 4) else 2) if is_partial else 1
        assert all(spread <= allowed for spread in spreads(tables, units))
    else:
        assert len(tables) <= max(MAX_COMPLETE_TABLES, 5 * units)


@pytest.mark.parametrize("units", [*range(2, 14), 29, 30])
def test_at_two_seats_everybody_sits_first_as_often(units: int) -> None:
    """One rotation is enough: an odd number is exact, an even number differs by one at most."""
    firsts = Counter(table[0] for day in round_robin(units, 2) for table in day)
    counts = [firsts[unit] for unit in range(units)]
    assert max(counts) - min(counts) <= (units % 2 == 0)
