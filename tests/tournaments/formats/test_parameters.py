"""Parameters: their values stay in their ranges, and reach the command as words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tournaments.formats.entrant import Parameter, value_text

RANGES = (
    Parameter(start=0.07, min=0, max=0.3),
    Parameter(start=-2, min=-4, max=8),
    Parameter(start=3, min=1, max=9, integer=True),
    Parameter(start=0.01, min=1e-4, max=1, scale="log"),
    Parameter(start=64, min=1, max=1024, integer=True, scale="log"),
)


@given(some.sampled_from(RANGES), some.floats(-1, 2))
def test_every_place_is_a_value_of_the_range(parameter: Parameter, place: float) -> None:
    value = parameter.value_at(place)
    assert parameter.min <= value <= parameter.max
    assert isinstance(value, int) or not parameter.integer
    assert float(value_text(value)) == value


@pytest.mark.parametrize("parameter", RANGES)
def test_the_place_of_the_start_is_the_start(parameter: Parameter) -> None:
    assert parameter.value_at(parameter.place_of(parameter.start)) == parameter.start


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"start": 1, "min": 2, "max": 1}, "min must be below max"),
        ({"start": 1, "min": 0, "max": float("inf")}, "must be finite"),
        ({"start": 1, "min": -1e308, "max": 1e308}, "must be finite"),
        ({"start": 3, "min": 1, "max": 2}, "start must be from 1 to 2"),
        ({"start": 1.5, "min": 1, "max": 2, "integer": True}, "whole numbers"),
        ({"start": 1, "min": 0, "max": 2, "scale": "log"}, "begins above 0"),
    ],
)
def test_an_impossible_range_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Parameter(**fields)
