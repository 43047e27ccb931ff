"""Is it better: the sequential test of two entrants, board by board. Pure.

**Outcome.** Boards, not games, are independent: a board's outcome is the mean over its rotations
of entrant A's share of the points (1, ½, 0) or of its margin in points. For two seats that is
the pentanomial statistic of Fishtest and fastchess. A game that a foul ended is lost by at least
the points that a game is played to, whatever it stood at: left out, or taken as it stood, it would
pay to foul as soon as a game is as good as lost.

**Hypotheses.** H0 and H1 say what theta is. With x a board's outcome, m and s its mean and
standard deviation, r the games a board:

    elo      theta = m,             for h Elo           1 / (1 + 10^(-h/400))
    points   theta = m,             for h points        h
    nelo     theta = (m - ½) / s,   for h normalised    h · sqrt(r) · ln(10) / 800

**Ratio.** The generalised likelihood ratio in its normal approximation, after n boards:

    LLR = n · (theta1 - theta0) · (theta - (theta0 + theta1) / 2) / V
    V   = s² · c(1 - c) / (m(1 - m))  for elo,   s²  for points,   1 + c² / 2  for nelo
    c   = (theta0 + theta1) / 2

H1 is accepted at log((1 - beta) / alpha), H0 at log(beta / (1 - alpha)). For elo see M. Van den
Bergh, "A Practical Introduction to the GSPRT"; for nelo, "Comments on Normalized Elo", whose
scale 800 / ln 10 this is. Both grow with theta, however large it is; the forms that fit s anew
under each hypothesis do not, and keep a bot that wins everything waiting. V is the variance where
the hypotheses are: at lopsided scores s² falls as m rises, and V = s² would err too often.

**Few boards.** s² counts two virtual boards beside the n, one above and one below the mean by ¼
share (by 5 (h1 - h0) points): boards that were all alike do not prove that the next one will be.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count, takewhile
from math import ceil, expm1, log, sqrt
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct

from protocol.records import Result
from tournaments.plan.seats import rotations
from tournaments.plan.sprt_settings import MOST, Sprt
from tournaments.rating.statistics import Bools, Floats

Verdict = Literal["H1", "H0", "undecided"]

NELO = 800 / log(10)
"""Normalised Elo of a lead as large as the standard deviation of a game."""
STEP = 0.25
"""By how much a virtual board is off the mean, as a share of the points;"""
STEPS = 5
"""in points: how many times the distance of the hypotheses."""


class Outcome(NamedTuple):
    """What a board came to for entrant A."""

    board: int
    """Its number."""
    games: int
    """Games that were played on it: its rotations."""
    value: float
    """Mean share of the points, 0 to 1, or mean margin in points."""


class Step(Struct, frozen=True):
    """Where the test stands after a board."""

    boards: int
    """Boards so far."""
    llr: float
    """Log-likelihood ratio of H1 to H0, natural."""
    estimate: float
    """A's lead as measured, in the unit of the hypotheses; a clean sweep's Elo is a bound."""
    noise: float
    """Standard deviation of what a board adds to the ratio."""
    bounds: tuple[float, float]
    """The ratios at which H0 and H1 are accepted."""


def outcomes(
    settings: Sprt,
    results: Iterable[Result],
    entrant: str | None = None,
    *,
    lost_by: int,
    since: int = 1,
) -> tuple[Outcome, ...]:
    """Outcomes of the boards up to the first that is not complete, in the order of the boards.

    `entrant` is A; without a name it is who sits in seat 0 of the first result of the first
    board. By `lost_by` points, or more if it stood so, a game is lost that a foul ended; `since`
    is the first board. ValueError unless two entrants met.
    """
    boards: dict[int, list[Result]] = {}
    for result in results:
        boards.setdefault(result.board, []).append(result)
    if not boards:
        return ()
    first = boards[min(boards)][0]
    own = _checked(entrant or first.seats[0], boards.values())
    # Which boards are complete depends on the number of jobs; those without a gap do not.
    games = len(rotations(first.seats))
    whole = takewhile(lambda board: len(boards.get(board, ())) == games, count(since))
    each = partial(_margin, lost_by=lost_by) if settings.measure == "points" else _share
    # Sums of halves are exact: the order of the games cannot matter.
    return tuple(
        Outcome(board, games, sum(each(own, game) for game in boards[board]) / games)
        for board in whole
    )


def _checked(entrant: str, boards: Iterable[Sequence[Result]]) -> str:
    names = {name for games in boards for game in games for name in game.seats}
    if len(names) != 2 or entrant not in names:
        met = ", ".join(sorted(names))
        raise ValueError(f"the test is of {entrant} and one other entrant, but these met: {met}")
    return entrant


def _share(own: str, game: Result) -> float:
    mine, others = _split(own, game.seats, game.places)
    return 0.5 + 0.5 * (min(mine) < min(others)) - 0.5 * (min(mine) > min(others))


def _margin(own: str, game: Result, lost_by: int) -> float:
    mine, others = _split(own, game.seats, game.scores)
    lead = sum(mine) / len(mine) - sum(others) / len(others)
    if game.why != "foul":
        return lead
    share = _share(own, game)
    return min(lead, -lost_by) if share == 0 else max(lead, lost_by) if share == 1 else 0.0


def _split(own: str, seats: Sequence[str], values: Sequence[int]) -> tuple[list[int], list[int]]:
    sides: tuple[list[int], list[int]] = [], []
    for name, value in zip(seats, values, strict=True):
        sides[name != own].append(value)
    return sides


class _Path(NamedTuple):
    """The test after each of the boards along the last axis."""

    llr: Floats
    estimate: Floats
    noise: Floats


def likelihood_ratios(settings: Sprt, values: Floats, games: int = 2) -> Floats:
    """The ratio after each board; boards lie along the last axis, with so many games each."""
    return _path(settings, values, games).llr


def _path(settings: Sprt, values: Floats, games: int) -> _Path:
    level = 0.0 if settings.measure == "points" else 0.5
    n = np.arange(1, values.shape[-1] + 1)
    off = values - level
    mean = np.cumsum(off, axis=-1) / n
    squares = np.maximum(np.cumsum(off * off, axis=-1) - n * mean * mean, 0)
    variance = (squares + 2 * _step(settings) ** 2) / n
    lead, spread = mean, variance
    if settings.measure == "nelo":
        lead, spread = mean / np.sqrt(variance), np.ones_like(variance)
    low, high = (theta - level * (settings.measure == "elo") for theta in _thetas(settings, games))
    slope = (high - low) / _variance(settings, variance, mean + level, n, games)
    llr = n * slope * (lead - (low + high) / 2)
    return _Path(llr, _estimate(settings, lead, n, games), slope * np.sqrt(spread))


def _step(settings: Sprt) -> float:
    return STEPS * (settings.h1 - settings.h0) if settings.measure == "points" else STEP


def _thetas(settings: Sprt, games: int) -> tuple[float, float]:
    """Theta under H0 and under H1."""
    if settings.measure == "elo":
        return 1 / (1 + 10 ** (-settings.h0 / 400)), 1 / (1 + 10 ** (-settings.h1 / 400))
    scale = sqrt(games) / NELO if settings.measure == "nelo" else 1.0
    return settings.h0 * scale, settings.h1 * scale


def _variance(settings: Sprt, variance: Floats, mean: Floats, n: Floats, games: int) -> Floats:
    """V: the variance of what a board tells of theta, where the hypotheses are."""
    centre = sum(_thetas(settings, games)) / 2
    if settings.measure == "points":
        return variance
    if settings.measure == "nelo":
        return np.full_like(variance, 1 + centre**2 / 2)
    share = _inside(mean, n)
    return np.asarray(variance * centre * (1 - centre) / (share * (1 - share)), np.float64)


def _inside(share: Floats, n: Floats) -> Floats:
    """A share of n boards kept off 0 and 1, as if a clean sweep were a quarter board short."""
    return np.clip(share, 0.25 / (n + 1), 1 - 0.25 / (n + 1))


def _estimate(settings: Sprt, lead: Floats, n: Floats, games: int) -> Floats:
    if settings.measure == "elo":
        share = _inside(lead + 0.5, n)
        return np.asarray(400 * np.log10(share / (1 - share)), np.float64)
    return lead * NELO / sqrt(games) if settings.measure == "nelo" else lead


def is_decided(settings: Sprt, outcomes: Sequence[Outcome]) -> bool:
    """Whether the test has its answer after these boards: H0 or H1."""
    return bool(outcomes) and bool(_decided(settings, _tried(settings, outcomes)).any())


def _tried(settings: Sprt, outcomes: Sequence[Outcome]) -> _Path:
    used = outcomes[: settings.max_boards]
    return _path(settings, np.array([one.value for one in used]), used[0].games)


def _decided(settings: Sprt, path: _Path) -> Bools:
    """After which boards the ratio is past a bound, none of the first few among them."""
    low, high = settings.bounds
    decided = (path.llr <= low) | (path.llr >= high)
    decided[: settings.min_boards - 1] = False
    return decided


def walk(settings: Sprt, outcomes: Sequence[Outcome]) -> tuple[Step, ...]:
    """The test after each board, up to the board that decides it or is the last allowed."""
    if not outcomes:
        return ()
    path = _tried(settings, outcomes)
    decided = _decided(settings, path)
    end = int(decided.argmax()) + 1 if decided.any() else len(decided)
    columns = zip(*(column[:end].tolist() for column in path), strict=True)
    return tuple(
        Step(boards, llr, estimate, noise, settings.bounds)
        for boards, (llr, estimate, noise) in enumerate(columns, 1)
    )


def answer(settings: Sprt, steps: Sequence[Step]) -> Verdict:
    """What a walk ended with; undecided is an answer too."""
    if not steps or steps[-1].boards < settings.min_boards:
        return "undecided"
    low, high = settings.bounds
    if steps[-1].llr >= high:
        return "H1"
    return "H0" if steps[-1].llr <= low else "undecided"


def boards_still_needed(settings: Sprt, step: Step) -> int:
    """Boards until the answer, expected if A's lead is what it is measured as now.

    The ratio is taken for a Brownian motion with the drift that it had so far (Wald). Never less
    than what is left to `min_boards`, never more than what is left to `max_boards`.
    """
    to_h0, to_h1 = (bound - step.llr for bound in step.bounds)
    expected = _exit_time(to_h0, to_h1, step.llr / step.boards, step.noise**2)
    least, most = (max(0, n - step.boards) for n in (settings.min_boards, settings.max_boards))
    return min(most, max(least, ceil(min(expected, MOST))))


def boards_expected(settings: Sprt, tried: Sequence[Outcome]) -> int | None:
    """Boards from the first to the answer, expected if all are like those that were tried.

    As `boards_still_needed`; None if nothing was tried.
    """
    if not tried:
        return None
    path = _tried(settings, tried)
    drift, noise = float(path.llr[-1]) / len(path.llr), float(path.noise[-1])
    expected = ceil(min(_exit_time(*settings.bounds, drift, noise**2), MOST))
    return min(settings.max_boards, max(settings.min_boards, expected))


def _exit_time(low: float, high: float, drift: float, variance: float) -> float:
    """Expected time at which a Brownian motion from 0 leaves the interval (low, high)."""
    if low >= 0 or high <= 0:
        return 0.0
    if drift < 0:
        return _exit_time(-high, -low, -drift, variance)
    pull = 2 * drift / variance
    if pull * (high - low) < 1e-6:
        return -low * high / variance
    up = expm1(pull * low) / expm1(-pull * (high - low))
    return (high * up + low * (1 - up)) / drift
