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
"""

from array import array
from collections.abc import Iterable
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct

from protocol.records import Result
from tournaments import stats
from tournaments.stats import ELO, Bools, Design, Floats, Ints, sums

_NOTHING = 1e-9
"""Share of the model's variance below which a clustered variance is nothing."""


class Rating(Struct, frozen=True, kw_only=True):
    """An entrant's line in the table of its pool."""

    name: str
    """The entrant."""
    elo: float
    """Elo above the pool's mean, to 6 decimals."""
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
    margin: float
    """Mean over its games of its score less the mean of its opponents' scores, in points."""
    margin_half_width: float | None
    """Half width of the 95 % interval of `margin`, in points; None with a single board."""
    fouls: int
    """Fouls that it committed."""


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


class Ratings(Struct, frozen=True):
    """What the ledger says about who is better."""

    pools: tuple[Pool, ...]
    """Largest pool first; ratings of different pools cannot be compared."""


def fit(results: Iterable[Result], *, prior: float = 2.0, partners: bool = False) -> Ratings:
    """Rate every entrant from all results at once; the order of the results changes nothing.

    `prior` counts virtual draws for each entrant. ValueError if it is negative, if the results
    mix numbers of seats or have seats that `partners` cannot split, or if with prior 0 someone's
    rating is not finite.
    """
    if prior < 0:
        raise ValueError(f"a prior is a number of virtual draws, not {prior}")
    ledger = _collect(results, partners)
    pools = [_rate(_select(ledger, pool), prior) for pool in _pools(ledger)]
    pools.sort(key=lambda pool: (-len(pool.entrants), min(r.name for r in pool.entrants)))
    return Ratings(tuple(pools))


class _Ledger(NamedTuple):
    """The results as integers, so that every sum is exact in any order."""

    names: tuple[str, ...]
    """Sorted."""
    fouls: tuple[int, ...]
    sides: int
    """Sides of a game: its seats, or two with partners."""
    board: Ints
    """Of each pair of sides: its board,"""
    seat: Ints
    """the two sides' numbers,"""
    left: Ints
    """the members of the first"""
    right: Ints
    """and of the second,"""
    half: Ints
    """half points of the first,"""
    lead: Ints
    """and its score less the second's, summed over members."""
    played: Ints
    """Of each appearance of an entrant: entrant, board, sides x own score - all scores."""


