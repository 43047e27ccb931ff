"""The sequential test (SPRT) of two entrants, board by board. Pure.

**Outcome.** Boards, not games, are independent: a board's outcome is the mean over its rotations
of entrant A's share of the points (1, ½, 0) or of its margin in points. For two seats that is
the pentanomial statistic of Fishtest and fastchess. A game that a foul ended is lost by at least
the points that a game is played to, whatever it stood at: left out, or taken as it stood, it would
pay to foul as soon as a game is as good as lost.

**Luck.** With `without_luck` a margin is less the luck of the tiles in its game, with a constant
weight. Given all before, that luck is 0 on average whatever the bots do, so the mean stays what it
was, and so does what a foul costs; the variance is mostly smaller.

**Ratio.** Its hypotheses and formulas stand in `likelihood_ratio.py`. H1 is accepted at
log((1 - beta) / alpha), H0 at log(beta / (1 - alpha)).
"""

from collections.abc import Container, Iterable, Sequence
from functools import partial
from itertools import count, takewhile
from math import ceil, expm1, log
from typing import Literal, NamedTuple

from msgspec import Struct

from protocol.records import Result
from protocol.ruleset import rotations
from tournaments.rating.tables import LUCK_PARTS, Corrections, share_of_pairs

Measure = Literal["elo", "nelo", "points"]
MAX_HYPOTHESIS = {"elo": 400.0, "nelo": 100.0, "points": 1000.0}
"""Greatest distance of a hypothesis from 0: farther out the error rates are not known to hold."""
MAX_EVENT_BOARDS = 1_000_000
"""Most boards of an event, over all its rounds: each is committed to before the first game."""


class Sprt(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a sequential test. H0: A's lead is at most `h0`; H1: it is at least `h1`."""

    measure: Measure = "elo"
    """Unit of h0 and h1: Elo, normalised Elo, or the points that A is ahead by in a game."""
    h0: float = 0.0
    """A's lead under H0."""
    h1: float = 20.0
    """A's lead under H1; above h0."""
    alpha: float = 0.05
    """Probability of accepting H1 although H0 holds."""
    beta: float = 0.05
    """Probability of accepting H0 although H1 holds."""
    min_boards: int = 20
    """Boards before which the test decides nothing."""
    max_boards: int = 5000
    """Boards after which the test ends undecided."""
    without_luck: bool = False
    """With `points`: whether the luck of the tiles is taken out of the margins first."""

    def __post_init__(self) -> None:
        """Refuse a test that cannot decide; ValueError."""
        most = MAX_HYPOTHESIS[self.measure]
        if not -most <= self.h0 < self.h1 <= most:
            raise ValueError(
                f"h0 and h1 must be {-most:g} <= h0 < h1 <= {most:g} ({self.measure}), "
                f"not {self.h0:g} and {self.h1:g}"
            )
        for name, risk in (("alpha", self.alpha), ("beta", self.beta)):
            if not 1e-9 <= risk < 0.5:
                raise ValueError(f"{name} must be above 0 and below 0.5, not {risk:g}")
        if not 2 <= self.min_boards <= MAX_EVENT_BOARDS:
            raise ValueError(
                f"min_boards must be from 2 to {MAX_EVENT_BOARDS}, not {self.min_boards}"
            )
        if not self.min_boards <= self.max_boards <= MAX_EVENT_BOARDS:
            raise ValueError(
                f"nothing is decided before {self.min_boards} boards (min_boards), so max_boards "
                f"must be from {self.min_boards} to {MAX_EVENT_BOARDS}, not {self.max_boards}"
            )
        if self.without_luck and self.measure != "points":
            raise ValueError(
                "luck is taken out of points (without_luck), so measure must be points, not "
                f"{self.measure}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at which the test accepts H0 and H1."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)


TestVerdict = Literal["H1", "H0", "undecided"]


class Outcome(NamedTuple):
    """The outcome of a board for entrant A."""

    board: int
    games: int
    """Games played on the board: its rotations."""
    value: float
    """Mean share of the points, 0 to 1, or mean margin in points."""


class SprtStep(Struct, frozen=True):
    """The state of the test after a board."""

    boards: int
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
    luck: Corrections | None = None,
    repeats: Container[int] = (),
) -> tuple[Outcome, ...]:
    """Return the outcomes of the boards up to the first incomplete one, in the order of the boards.

    `entrant` is A; without a name it is the entrant in seat 0 of the first result of the first
    board. A game that a foul ended counts as lost by `lost_by` points, or by more if the score was
    worse; `since` is the first board; `luck` is what to take out of each game. Boards of `repeats`,
    whose deal an earlier board had, give no outcome. ValueError unless exactly two entrants met.
    """
    boards: dict[int, list[Result]] = {}
    for result in results:
        boards.setdefault(result.board, []).append(result)
    if not boards:
        return ()
    first = boards[min(boards)][0]
    name = _checked(entrant or first.seats[0], boards.values())
    # The number of jobs decides which boards are complete, but not which are without a gap.
    games = len(rotations(first.seats))
    full_boards = takewhile(lambda board: len(boards.get(board, ())) == games, count(since))
    points = partial(_margin, lost_by=lost_by, luck=luck)
    each = points if settings.measure == "points" else _share
    # Sums of halves, and of whole parts of luck, are exact: the order of the games cannot matter.
    return tuple(
        Outcome(board, games, sum(each(name, game) for game in boards[board]) / games)
        for board in full_boards
        if board not in repeats
    )


