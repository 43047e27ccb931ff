"""Losses of decisions: those of the solver in endgames, without noise, without names."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from arena.analysis.timeline import Timeline
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import VARIANTS, find_variant
from arena.valuation.decision_loss import (
    ReviewedDecision,
    TriedOptions,
    measured_loss,
    option_worths,
    review_seat,
)
from arena.valuation.endgames import exact_leads
from protocol.ruleset import derive, playable_seat_counts
from tests.support.fast_run import slow_except
from tests.support.transcripts import any_of, overheard

FAST = ("double-draw", "auction-draw")


def game(name: str, seats: int, rounds: int = 2) -> LoggedGame:
    rules = derive(find_variant(name), name, {"rounds": rounds})
    return overheard(rules, seats, any_of(name)).logged


def review(logged: LoggedGame, seat: int = 0, worlds: int = 16) -> list[ReviewedDecision]:
    return list(review_seat(Timeline(logged), seat, worlds))


@pytest.mark.parametrize("name", slow_except(FAST, VARIANTS))
def test_every_choice_among_several_options_is_reviewed(name: str) -> None:
    seats = max(playable_seat_counts(find_variant(name))[:3])
    logged = game(name, seats)
    asked = [one for one in Timeline(logged).questions(1) if len(one.question.options) > 1]
    found = review(logged, 1, worlds=4)
    assert [one.number for one in found] == [one.number for one in asked]
    for one, was in zip(found, asked, strict=True):
        assert logged.records[was.index] is was.answer
        assert one.round == was.round
        assert len(one.options) == len(was.question.options)
        assert one.options[one.best].lead == max(option.lead for option in one.options)
    assert found


def test_endgames_cost_what_the_solver_says() -> None:
    logged = game("old-draw", 2, rounds=8)
    found = {one.number: one for one in review(logged)}
    count = 0
    for asked in Timeline(logged).questions(0):
        one, exact = found.get(asked.number), exact_leads(asked.game)
        if one and exact:
            count += 1
            assert one.exact
            assert one.loss == max(exact) - exact[one.choice]
            assert [option.lead for option in one.options] == list(exact)
            assert one.error == one.options[0].error == 0
    assert count > 4
    assert sum(one.exact for one in found.values()) == count


def test_a_bot_under_another_name_has_the_same_review() -> None:
    logged = game("draw", 2)
    named = replace(logged.sitting, seats=("zoe", "yan"), event="other")
    other = replace(logged, sitting=named, game=replace(logged.game, game="9.zoe.yan"))
    assert review(other) == review(logged)


def tried(leads: NDArray[np.float64]) -> TriedOptions:
    return TriedOptions(leads, certain=False, exact=False)


def test_noise_is_no_loss() -> None:
    """Of options that are worth the same, the best one is not better where it is not measured."""
    luck = np.random.default_rng(1)
    losses = [measured_loss(tried(luck.normal(0, 10, (6, 64))), 0) for _ in range(2_000)]
    mean, errors = np.mean([loss for _, loss, _ in losses]), [error for *_, error in losses]
    assert abs(mean) < 4 * np.mean(errors) / 2_000**0.5
    spread = np.std([loss for _, loss, _ in losses])
    assert 0.6 < np.mean(errors) / spread < 1.4


def test_a_clear_loss_is_measured() -> None:
    luck = np.random.default_rng(2)
    leads = luck.normal(0, 3, (3, 400)) + np.array([[0.0], [5.0], [1.0]])
    best, loss, error = measured_loss(tried(leads), 0)
    assert best == 1
    assert abs(loss - 5) < 4 * error < 1.2
    assert measured_loss(tried(leads), 1) == (1, 0.0, 0.0)


def test_most_worlds_choose_the_best_option() -> None:
    """Had half of the worlds to find an option that is 5 better, the mean would be 3.9."""
    luck, worth = np.random.default_rng(3), np.array([[0.0], [5.0], [0.0], [0.0]])
    losses = [measured_loss(tried(luck.normal(0, 15, (4, 64)) + worth), 0) for _ in range(1_000)]
    assert 4.2 < np.mean([loss for _, loss, _ in losses]) < 4.6


def test_the_only_world_has_no_error() -> None:
    leads = np.array([[3.0], [5.0]])
    only, one_of_many = (TriedOptions(leads, certain, exact=False) for certain in (True, False))
    assert measured_loss(only, 0) == (1, 2.0, 0.0)
    assert [one.error for one in option_worths(only)] == [0.0, 0.0]
    assert measured_loss(one_of_many, 0) == (1, 2.0, math.inf)
