"""Core, fit and bounds of a pool: who can be rated, the likeliest ratings, bounds of the rest."""

from math import log
from typing import NamedTuple

import numpy as np

from tournaments.rating import regression
from tournaments.rating.regression import Bools, Design, Floats, Ints, numbered, sums, wide
from tournaments.rating.statistics import ELO, Error, degrees_of_freedom
from tournaments.rating.tables import Bound
from tournaments.rating.tally import GAME_PARTS, Meetings, Tally, meetings, totals_by_deal


class Core(NamedTuple):
    """The parts of a pool, by entrant.

    Draw an arrow from each entrant to each from which it took points: for a win one arrow, for
    a tie one in each direction, at any number of seats for every two on different sides.
    Entrants that all reach each other along the arrows are a part. Only results within a part
    tell by how much one is better than another; an entrant that lost nothing to a part is above
    it by an unknown lead, however much it won. A game of partners from several parts rates
    nobody, so the parts are found again without it.

    The largest part is the core; of equally large ones, the one with more games, then the one
    with the first name. Where nobody took points off each other every part is one entrant: then
    the anchor is the core, if there is one. The level of the ratings is the mean of the whole core.
    If it left out bots that a single board connects, the level would differ between small events:
    of three real bots on 6 to 10 boards 95 % intervals then held 72 to 94 %, and 95 to 97 % so.
    """

    part: Ints
    """The part of each entrant; 0 is the core."""
    bound: tuple[Bound, ...]
    """Its place: '' in the core; '>' took points off it, perhaps through others, and lost
    none to it; '<' the other way around; '?' nothing leads from one to the other, or both ways
    lead through games of partners that rate nobody."""
    reach: Bools
    """True if the row's entrant took points off the column's, perhaps through others."""


def core_of(tally: Tally, anchor: str | None = None) -> Core:
    """Find the parts of a pool; `anchor` is the entrant whose rating is fixed beforehand."""
    mask: Bools = np.ones(len(tally.board), np.bool_)
    met, size = meetings(tally), len(tally.names)
    while True:
        way = _reach(_arrows(met, mask), size)
        part = _parts(tally, way & way.T, anchor)
        new_mask = of_one_part(part, tally.left, tally.right)
        if (new_mask == mask).all():
            break
        mask = new_mask
    reach = _reach(_arrows(met, np.ones_like(mask)), size)
    return Core(part, _bounds(part, reach), reach)


def of_one_part(part: Ints, left: Ints, right: Ints) -> Bools:
    """Tell of each pair of sides whether all its members are of one part."""
    parts = part[np.hstack((left, right))]
    return np.asarray((parts == parts[:, :1]).all(axis=1), np.bool_)


def _reach(arrows: Meetings, size: int) -> Bools:
    drawn = np.zeros(size**2, np.bool_)
    drawn[arrows.pair] = True
    return regression.reach(drawn.reshape(size, size))


