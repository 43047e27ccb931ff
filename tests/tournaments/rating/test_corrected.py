"""Ratings and margins with luck taken out: exact in any order, unbiased, with honest intervals."""

import math
import random
from collections.abc import Sequence

import msgspec
import pytest

from protocol.records import Result
from tests.support.made_up import ELO, STRENGTH, figure, game, played
from tournaments.rating.ratings import fit
from tournaments.rating.sprt import separations
from tournaments.rating.tables import (
    LUCK_PARTS,
    Anchor,
    Correction,
    Corrections,
    Gain,
    Pool,
    Rating,
    Ratings,
)
from tournaments.rating.tally import collect
from tournaments.report.event_text import by_ratings
from tournaments.report.standings import luck_notes

WEIGHT = 0.8


def number_games(results: Sequence[Result]) -> list[Result]:
    """Give every game a name of its own."""
    return [msgspec.structs.replace(result, game=f"{n}") for n, result in enumerate(results)]


def parts(values: Sequence[float], weight: float = WEIGHT) -> tuple[int, ...]:
    return tuple(round(LUCK_PARTS * weight * value) for value in values)


def lucky_event(
    rng: random.Random, strength: dict[str, float], boards: int
) -> tuple[list[Result], Corrections]:
    """Boards of two games, in which luck moves chance and score; it is 0 on average."""
    results, luck = [], {}
    for board in range(boards):
        left, right = rng.sample(sorted(strength), 2)
        deal = rng.gauss(0, 60)
        for seats in ((left, right), (right, left)):
            name = f"{board}.{'.'.join(seats)}"
            lead = strength[seats[0]] - strength[seats[1]] + deal
            p = 1 / (1 + math.exp(-lead / ELO))
            share = min(p, 1 - p) * rng.uniform(-1, 1)
            won = rng.random() < p + share
            points = 60 * share
            first = round(lead / 20 + 2 * points + rng.gauss(0, 8))
            result = game(board, seats, (1, 0) if won else (0, 1))
            results.append(msgspec.structs.replace(result, game=name, scores=(first, 0)))
            luck[name] = Correction(parts((points, -points)), parts((share, -share)))
    return results, luck


def rate(results: Sequence[Result], luck: Corrections, anchor: Anchor | None = None) -> Pool:
    (pool,) = fit(results, corrections=luck, anchor=anchor).pools
    return pool


def variance(rating: Rating) -> tuple[float, float]:
    assert rating.corrected
    return figure(rating.half_width) ** 2, figure(rating.corrected.half_width) ** 2


def test_without_any_luck_nothing_changes() -> None:
    results = number_games(played(random.Random(5), STRENGTH, 40))
    pool = rate(results, {})
    for rating in pool.entrants:
        corrected = rating.corrected
        assert corrected
        assert (corrected.elo, corrected.half_width) == (rating.elo, rating.half_width)
        assert corrected.margin == pytest.approx(figure(rating.margin))
        assert corrected.margin_half_width == rating.margin_half_width
    assert pool.gain_wins
    assert pool.gain_wins.value == 1


def test_luck_is_taken_out_of_every_game() -> None:
    """Two games, by hand: the loser of both was unlucky in both."""
    results = number_games([game(1, "ab", (10, 0)), game(1, "ba", (0, 6)), game(2, "ab", (0, 4))])
    luck = {
        "0": Correction(parts((4, -4), 1), parts((0.25, -0.25), 1)),
        "1": Correction(parts((1, 3), 1), parts((-0.125, 0.125), 1)),
    }
    tally = collect(results, False, luck)
    assert tally.luck
    assert (tally.luck.half * tally.pairs_a_point).tolist() == [0.25, -0.125, 0]
    assert (tally.leads() / LUCK_PARTS).tolist() == [2, -4, -4]
    margins = {rating.name: rating.corrected for rating in rate(results, luck).entrants}
    assert margins["a"]
    assert margins["a"].margin == pytest.approx((2 + 4 - 4) / 3)


def test_results_beyond_a_sweep_give_no_corrected_rating() -> None:
    """The winner of 29 games in 30 was unlucky, too: no rating makes that likely."""
    results = number_games(
        [game(board, "ab", (0, 1) if board == 0 else (1, 0)) for board in range(30)]
    )
    luck = {result.game: Correction((0, 0), parts((-0.2, 0.2))) for result in results}
    pool = rate(results, luck)
    assert "too one-sided" in luck_notes(pool)[-1]
    for rating in pool.entrants:
        assert rating.elo is not None
        assert rating.corrected
        assert rating.corrected.elo is None


