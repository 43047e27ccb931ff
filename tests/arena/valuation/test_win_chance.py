"""Expected shares of a game by the scores: fair, ordered, and decided when the game is."""

import numpy as np
import pytest

from arena.rules.variants import derive, find_variant
from arena.valuation.win_chance import FULL_SHARE, Law, share_of_scores
from tests.support.fast_run import slow_except

HALF = FULL_SHARE // 2


# The fast run keeps two sides, three, and partners.
@pytest.mark.parametrize(
    ("name", "seats"),
    slow_except(
        (("draw", 2), ("dutch", 3), ("draw-partners", 4)),
        [("draw", 2), ("dutch", 3), ("auction-draw", 2), ("draw-partners", 4), ("paid-draw", 3)],
    ),
)
def test_equal_scores_have_equal_shares_and_more_points_a_larger_one(name: str, seats: int) -> None:
    rules = find_variant(name)
    equal, lead = [10] * seats, [30, *[10] * (seats - 1)]
    if rules.deal.partners:
        lead = [30, 10, 30, 10]
    shares = share_of_scores(Law(rules, seats), np.array([equal, lead]))
    assert np.abs(shares[0] - HALF).max() <= FULL_SHARE // 100
    assert shares[1].argmax() == 0
    assert HALF * 1.05 < shares[1, 0] < FULL_SHARE
    sides = 2 if rules.deal.partners else seats
    assert np.abs(shares[:, :sides].sum(axis=1) - sides * HALF).max() <= sides
    if rules.deal.partners:
        assert (shares[:, :2] == shares[:, 2:]).all()


def test_a_game_that_is_over_is_decided() -> None:
    draw, pool = find_variant("draw"), find_variant("auction-draw")
    assert share_of_scores(Law(draw, 2), np.array([[100, 99], [3, 120]])).tolist() == [
        [FULL_SHARE, 0],
        [0, FULL_SHARE],
    ]
    assert share_of_scores(Law(draw, 3), np.array([[70, 5, 5]])).tolist() == [
        [FULL_SHARE, HALF // 2] * 1 + [HALF // 2]
    ]
    assert share_of_scores(Law(pool, 2), np.array([[5, -5], [1, 1]]), 20).tolist() == [
        [FULL_SHARE, 0],
        [HALF, HALF],
    ]


def test_equal_scores_at_the_target_play_on() -> None:
    shares = share_of_scores(Law(find_variant("draw"), 2), np.array([[104, 104]]))
    assert shares.tolist() == [[HALF, HALF]]


def test_few_rounds_left_make_a_lead_worth_more() -> None:
    rules = derive(find_variant("draw"), "short", {"max_rounds": 3})
    lead = np.array([[40, 20]] * 3)
    first, second, third = share_of_scores(Law(rules, 2), lead, np.array([1, 2, 3]))[:, 0]
    assert HALF < first < second < third == FULL_SHARE