def _arrows(met: Meetings, use: Bools) -> Meetings:
    """Return the meetings in which the first took points, of these pairs of sides."""
    took = np.tile(use, len(met.half) // max(1, len(use))) & (met.half > 0)
    return Meetings(*(column[took] for column in met))


def _parts(tally: Tally, mutual: Bools, anchor: str | None) -> Ints:
    """Assign numbers to the parts by size, then by games, then by the first name.

    If every part is a single entrant, the anchor's part is the first.
    """
    first = mutual.argmax(axis=1)
    size = len(first)
    indices = np.concatenate((tally.left.ravel(), tally.right.ravel()))
    members, games = np.bincount(first, minlength=size), np.bincount(first[indices], minlength=size)
    order = sorted(set(first.tolist()), key=lambda i: (-members[i], -games[i], i))
    if len(order) == size and anchor in tally.names:
        order.sort(key=lambda i: tally.names[i] != anchor)
    number = np.zeros(size, np.int64)
    number[order] = np.arange(len(order))
    return np.asarray(number[first], np.int64)


def _bounds(part: Ints, reach: Bools) -> tuple[Bound, ...]:
    core = part == 0
    names: dict[tuple[bool, bool], Bound] = {(True, False): ">", (False, True): "<"}
    return tuple(
        "" if core[i] else names.get((bool(reach[i, core].any()), bool(reach[core, i].any())), "?")
        for i in range(len(part))
    )


SINGULAR = 1e-10
"""Share of the largest information below which a direction has none: partners that never part."""

EXACT = 1e-12
"""Variance in natural logits below which an error counts as 0: that of an anchor, or between
partners that never part."""


class Cells(NamedTuple):
    """The results: pairs of sides that agree in board, entrants and seats, added up."""

    design: Design
    """The rows of the predictor; the first columns are the members of the first side, then those
    of the second."""
    rates: Floats
    """For each row: 1 if its members are of one part, so that its results rate them, else 0."""
    row: Ints
    """The row of the design of each cell."""
    board: Ints
    """The board of each cell, ascending from 0."""
    games: Floats
    """The number of pairs of sides in each cell."""
    points: Floats
    """The points of the first side in each cell."""

    def expected(self, theta: Floats) -> Floats:
        """Return each cell's expected share of the points with these coefficients."""
        return regression.expected_share(self.design.predict(theta))[self.row]

    def rated(self) -> "Cells":
        """Return only the cells that rate entrants, their boards renumbered."""
        use = self.rates[self.row] > 0
        board = np.unique(self.board[use], return_inverse=True)[1]
        return Cells(
            self.design, self.rates, self.row[use], board, self.games[use], self.points[use]
        )


class Fit(NamedTuple):
    """Coefficients and covariances in natural logits: entrants first, then all seats but the last.

    Ratings of different parts cannot be compared: each part has its own zero.
    """

    theta: Floats
    model: Floats
    """Covariances if games were independent and the model true: the inverse information."""
    clustered: Floats
    """Covariances with boards as clusters; nan with a single board."""
    cells: Cells
    """All results, also those that rate nobody."""
    boards: tuple[int, ...]
    """Number of boards with results that rate each entrant."""

    def error(self, i: int, *, boards: int, trusted: bool = True) -> Error:
        """Return the error, in Elo, of coefficient i.

        `boards`: the number of boards that bear on it. If they are too few, or not `trusted`, the
        clustered variance is ignored.
        """
        df = degrees_of_freedom(boards) if trusted else 0
        size, used = _sizes(self.model[i, i], self.clustered[i, i], np.asarray(df))
        return Error(float(size), int(used))

    def lead_errors(self, i: Ints, j: Ints) -> tuple[Floats, Ints]:
        """Return sizes, in Elo, and degrees of freedom of the errors of leads of `i` over `j`."""
        model, clustered = (
            np.asarray(v[i, i] + v[j, j] - 2 * v[i, j], np.float64)
            for v in (self.model, self.clustered)
        )
        df = np.array([degrees_of_freedom(boards) for boards in self.boards])
        return _sizes(model, clustered, np.minimum(df[i], df[j]))


def _sizes(model: Floats, clustered: Floats, df: Ints) -> tuple[Floats, Ints]:
    """Return the sizes in Elo and the degrees of freedom of errors of these variances."""
    is_told, is_used = model >= EXACT, (df > 0) & (clustered > regression.NOTHING * model)
    variance = np.where(is_told, np.where(is_used, clustered, model), 0.0)
    return ELO * np.sqrt(variance), np.where(is_told & is_used, df, 0)


def fit_model(tally: Tally, core: Core, zero: Floats, prior: float) -> Fit:
    """Fit each part of a pool, all with the same seats, by the results within it.

    `zero` names the entrants of the core whose weighted mean is 0. `prior` counts virtual draws for
    each coefficient, see `regression.logistic`. ValueError if a rating is not finite, which takes a
    prior of 0.
    """
    cells = _cells(tally, core)
    design, count = cells.design, len(cells.design.column)
    use = cells.rates[cells.row] > 0
    games = sums(cells.row[use], cells.games[use], count)
    points = sums(cells.row[use], cells.points[use], count)
    zeros, moved = _levels(core, zero, design.size)
    pinned, shifts = zeros @ zeros.T, moved @ moved.T
    if tally.left.shape[1] > 1:
        blind = _blind(design.squares(games) + pinned)
        pinned, shifts = pinned + blind, shifts + blind
    theta, information = regression.logistic(design, games, points, pinned, prior)
    bread: Floats = np.asarray(np.linalg.inv(information), np.float64) - shifts
    rated = cells.rated()
    misfit = rated.points - rated.games * rated.expected(theta)
    clustered = regression.clustered(design, rated.row, rated.board, misfit, bread)
    return Fit(theta, bread, clustered, cells, _boards(rated, len(tally.names)))


def _cells(tally: Tally, core: Core) -> Cells:
    size = len(tally.names)
    design, kind, rates = _design(tally, core)
    codes = wide(tally.board) * len(design.column) + kind
    cells, cell = numbered(codes, int(codes.max()) + 1)
    del codes, kind
    board, row = np.divmod(cells, len(design.column))
    weight = np.ones_like(cell) if tally.weight is None else tally.weight
    game_parts = 1 if tally.weight is None else GAME_PARTS
    count = sums(cell, weight, len(cells)) / game_parts
    points = sums(cell, weight * tally.half, len(cells)) / game_parts / 2
    if tally.luck:
        luck = sums(cell, weight * tally.luck.half, len(cells)) / game_parts
        points = points - tally.pairs_a_point * luck
    rated = sums(row, count, len(design.column)) * rates
    design = _seats_that_show(design, rated, size, tally.sides)
    return Cells(design, rates, row, board, count, points)


def _design(tally: Tally, core: Core) -> tuple[Design, Ints, Floats]:
    """Return a row for each combination of entrants and seats that met, and its attributes.

    The other values are the row of each pair of sides, and for each row whether it rates.
    """
    size, last = len(tally.names), tally.sides - 1
    code = wide(tally.seat[:, 0]) * tally.sides + tally.seat[:, 1]
    for column in (*tally.left.T, *tally.right.T):
        code = code * size + column
    codes, kind = numbered(code, int(code.max()) + 1)
    first = np.zeros(len(codes), np.int64)
    first[kind] = np.arange(len(kind))  # One of each kind; they are alike.
    left, right, seat = tally.left[first], tally.right[first], wide(tally.seat[first])
    weight = np.full(left.shape, 1 / left.shape[1])
    column = np.hstack((left, right, np.where(seat < last, size + seat, 0)))
    value = np.hstack((weight, -weight, np.where(seat < last, [1.0, -1.0], 0.0)))
    rates = of_one_part(core.part, left, right).astype(np.float64)
    return Design(column, value, size + last), kind, rates


def _seats_that_show(design: Design, games: Floats, size: int, sides: int) -> Design:
    """Return the design, without its seats if these games cannot tell them from the entrants."""
    information = design.squares(games)
    rank, entrant_rank = (
        np.linalg.matrix_rank(m, hermitian=True) for m in (information, information[:size, :size])
    )
    if rank - entrant_rank == sides - 1:
        return design
    entrant = design.column < size
    return Design(np.where(entrant, design.column, 0), design.value * entrant, size)


def _levels(core: Core, zero: Floats, columns: int) -> tuple[Floats, Floats]:
    """Return the directions that no game sees: each part's mean, held at 0, and its shift."""
    parts = np.arange(int(core.part.max()) + 1)
    moved = np.zeros((columns, len(parts)))
    moved[: len(core.part)] = core.part[:, None] == parts
    zeros = moved / moved.sum(axis=0)
    zeros[: len(core.part), 0] = zero
    return zeros, moved


def _blind(information: Floats) -> Floats:
    """Return the projection on the directions without information."""
    values, vectors = np.linalg.eigh(information)
    is_null: Bools = values < SINGULAR * values.max()
    return np.asarray(vectors[:, is_null] @ vectors[:, is_null].T, np.float64)


def _boards(rated: Cells, size: int) -> tuple[int, ...]:
    members = np.abs(rated.design.value) > 0
    members &= rated.design.column < size
    boards = int(rated.board.max(initial=0)) + 1
    entrants, use = rated.design.column[rated.row], members[rated.row]
    board = np.broadcast_to(rated.board[:, None], use.shape)
    appearances = regression.distinct(entrants[use] * boards + board[use]) // boards
    return tuple(np.bincount(appearances, minlength=size).tolist())


BOUND_CHANCE = 0.05
"""Probability of the results if a bound is the true rating."""
MAX_BOUND_LOGITS = 500.0
"""Distance in natural logits within which bounds are sought."""
CORE_LEVELS = np.linspace(-1.0, 1.0, 65)
"""Levels across the core at which two entrants on opposite sides of it are compared."""


class Sweep(NamedTuple):
    """Games of a part against placed entrants; it won all or lost all of them."""

    moved: Floats
    """The share of the part's rating in the lead of each row."""
    lead: Floats
    """The rest of the lead of each row, in natural logits."""
    weight: Floats
    """The games of each row times w."""
    sign: int
    """1 if the part won them all, -1 if it lost them all."""

    def log_chance(self, shift: Floats) -> Floats:
        """Return the log probability of these results for each shift of the part's zero."""
        lead = self.sign * (self.moved * shift[:, None] + self.lead)
        return np.asarray((-np.logaddexp(0, -lead) * self.weight).sum(axis=1), np.float64)

    def bound(self) -> float:
        """Return the shift at which these results have the probability `BOUND_CHANCE`."""
        low, high = -MAX_BOUND_LOGITS, MAX_BOUND_LOGITS
        while (middle := (low + high) / 2) not in (low, high):
            is_likely = float(self.log_chance(np.array([middle]))[0]) > log(BOUND_CHANCE)
            low, high = (low, middle) if is_likely == (self.sign > 0) else (middle, high)
        return low


class Bounds(NamedTuple):
    """Ratings of a pool's entrants, and bounds of those outside the core.

    An entrant above the core lost nothing to it, so no rating is too high for it; but too low a
    rating makes what it won unlikely. With d its lead (by rating and seat) in each of its pairs
    against the core, and against those above the core who are below it, and w = 3 / (sides +
    1),

        log P(rating) = w · Σ log p(d)

    is its probability of winning them all. Its lower bound is the rating at which P is 5 %. w
    is exact for two sides; at larger tables the pairs of a game depend on each other, and w
    gives an entrant's points in a game of equals their true variance. The core's ratings are
    taken as exact. Below the core it is the other way around. The probability that one of
    several parts is better follows from the same P: it is 1 - P / 2 at equal ratings. For two
    on the same side of the core only their own games count; w is 1 for them, since a game has
    one pair of the two.
    """

    logit: Floats
    """Rating or bound of each entrant in natural logits; nan without either."""
    sweeps: dict[int, Sweep]
    """Games that bound the rating of each part outside the core, if there are any."""


def bounds_of(fit: Fit, core: Core, sides: int) -> Bounds:
    """Bound the ratings of all parts outside the core."""
    cells, size = fit.cells, len(core.part)
    games = regression.sums(cells.row, cells.games, len(cells.design.column)) * 3 / (sides + 1)
    core_logits = np.where(core.part == 0, fit.theta[:size], np.nan)
    logits, sweeps = core_logits.copy(), dict[int, Sweep]()
    for sign in (1, -1):
        # Entrants in between bound those farther out; entrants on the other side tell nothing.
        placed = core_logits.copy()
        for part in _outwards(core, sign):
            is_member = core.part == part
            sweep = _sweep(fit, is_member, placed, games, sign)
            if len(sweep.weight):
                sweeps[part] = sweep
                placed[is_member] = logits[is_member] = fit.theta[:size][is_member] + sweep.bound()
    return Bounds(logits, sweeps)


def _outwards(core: Core, sign: int) -> list[int]:
    """Return the parts above the core, or those below it, the nearest first."""
    reached = (core.reach if sign > 0 else core.reach.T).sum(axis=1)
    wanted = ">" if sign > 0 else "<"
    rows = zip(reached.tolist(), core.part.tolist(), core.bound, strict=True)
    parts = sorted({(count, part) for count, part, bound in rows if bound == wanted})
    return [part for _, part in parts]


def _sweep(fit: Fit, is_member: Bools, placed: Floats, games: Floats, sign: int) -> Sweep:
    """Collect the results of a part against placed entrants, in either order of the two sides.

    Unplaced partners of its members are assumed to be as strong as the part.
    """
    members = fit.cells.design.column[:, :-2]  # The last two columns are the seats.
    is_own, half = is_member[members], members.shape[1] // 2
    first, second = slice(half), slice(half, None)
    unknown = np.isnan(placed)
    logits = np.where(unknown, 0.0, placed)
    logits[is_member] = fit.theta[: len(is_member)][is_member]
    lead = _leads(fit, logits)
    columns = []
    for ours, theirs, way in ((first, second, 1), (second, first, -1)):
        use = is_own[:, ours].any(axis=1) & ~unknown[members[:, theirs]].any(axis=1) & (games > 0)
        moved = unknown[members[use, ours]].mean(axis=1)
        columns.append((moved, way * lead[use], games[use]))
    moved, leads, weight = (np.concatenate(both) for both in zip(*columns, strict=True))
    return Sweep(moved, leads, weight, sign)


def _leads(fit: Fit, logits: Floats) -> Floats:
    return fit.cells.design.predict(np.concatenate((logits, fit.theta[len(logits) :])))


def chances(bounds: Bounds, fit: Fit, core: Core, tally: Tally) -> Floats:
    """Return the probabilities that the row's entrant is better than the column's; ½ in a part."""
    is_core, logits = core.part == 0, fit.theta[: len(core.part)]
    # An entrant above another won all of their games, which are independent of each other.
    is_above = core.reach & ~core.reach.T
    won = 1 - np.exp(log(0.5) * totals_by_deal(tally)[0]) / 2
    better = np.where(is_above, won, np.where(is_above.T, 1 - won, 0.5))
    low, high = logits[is_core].min(), logits[is_core].max()
    grid = (low + high) / 2 + ((high - low) / 2 + 1) * CORE_LEVELS
    levels: dict[int, list[tuple[int, Floats]]] = {1: [], -1: []}
    for i in np.flatnonzero(~is_core).tolist():
        sweep = bounds.sweeps.get(int(core.part[i]))
        if sweep is not None:
            worse = np.exp(sweep.log_chance(logits[is_core] - logits[i])) / 2
            better[i, is_core] = 1 - worse if sweep.sign > 0 else worse
            better[is_core, i] = 1 - better[i, is_core]
            levels[sweep.sign].append((i, sweep.log_chance(grid - logits[i])))
    if levels[-1]:
        indices, chance = zip(*levels[-1], strict=True)
        for i, log_chance in levels[1]:
            better[i, indices] = 1 - np.exp((log_chance + np.stack(chance)).max(axis=1)) / 2
            better[indices, i] = 1 - better[i, indices]
    return better
