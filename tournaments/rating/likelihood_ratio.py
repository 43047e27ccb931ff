"""The likelihood ratio of a sequential test, board by board: its hypotheses and formulas. Pure.

**Hypotheses.** H0 and H1 say what theta is. With x a board's outcome, m and s its mean and
standard deviation, r the games a board:

    elo      theta = m,             for h Elo           1 / (1 + 10^(-h/400))
    points   theta = m,             for h points        h
    nelo     theta = (m - ½) / s,   for h normalised    h · sqrt(r) · ln(10) / 800

**Ratio.** The generalised likelihood ratio in its normal approximation, after n boards:

    LLR = n · (theta1 - theta0) · (theta - (theta0 + theta1) / 2) / V
    V   = u · s² · c(1 - c) / (m(1 - m))  for elo,   u · (1 + c² / 2)  for nelo
    V   = u · (s² + g s (c - m)) · (1 + 2 a / sqrt(n))  for points
    u   = 1 + 1.5 log((1 - beta) / alpha) · (k - 1) / n,   k = the kurtosis of the outcomes
    c   = (theta0 + theta1) / 2,   g = the skew of the outcomes, within ± 3
    a   = |g| if m is off c away from the tail, else 0

For elo see M. Van den Bergh, "A Practical Introduction to the GSPRT"; for nelo, "Comments on
Normalized Elo", whose scale 800 / ln 10 this is. Both grow with theta, however large it is; the
forms that fit s anew under each hypothesis do not, and keep a bot that wins everything waiting. V
is the variance where the hypotheses are: at lopsided scores s² falls as m rises.

**Skewed points.** If large wins are rare, a sample without them has a low mean and a low s²: the
two move together, by g s. V = s² then errs in 16 % where 5 % is nominal (skew 2). So V is what s²
would be at c, and greater while the mean lies away from the tail, whose boards may yet come.

**Few boards.** s² counts two virtual boards beside the n, one above and one below the mean by ¼
share (by 5 (h1 - h0) points): boards that were all alike do not prove that the next one will be.
The variance of s² is about s⁴ (k - 1) / n, and tests end while s², and with it k, is low by chance:
without u they err in 7 % where tails are heavy (Student's t, 5 degrees of freedom), with u in 5 %.
"""

from collections.abc import Sequence
from math import ceil, log, sqrt
from typing import NamedTuple

import numpy as np

from tournaments.rating.regression import Bools, Floats
from tournaments.rating.sprt import MAX_EVENT_BOARDS, Outcome, Sprt, SprtStep, exit_time

NELO = 800 / log(10)
"""Normalised Elo of a lead as large as the standard deviation of a game."""
SHARE_STEP, POINTS_STEP = 0.25, 5
"""Distance of a virtual board from the mean: a share; in points, times that of the hypotheses."""
MOST_SKEW, MOST_KURTOSIS = 3.0, 15.0
"""The greatest skew and kurtosis that a sample is believed to show."""
TAIL_WEIGHT = 2.0
"""Weight of boards of the tail that may yet come: with 1 tests err in up to 7.4 % at a skew of 3,
with 2 in 5.5 %, for 5 to 15 % more boards; without skew it costs nothing."""


USUAL_BOUND = log(0.95 / 0.05)
"""The bound of the usual test. A smaller risk meets more of the tail: at a skew of 3 a test with
alpha = 0.01 erred in 2.1 %; with `TAIL_WEIGHT` times the square of its bound over this in 1.3 %."""


class RatioPath(NamedTuple):
    """The state of the test after each of the boards along the last axis."""

    llr: Floats
    estimate: Floats
    noise: Floats


def ratio_path(settings: Sprt, values: Sequence[float] | Floats, games: int) -> RatioPath:
    """Return what is known after each board; boards of `games` games lie along the last axis."""
    level = 0.0 if settings.measure == "points" else 0.5
    off = np.asarray(values) - level
    n = np.arange(1, off.shape[-1] + 1)
    mean = np.cumsum(off, axis=-1) / n
    squares = np.maximum(np.cumsum(off * off, axis=-1) - n * mean * mean, 0)
    third = np.cumsum(off**3, axis=-1) / n - 3 * mean * squares / n - mean**3
    step = POINTS_STEP * (settings.h1 - settings.h0) if settings.measure == "points" else SHARE_STEP
    variance = (squares + 2 * step**2) / n
    nelo = settings.measure == "nelo"
    lead, spread = (mean / np.sqrt(variance), np.ones_like(variance)) if nelo else (mean, variance)
    low, high = (theta - level * (settings.measure == "elo") for theta in _thetas(settings, games))
    if settings.measure == "points":
        tail = TAIL_WEIGHT * max(1.0, max(map(abs, settings.bounds)) / USUAL_BOUND) ** 2
        variance_there = _variance_without_skew(variance, third, (low + high) / 2 - mean, n, tail)
    else:
        variance_there = _variance(settings, variance, mean + level, n, games)
    fourth = np.cumsum(off**4, axis=-1) / n - 4 * mean * third - 6 * mean**2 * squares / n - mean**4
    kurtosis = np.clip(fourth / variance**2, 1, MOST_KURTOSIS)
    slope = (high - low) / variance_there / (1 + 1.5 * settings.bounds[1] * (kurtosis - 1) / n)
    llr = n * slope * (lead - (low + high) / 2)
    return RatioPath(llr, _estimate(settings, lead, n, games), slope * np.sqrt(spread))