def _collect(results: Iterable[Result], partners: bool) -> _Ledger:
    pairs, played = array("q"), array("q")
    ids: dict[str, int] = {}
    fouls: dict[str, int] = {}
    seats = 0
    for result in results:
        seats = _checked(len(result.seats), seats, partners)
        who = [ids.setdefault(name, len(ids)) for name in result.seats]
        step = 2 if partners else seats
        sides = [(who[i::step], sum(result.scores[i::step]), result.places[i]) for i in range(step)]
        _break_up(sides, result.board, pairs, played)
        for foul in result.fouls:
            name = result.seats[foul.seat]
            fouls[name] = fouls.get(name, 0) + 1
    return _ledger(pairs, played, ids, fouls, seats // 2 if partners else 1, seats)


def _checked(seats: int, before: int, partners: bool) -> int:
    if seats < 2 or (partners and seats != 4):
        raise ValueError(f"cannot rate a game of {seats} seats{' with partners' * partners}")
    if before not in (0, seats):
        raise ValueError(f"the results mix games of {before} and of {seats} seats")
    return seats


_Side = tuple[list[int], int, int]
"""Members, summed score, place."""


def _break_up(sides: list[_Side], board: int, pairs: "array[int]", played: "array[int]") -> None:
    total = sum(score for _, score, _ in sides)
    for a, (members, score, place) in enumerate(sides):
        for entrant in set(members):
            played.extend((entrant, board, len(sides) * score - total))
        for b in range(a + 1, len(sides)):
            others, other_score, other_place = sides[b]
            half = 1 + (place < other_place) - (place > other_place)
            pairs.extend((board, a, b, half, score - other_score, *members, *others))


def _ledger(
    pairs: "array[int]",
    played: "array[int]",
    ids: dict[str, int],
    fouls: dict[str, int],
    members: int,
    seats: int,
) -> _Ledger:
    names = tuple(sorted(ids))
    rank = np.zeros(len(names), np.int64)
    rank[[ids[name] for name in names]] = np.arange(len(names))
    table = np.asarray(pairs, np.int64).reshape(-1, 5 + 2 * members)
    who = rank[table[:, 5:]]
    appearances = np.asarray(played, np.int64).reshape(-1, 3).copy()
    appearances[:, 0] = rank[appearances[:, 0]]
    # Partners are a set: the seat within the side is not part of the model.
    left, right = np.sort(who[:, :members], axis=1), np.sort(who[:, members:], axis=1)
    counts = tuple(fouls.get(name, 0) for name in names)
    return _Ledger(
        names, counts, seats // members,
        table[:, 0], table[:, 1:3], left, right, table[:, 3], table[:, 4], appearances,
    )  # fmt: skip


def _pools(ledger: _Ledger) -> list[Ints]:
    """Sets of entrants linked by games."""
    linked = stats.reach(_meetings(ledger)[0] > 0)
    return [np.flatnonzero(linked[i]) for i in range(len(linked)) if linked[i].argmax() == i]


def _select(ledger: _Ledger, pool: Ints) -> _Ledger:
    """The part of the ledger that concerns this pool, entrants numbered anew."""
    number = np.full(len(ledger.names), -1, np.int64)
    number[pool] = np.arange(len(pool))
    mine, seen = number[ledger.left[:, 0]] >= 0, number[ledger.played[:, 0]] >= 0
    played = ledger.played[seen]
    boards, board = np.unique(ledger.board[mine], return_inverse=True)
    played = np.stack(
        (number[played[:, 0]], np.searchsorted(boards, played[:, 1]), played[:, 2]), axis=1
    )
    return _Ledger(
        tuple(ledger.names[i] for i in pool), tuple(ledger.fouls[i] for i in pool), ledger.sides,
        board, ledger.seat[mine], number[ledger.left[mine]], number[ledger.right[mine]],
        ledger.half[mine], ledger.lead[mine], played,
    )  # fmt: skip


def _meetings(ledger: _Ledger) -> tuple[Floats, Floats]:
    """Pairs between each two entrants, and the points of the first in them."""
    size = len(ledger.names)
    games, points = np.zeros(size**2), np.zeros(size**2)
    for left in ledger.left.T:
        for right in ledger.right.T:
            for a, b, half in ((left, right, ledger.half), (right, left, 2 - ledger.half)):
                games += np.bincount(a * size + b, minlength=size**2)
                points += np.bincount(a * size + b, half / 2, size**2)
    return games.reshape(size, size), points.reshape(size, size)


class _Fit(NamedTuple):
    """Coefficients and covariances in natural logits: entrants first, then seats but the last."""

    theta: Floats
    model: Floats
    clustered: Floats


def _fitted(ledger: _Ledger, games: Floats, prior: float) -> _Fit:
    size = len(ledger.names)
    design, kind = _design(ledger)
    cells, cell = np.unique(ledger.board * len(design.column) + kind, return_inverse=True)
    board, row = np.divmod(cells, len(design.column))
    count = sums(cell, np.ones_like(cell), len(cells))
    points = sums(cell, ledger.half, len(cells)) / 2
    design = _seats_that_show(design, sums(row, count, len(design.column)), size, ledger.sides)
    virtual, draws = _virtual(design, games, prior)
    pinned = np.zeros((design.size, design.size))
    pinned[:size, :size] = 1 / size  # The level: no game sees it, and it keeps the mean at 0.
    theta, information = stats.logistic(
        design.above(virtual),
        np.concatenate((sums(row, count, len(design.column)), draws)),
        np.concatenate((sums(row, points, len(design.column)), draws / 2)),
        pinned,
    )
    bread: Floats = np.asarray(np.linalg.inv(information), np.float64)
    misfit = points - count * stats.share(design.at(theta))[row]
    return _Fit(theta, bread - pinned, stats.clustered(design, row, board, misfit, bread))


def _design(ledger: _Ledger) -> tuple[Design, Ints]:
    """A row for each combination of entrants and seats that met, and the row of each pair."""
    size, last = len(ledger.names), ledger.sides - 1
    code = ledger.seat[:, 0] * ledger.sides + ledger.seat[:, 1]
    for column in (*ledger.left.T, *ledger.right.T):
        code = code * size + column
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    left, right, seat = ledger.left[first], ledger.right[first], ledger.seat[first]
    weight = np.full(left.shape, 1 / left.shape[1])
    column = np.hstack((left, right, np.where(seat < last, size + seat, 0)))
    value = np.hstack((weight, -weight, np.where(seat < last, [1.0, -1.0], 0.0)))
    return Design(column, value, size + last), kind


def _seats_that_show(design: Design, games: Floats, size: int, sides: int) -> Design:
    """The design without its seats if these games cannot tell them from the entrants."""
    seen = design.squares(games)
    rank, without = (np.linalg.matrix_rank(m, hermitian=True) for m in (seen, seen[:size, :size]))
    if rank - without == sides - 1:
        return design
    entrant = design.column < size
    return Design(np.where(entrant, design.column, 0), design.value * entrant, size)


def _virtual(design: Design, games: Floats, prior: float) -> tuple[Design, Floats]:
    """Rows and numbers of the prior's draws: between opponents, and of each seat with the last."""
    others = games - np.diag(games.diagonal())
    first, second = np.nonzero(np.triu(others))
    each = others.sum(axis=1)
    draws = prior * others[first, second] * (1 / each[first] + 1 / each[second])
    seats = np.arange(len(games), design.size)
    column = np.zeros((len(draws) + len(seats), design.column.shape[1]), np.int64)
    value = np.zeros(column.shape)
    column[:, 0], value[:, 0] = np.concatenate((first, seats)), 1
    column[: len(draws), 1], value[: len(draws), 1] = second, -1
    virtual = Design(column, value, design.size)
    return virtual, np.concatenate((draws, np.full(len(seats), prior)))


class _Case(NamedTuple):
    """All that is known about a pool; entrants are numbered by name."""

    ledger: _Ledger
    games: Floats
    """Pairs between each two entrants,"""
    points: Floats
    """and the points of the first."""
    mutual: Bools
    """Whether both took points, perhaps through others, off each other."""
    fitted: _Fit
    played: stats.Clusters
    """Games, boards and margins of each entrant."""


def _rate(ledger: _Ledger, prior: float) -> Pool:
    games, points = _meetings(ledger)
    way = stats.reach(points > 0)
    mutual = way & way.T
    if prior == 0 and not mutual.all():
        raise ValueError("some entrants took no point off some others; use a prior above 0")
    who, board, margin = ledger.played.T
    played = stats.by_cluster(who, board, margin, len(games))
    return _pool(_Case(ledger, games, points, mutual, _fitted(ledger, games, prior), played))


def _pool(case: _Case) -> Pool:
    ledger, elo = case.ledger, _elo(case.fitted.theta)
    order = sorted(range(len(case.games)), key=lambda i: (-elo[i], ledger.names[i]))
    errors, los = _differences(case, order)
    ranks = stats.rank_intervals(los)
    save, save_margin = _savings(ledger)
    return Pool(
        entrants=tuple(_rating(case, i, ranks[place]) for place, i in enumerate(order)),
        games=len(ledger.board) * 2 // (ledger.sides * (ledger.sides - 1)),
        boards=_boards(ledger),
        seats=_seats(case),
        errors=errors,
        los=los,
        crosstable=tuple(tuple(_meeting(case, i, j) for j in order) for i in order),
        boards_save=save,
        boards_save_margin=save_margin,
    )


def _elo(logits: Floats) -> list[float]:
    # Rounded: the last bits are the linear algebra library's, and ties must fall to the name.
    return [round(float(logit) * ELO, 6) + 0.0 for logit in logits]


def _boards(ledger: _Ledger) -> int:
    return int(ledger.board.max()) + 1


def _meeting(case: _Case, i: int, j: int) -> Meeting:
    return Meeting(int(case.games[i, j]), float(case.points[i, j]))


def _rating(case: _Case, i: int, ranks: tuple[int, int]) -> Rating:
    boards, peers = int(case.played.clusters[i]), case.mutual[i]
    core = bool(2 * peers.sum() > len(peers))
    margin, margin_half_width = _margin(case, i)
    error = _error(case.fitted.model[i, i], case.fitted.clustered[i, i], core, boards)
    return Rating(
        name=case.ledger.names[i],
        elo=_elo(case.fitted.theta)[i],
        half_width=_half_width(*error),
        bound="" if core else _bound(case.points, peers),
        ranks=ranks,
        games=int(case.played.size[i]),
        boards=boards,
        score=float(case.points[i].sum() / case.games[i].sum()),
        margin=margin,
        margin_half_width=margin_half_width,
        fouls=case.ledger.fouls[i],
    )


def _bound(points: Floats, peers: Bools) -> Literal["", ">", "<"]:
    if not points[np.ix_(~peers, peers)].any():
        return ">"
    return "" if points[np.ix_(peers, ~peers)].any() else "<"


def _margin(case: _Case, i: int) -> tuple[float, float | None]:
    """Mean margin and half width: a cluster mean, its variance G/(G-1) Σ(board's sum)² / n²."""
    games, boards = float(case.played.size[i]), int(case.played.clusters[i])
    # Kept as integers until here: sides x own sum - all sums, over (sides - 1) x members.
    scale = (case.ledger.sides - 1) * case.ledger.left.shape[1]
    mean = float(case.played.mean[i]) / scale
    if boards < 2:
        return mean, None
    error = sqrt(boards / (boards - 1) * float(case.played.clustered[i])) / games / scale
    return mean, _half_width(error, boards - 1)


def _error(model: float, clustered: float, trusted: bool, boards: int) -> tuple[float, int]:
    """Standard error and the degrees of freedom of its t, 0 for a normal; from variances."""
    if trusted and boards > 1 and clustered > _NOTHING * model:
        return ELO * sqrt(clustered), boards - 1
    return ELO * sqrt(max(model, 0.0)), 0


def _half_width(error: float, df: int) -> float:
    return error * (stats.t_quantile(0.975, df) if df else stats.Z)


def _seats(case: _Case) -> tuple[SeatAdvantage, ...]:
    """Advantages over the last seat, if the fit has them."""
    ledger, size = case.ledger, len(case.games)
    taken = np.zeros((ledger.sides, ledger.sides))
    a, b = ledger.seat.T
    np.add.at(taken, (a, b), ledger.half)
    np.add.at(taken, (b, a), 2 - ledger.half)
    way = stats.reach(taken > 0)
    seats = []
    for seat, elo in enumerate(_elo(case.fitted.theta[size:])):
        trusted = bool(way[seat, -1] and way[-1, seat])
        model, clustered = (v[size + seat, size + seat] for v in case.fitted[1:])
        error = _error(model, clustered, trusted, _boards(ledger))
        seats.append(SeatAdvantage(seat=seat, elo=elo, half_width=_half_width(*error)))
    return tuple(seats)


_Matrix = tuple[tuple[float, ...], ...]


def _differences(case: _Case, order: list[int]) -> tuple[_Matrix, _Matrix]:
    """Standard errors (Elo) of all differences of ratings, and the likelihoods of superiority."""
    size = len(order)
    errors, los = np.zeros((size, size)), np.full((size, size), 0.5)
    for row, i in enumerate(order):
        for column, j in enumerate(order[:row]):
            error, df = _difference(case, i, j)
            lead = ELO * float(case.fitted.theta[i] - case.fitted.theta[j])
            errors[row, column] = errors[column, row] = error
            los[row, column] = _superiority(lead, error, df)
            los[column, row] = _superiority(-lead, error, df)
    return _matrix(errors), _matrix(los)


def _matrix(values: Floats) -> _Matrix:
    return tuple(tuple(row) for row in values.tolist())


def _difference(case: _Case, i: int, j: int) -> tuple[float, int]:
    model, clustered = (
        float(v[i, i] + v[j, j] - 2 * v[i, j]) for v in (case.fitted.model, case.fitted.clustered)
    )
    boards = int(min(case.played.clusters[i], case.played.clusters[j]))
    return _error(model, clustered, bool(case.mutual[i, j]), boards)


def _superiority(lead: float, error: float, df: int) -> float:
    if abs(lead) < 1e-6 or error == 0:
        return 0.5
    return stats.t_cdf(lead / error, df) if df else stats.normal_cdf(lead / error)


def _savings(ledger: _Ledger) -> tuple[float | None, float | None]:
    """What duplicate boards save, for points and for the margin; see `_saving`."""
    left, right = (_code(side, len(ledger.names)) for side in (ledger.left, ledger.right))
    met = left != right
    low, high = np.minimum(left, right)[met], np.maximum(left, right)[met]
    pairs, pair = np.unique(np.stack((low, high)), axis=1, return_inverse=True)
    sign = np.where(left < right, 1, -1)[met]
    points, margin = (
        _saving(
            stats.by_cluster(pair.ravel(), ledger.board[met], sign * value[met], pairs.shape[1])
        )
        for value in (ledger.half - 1, ledger.lead)
    )
    return points, margin


def _code(side: Ints, size: int) -> Ints:
    """One number for the members of a side."""
    return np.asarray(side @ (size ** np.arange(side.shape[1])), np.int64)


def _saving(pair: stats.Clusters) -> float | None:
    """Variance of each pair's total if its n games were independent, over the clustered one.

    Both summed over the pairs that met more than once on a board, of their G boards:
    Σ n/(n-1) Σ(y - ȳ)²  /  Σ G/(G-1) Σ(board's sum of y - ȳ)²
    """
    use = (pair.clusters > 1) & (pair.size > pair.clusters)
    n, boards = pair.size[use], pair.clusters[use]
    plain = float((n / (n - 1) * pair.spread[use]).sum())
    clustered = float((boards / (boards - 1) * pair.clustered[use]).sum())
    return plain / clustered if clustered > _NOTHING * plain else None
