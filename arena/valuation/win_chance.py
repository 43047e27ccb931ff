"""Chances of winning a game from the scores after a round: a table for each ruleset and table.

Shares are whole millionths and all sums are of integers, so they are the same on every machine.
"""

from functools import cache
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from arena import engine
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.valuation.batch import RoundBatch
from arena.valuation.playouts import play_out
from protocol.ruleset import Ruleset, count_sides, target

Integers = NDArray[np.int64]

WHOLE = 1_000_000
"""A whole share; shares are counted in millionths."""
ROUNDS = 1024
"""Rounds of the plain player from which a table is made: with half as many the shares of `draw`
differ by up to 0.01."""
AHEAD = 48
"""The most rounds that a table looks ahead; longer games are as good as endless."""
CELLS_OF_TWO = 100
"""Cells along each axis of a table for two sides: with the usual target a cell is a point."""
CELLS_OF_THREE = 20
"""Cells along each axis of a table for three sides or more; between them it is interpolated."""
FARTHEST = 400
"""The largest lead that a table for a fixed number of rounds tells from larger ones."""


def share_of_scores(
    rules: Ruleset,
    seats: int,
    scores: NDArray[np.integer],
    rounds_played: int | NDArray[np.integer] = 1,
) -> Integers:
    """Return each seat's expected share of the game, in millionths, given scores after a round.

    `scores` has a row for each case and a column for each seat. A share counts the other sides that
    a side ends above, ties half, of all others. `rounds_played`, one number or one for each row,
    matters where few rounds are left. Who leads the next round does not count, nor does the pot.
    """
    sides, limits = count_sides(rules.deal.partners, seats), rules.game
    own = np.asarray(scores, np.int64)[:, :sides]
    left = np.clip((limits.rounds or limits.max_rounds) - rounds_played, 0, AHEAD)
    left = np.where(_reached(rules, seats, own), 0, left)
    total = np.zeros(own.shape, np.int64)
    for a, b in combinations(range(sides), 2):
        pair = _decided(own[:, a] - own[:, b])
        for rounds in np.unique(left[left > 0]).tolist():
            rows = left == rounds
            pair[rows] = _expected(rules, seats, own[rows], (a, b), rounds)
        total[:, a] += pair
        total[:, b] += WHOLE - pair
    return (total // (sides - 1))[:, np.arange(seats) % sides]


def _reached(rules: Ruleset, seats: int, own: Integers) -> NDArray[np.bool_]:
    """Tell for each row whether a single best score has reached the target."""
    best = own.max(axis=1, keepdims=True)
    single = (own == best).sum(axis=1) == 1
    return np.asarray(single & (best[:, 0] >= target(rules, seats)) & (rules.game.rounds == 0))


def _decided(lead: Integers) -> Integers:
    """Return the share of a pair that the first has won by this lead."""
    return np.asarray((1 + np.sign(lead)) * (WHOLE // 2))


def _expected(
    rules: Ruleset, seats: int, own: Integers, pair: tuple[int, int], left: int
) -> Integers:
    """Return the share of a pair that its first side may expect, with so many rounds left."""
    a, b = own[:, pair[0]], own[:, pair[1]]
    if rules.game.rounds:
        leads = np.clip(a - b, -FARTHEST, FARTHEST)
        return np.asarray(_leads(rules, seats, left)[leads + FARTHEST])
    rest = np.delete(own, pair, axis=1)
    places = [a, b, rest.max(axis=1)] if rest.size else [a, b]
    return _interpolated(_grid(rules, seats), _table(rules, seats, left), places)


class Grid(NamedTuple):
    """The cells of a table: along each axis one for every so many points, the last the target."""

    axes: int
    """Scores that a cell stands for: two, or for three sides or more the highest other one too."""
    lowest: int
    """The score of the first cell."""
    step: int
    """Points from a cell to the next."""
    last: int
    """The number of the last cell; scores from the target on are there."""


def _grid(rules: Ruleset, seats: int) -> Grid:
    sides, goal = count_sides(rules.deal.partners, seats), target(rules, seats)
    cells = CELLS_OF_TWO if sides == 2 else CELLS_OF_THREE
    # Fees can bring scores below 0.
    below = goal // 4 if rules.stakes.fee or rules.stakes.ante else 0
    step = -(-(goal + below) // cells)
    last = -(-(goal + below) // step)
    return Grid(min(sides, 3), goal - last * step, step, last)


def _interpolated(grid: Grid, table: Integers, places: list[Integers]) -> Integers:
    """Return the table's values between its cells, by lines along each axis."""
    top = grid.lowest + grid.last * grid.step
    parts = []
    for place in places:
        cell, over = np.divmod(np.clip(place, grid.lowest, top) - grid.lowest, grid.step)
        parts.append(((cell, grid.step - over), (np.minimum(cell + 1, grid.last), over)))
    if grid.step == 1:
        return np.asarray(table[tuple(low[0] for low, _ in parts)])
    total = np.zeros(len(places[0]), np.int64)
    for corner in product(*parts):
        weight = np.prod([part for _, part in corner], axis=0)
        total += weight * table[tuple(cell for cell, _ in corner)]
    return np.asarray(total // grid.step**grid.axes)


@cache
def _table(rules: Ruleset, seats: int, left: int) -> Integers:
    """Return the first side's share of a pair by the cells of both, with so many rounds left."""
    grid = _grid(rules, seats)
    cells = np.indices((grid.last + 1,) * grid.axes)
    over = cells.max(axis=0) == grid.last
    table = final = _decided((cells[0] - cells[1]).astype(np.int64))
    steps, counts = _steps(rules, seats, grid)
    for _ in range(left):
        # A side below the first cell stays in it; one above the last is at the target.
        total = np.zeros(table.shape, np.int64)
        for step, count in zip(steps.tolist(), counts.tolist(), strict=True):
            total += count * table[_moved(grid, step)]
        table, before = np.where(over, final, total // counts.sum()), table
        if np.array_equal(table, before):
            break
    return table


def _moved(grid: Grid, step: list[int]) -> tuple[Integers, ...]:
    """Return the cell that each cell leads to, as indices of an array."""
    ranges = [np.clip(np.arange(grid.last + 1) + by, 0, grid.last) for by in step]
    return np.ix_(*ranges)


def _steps(rules: Ruleset, seats: int, grid: Grid) -> tuple[Integers, Integers]:
    """Return the cells by which a round moves the scores of a pair and of one other, with counts.

    Points between two cells count partly for each.
    """
    results = _round_results(rules, seats)
    sides = results.shape[1]
    moves = np.concatenate([results[:, one] for one in permutations(range(sides), grid.axes)])
    found, counts = np.unique(moves, axis=0, return_counts=True)
    cell, over = np.divmod(found, grid.step)
    steps, weights = [], []
    for corner in product((0, 1), repeat=grid.axes):
        up = np.array(corner)
        steps.append(cell + up)
        weights.append(counts * np.prod(np.where(up, over, grid.step - over), axis=1))
    every, which = np.unique(np.concatenate(steps), axis=0, return_inverse=True)
    total = np.zeros(len(every), np.int64)
    np.add.at(total, which.ravel(), np.concatenate(weights))
    return every[total > 0], total[total > 0]


@cache
def _leads(rules: Ruleset, seats: int, left: int) -> Integers:
    """Return the share of a pair by its lead, with so many rounds of a fixed number left."""
    results = _round_results(rules, seats)
    pairs = permutations(range(results.shape[1]), 2)
    moves = np.concatenate([results[:, a] - results[:, b] for a, b in pairs])
    found, counts = np.unique(moves, return_counts=True)
    leads = np.arange(-FARTHEST, FARTHEST + 1)
    table = _decided(leads)
    for _ in range(left):
        total = np.zeros(len(leads), np.int64)
        for by, count in zip(found.tolist(), counts.tolist(), strict=True):
            total += count * table[np.clip(leads + by, -FARTHEST, FARTHEST) + FARTHEST]
        table = total // counts.sum()
    return table


@cache
def _round_results(rules: Ruleset, seats: int) -> Integers:
    """Return the points of each side in rounds of the plain player, dealt from fixed seeds."""
    games = [_begun(rules, seats, number) for number in range(ROUNDS)]
    sides = count_sides(rules.deal.partners, seats)
    scores = np.array([game.scores for game in games]) + play_out(RoundBatch.of(games))
    return np.asarray(scores[:, :sides], np.int64)


def _begun(rules: Ruleset, seats: int, number: int) -> Game:
    """Return a game in which a round has been dealt that brings no bonus for an early round."""
    game, seed = engine.new_game(rules, seats), board_seed(b"boneyard win chance 1", "", number)
    later = len(rules.score.bonus) + 1
    while engine.needs_deal(game):
        engine.begin(game, replace(engine.chance_decides(game, seed), round=later))
    return game
