"""The rating model: results in, Elo tables with error bars out. Pure; the order never matters.

**Model.** A game is broken into pairs of seats by its order of finish; the seat that finished
ahead gets 1 point, a tie ½. With r = rating (Elo) and s = seat advantage (Elo; the last seat's
is 0), seat a's expected share against seat b is

    p = 1 / (1 + 10^(-d/400)),   d = r[a's entrant] - r[b's entrant] + s[a] - s[b]

With partners (sides 0+2 against 1+3) a side's rating is the mean of its members' and a game is
one pair. Ratings maximise the likelihood of all results at once (Newton's method) and have mean
0 in each pool; a pool is a set of entrants linked by games, and pools cannot be compared.

**Prior.** Each entrant brings `prior` virtual draws, spread over its opponents in proportion to
its games against them, and so does each seat against the last. They keep unbeaten entrants
finite and move a rating of hundreds of games by tenths of an Elo.

**Errors.** Games on one board share their deals, so boards, not games, are independent. With H
the information (prior included), u[b] the sum of x(y - p) over board b, and G boards:

    V = G/(G-1) · H⁻¹ (Σ u[b] u[b]ᵀ) H⁻¹          95 %: ± t(0.975, boards - 1) · sqrt(V)

where `boards` are those that the entrant played (for a pair of entrants: the fewer). V is
computed from the misfit and vanishes where nothing contradicts the model. Then H⁻¹ and the
normal quantile stand in: for entrants outside the core, which is the set of more than half the
pool in which everyone took points, perhaps through others, off everyone; for seats and pairs
likewise; and where V is nothing or there is one board only.

**Anchor.** Only differences of ratings are known. With an anchor, its pool's level is such that
the anchor has the rating that was asked for, and ± is that of the difference to it.
"""

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from protocol.records import Result
from tournaments import stats
from tournaments.likelihood import Fit, fitted
from tournaments.stats import ELO, Bools, Error, Floats, Ints
from tournaments.synergy import Partners, partnerships
from tournaments.tally import Tally, by_pool, collect, meetings


class Rating(Struct, frozen=True, kw_only=True):
    """An entrant's line in the table of its pool."""

    name: str
    """The entrant."""
    elo: float
    """Elo above the pool's mean, or on the anchor's scale, to 6 decimals."""
    half_width: float
    """Half width of the 95 % interval of `elo`, in Elo."""
    bound: Literal["", ">", "<"]
    """'>' if `elo` is only a lower bound (no outsider took a point off it), '<' an upper one."""
    ranks: tuple[int, int]
    """Best and worst rank in the pool that the results leave open (Holm, 5 % for the table)."""
    games: int
    """Games that it played."""
    boards: int
    """Boards that it played on."""
    score: float
    """Share of the points of its pairs, 0 to 1."""
    margin: float | None
    """Mean over its games of its score less the mean of its opponents' scores, in points; games
    that a foul ended are left out, and None is left if that leaves none."""
    margin_half_width: float | None
    """Half width of the 95 % interval of `margin`, in points; None with a single board."""
    fouls: int
    """Fouls that it committed."""
    clean: "Clean | None" = None
    """What it is rated by its games without a foul; None: it has none, or nobody fouled."""


class Clean(Struct, frozen=True, kw_only=True):
    """An entrant's rating from the games in which nobody fouled."""

    elo: float
    """Elo above the mean of those with whom such games connect it, to 6 decimals."""
    half_width: float
    """Half width of the 95 % interval of `elo`, in Elo."""
    bound: Literal["", ">", "<"]
    """'>' if `elo` is only a lower bound, '<' if only an upper one."""
    games: int
    """Games that it played without a foul of anybody."""


class SeatAdvantage(Struct, frozen=True, kw_only=True):
    """What sitting in a seat is worth; with partners, what being its side is worth."""

    seat: int
    """The seat (with partners, the side), never the last."""
    elo: float
    """Elo over the last seat."""
    half_width: float
    """Half width of its 95 % interval, in Elo."""


