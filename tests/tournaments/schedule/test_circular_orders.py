"""Circular orders: everybody sits beside everybody equally often."""

from collections import Counter

import pytest

from tournaments.schedule.circular_orders import circular_orders


@pytest.mark.parametrize("size", range(2, 9))
def test_in_all_circular_orders_everybody_sits_beside_everybody_as_often(size: int) -> None:
    orders = circular_orders(size)
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert len({order[order.index(0) :] + order[: order.index(0)] for order in orders}) == len(
        orders
    )
    left = Counter((order[seat - 1], order[seat]) for order in orders for seat in range(size))
    assert len(left) == size * (size - 1)
    assert len(set(left.values())) == 1
