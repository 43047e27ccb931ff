"""The sequential test: published ratios, known strengths, and the same answer in any order."""

import math
import random
from collections.abc import Sequence
from functools import partial
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.document.blocks import Document, to_markdown
from protocol.records import Result
from tests.support.fast_run import slow_except
from tests.support.made_up import Luck, simulated
from tournaments.formats import versus
from tournaments.formats.versus import sparkline, sprt_state
from tournaments.rating import sprt
from tournaments.rating.likelihood_ratio import ratio_path, walk
from tournaments.rating.regression import Floats
from tournaments.rating.sprt import Measure, Outcome, Sprt, SprtStep, answer, boards_still_needed
from tournaments.rating.tables import LUCK_PARTS, Correction


def likelihood_ratios(settings: Sprt, values: Floats, games: int = 2) -> Floats:
    """Return the log-likelihood ratio after each board."""
    return ratio_path(settings, values, games).llr


def boards_of(values: Sequence[float], games: int = 2) -> list[Outcome]:
    return [Outcome(board, games, value) for board, value in enumerate(values, 1)]


def expand_counts(counts: Sequence[int], games: int) -> list[float]:
    """Outcomes of which so many came to 0, 1, … half points."""
    return [half / 2 / games for half, count in enumerate(counts) for _ in range(count)]


# Published numbers: fastchess, app/tests/sprt_test.cpp (LL, LD, WL + DD, WD, WW; or L, D, W)


@pytest.mark.parametrize(
    ("measure", "h0", "h1", "counts", "llr"),
    [
        ("nelo", 0, 2, (365, 16618, 36029 + 200, 16974, 390), 2.25),
        ("nelo", -1.75, 0.25, (127, 4883, 10311 + 401, 5150, 104), 3.01),
        ("elo", 0.5, 2.5, (223, 9863, 20279 + 1000, 10037, 246), -3.07),
        ("elo", 0, 2, (871, 26175, 55003 + 980, 26678, 821), -4.98),
        ("nelo", 0, 2, (36027, 68692, 36433), 0.92),
        ("nelo", -1.75, 0.25, (10650, 20431, 10871), 2.30),
        ("elo", 0.5, 2.5, (21184, 40708, 21404), -1.57),
        ("elo", 0, 2, (57030, 106593, 57433), -2.59),
    ],
)
def test_ratios_equal_those_of_fastchess(
    measure: Measure, h0: float, h1: float, counts: tuple[int, ...], llr: float
) -> None:
    games = len(counts) // 2
    settings = Sprt(measure, h0, h1)
    ratio = likelihood_ratios(settings, np.array(expand_counts(counts, games)), games)[-1]
    assert ratio == pytest.approx(llr, abs=0.0051)


def test_bounds_equal_those_of_wald() -> None:
    assert Sprt().bounds == pytest.approx((-2.94, 2.94), abs=0.005)
    assert Sprt(alpha=0.01, beta=0.1).bounds == pytest.approx((math.log(0.1 / 0.99), math.log(90)))


def test_the_ratio_of_points_equals_one_by_hand() -> None:
    values = [4.0, -2.0, 6.0, 0.0]
    settings = Sprt("points", 0, 2, min_boards=2)
    variance = (4 + 16 + 16 + 4 + 2 * 10**2) / 4
    last = walk(settings, boards_of(values))[-1]
    assert last.llr == pytest.approx(4 * 2 * (2 - 1) / variance)
    assert (last.boards, last.estimate) == (4, 2)
    assert last.noise == pytest.approx(2 / math.sqrt(variance))


def test_estimates_are_in_the_unit_of_the_hypotheses() -> None:
    values = boards_of(expand_counts((34, 54, 63, 64, 75), 2))
    elo = walk(Sprt(h1=400, min_boards=290), values)[-1].estimate
    assert elo == pytest.approx(55.58, abs=0.005)
    shares = np.array([outcome.value for outcome in values])
    nelo = (shares.mean() - 0.5) / (shares.std() * math.sqrt(2)) * 800 / math.log(10)
    estimate = walk(Sprt("nelo", h1=100, min_boards=290), values)[-1].estimate
    assert estimate == pytest.approx(nelo, rel=2e-3)


# The walk


def test_the_test_stops_at_the_first_crossing_after_the_fewest_boards() -> None:
    settings = Sprt(h1=50)
    steps = walk(settings, boards_of([1.0] * 100))
    assert answer(settings, steps) == "H1"
    assert steps[-1].boards == len(steps) == 20
    later = Sprt(h1=50, min_boards=33)
    assert len(walk(later, boards_of([1.0] * 100))) == 33
    assert answer(later, walk(later, boards_of([1.0] * 32))) == "undecided"


