"""Filters of deals: what each measures, and what is wrong with a filter."""

import pytest

from protocol.errors import UserError
from tournaments.plan.event import MEASURES, describe_filter, parse_filter

HANDS = (((6, 6), (6, 5), (1, 1)), ((2, 0), (0, 0), (3, 0)))


@pytest.mark.parametrize(
    ("measure", "value"), [("doubles", 2), ("suit", 3), ("pips", 25), ("spread", 20)]
)
def test_a_filter_measures_the_hand_that_has_most(measure: str, value: int) -> None:
    assert MEASURES[measure][1](HANDS) == value
    assert parse_filter(f"{measure} >= {value}").accepts(HANDS)
    assert parse_filter(f"{measure}<={value}").accepts(HANDS)
    assert parse_filter(f"{measure}={value}").accepts(HANDS)
    assert not parse_filter(f"{measure}>={value + 1}").accepts(HANDS)
    assert not parse_filter(f"{measure}<={value - 1}").accepts(HANDS)


def test_a_wrong_filter_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="'double': did you mean doubles"):
        parse_filter("double>=4")
    with pytest.raises(UserError, match=r"not 'doubles>4': doubles>=4\."):
        parse_filter("doubles>4")


def test_a_filter_is_described() -> None:
    assert describe_filter("pips<=40") == "the pips of the heaviest hand: at most 40"
