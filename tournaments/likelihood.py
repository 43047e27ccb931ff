"""The fit of the rating model: which ratings make all results likeliest, and how sure they are."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from tournaments import stats
from tournaments.stats import ELO, Design, Error, Floats, Ints, numbered, sums, wide
from tournaments.tally import Tally


class Cells(NamedTuple):
    """What was fitted: pairs of sides that agree in board, entrants and seats, summed up."""

    design: Design
    """The rows of the predictor; the first columns are the members of the first side, then those
    of the second."""
    row: Ints
    """Of each cell: its row of the design,"""
    board: Ints
    """its board (ascending from 0),"""
    games: Floats
    """its pairs"""
    points: Floats
    """and the points of the first side in them."""

    def expected(self, theta: Floats) -> Floats:
        """Each cell's share of the points that these coefficients make one expect."""
        return stats.share(self.design.at(theta))[self.row]


class Fit(NamedTuple):
    """Coefficients and covariances in natural logits: entrants first, then seats but the last."""

    theta: Floats
    model: Floats
    """Covariances if games were independent and the model true: the inverse information."""
    clustered: Floats
    """Covariances with boards as clusters; nan with a single board."""
    cells: Cells
    """What was fitted."""

    def error(self, i: int, j: int | None = None, *, boards: int, trusted: bool) -> Error:
        """Error in Elo of coefficient i, or of i less j.

        `boards` are those that bear on it. Unless `trusted`, the clustered variance says nothing.
        """
        model, clustered = (
            float(v[i, i] if j is None else v[i, i] + v[j, j] - 2 * v[i, j])
            for v in (self.model, self.clustered)
        )
        if trusted and boards > 1 and clustered > stats.NOTHING * model:
            return Error(ELO * sqrt(clustered), boards - 1)
        return Error(ELO * sqrt(max(model, 0.0)), 0)


def fitted(tally: Tally, games: Floats, prior: float) -> Fit:
    """Fit a pool whose entrants met `games` times; `prior` counts virtual draws for each.

    ValueError if a rating is not finite, which takes a prior of 0.
    """
    size = len(tally.names)
    design, kind = _design(tally)
    codes = wide(tally.board) * len(design.column) + kind
    cells, cell = numbered(codes, int(codes.max()) + 1)
    del codes, kind
    board, row = np.divmod(cells, len(design.column))
    count = sums(cell, np.ones_like(cell), len(cells))
    points = sums(cell, tally.half, len(cells)) / 2
    design = _seats_that_show(design, sums(row, count, len(design.column)), size, tally.sides)
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
    fitted_to = Cells(design, row, board, count, points)
    misfit = points - count * fitted_to.expected(theta)
    clustered = stats.clustered(design, row, board, misfit, bread)
    return Fit(theta, bread - pinned, clustered, fitted_to)


def _design(tally: Tally) -> tuple[Design, Ints]:
    """A row for each combination of entrants and seats that met, and the row of each pair."""
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
