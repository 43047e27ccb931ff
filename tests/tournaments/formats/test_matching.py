"""Pairs of a Swiss: neighbours, without rematches where that is possible."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest

from tournaments.formats import swiss


def all_meetings(order: Sequence[tuple[int, ...]]) -> Counter[frozenset[tuple[int, ...]]]:
    return Counter(frozenset(pair) for pair in combinations(order, 2))


@pytest.mark.parametrize("units", [4, 10, 100])
def test_the_only_round_without_a_rematch_is_found(units: int) -> None:
    """Everybody met everybody but for one round, which lies across the whole table."""
    order: list[tuple[int, ...]] = [(unit,) for unit in range(units)]
    last = {frozenset((order[index], order[-1 - index])) for index in range(units // 2)}
    met = all_meetings(order)
    for pair in last:
        del met[pair]
    assert {frozenset(pair) for pair in swiss.pairs(order, met)} == last


def test_if_all_have_met_the_neighbours_that_met_least_meet_again() -> None:
    order: list[tuple[int, ...]] = [(unit,) for unit in range(6)]
    met = all_meetings(order)
    assert swiss.pairs(order, met) == [((0,), (1,)), ((2,), (3,)), ((4,), (5,))]
    met[frozenset(order[:2])] += 1
    assert frozenset(order[:2]) not in map(frozenset, swiss.pairs(order, met))