class Meeting(Struct, frozen=True):
    """A cell of the crosstable."""

    games: int
    """Pairs of the row's entrant with the column's."""
    score: float
    """Points of the row's entrant in them."""


class Pool(Struct, frozen=True, kw_only=True):
    """Entrants linked by games, best first. All matrices are in the order of `entrants`."""

    entrants: tuple[Rating, ...]
    """The table."""
    games: int
    """Games played in the pool."""
    boards: int
    """Boards played in the pool."""
    seats: tuple[SeatAdvantage, ...]
    """What each seat but the last is worth; empty if seats never changed enough to tell."""
    errors: tuple[tuple[float, ...], ...]
    """Standard error of row's less column's rating, in Elo."""
    los: tuple[tuple[float, ...], ...]
    """Likelihood that the row's entrant is better than the column's; ½ on the diagonal."""
    crosstable: tuple[tuple[Meeting, ...], ...]
    """What each entrant made against each."""
    boards_save: float | None
    """Variance of the same games on separate deals over that on these boards; None if unknown."""
    boards_save_margin: float | None
    """The same for the point margin."""
    partners: tuple[Partners, ...] = ()
    """With partners: every two that sat together, those that gain most by it first."""


class Ratings(Struct, frozen=True):
    """What the ledger says about who is better."""

    pools: tuple[Pool, ...]
    """Largest pool first; ratings of different pools cannot be compared."""


class Anchor(Struct, frozen=True):
    """Who is given a rating beforehand."""

    name: str
    """The entrant; a pool without it has mean 0."""
    elo: float
    """Its rating in Elo."""


DECIMALS = 6
"""Decimals of what is in Elo or in points,"""
FINE = 9
"""and of shares and likelihoods. What lies beyond is the processor's and its libraries' doing:
whoever checks a report on another machine must come to the same bytes."""
PRIOR = 2.0
"""Virtual draws for each entrant, unless told otherwise."""


def fit(
    results: Iterable[Result],
    *,
    prior: float = PRIOR,
    partners: bool = False,
    anchor: Anchor | None = None,
) -> Ratings:
    """Rate every entrant from all results at once; the order of the results changes nothing.

    `prior` counts virtual draws for each entrant. ValueError if it is negative, if the results
    mix numbers of seats or have seats that `partners` cannot split, or if with prior 0 someone's
    rating is not finite.
    """
    if prior < 0:
        raise ValueError(f"a prior is a number of virtual draws, not {prior}")
    pools = [_rate(tally, prior, anchor) for tally in by_pool(collect(results, partners))]
    pools.sort(key=lambda pool: (-len(pool.entrants), min(r.name for r in pool.entrants)))
    return Ratings(tuple(pools))


def fit_both(
    results: Iterable[Result],
    *,
    prior: float = PRIOR,
    partners: bool = False,
    anchor: Anchor | None = None,
) -> Ratings:
    """Ratings as `fit` gives them, beside each what it would be by the games without a foul.

    `results` are gone through several times, so they must be no iterator. Raises ValueError as
    `fit` does.
    """
    ratings = fit(results, prior=prior, partners=partners, anchor=anchor)
    if not any(result.fouls for result in results):
        return ratings
    without = (result for result in results if not result.fouls)
    rated = {
        one.name: Clean(elo=one.elo, half_width=one.half_width, bound=one.bound, games=one.games)
        for pool in fit(without, prior=prior, partners=partners, anchor=anchor).pools
        for one in pool.entrants
    }
    return Ratings(tuple(_beside(pool, rated) for pool in ratings.pools))


def _beside(pool: Pool, rated: Mapping[str, Clean]) -> Pool:
    entrants = (replace(one, clean=rated.get(one.name)) for one in pool.entrants)
    return replace(pool, entrants=tuple(entrants))