def test_a_clean_sweep_is_decided_soon_and_finite_in_every_measure() -> None:
    for measure in ("elo", "nelo", "points"):
        settings = Sprt(measure)
        for value, expected in ((1.0, "H1"), (0.0, "H0")):
            swept = [value if measure != "points" else 400 * value - 200] * 40
            steps = walk(settings, boards_of(swept))
            assert answer(settings, steps) == expected
            assert all(math.isfinite(step.llr) and math.isfinite(step.estimate) for step in steps)


# Results

outcomes = partial(sprt.outcomes, lost_by=100)


def verdict(settings: Sprt, results: Sequence[Result], entrant: str | None = None) -> str:
    return answer(settings, walk(settings, outcomes(settings, results, entrant)))


def game(board: int, seats: Sequence[str], scores: Sequence[int], why: str = "target") -> Result:
    ranking = sorted(scores, reverse=True)
    return Result(
        game=f"{board}.{'.'.join(seats)}", board=board, seats=tuple(seats), scores=tuple(scores),
        places=tuple(1 + ranking.index(score) for score in scores), rounds=1, why=why,  # type: ignore[arg-type]
    )  # fmt: skip


def match(scores: Sequence[tuple[int, int, int, int]]) -> list[Result]:
    """Boards of two games: scores of a and b with a in seat 0, then in seat 1."""
    results = []
    for board, (a, b, c, d) in enumerate(scores, 1):
        results += [game(board, "ab", (a, b)), game(board, "ba", (d, c))]
    return results


SCORES = st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=40)


def test_a_board_comes_to_the_mean_of_its_games() -> None:
    results = match([(9, 2, 5, 5), (0, 4, 1, 3)])
    assert outcomes(Sprt(), results) == (Outcome(1, 2, 0.75), Outcome(2, 2, 0.0))
    assert outcomes(Sprt("points"), results) == (Outcome(1, 2, 3.5), Outcome(2, 2, -3.0))
    assert [outcome.value for outcome in outcomes(Sprt(), results, "b")] == [0.25, 1.0]


def test_partners_are_the_mean_of_their_side() -> None:
    sides = ((9, 4, 9, 4), (4, 9, 4, 9))
    results = [game(1, seats, side) for seats, side in zip(("abab", "baba"), sides, strict=True)]
    assert outcomes(Sprt("points"), results, "a") == (Outcome(1, 2, 5.0),)
    assert outcomes(Sprt(), results, "b") == (Outcome(1, 2, 0.0),)


@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_the_results_changes_nothing(
    scores: list[tuple[int, int, int, int]], chance: random.Random
) -> None:
    results = match(scores)
    for measure in ("elo", "nelo", "points"):
        settings = Sprt(measure, min_boards=2, h1=30)
        steps = walk(settings, outcomes(settings, results, "a"))
        answers = verdict(settings, results, "a")
        permutation = list(results)
        chance.shuffle(permutation)
        rerun = walk(settings, outcomes(settings, permutation, "a"))
        assert msgspec.json.encode(rerun) == msgspec.json.encode(steps)
        assert verdict(settings, permutation, "a") == answers == verdict(settings, results)


def test_boards_count_up_to_the_first_gap() -> None:
    """At more jobs later boards end before earlier ones: the answer must not know."""
    results = match([(1, 0, 1, 0)] * 5)
    assert len(outcomes(Sprt(), [result for result in results if result.board != 3])) == 2
    del results[7]
    assert len(outcomes(Sprt(), results)) == 3
    assert outcomes(Sprt(), [result for result in results if result.board != 1]) == ()


