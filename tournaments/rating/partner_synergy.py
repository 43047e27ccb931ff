"""Results of pairs of partners, compared with what their ratings let one expect. Pure.

With y the points of a pair of partners in a game, p what ratings and seats make of it, z the
column that says where the pair sat (1 first side, -1 second side, else 0), X the model's columns
and W the weights p(1 - p), the pair's synergy and its error over its n games are

    Σ z(y - p) / n        sqrt(G/(G-1) Σ over boards (Σ z'(y - p))²) / n,    z' = z - X(XᵀWX)⁺XᵀWz

where G counts the pair's boards: z' takes off what the ratings have already made of the same
games. Where nothing of z is left (two who always sat together; four entrants, whose three
pairings the ratings fit exactly) the results cannot tell synergy from strength.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from tournaments.rating import regression
from tournaments.rating.fit import SINGULAR, Cells, Fit
from tournaments.rating.regression import Floats, Ints, sums
from tournaments.rating.statistics import Error
from tournaments.rating.tables import Partners

TOLD_APART = 1e-6
"""Share of a pair's information that the ratings must leave; with less, its synergy is unknown."""

AT_ONCE = 4096
"""Sums of pairs on boards that are multiplied at once, which bounds the memory."""


class _Pairs(NamedTuple):
    """The pairs of partners, numbered from 0; the other fields use these numbers."""

    members: Ints
    """The two entrants of each pair."""
    of: Ints
    """For each row of the design: the pairs on both sides,"""
    sign: Floats
    """with 1 and -1, or with 0 and 0 if both sides are the same pair."""


def partnerships(fit: Fit, names: tuple[str, ...]) -> tuple[Partners, ...]:
    """Return every two entrants that were partners against others, the greatest synergy first."""
    pairs, cells = _pairs(fit.cells, len(names)), fit.cells
    count = len(pairs.members)
    expected = cells.expected(fit.theta)
    misfit = cells.points - cells.games * expected
    at, sign = pairs.of[cells.row], pairs.sign[cells.row]
    games = sums(at.ravel(), (np.abs(sign) * cells.games[:, None]).ravel(), count)
    won = np.stack((cells.points, cells.games - cells.points), axis=1) * np.abs(sign)
    points = sums(at.ravel(), won.ravel(), count)
    gained = sums(at.ravel(), (sign * misfit[:, None]).ravel(), count)
    weight = sums(cells.row, cells.games * expected * (1 - expected), len(cells.design.column))
    errors = _errors(cells, pairs, misfit, weight)
    sums_of = np.stack((games, points, gained), axis=1).tolist()
    found = [
        _told(names, pairs.members[i], sums_of[i], errors[i])
        for i in np.flatnonzero(games).tolist()
    ]
    return tuple(sorted(found, key=lambda two: (-(two.synergy or 0.0), two.names)))


def _pairs(cells: Cells, size: int) -> _Pairs:
    column = cells.design.column
    code = column[:, 0:4:2] * size + column[:, 1:4:2]
    codes, of = np.unique(code, return_inverse=True)
    members = np.stack(np.divmod(codes, size), axis=1)
    met = (code[:, 0] != code[:, 1])[:, None]
    return _Pairs(members, of.reshape(code.shape), met * np.array([1.0, -1.0]))


def _told(
    names: tuple[str, ...], members: Ints, sums_of: Sequence[float], error: Error | None
) -> Partners:
    one, other = sorted(names[i] for i in members)
    games, points, gained = sums_of
    return Partners(
        names=(one, other),
        games=int(games),
        win_share=points / games,
        # Rounded, as ratings are: ties must fall to the name, and all machines agree.
        synergy=None if error is None else round(gained / games, 9) + 0.0,
        half_width=round(error.half_width() / games, 9) if error and error.df else None,
    )


def _errors(cells: Cells, pairs: _Pairs, misfit: Floats, weight: Floats) -> list[Error | None]:
    """Return the error of each pair's sum of misfits; None if the ratings explain all of it."""
    design, count = cells.design, len(pairs.members)
    shared = np.zeros((count, design.size))
    for side in (0, 1):
        part = (pairs.sign[:, side] * weight)[:, None] * design.value
        np.add.at(shared, (pairs.of[:, side][:, None], design.column), part)
    explained = shared @ np.linalg.pinv(design.squares(weight), SINGULAR, hermitian=True)
    own = sums(pairs.of.ravel(), (np.abs(pairs.sign) * weight[:, None]).ravel(), count)
    left = own - (explained * shared).sum(axis=1)
    variance, boards = _clustered(cells, pairs, misfit, explained)
    return [
        Error(sqrt(max(variance[i], 0.0) * n / max(n - 1, 1)), n - 1)
        if left[i] > TOLD_APART * own[i]
        else None
        for i, n in enumerate(boards.astype(int).tolist())
    ]


def _clustered(
    cells: Cells, pairs: _Pairs, misfit: Floats, explained: Floats
) -> tuple[Floats, Floats]:
    """Return, for each pair, the sum over boards of (Σ z'(y - p))², and its number of boards."""
    count, size = explained.shape
    square, boards, cross = np.zeros(count), np.zeros(count), np.zeros((count, size))
    meat = np.zeros((size, size))
    for block in regression.score_blocks(cells.design, cells.row, cells.board, misfit):
        row = cells.row[block.use]
        sums_at = (block.cluster[:, None] * count + pairs.of[row]).ravel()
        value = (pairs.sign[row] * misfit[block.use, None]).ravel()
        met = pairs.sign[row].ravel() != 0
        seen, at = np.unique(sums_at[met], return_inverse=True)
        board, pair = np.divmod(seen, count)
        own = sums(at, value[met], len(seen))
        square += sums(pair, own**2, count)
        boards += sums(pair, np.ones_like(pair), count)
        for first in range(0, len(seen), AT_ONCE):
            few = slice(first, first + AT_ONCE)
            np.add.at(cross, pair[few], own[few, None] * block.scores[board[few]])
        meat += block.scores.T @ block.scores
    twice = 2 * (cross * explained).sum(axis=1)
    return square - twice + ((explained @ meat) * explained).sum(axis=1), boards