class _Case(NamedTuple):
    """All that is known about a pool; entrants are numbered by name."""

    tally: Tally
    games: Floats
    """Pairs between each two entrants,"""
    points: Floats
    """and the points of the first."""
    mutual: Bools
    """Whether both took points, perhaps through others, off each other."""
    fit: Fit
    played: stats.Clusters
    """Games and boards of each entrant,"""
    margins: stats.Clusters
    """and those whose margin counts, with it."""
    anchor: int | None
    """The entrant to whom ± refers; None: to the mean."""
    level: float
    """Elo of an entrant whose coefficient is 0."""


def _rate(tally: Tally, prior: float, anchor: Anchor | None) -> Pool:
    games, points = meetings(tally)
    way = stats.reach(points > 0)
    mutual = way & way.T
    if prior == 0 and not mutual.all():
        raise ValueError("some entrants took no point off some others; use a prior above 0")
    played, margins = (
        stats.by_cluster(who, board, margin, len(games))
        for who, board, margin, _ in (tally.played.T, tally.played[tally.played[:, 3] > 0].T)
    )
    found, fixed, level = fitted(tally, games, prior), None, 0.0
    if anchor and anchor.name in tally.names:
        fixed = tally.names.index(anchor.name)
        level = anchor.elo - ELO * float(found.theta[fixed])
    return _pool(_Case(tally, games, points, mutual, found, played, margins, fixed, level))


def _pool(case: _Case) -> Pool:
    tally, elo = case.tally, _elo(case.fit.theta, case.level)
    order = sorted(range(len(case.games)), key=lambda i: (-elo[i], tally.names[i]))
    errors, los = _differences(case, order)
    ranks = stats.rank_intervals(los)
    save, save_margin = _savings(tally)
    return Pool(
        entrants=tuple(_rating(case, i, ranks[place]) for place, i in enumerate(order)),
        games=len(tally.board) * 2 // (tally.sides * (tally.sides - 1)),
        boards=_boards(tally),
        seats=_seats(case),
        errors=errors,
        los=los,
        crosstable=tuple(tuple(_meeting(case, i, j) for j in order) for i in order),
        boards_save=_fine(save),
        boards_save_margin=_fine(save_margin),
        partners=partnerships(case.fit, tally.names) if tally.left.shape[1] == 2 else (),
    )


def _elo(logits: Floats, level: float = 0.0) -> list[float]:
    # Rounded: ties must fall to the name.
    return [round(float(logit) * ELO + level, DECIMALS) + 0.0 for logit in logits]


def _half_width(error: Error) -> float:
    return round(error.half_width(), DECIMALS)


def _fine(value: float | None) -> float | None:
    return None if value is None else round(value, FINE)


def _boards(tally: Tally) -> int:
    return int(tally.board.max()) + 1


def _meeting(case: _Case, i: int, j: int) -> Meeting:
    return Meeting(int(case.games[i, j]), float(case.points[i, j]))


def _rating(case: _Case, i: int, ranks: tuple[int, int]) -> Rating:
    boards, peers = int(case.played.clusters[i]), case.mutual[i]
    core = bool(2 * peers.sum() > len(peers))
    margin, margin_half_width = _margin(case, i)
    error = case.fit.error(i, boards=boards, trusted=core)
    if case.anchor is not None:
        error = _apart(case, i, case.anchor)
    return Rating(
        name=case.tally.names[i],
        elo=_elo(case.fit.theta, case.level)[i],
        half_width=_half_width(error),
        bound="" if core else _bound(case.points, peers),
        ranks=ranks,
        games=int(case.played.size[i]),
        boards=boards,
        score=float(case.points[i].sum() / case.games[i].sum()),
        margin=margin,
        margin_half_width=margin_half_width,
        fouls=case.tally.fouls[i],
    )


def _bound(points: Floats, peers: Bools) -> Literal["", ">", "<"]:
    if not points[np.ix_(~peers, peers)].any():
        return ">"
    return "" if points[np.ix_(peers, ~peers)].any() else "<"