def test_luck_is_taken_out_of_each_game_whatever_ended_it() -> None:
    """A bot could else choose, by a foul, the luck that counts."""
    results = match([(10, 0, 4, 0), (1, 0, 1, 0)])
    results = [replace(result, game=f"{number}") for number, result in enumerate(results)]
    results[2] = replace(results[2], why="foul", scores=(0, 90), places=(1, 2))
    settings = Sprt("points", without_luck=True)
    zero = Correction((0, 0), (0, 0))
    luck = {
        **dict.fromkeys("0123", zero),
        "1": Correction((LUCK_PARTS, 3 * LUCK_PARTS), (0, 0)),
        "2": Correction((LUCK_PARTS // 2, 0), (0, 0)),
    }
    plain = [
        outcome.value
        for outcome in outcomes(settings, results, "a", luck=dict.fromkeys("0123", zero))
    ]
    assert plain == [outcome.value for outcome in outcomes(Sprt("points"), results, "a")]
    corrected = [outcome.value for outcome in outcomes(settings, results, "a", luck=luck)]
    # In game 1 b sits first: a was lucky by 2 points, and in game 2 by half a point.
    assert [a - b for a, b in zip(plain, corrected, strict=True)] == [1.0, 0.25]


@pytest.mark.parametrize(
    ("scores", "places", "value"),
    [
        ((0, 90), (1, 2), 50.5),  # b fouls far ahead, or
        ((90, 0), (1, 2), 50.5),  # far behind: it loses by the target,
        ((140, 0), (1, 2), 70.5),  # or by more,
        ((0, 90), (1, 1), 0.5),  # but nothing if a has lost it too.
    ],
)
def test_a_game_that_a_foul_ended_is_lost_by_the_target_at_least(
    scores: tuple[int, int], places: tuple[int, int], value: float
) -> None:
    """A foul would else cost less than a great loss."""
    results = match([(1, 0, 1, 0)] * 2)
    results[2] = replace(results[2], why="foul", scores=scores, places=places)
    assert [outcome.value for outcome in outcomes(Sprt("points"), results)] == [1.0, value]
    mirror = [outcome.value for outcome in outcomes(Sprt("points"), results, "b")]
    assert mirror == [-1.0, -value]


@pytest.mark.parametrize(
    ("results", "entrant"),
    [(match([(1, 0, 0, 1)]), "c"), ([*match([(1, 0, 0, 1)]), game(2, "ac", (1, 0))], None)],
)
def test_others_than_two_entrants_are_refused(results: list[Result], entrant: str | None) -> None:
    with pytest.raises(ValueError, match="one other entrant"):
        outcomes(Sprt(), results, entrant)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('{"h0": 20}', "h0 < h1"),
        ('{"h1": 401}', "<= 400"),
        ('{"measure": "nelo", "h1": 150}', "<= 100"),
        ('{"alpha": 0}', "alpha"),
        ('{"beta": 0.5}', "beta"),
        ('{"min_boards": 1}', "min_boards"),
        ('{"max_boards": 19}', "max_boards"),
        ('{"max_bords": 50}', "max_bords"),
        ('{"measure": "mana"}', "mana"),
    ],
)
def test_settings_that_cannot_decide_are_refused(text: str, part: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=part):
        msgspec.json.decode(text, type=Sprt)


# Known strengths