def _thetas(settings: Sprt, games: int) -> tuple[float, float]:
    if settings.measure == "elo":
        return 1 / (1 + 10 ** (-settings.h0 / 400)), 1 / (1 + 10 ** (-settings.h1 / 400))
    scale = sqrt(games) / NELO if settings.measure == "nelo" else 1.0
    return settings.h0 * scale, settings.h1 * scale


def _variance(settings: Sprt, variance: Floats, mean: Floats, n: Floats, games: int) -> Floats:
    """Return V: the variance of a board's information about theta, near the hypotheses."""
    centre = sum(_thetas(settings, games)) / 2
    if settings.measure == "nelo":
        return np.full_like(variance, 1 + centre**2 / 2)
    share = _clip_share(mean, n)
    return np.asarray(variance * centre * (1 - centre) / (share * (1 - share)), np.float64)


def _variance_without_skew(
    variance: Floats, third: Floats, off: Floats, n: Floats, tail: float
) -> Floats:
    """Return V for points. `third`: third central moment; `off`: from the mean to the centre."""
    size = np.sqrt(variance)
    skew = np.clip(third / size**3, -MOST_SKEW, MOST_SKEW)
    v = np.clip(variance + skew * size * off, variance / 3, 3 * variance)
    return np.asarray(v * (1 + tail * np.maximum(np.sign(off) * skew, 0) / np.sqrt(n)))


def _clip_share(share: Floats, n: Floats) -> Floats:
    """Clip a share of n boards off 0 and 1, as if a clean sweep were a quarter board short."""
    return np.clip(share, 0.25 / (n + 1), 1 - 0.25 / (n + 1))


def _estimate(settings: Sprt, lead: Floats, n: Floats, games: int) -> Floats:
    if settings.measure == "elo":
        share = _clip_share(lead + 0.5, n)
        return np.asarray(400 * np.log10(share / (1 - share)), np.float64)
    return lead * NELO / sqrt(games) if settings.measure == "nelo" else lead


def is_decided(settings: Sprt, outcomes: Sequence[Outcome]) -> bool:
    """Tell whether the test has decided for H0 or H1 after these boards."""
    return bool(outcomes) and bool(_decided(settings, _tried(settings, outcomes)).any())


def _tried(settings: Sprt, outcomes: Sequence[Outcome]) -> RatioPath:
    used = outcomes[: settings.max_boards]
    return ratio_path(settings, [outcome.value for outcome in used], used[0].games)


def _decided(settings: Sprt, path: RatioPath) -> Bools:
    """Tell for each board whether the ratio is past a bound then, never before `min_boards`."""
    low, high = settings.bounds
    decided = (path.llr <= low) | (path.llr >= high)
    decided[: settings.min_boards - 1] = False
    return decided


def walk(settings: Sprt, outcomes: Sequence[Outcome]) -> tuple[SprtStep, ...]:
    """Return the test after each board, up to the board that decides it or is the last allowed."""
    if not outcomes:
        return ()
    path = _tried(settings, outcomes)
    decided = _decided(settings, path)
    end = int(decided.argmax()) + 1 if decided.any() else len(decided)
    columns = zip(*(column[:end].tolist() for column in path), strict=True)
    return tuple(
        SprtStep(boards, llr, estimate, noise, settings.bounds)
        for boards, (llr, estimate, noise) in enumerate(columns, 1)
    )


def boards_expected(settings: Sprt, tried: Sequence[Outcome]) -> int | None:
    """Estimate the boards from the first to the verdict, if all are like those tried so far.

    See `boards_still_needed`; None if no board was tried.
    """
    if not tried:
        return None
    path = _tried(settings, tried)
    drift, noise = float(path.llr[-1]) / len(path.llr), float(path.noise[-1])
    expected = ceil(min(exit_time(*settings.bounds, drift, noise**2), MAX_EVENT_BOARDS))
    return min(settings.max_boards, max(settings.min_boards, expected))
