"""The coverage of 95 % intervals in hundreds of simulated events of known strengths each."""

import itertools
import random
from collections.abc import Iterator
from functools import cache

import pytest
from msgspec.structs import replace

from protocol.records import Result
from tests.support.made_up import figure, only_pool, played
from tournaments.rating.ratings import fit
from tournaments.report.standings import seat_advantages

STRENGTH = {"a": 60.0, "b": 20.0, "c": -20.0, "d": -60.0}
EVENTS = 250


@cache
def truth(seats: int, deal: float) -> dict[str, float]:
    """Return what a very long event would rate: deals add noise to a strength, which flattens the
    Elo."""
    if not deal:
        return STRENGTH
    long = only_pool(played(random.Random(1000), STRENGTH, 4_000, seats, deal=deal))
    return {rating.name: figure(rating.elo) for rating in long.entrants}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seats", "boards", "deal"), [(2, 60, 0.0), (2, 60, 150.0), (4, 30, 150.0)]
)
def test_intervals_hold_the_truth_95_times_in_100(seats: int, boards: int, deal: float) -> None:
    true = truth(seats, deal)
    hits = differences = wrong = 0
    for seed in range(EVENTS):
        pool = only_pool(played(random.Random(seed), STRENGTH, boards, seats, deal=deal))
        hits += sum(
            abs(figure(rating.elo) - true[rating.name]) <= figure(rating.half_width)
            for rating in pool.entrants
        )
        for (i, a), (j, b) in itertools.combinations(enumerate(pool.entrants), 2):
            lead = true[a.name] - true[b.name]
            error = figure(pool.errors[i][j])
            differences += abs(figure(a.elo) - figure(b.elo) - lead) <= 1.96 * error
            wrong += pool.los[i][j] > 0.975 and lead < 0
    assert 0.93 <= hits / (4 * EVENTS) <= 0.97
    # Without Student's t: a little narrow.
    assert 0.92 <= differences / (6 * EVENTS) <= 0.97
    assert wrong / (6 * EVENTS) < 0.025


def test_intervals_of_small_events_hold_the_truth_over_one_level() -> None:
    """Three bots far apart on ten boards: the level must not depend on who won a single board."""
    far, hits = {"a": 220.0, "b": 0.0, "c": -220.0}, []
    for seed in range(150):
        rng = random.Random(seed)
        results = [result for n in range(10) for result in _round_robin(rng, far, n)]
        (pool,) = fit(results).pools
        if not any(rating.bound for rating in pool.entrants):
            hits += [
                abs(figure(rating.elo) - far[rating.name]) <= figure(rating.half_width)
                for rating in pool.entrants
            ]
    assert len(hits) > 300
    assert sum(hits) / len(hits) >= 0.94


def _round_robin(rng: random.Random, strength: dict[str, float], board: int) -> Iterator[Result]:
    """Yield the games of all pairs on a board, by the model of the ratings."""
    for pair in itertools.combinations(sorted(strength), 2):
        (result, reverse) = played(rng, {name: strength[name] for name in pair}, 1)
        yield replace(result, board=board)
        yield replace(reverse, board=board)


def test_fair_seats_are_seldom_called_better() -> None:
    """All seats of an event together: each on its own would be named in 14 of 100 events."""
    equal = dict.fromkeys("abcde", 0.0)
    count = sum(
        bool(seat_advantages(only_pool(played(random.Random(seed), equal, 20, 5))))
        for seed in range(100)
    )
    assert count <= 7