def error_rate(settings: Sprt, luck: Luck, *, better: bool, runs: int, boards: int) -> float:
    """Return how often the wrong hypothesis is accepted, of simulated tests; most must have an
    answer."""
    rng = np.random.default_rng(20)
    wrong = answered = 0
    low, high = settings.bounds
    for _ in range(runs // 250):
        values = simulated(settings, luck, rng, better=better, shape=(250, boards))
        ratios = likelihood_ratios(settings, values)
        decided = (ratios <= low) | (ratios >= high)
        decided[:, : settings.min_boards - 1] = False
        first = decided.argmax(axis=1)
        accepted = ratios[np.arange(250), first] > 0
        wrong += int((accepted != better)[decided.any(axis=1)].sum())
        answered += int(decided.any(axis=1).sum())
    assert answered > 0.98 * runs
    return wrong / runs


QUICK = [Sprt(h1=40), Sprt("nelo", h1=40), Sprt("points", h1=10)]
OTHERS = [
    Sprt(h1=25),
    Sprt(h0=200, h1=260),
    Sprt(alpha=0.02, beta=0.1, h1=40),
    Sprt("nelo", h0=50, h1=100),
    Sprt("points", h0=-6, h1=6),
]
SIMULATED = [
    *product(QUICK, [Luck(150)], [False, True], [1200]),
    *product(OTHERS, [Luck(0), Luck(400)], [False, True], [2000]),
]
"""The settings, the luck of boards, whether the second hypothesis is true, and the boards."""


# Slow: other hypotheses, error rates and lucks, and the errors of the second kind.
@pytest.mark.parametrize(
    ("settings", "luck", "better", "boards"),
    slow_except((SIMULATED[0], SIMULATED[4]), SIMULATED),
    ids=str,
)
def test_error_rates_are_at_most_one_and_a_half_times_the_nominal(
    settings: Sprt, luck: Luck, better: bool, boards: int
) -> None:
    rate = error_rate(settings, luck, better=better, runs=1000, boards=boards)
    assert rate < 1.5 * (settings.beta if better else settings.alpha)
    assert rate > 0.01 or settings not in QUICK


@pytest.mark.parametrize("side", slow_except([-1], [-1, 1]))
def test_points_with_rare_large_wins_or_losses_are_judged_no_worse(side: int) -> None:
    """A sample without the rare boards has a low mean and a low variance: 16 % were wrong."""
    rng, settings = np.random.default_rng(20), Sprt("points", h1=20)
    low, high = settings.bounds
    for better in (False, True):
        skewed = side * (rng.exponential(100, (1000, 600)) - 100)  # Its skew is 2.
        ratios = likelihood_ratios(settings, skewed + 20 * better)
        decided = (ratios <= low) | (ratios >= high)
        decided[:, : settings.min_boards - 1] = False
        assert decided.any(axis=1).mean() > 0.95
        accepted = ratios[np.arange(1000), decided.argmax(axis=1)] > 0
        assert ((accepted != better) & decided.any(axis=1)).mean() < 0.07


# How many more


def test_the_boards_that_are_left_are_about_those_that_are_played() -> None:
    settings = Sprt(h1=40)
    rng = np.random.default_rng(6)
    values = simulated(settings, Luck(150), rng, better=True, shape=(400, 1500))
    ratios = likelihood_ratios(settings, values)
    played = 1 + (np.abs(ratios) >= settings.bounds[1])[:, 19:].argmax(axis=1) + 19
    # From the very strength, not from an estimate of it: a ratio of 0 with the true drift.
    drift, noise = ratios[:, -1].mean() / 1500, walk(settings, boards_of(values[0]))[-1].noise
    step = SprtStep(1, 1e-9, 40.0, noise, settings.bounds)
    at_random = boards_still_needed(settings, step)
    estimate = boards_still_needed(settings, replace(step, llr=float(drift)))
    assert estimate == pytest.approx(played.mean(), rel=0.12)
    assert at_random > 1.4 * estimate


# For people


def test_the_live_line_states_answer_and_boards_left() -> None:
    settings = Sprt()
    assert sprt_state(settings, ()) == "no board is complete"
    steps = [SprtStep(40, 1.23, 12.0, 0.1, settings.bounds)]
    left = boards_still_needed(settings, steps[0])
    expected = f"leaning yes (evidence 1.2, 2.9 decide), about {2 * left} more games"
    assert sprt_state(settings, steps) == expected
    assert sprt_state(settings, [replace(steps[0], llr=3.0)]) == "decided: yes"
    assert (
        sprt_state(settings, [replace(steps[0], boards=5000)])
        == "leaning yes (evidence 1.2, 2.9 decide), undecided"
    )


@pytest.mark.parametrize(
    ("h0", "h1", "yes", "no"),
    [
        (0, 5, "Yes: a is better than b (", "No: a is not 5 Elo better than b ("),
        (2, 5, "Yes: a is more than 2 Elo better than b (", "No: a is not 5 Elo better than b ("),
        (-5, 0, "Yes: a is less than 5 Elo worse than b (", "No: a is worse than b ("),
        (-9, -4, "Yes: a is less than 9 Elo worse than b (", "No: a is more than 4 Elo worse than"),
    ],
)
def test_an_answer_states_what_the_test_shows(h0: float, h1: float, yes: str, no: str) -> None:
    settings = Sprt(h0=h0, h1=h1)
    for values, words in (([0.75, 0.5, 1.0], yes), ([0.25, 0.5, 0.25], no)):
        steps = walk(settings, boards_of(values * 900))
        assert words in versus.sprt_sentence(settings, steps, "a", "b")


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([0.75, 0.5, 1.0] * 60, "Yes: new is better than old (decided after 20 boards, 95 %)."),
        (
            [0.25, 0.5, 0.25] * 60,
            "No: new is not 40 Elo better than old (decided after 20 boards, 95 %; it trails by "
            "117.2 Elo).",
        ),
        ([0.5, 0.75] * 3, "Undecided whether new is better than old: 6 boards played; about "),
        ([0.5], ": 1 board played; about "),
        ([], "Undecided whether new is better than old: 0 boards played."),
    ],
)
def test_the_reports_section_ends_with_the_last_step(values: list[float], part: str) -> None:
    settings = Sprt(h1=40)
    steps = walk(settings, boards_of(values))
    blocks = versus.sprt_blocks(settings, steps, "new", "old")
    page = to_markdown(Document("test", blocks)).splitlines()
    assert part in versus.sprt_sentence(settings, steps, "new", "old")
    rows = [line for line in page if line.startswith("| ")]
    assert len(rows) == (2 + min(8, len(steps)) if steps else 0)
    if steps:
        assert rows[-1].startswith(f"| {steps[-1].boards} | {steps[-1].llr:+.2f} |")
        assert f"    {sparkline(settings, steps)}" in page


# Slow: 4,000 tests; the risk of wins that are less rare is tried above.
@pytest.mark.slow
def test_a_small_risk_holds_where_large_wins_are_rare() -> None:
    """Skew 3, one board in ten far in the tail: with the usual weight of it 2.1 % err, not 1 %."""
    settings, shape = Sprt("points", 0, 10, alpha=0.01, beta=0.01), 4 / 9
    lots = np.random.default_rng(2).gamma(shape, 1, (4_000, 500))
    llr = likelihood_ratios(settings, 30 * (shape - lots) / math.sqrt(shape))
    low, high = settings.bounds
    decided = (llr <= low) | (llr >= high)
    decided[:, : settings.min_boards - 1] = False
    ends = np.take_along_axis(llr, decided.argmax(axis=1)[:, None], axis=1)
    assert np.mean(ends >= high) <= 0.016
