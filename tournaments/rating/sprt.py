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
from math import ceil, expm1, log, sqrt
from typing import Literal, NamedTuple

from msgspec import Struct

from protocol.errors import UserError, unknown_name
from protocol.records import Result
from protocol.ruleset import rotations
from tournaments.rating.statistics import Error, Estimate, Z, degrees_of_freedom
from tournaments.rating.tables import LUCK_PARTS, Corrections, Pool, Ratings, share_of_pairs

# The sequential test (SPRT) of two entrants, board by board. Pure.


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


# Number of boards that would separate two entrants, estimated after a run, in words too. Pure.
#
# An error falls with the root of the boards. With d the measured lead, e its standard error after n
# boards, two entrants' interval leaves out 0 with probability 0.8 after
#
#     N = n · ((1.960 + 0.842) · e / d)²     boards, if d is the true lead.


POWER = 0.8416212335729143
"""Normal quantile of 0.8, the probability that the boards separate the entrants."""


class Separation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lead of one entrant over another, and the boards that would separate them."""

    one: str
    """The entrant that is ahead."""
    other: str
    """The entrant behind."""
    elo: float
    """Measured lead, in Elo."""
    half_width: float
    """Half width of the lead's 95 % interval, in Elo."""
    played: int
    """Boards played for each pairing."""
    needed: int | None = None
    """Boards for each pairing, played ones included, that separate them with probability 0.8 if
    that is the true lead; None, left out of JSON, if a million is too few."""
    needed_range: tuple[int, int | None]
    """The same if the true lead is larger or smaller by its standard error. The second is None if a
    million is too few."""

    @property
    def is_apart(self) -> bool:
        """True if the results separate them already."""
        return self.elo > self.half_width


def separations(
    ratings: Ratings, boards: int, pair: tuple[str, str] | None = None
) -> tuple[Separation, ...]:
    """Return the separation of the pair, or of all neighbours in the tables.

    `boards`: boards played for each pairing. Neighbours whose difference the results leave unknown
    are left out. Raises UserError for an unknown entrant, or if the results do not compare the two.
    """
    if pair is None:
        return tuple(
            separation
            for pool in ratings.pools
            for place in range(len(pool.entrants) - 1)
            if (separation := _separation(pool, place, place + 1, boards))
        )
    places = {
        rating.name: (pool, place)
        for pool in ratings.pools
        for place, rating in enumerate(pool.entrants)
    }
    for name in pair:
        if name not in places:
            raise unknown_name("entrant", name, places)
    (pool, first), (other_pool, other) = (places[name] for name in pair)
    if pool is not other_pool or first == other:
        raise UserError(f"No games connect {pair[0]} and {pair[1]}: they cannot be separated.")
    separation = _separation(pool, min(first, other), max(first, other), boards)
    if separation is None:
        raise UserError(
            f"{pair[0]} and {pair[1]} did not take points off each other in both directions, "
            "directly or through others, so the number of boards is unknown."
        )
    return (separation,)


def _separation(pool: Pool, first: int, other: int, boards: int) -> Separation | None:
    """Return a separation; None if the results leave the difference unknown."""
    error = pool.error(first, other)
    if error is None:
        return None
    elo = (pool.entrants[first].compared_elo or 0.0) - (pool.entrants[other].compared_elo or 0.0)
    low, high = (_needed(elo + sign * error, error, boards) for sign in (1, -1))
    return Separation(
        one=pool.entrants[first].name,
        other=pool.entrants[other].name,
        elo=round(elo, 2),
        half_width=round(Error(error, degrees_of_freedom(boards)).half_width(), 2),
        played=boards,
        needed=_needed(elo, error, boards),
        needed_range=(low or MAX_EVENT_BOARDS, high),
    )


def _needed(elo: float, error: float, boards: int) -> int | None:
    if error * (Z + POWER) * sqrt(boards) >= elo * sqrt(MAX_EVENT_BOARDS):
        return None
    return ceil(boards * ((Z + POWER) * error / elo) ** 2)


def lead_text(pair: Separation) -> str:
    """Return the lead of one bot over another and its error, both in Elo."""
    lead = Estimate(pair.elo, pair.half_width)
    if round(pair.elo) == 0:
        return f"{pair.one} and {pair.other} are equal so far (± {pair.half_width:.0f} Elo)"
    return f"{pair.one} is {lead.text(sign='')} Elo ahead of {pair.other}"


def separation_text(pair: Separation) -> str:
    """Write a separation as a sentence for people."""
    lead = f"{lead_text(pair)} after {pair.played:,} boards"
    if pair.is_apart:
        return f"{lead}: they are separated."
    if pair.needed is None:
        return f"{lead}: a million boards would probably not separate them."
    least, most = pair.needed_range
    more = "or more" if most is None else f"to {most:,}"
    return f"{lead}: {least:,} {more} boards for each pairing would probably separate them."
