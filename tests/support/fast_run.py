"""Parameters and examples that the fast run leaves out: they only repeat a promise."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import settings

from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import playable_seat_counts

EVERY_EXAMPLE = 60
"""Examples of a property where its test says nothing else; the fast run tries fewer."""
FAST_EXAMPLES = 10
FAST_GAMES = ("draw", "dutch-partners", "auction-draw", "double-draw", "vietnamese")
"""Named games of the fast run: free and forced draws, partners, bids, pairs of tiles, no draws."""
FAST_TABLES = (("draw", 2), ("dutch-partners", 4), ("auction-draw", 3), ("double-draw", 2))


def named_tables() -> Iterator[tuple[str, int]]:
    """Yield each named game at its smallest table, and at one of its larger tables, by turns.

    That every game keeps to its rules at every table is shown by the engine's properties.
    """
    for number, name in enumerate(VARIANTS):
        fewest, *more = playable_seat_counts(find_variant(name))
        yield name, fewest
        if more:
            yield name, more[number % len(more)]


NAMED_TABLES = [*named_tables()]


def slow_except(fast: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """Return a test's parameters, all marked slow but those of the fast run.

    A parameter of several arguments is a tuple. A name in `fast` that is no parameter is a mistake
    of the test, and fails its collection.
    """
    parameters = list(values)
    unknown = [value for value in fast if value not in parameters]
    assert not unknown, f"no such parameters: {unknown}. Name some of {parameters}."
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=[] if value in fast else [pytest.mark.slow],
        )
        for value in parameters
    ]


def examples(number: int) -> settings:
    """Return settings of a property that needs so many examples; the fast run tries its share."""
    return settings(max_examples=share(number))


def share(number: int) -> int:
    """Return how many of these examples are tried: in the fast run a sixth."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return max(1, number * profile.max_examples // EVERY_EXAMPLE)
