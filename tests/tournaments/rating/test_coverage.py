"""Whether what is called 95 % is 95 %: hundreds of simulated events of known strengths each."""

import itertools
import random
from functools import cache

import pytest

from tests.support.results import known, only, played

STRENGTH = {"a": 60.0, "b": 20.0, "c": -20.0, "d": -60.0}
EVENTS = 250


@cache
def truth(seats: int, deal: float) -> dict[str, float]:
    """Return what a very long event would rate: deals add noise to a strength, which flattens the
    Elo."""
    if not deal:
        return STRENGTH
    long = only(played(random.Random(1000), STRENGTH, 4_000, seats, deal=deal))
    return {rating.name: known(rating.elo) for rating in long.entrants}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seats", "boards", "deal"), [(2, 60, 0.0), (2, 60, 150.0), (4, 30, 150.0)]
)
def test_95_percent_intervals_hold_the_truth_95_times_in_100(
    seats: int, boards: int, deal: float
) -> None:
    true = truth(seats, deal)
    rated = apart = wrong = 0
    for seed in range(EVENTS):
        pool = only(played(random.Random(seed), STRENGTH, boards, seats, deal=deal))
        rated += sum(
            abs(known(one.elo) - true[one.name]) <= known(one.half_width) for one in pool.entrants
        )
        for (i, a), (j, b) in itertools.combinations(enumerate(pool.entrants), 2):
            lead = true[a.name] - true[b.name]
            error = known(pool.errors[i][j])
            apart += abs(known(a.elo) - known(b.elo) - lead) <= 1.96 * error
            wrong += pool.los[i][j] > 0.975 and lead < 0
    assert 0.93 <= rated / (4 * EVENTS) <= 0.97
    # Without Student's t: a little narrow.
    assert 0.92 <= apart / (6 * EVENTS) <= 0.97
    assert wrong / (6 * EVENTS) < 0.025