def _checked(entrant: str, boards: Iterable[Sequence[Result]]) -> str:
    names = {name for games in boards for game in games for name in game.seats}
    if len(names) != 2 or entrant not in names:
        met = ", ".join(sorted(names))
        raise ValueError(f"the test is of {entrant} and one other entrant, but these met: {met}")
    return entrant


def _share(entrant: str, game: Result) -> float:
    mine, others = _split(entrant, game.seats, game.places)
    return share_of_pairs((min(mine), min(others)), 0)


def _margin(entrant: str, game: Result, lost_by: int, luck: Corrections | None) -> float:
    lead = _lead(entrant, game, game.scores)
    if game.why == "foul":
        share = _share(entrant, game)
        lead = min(lead, -lost_by) if share == 0 else max(lead, lost_by) if share == 1 else 0.0
    return lead - _lead(entrant, game, luck[game.game].points) / LUCK_PARTS if luck else lead


def _lead(entrant: str, game: Result, values: Sequence[int]) -> float:
    mine, others = _split(entrant, game.seats, values)
    return sum(mine) / len(mine) - sum(others) / len(others)


def _split(bot: str, seats: Sequence[str], values: Sequence[int]) -> tuple[list[int], list[int]]:
    sides: tuple[list[int], list[int]] = [], []
    for name, value in zip(seats, values, strict=True):
        sides[name != bot].append(value)
    return sides


def answer(settings: Sprt, steps: Sequence[SprtStep]) -> TestVerdict:
    """Return the verdict of a walk; "undecided" is a verdict too."""
    if not steps or steps[-1].boards < settings.min_boards:
        return "undecided"
    (low, high), llr = settings.bounds, steps[-1].llr
    return "H1" if llr >= high else "H0" if llr <= low else "undecided"


def boards_still_needed(settings: Sprt, step: SprtStep) -> int:
    """Estimate the boards until the verdict, if A's true lead is the measured one.

    The ratio is modelled as a Brownian motion with its drift so far (Wald). The result is never
    below what is left to `min_boards`, never above what is left to `max_boards`.
    """
    to_h0, to_h1 = (bound - step.llr for bound in step.bounds)
    expected = exit_time(to_h0, to_h1, step.llr / step.boards, step.noise**2)
    least, most = (max(0, n - step.boards) for n in (settings.min_boards, settings.max_boards))
    return min(most, max(least, ceil(min(expected, MAX_EVENT_BOARDS))))


def exit_time(low: float, high: float, drift: float, variance: float) -> float:
    """Return the expected time in which a Brownian motion from 0 leaves (low, high)."""
    if low >= 0 or high <= 0:
        return 0.0
    if drift < 0:
        return exit_time(-high, -low, -drift, variance)
    pull = 2 * drift / variance
    if pull * (high - low) < 1e-6:
        return -low * high / variance
    up = expm1(pull * low) / expm1(-pull * (high - low))
    return (high * up + low * (1 - up)) / drift