def test_the_gain_is_the_ratio_of_the_variances() -> None:
    results, luck = lucky_event(random.Random(2), {"a": 30.0, "b": -30.0}, 3000)
    pool = rate(results, luck)
    (of_wins, corrected) = variance(pool.entrants[0])
    assert pool.gain_wins
    assert pool.gain_wins.low < pool.gain_wins.value < pool.gain_wins.high
    assert pool.gain_wins.value == pytest.approx(of_wins / corrected, rel=0.05)
    assert pool.gain_margin
    assert pool.gain_margin.low > 1.5


def test_at_four_seats_the_gain_is_that_of_ratings_too() -> None:
    """The luck of a pair is not known there: only sums over the pairs of a bot are right."""
    rng, results, luck = random.Random(3), [], {}
    for board in range(1500):
        means = [rng.gauss(0, 1) for _ in "abcd"]
        scores = [due + rng.gauss(0, 0.4) for due in means]
        ranks = [sum(left > right for right in scores) for left in scores]
        results.append(game(board, "abcd", ranks))
        chances = [[(1 + math.erf((left - right) / 0.8)) / 2 for right in means] for left in means]
        luck[f"{board}"] = Correction((0,) * 4, parts([(sum(row) - 2) / 3 for row in chances], 1))
    pool = rate(number_games(results), luck)
    of_wins, corrected = map(sum, zip(*map(variance, pool.entrants), strict=True))
    assert pool.gain_wins
    assert pool.gain_wins.value == pytest.approx(of_wins / corrected, rel=0.05)


def test_a_gain_is_reported_only_beyond_its_error() -> None:
    pool = rate(*lucky_event(random.Random(2), {"a": 30.0, "b": -30.0}, 40))
    clear, vague = Gain(2.3, 1.3, 4.0), Gain(1.3, 0.7, 2.4)
    notes = luck_notes(msgspec.structs.replace(pool, gain_wins=clear, gain_margin=vague))
    assert "tells as much about wins as 2.3 games (1.3–4.0) with luck in." in notes[0]
    assert "whether a game without luck tells more about margins" in notes[1]
    blurred = luck_notes(msgspec.structs.replace(pool, gain_wins=Gain(0.5, 0.3, 0.9)))
    assert "tells as much about wins as 0.5 games (0.3–0.9) and about " in blurred[0]


@pytest.mark.slow
def test_95_percent_of_corrected_intervals_hold_the_truth() -> None:
    strength = {"a": 60.0, "b": 20.0, "c": -20.0, "d": -60.0}
    long = rate(*lucky_event(random.Random(1000), strength, 5_000))
    true = {rating.name: figure(rating.elo) for rating in long.entrants}
    lead = {rating.name: figure(rating.margin) for rating in long.entrants}
    hits = misses = count = 0
    for seed in range(300):
        for rating in rate(*lucky_event(random.Random(seed), strength, 50)).entrants:
            if rating.corrected and rating.corrected.elo is not None:
                refined = rating.corrected
                hits += abs(figure(refined.elo) - true[rating.name]) <= figure(refined.half_width)
                off = abs(figure(refined.margin) - lead[rating.name])
                misses += off > figure(refined.margin_half_width)
                count += 1
    assert count > 1100
    assert 0.93 <= hits / count <= 0.97
    assert 0.03 <= misses / count <= 0.07


def test_bots_are_compared_with_luck_taken_out() -> None:
    """Ranks, headline and separation are decided by the sharper ratings, not by the plain ones."""
    pools = [rate(*lucky_event(random.Random(n), {"a": 60.0, "b": -60.0}, 30)) for n in range(30)]
    sharper = [pool for pool in pools if abs(_lead(pool)) > 1.96 * figure(pool.errors[0][1])]
    plain = [
        pool
        for pool in pools
        if all(abs(figure(rating.elo)) > figure(rating.half_width) for rating in pool.entrants)
    ]
    assert len(sharper) > len(plain)
    for pool in pools:
        first, second = pool.entrants
        assert figure(first.compared_elo) >= figure(second.compared_elo)
        if first.ranks == (1, 1):
            assert "is better than" in by_ratings(pool)
            assert "luck taken out" in by_ratings(pool)
        (pair,) = separations(Ratings((pool,)), 30)
        assert pair.elo == pytest.approx(_lead(pool), abs=0.01)


def _lead(pool: Pool) -> float:
    return figure(pool.entrants[0].compared_elo) - figure(pool.entrants[1].compared_elo)
