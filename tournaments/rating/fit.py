"""Fit of the rating model: the likeliest ratings for all results, and their covariances."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from tournaments.rating import statistics
from tournaments.rating.core import Core, of_one_part
from tournaments.rating.statistics import (
    ELO,
    Bools,
    Design,
    Error,
    Floats,
    Ints,
    degrees_of_freedom,
    numbered,
    sums,
    wide,
)
from tournaments.rating.tally import Tally

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
    """For each cell: its row of the design,"""
    board: Ints
    """its board (ascending from 0),"""
    games: Floats
    """its number of pairs of sides,"""
    points: Floats
    """and the points of the first side in them."""

    def expected(self, theta: Floats) -> Floats:
        """Return each cell's expected share of the points with these coefficients."""
        return statistics.expected_share(self.design.at(theta))[self.row]

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

    def error(self, i: int, j: int | None = None, *, boards: int, trusted: bool = True) -> Error:
        """Return the error, in Elo, of coefficient i, or of i minus j.

        `boards` is the number of boards that bear on it. Unless `trusted`, or of too few boards,
        ignore the clustered variance.
        """
        model, clustered = (
            float(v[i, i] if j is None else v[i, i] + v[j, j] - 2 * v[i, j])
            for v in (self.model, self.clustered)
        )
        if model < EXACT:
            return Error(0.0, 0)
        df = degrees_of_freedom(boards)
        if trusted and df and clustered > statistics.NOTHING * model:
            return Error(ELO * sqrt(clustered), df)
        return Error(ELO * sqrt(model), 0)


def fit_model(tally: Tally, core: Core, zero: Floats, prior: float) -> Fit:
    """Fit each part of a pool, all with the same seats, by the results within it.

    `zero` names the entrants of the core whose weighted mean is 0. `prior` counts virtual draws for
    each coefficient, see `stats.logistic`. ValueError if a rating is not finite, which takes a
    prior of 0.
    """
    cells = _cells(tally, core)
    design, count = cells.design, len(cells.design.column)
    use = cells.rates[cells.row] > 0
    games = sums(cells.row[use], cells.games[use], count)
    points = sums(cells.row[use], cells.points[use], count)
    zeros, moved = _levels(core, zero, design.size)
    pinned, held = zeros @ zeros.T, moved @ moved.T
    if tally.left.shape[1] > 1:
        blind = _blind(design.squares(games) + pinned)
        pinned, held = pinned + blind, held + blind
    theta, information = statistics.logistic(design, games, points, pinned, prior)
    bread: Floats = np.asarray(np.linalg.inv(information), np.float64) - held
    rated = cells.rated()
    misfit = rated.points - rated.games * rated.expected(theta)
    clustered = statistics.clustered(design, rated.row, rated.board, misfit, bread)
    return Fit(theta, bread, clustered, cells, _boards(rated, len(tally.names)))


def _cells(tally: Tally, core: Core) -> Cells:
    size = len(tally.names)
    design, kind, rates = _design(tally, core)
    codes = wide(tally.board) * len(design.column) + kind
    cells, cell = numbered(codes, int(codes.max()) + 1)
    del codes, kind
    board, row = np.divmod(cells, len(design.column))
    count = sums(cell, np.ones_like(cell), len(cells))
    points = sums(cell, tally.half, len(cells)) / 2
    if tally.luck:
        points = points - tally.pairs_a_point * sums(cell, tally.luck.half, len(cells))
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
    seen = design.squares(games)
    rank, without = (np.linalg.matrix_rank(m, hermitian=True) for m in (seen, seen[:size, :size]))
    if rank - without == sides - 1:
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


def _blind(seen: Floats) -> Floats:
    """Return the projection on the directions without information."""
    values, vectors = np.linalg.eigh(seen)
    none: Bools = values < SINGULAR * values.max()
    return np.asarray(vectors[:, none] @ vectors[:, none].T, np.float64)


def _boards(rated: Cells, size: int) -> tuple[int, ...]:
    """Count the boards with results that rate each entrant."""
    members = np.abs(rated.design.value) > 0
    members &= rated.design.column < size
    boards = int(rated.board.max(initial=0)) + 1
    who, where = (
        rated.design.column[rated.row],
        np.broadcast_to(rated.board[:, None], (len(rated.row), members.shape[1])),
    )
    use = members[rated.row]
    seen = statistics.distinct(who[use] * boards + where[use]) // boards
    return tuple(np.bincount(seen, minlength=size).tolist())
