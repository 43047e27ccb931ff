"""Losses of decisions: those of the solver in endgames, without noise, without names."""

import numpy as np
import pytest
from numpy.typing import NDArray

from arena.analysis.timeline import Timeline
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.valuation.decision_loss import (
    LOOK_DEAR,
    TriedOptions,
    measured_gap,
    measured_loss,
    review_seat,
    try_options,
    world_errors,
)
from arena.valuation.endgames import exact_leads
from arena.valuation.terms import ReviewedDecision
from protocol.ruleset import playable_seat_counts
from tests.support.fast_run import slow_except
from tests.support.games import any_of, overheard

FAST = ("double-draw",)


def game(name: str, seats: int, rounds: int = 2) -> LoggedGame:
    rules = derive(find_variant(name), name, {"rounds": rounds})
    return overheard(rules, seats, any_of(name)).logged


def review(logged: LoggedGame, seat: int = 0, worlds: int = 16) -> list[ReviewedDecision]:
    return list(review_seat(Timeline(logged), seat, worlds))


@pytest.mark.parametrize("name", slow_except(FAST, VARIANTS))
def test_every_choice_among_several_options_is_reviewed(name: str) -> None:
    seats = max(playable_seat_counts(find_variant(name))[:3])
    logged = game(name, seats)
    asks = [ask for ask in Timeline(logged).questions(1) if len(ask.question.options) > 1]
    decisions = review(logged, 1, worlds=4)
    assert [decision.number for decision in decisions] == [ask.number for ask in asks]
    for decision, ask in zip(decisions, asks, strict=True):
        assert logged.records[ask.index] is ask.answer
        assert decision.round == ask.round
        assert len(decision.values) == len(ask.question.options)
        assert decision.values[decision.best] == max(decision.values)
    assert decisions


def test_endgames_cost_what_the_solver_says() -> None:
    logged = game("old-draw", 2, rounds=8)
    decisions = {decision.number: decision for decision in review(logged)}
    count = 0
    for ask in Timeline(logged).questions(0):
        decision, exact = decisions.get(ask.number), exact_leads(ask.game)
        if decision and exact:
            count += 1
            assert decision.exact
            assert decision.loss == max(exact) - exact[decision.choice]
            assert list(decision.values) == list(exact)
            assert decision.error == decision.errors[0] == 0
    assert count > 4
    assert sum(decision.exact for decision in decisions.values()) == count


def trial_of(leads: NDArray[np.float64]) -> TriedOptions:
    return TriedOptions(leads, leads, exact=False)


def test_the_two_errors_of_noise_cancel() -> None:
    """Losses are right on average if all gaps are equally likely."""
    luck = np.random.default_rng(1)
    gaps, worlds = luck.uniform(-10, 10, 4_000), luck.normal(0, 10, (4_000, 2, 64))
    worlds[:, 1] += gaps[:, None]
    losses = np.array([measured_loss(leads, 0) for leads in worlds])
    assert abs((losses - np.maximum(gaps, 0)).mean()) < 0.05


def test_a_clear_gap_is_measured() -> None:
    luck = np.random.default_rng(2)
    leads = luck.normal(0, 3, (3, 400)) + np.array([[0.0], [5.0], [1.0]])
    best, gap, error = measured_gap(trial_of(leads), 0)
    assert best == 1
    assert abs(gap - 5) < 4 * error < 1.2
    assert measured_loss(leads, 0) == pytest.approx(gap)
    assert (*measured_gap(trial_of(leads), 1), measured_loss(leads, 1)) == (1, 0, 0, 0)


def test_the_only_world_has_no_error() -> None:
    leads = np.array([[3.0], [5.0]])
    assert measured_gap(trial_of(leads), 0) == (1, measured_loss(leads, 0), 0.0) == (1, 2.0, 0.0)
    assert world_errors(leads).tolist() == [0.0, 0.0]


def test_only_dear_decisions_are_tried_in_more_worlds() -> None:
    logged = game("draw", 2)
    decisions, retries = review(logged, worlds=4), 0
    asks = [ask for ask in Timeline(logged).questions(0) if len(ask.options) > 1]
    for decision, trial in zip(decisions, try_options(asks, 4), strict=True):
        assert decision.loss == round(measured_loss(trial.leads, decision.choice), 3)
        retries += list(decision.values) != trial.leads.mean(axis=1).round(3).tolist()
    assert len(decisions) > LOOK_DEAR >= retries > 0