def _margin(case: _Case, i: int) -> tuple[float | None, float | None]:
    """Mean margin and half width: a cluster mean, its variance G/(G-1) Σ(board's sum)² / n²."""
    games, boards = float(case.margins.size[i]), int(case.margins.clusters[i])
    if not games:
        return None, None
    # Kept as integers until here: sides x own sum - all sums, over (sides - 1) x members.
    scale = (case.tally.sides - 1) * case.tally.left.shape[1]
    mean = float(case.margins.mean[i]) / scale
    if boards < 2:
        return mean, None
    error = sqrt(boards / (boards - 1) * float(case.margins.clustered[i])) / games / scale
    return mean, _half_width(Error(error, boards - 1))


def _seats(case: _Case) -> tuple[SeatAdvantage, ...]:
    """Advantages over the last seat, if the fit has them."""
    tally, size = case.tally, len(case.games)
    taken = np.zeros((tally.sides, tally.sides))
    a, b = tally.seat.T
    np.add.at(taken, (a, b), tally.half)
    np.add.at(taken, (b, a), 2 - tally.half)
    way = stats.reach(taken > 0)
    seats = []
    for seat, elo in enumerate(_elo(case.fit.theta[size:])):
        trusted = bool(way[seat, -1] and way[-1, seat])
        error = case.fit.error(size + seat, boards=_boards(tally), trusted=trusted)
        seats.append(SeatAdvantage(seat=seat, elo=elo, half_width=_half_width(error)))
    return tuple(seats)


_Matrix = tuple[tuple[float, ...], ...]


def _differences(case: _Case, order: list[int]) -> tuple[_Matrix, _Matrix]:
    """Standard errors (Elo) of all differences of ratings, and the likelihoods of superiority."""
    size = len(order)
    errors, los = np.zeros((size, size)), np.full((size, size), 0.5)
    for row, i in enumerate(order):
        for column, j in enumerate(order[:row]):
            error = _apart(case, i, j)
            lead = ELO * float(case.fit.theta[i] - case.fit.theta[j])
            errors[row, column] = errors[column, row] = error.size
            los[row, column] = _superiority(lead, error)
            los[column, row] = _superiority(-lead, error)
    return _matrix(errors, DECIMALS), _matrix(los, FINE)


def _apart(case: _Case, i: int, j: int) -> Error:
    """The error of the difference of two ratings."""
    boards = int(min(case.played.clusters[i], case.played.clusters[j]))
    return case.fit.error(i, j, boards=boards, trusted=bool(case.mutual[i, j]))


def _matrix(values: Floats, decimals: int) -> _Matrix:
    return tuple(tuple(row) for row in values.round(decimals).tolist())


def _superiority(lead: float, error: Error) -> float:
    # A lead this small is rounding; without an error there is nothing to compare it with.
    return 0.5 if abs(lead) < 1e-6 or error.size == 0 else error.cdf(lead)


def _savings(tally: Tally) -> tuple[float | None, float | None]:
    """What duplicate boards save, for points and for the margin; see `stats.saving`."""
    base = len(tally.names) ** tally.left.shape[1]
    left, right = _code(tally.left, len(tally.names)), _code(tally.right, len(tally.names))
    met = left != right
    codes = np.minimum(left, right) * base + np.maximum(left, right)
    sides, pair = stats.numbered(codes[met], base * base)
    sign = np.where(left < right, 1, -1)
    points, margin = (
        stats.saving(stats.by_cluster(pair[use], tally.board[met][use], value, len(sides)))
        for value, use in (
            ((sign * (tally.half - 1))[met], np.ones(len(pair), np.bool_)),
            ((sign * tally.lead)[met][tally.whole[met]], tally.whole[met]),
        )
    )
    return points, margin


def _code(members: Ints, size: int) -> Ints:
    """One number below size ** members for the members of each side."""
    return np.asarray(members @ (size ** np.arange(members.shape[1])), np.int64)
