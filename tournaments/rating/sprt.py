"""The sequential test (SPRT) of two entrants, board by board. Pure.

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
from protocol.ruleset import rotations
from tournaments.rating.sprt_settings import MOST, Sprt
from tournaments.rating.statistics import Bools, Floats

Verdict = Literal["H1", "H0", "undecided"]

NELO = 800 / log(10)
"""Normalised Elo of a lead as large as the standard deviation of a game."""
STEP = 0.25
"""Distance of a virtual board from the mean, as a share of the points;"""
STEPS = 5
"""in points: this many times the distance of the hypotheses."""


class Outcome(NamedTuple):
    """The outcome of a board for entrant A."""

    board: int
    """Number of the board."""
    games: int
    """Games played on the board: its rotations."""
    value: float
    """Mean share of the points, 0 to 1, or mean margin in points."""


class Step(Struct, frozen=True):
    """The state of the test after a board."""

    boards: int
    """Boards so far."""
    llr: float
    """Log-likelihood ratio (natural) of H1 to H0."""
    estimate: float
    """A's measured lead, in the unit of the hypotheses; after a clean sweep its Elo is a bound."""
    noise: float
    """Standard deviation of a board's contribution to the ratio."""
    bounds: tuple[float, float]
    """The ratios at which the test accepts H0 and H1."""


def outcomes(
    settings: Sprt,
    results: Iterable[Result],
    entrant: str | None = None,
    *,
    lost_by: int,
    since: int = 1,
) -> tuple[Outcome, ...]:
    """Return the outcomes of the boards up to the first incomplete one, in the order of the boards.

    `entrant` is A; without a name it is the entrant in seat 0 of the first result of the first
    board. A game that a foul ended counts as lost by `lost_by` points, or by more if the score was
    worse; `since` is the first board. ValueError unless exactly two entrants met.
    """
    boards: dict[int, list[Result]] = {}
    for result in results:
        boards.setdefault(result.board, []).append(result)
    if not boards:
        return ()
    first = boards[min(boards)][0]
    own = _checked(entrant or first.seats[0], boards.values())
    # The number of jobs decides which boards are complete, but not which are without a gap.
    games = len(rotations(first.seats))
    whole = takewhile(lambda board: len(boards.get(board, ())) == games, count(since))
    each = partial(_margin, lost_by=lost_by) if settings.measure == "points" else _share
    # Sums of halves are exact, so the order of the games cannot matter.
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
    """The state of the test after each of the boards along the last axis."""

    llr: Floats
    estimate: Floats
    noise: Floats


def _path(settings: Sprt, values: Floats, games: int) -> _Path:
    """Return what is known after each board; boards of `games` games lie along the last axis."""
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
    """Return theta under H0 and under H1."""
    if settings.measure == "elo":
        return 1 / (1 + 10 ** (-settings.h0 / 400)), 1 / (1 + 10 ** (-settings.h1 / 400))
    scale = sqrt(games) / NELO if settings.measure == "nelo" else 1.0
    return settings.h0 * scale, settings.h1 * scale


def _variance(settings: Sprt, variance: Floats, mean: Floats, n: Floats, games: int) -> Floats:
    """Return V: the variance of a board's information about theta, near the hypotheses."""
    centre = sum(_thetas(settings, games)) / 2
    if settings.measure == "points":
        return variance
    if settings.measure == "nelo":
        return np.full_like(variance, 1 + centre**2 / 2)
    share = _inside(mean, n)
    return np.asarray(variance * centre * (1 - centre) / (share * (1 - share)), np.float64)


def _inside(share: Floats, n: Floats) -> Floats:
    """Clip a share of n boards off 0 and 1, as if a clean sweep were a quarter board short."""
    return np.clip(share, 0.25 / (n + 1), 1 - 0.25 / (n + 1))


def _estimate(settings: Sprt, lead: Floats, n: Floats, games: int) -> Floats:
    if settings.measure == "elo":
        share = _inside(lead + 0.5, n)
        return np.asarray(400 * np.log10(share / (1 - share)), np.float64)
    return lead * NELO / sqrt(games) if settings.measure == "nelo" else lead


def is_decided(settings: Sprt, outcomes: Sequence[Outcome]) -> bool:
    """Tell whether the test has decided for H0 or H1 after these boards."""
    return bool(outcomes) and bool(_decided(settings, _tried(settings, outcomes)).any())


def _tried(settings: Sprt, outcomes: Sequence[Outcome]) -> _Path:
    used = outcomes[: settings.max_boards]
    return _path(settings, np.array([one.value for one in used]), used[0].games)


def _decided(settings: Sprt, path: _Path) -> Bools:
    """Tell for each board whether the ratio is past a bound then, never before `min_boards`."""
    low, high = settings.bounds
    decided = (path.llr <= low) | (path.llr >= high)
    decided[: settings.min_boards - 1] = False
    return decided


def walk(settings: Sprt, outcomes: Sequence[Outcome]) -> tuple[Step, ...]:
    """Return the test after each board, up to the board that decides it or is the last allowed."""
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
    """Return the verdict of a walk; "undecided" is a verdict too."""
    if not steps or steps[-1].boards < settings.min_boards:
        return "undecided"
    low, high = settings.bounds
    if steps[-1].llr >= high:
        return "H1"
    return "H0" if steps[-1].llr <= low else "undecided"


def boards_still_needed(settings: Sprt, step: Step) -> int:
    """Estimate the boards until the verdict, if A's true lead is the measured one.

    The ratio is modelled as a Brownian motion with its drift so far (Wald). The result is never
    below what is left to `min_boards`, never above what is left to `max_boards`.
    """
    to_h0, to_h1 = (bound - step.llr for bound in step.bounds)
    expected = _exit_time(to_h0, to_h1, step.llr / step.boards, step.noise**2)
    least, most = (max(0, n - step.boards) for n in (settings.min_boards, settings.max_boards))
    return min(most, max(least, ceil(min(expected, MOST))))


def boards_expected(settings: Sprt, tried: Sequence[Outcome]) -> int | None:
    """Estimate the boards from the first to the verdict, if all are like those tried so far.

    See `boards_still_needed`; None if no board was tried.
    """
    if not tried:
        return None
    path = _tried(settings, tried)
    drift, noise = float(path.llr[-1]) / len(path.llr), float(path.noise[-1])
    expected = ceil(min(_exit_time(*settings.bounds, drift, noise**2), MOST))
    return min(settings.max_boards, max(settings.min_boards, expected))


def _exit_time(low: float, high: float, drift: float, variance: float) -> float:
    """Return the expected time in which a Brownian motion from 0 leaves (low, high)."""
    if low >= 0 or high <= 0:
        return 0.0
    if drift < 0:
        return _exit_time(-high, -low, -drift, variance)
    pull = 2 * drift / variance
    if pull * (high - low) < 1e-6:
        return -low * high / variance
    up = expm1(pull * low) / expm1(-pull * (high - low))
    return (high * up + low * (1 - up)) / drift
