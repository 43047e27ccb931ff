"""Values of the scores after a round: the expected share of the game, and the lead still to come.

Both follow from the law of a round: what the sides gain in it, and how often. Shares are whole
millionths and all sums are of integers, so they are the same on every machine.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from arena import engine
from arena.engine.deal import begin, chance_decides
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.valuation.batch import RoundBatch
from arena.valuation.policy import play_out
from arena.valuation.terms import Policy
from protocol.ruleset import Ruleset, count_sides, target

Integers = NDArray[np.int64]

FULL_SHARE = 1_000_000
"""A whole share; shares are counted in millionths."""
MILLI = 1_000
"""A whole point of a lead that is still to come; it is counted in thousandths."""
LAW_ROUNDS = 1024
"""Rounds from which a law is made: with half as many the shares of `draw` differ by up to 0.01."""
LOOKAHEAD = 48
"""The most rounds that a table looks ahead; longer games are as good as endless."""
CELLS_OF_TWO = 100
"""Cells along each axis of a table for two sides: with the usual target a cell is a point."""
CELLS_OF_POLICIES = 25
"""The same for policies, of which an event has many: each table takes about 0.1 s."""
CELLS_OF_THREE = 20
"""Cells along each axis of a table for three sides or more; between them it is interpolated."""
MAX_TABLE_LEAD = 400
"""The largest lead that a table for a fixed number of rounds tells from larger ones."""


class Law(NamedTuple):
    """The rules of a game and the players at its table, from which the law of a round follows."""

    rules: Ruleset
    seats: int
    policies: tuple[Policy, ...] = ()
    """The policy of each seat; empty: all seats are plain players, and as good as one another."""

    @property
    def sides(self) -> int:
        """Return the number of sides."""
        return count_sides(self.rules.deal.partners, self.seats)

    @property
    def pairs(self) -> tuple[tuple[int, ...], ...]:
        """Return the sides in each order in which a round counts for the law."""
        axes = min(self.sides, 3)
        return tuple(permutations(range(self.sides), axes)) if not self.policies else ((0, 1),)


def law_of(rules: Ruleset, policies: Sequence[Policy]) -> Law:
    """Return the law of a round between these players.

    Of three sides or more it is that of plain players: a table for each pair would take minutes.
    """
    law = Law(rules, len(policies), tuple(policies))
    return law if law.sides == 2 else Law(rules, law.seats)


def share_of_scores(
    law: Law, scores: NDArray[np.integer], rounds_played: int | NDArray[np.integer] = 1
) -> Integers:
    """Return each seat's expected share of the game, in millionths, given scores after a round.

    `scores` has a row for each case and a column for each seat. A share counts the other sides that
    a side ends above, ties half, of all others. `rounds_played`, one number or one for each row,
    matters where few rounds are left. Who leads the next round does not count, nor does the pot.
    """
    sides, side_scores = law.sides, np.asarray(scores, np.int64)[:, : law.sides]
    left = _rounds_left(law, side_scores, rounds_played)
    total = np.zeros(side_scores.shape, np.int64)
    for a, b in combinations(range(sides), 2):
        pair = _decided(side_scores[:, a] - side_scores[:, b])
        for rounds in np.unique(left[left > 0]).tolist():
            rows = left == rounds
            pair[rows] = _expected(law, side_scores[rows], (a, b), rounds)
        total[:, a] += pair
        total[:, b] += FULL_SHARE - pair
    return (total // (sides - 1))[:, np.arange(law.seats) % sides]


def lead_to_come(
    law: Law, scores: NDArray[np.integer], rounds_played: int | NDArray[np.integer] = 1
) -> Integers:
    """Return the lead, in thousandths of a point, that each seat's side still gains after a round.

    It is 0 where all players are as good as one another. See `share_of_scores`.
    """
    side_scores = np.asarray(scores, np.int64)[:, : law.sides]
    lead = np.zeros(len(side_scores), np.int64)
    if law.policies:
        left = _rounds_left(law, side_scores, rounds_played)
        for rounds in np.unique(left[left > 0]).tolist():
            rows = left == rounds
            lead[rows] = _expected(law, side_scores[rows], (0, 1), rounds, of_lead=True)
    return np.stack([lead, -lead], axis=1)[:, np.arange(law.seats) % 2]


def mean_swing(law: Law) -> float:
    """Return the points by which a round changes the lead of a side on average, up or down."""
    results = _round_results(law)
    rest = (results.sum(axis=1, keepdims=True) - results) / (law.sides - 1)
    return float(np.abs(results - rest).mean())


def _rounds_left(law: Law, scores: Integers, played: int | NDArray[np.integer]) -> Integers:
    """Return for each row the rounds that may still be played, at most `LOOKAHEAD`."""
    limits = law.rules.game
    left = np.clip((limits.rounds or limits.max_rounds) - played, 0, LOOKAHEAD)
    return np.where(_reached(law.rules, law.seats, scores), 0, left)


def _reached(rules: Ruleset, seats: int, scores: Integers) -> NDArray[np.bool_]:
    """Tell for each row whether a single best score has reached the target."""
    best = scores.max(axis=1, keepdims=True)
    single = (scores == best).sum(axis=1) == 1
    return np.asarray(single & (best[:, 0] >= target(rules, seats)) & (rules.game.rounds == 0))


def _decided(lead: Integers) -> Integers:
    """Return the share of a pair that the first has won by this lead."""
    return np.asarray((1 + np.sign(lead)) * (FULL_SHARE // 2))


def _expected(
    law: Law, scores: Integers, pair: tuple[int, int], left: int, *, of_lead: bool = False
) -> Integers:
    """Return the share of a pair that its first side may expect, with `left` rounds left.

    `of_lead`: its lead that is still to come instead.
    """
    a, b = scores[:, pair[0]], scores[:, pair[1]]
    if law.rules.game.rounds:
        leads = np.clip(a - b, -MAX_TABLE_LEAD, MAX_TABLE_LEAD)
        return np.asarray(_leads(law, left, of_lead)[leads + MAX_TABLE_LEAD])
    rest = np.delete(scores, pair, axis=1)
    places = [a, b, rest.max(axis=1)] if rest.size else [a, b]
    return _interpolated(_grid(law), _table(law, left, of_lead), places)


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


def _grid(law: Law) -> Grid:
    rules, sides, goal = law.rules, law.sides, target(law.rules, law.seats)
    of_two = CELLS_OF_POLICIES if law.policies else CELLS_OF_TWO
    cells = of_two if sides == 2 else CELLS_OF_THREE
    # Fees can bring scores below 0.
    debt = goal // 4 if rules.stakes.fee or rules.stakes.ante else 0
    step = -(-(goal + debt) // cells)
    last = -(-(goal + debt) // step)
    return Grid(min(sides, 3), goal - last * step, step, last)


def _interpolated(grid: Grid, table: Integers, places: list[Integers]) -> Integers:
    """Return the table's values between its cells, by lines along each axis."""
    top = grid.lowest + grid.last * grid.step
    offsets = [np.clip(place, grid.lowest, top) - grid.lowest for place in places]
    if grid.step == 1:
        return np.asarray(table[tuple(offsets)])
    parts = []
    for offset in offsets:
        cell, over = np.divmod(offset, grid.step)
        parts.append(((cell, grid.step - over), (np.minimum(cell + 1, grid.last), over)))
    total = np.zeros(len(places[0]), np.int64)
    for corner in product(*parts):
        weight = np.prod([part for _, part in corner], axis=0)
        total += weight * table[tuple(cell for cell, _ in corner)]
    return np.asarray(total // grid.step**grid.axes)


@lru_cache(maxsize=512)
def _table(law: Law, left: int, of_lead: bool) -> Integers:
    """Return what the first side of a pair may expect by the cells of both, see `_expected`."""
    grid = _grid(law)
    cells = np.indices((grid.last + 1,) * grid.axes)
    over = cells.max(axis=0) == grid.last
    final = _decided((cells[0] - cells[1]).astype(np.int64))
    table = final = np.zeros_like(final) if of_lead else final
    steps, counts = _score_moves(law, grid)
    most, width = int(np.abs(steps).max()), grid.last + 1
    for _ in range(left):
        # A side below the first cell stays in it; one above the last is at the target.
        padded, total = np.pad(table, most, mode="edge"), np.zeros(table.shape, np.int64)
        for step, count in zip(steps.tolist(), counts.tolist(), strict=True):
            moved = tuple(slice(most + offset, most + offset + width) for offset in step)
            gained = (step[0] - step[1]) * grid.step * MILLI if of_lead else 0
            total += count * (padded[moved] + gained)
        table, before = np.where(over, final, total // counts.sum()), table
        if np.array_equal(table, before):
            break
    return table


def _score_moves(law: Law, grid: Grid) -> tuple[Integers, Integers]:
    """Return the cells by which a round moves the scores of a pair and of one other, with counts.

    Points between two cells count partly for each.
    """
    results = _round_results(law)
    moves = np.concatenate([results[:, pair] for pair in law.pairs])
    changes, counts = np.unique(moves, axis=0, return_counts=True)
    cell, over = np.divmod(changes, grid.step)
    steps, weights = [], []
    for corner in product((0, 1), repeat=grid.axes):
        up = np.array(corner)
        steps.append(cell + up)
        weights.append(counts * np.prod(np.where(up, over, grid.step - over), axis=1))
    all_steps, numbers = np.unique(np.concatenate(steps), axis=0, return_inverse=True)
    total = np.zeros(len(all_steps), np.int64)
    np.add.at(total, numbers.ravel(), np.concatenate(weights))
    return all_steps[total > 0], total[total > 0]


@lru_cache(maxsize=512)
def _leads(law: Law, left: int, of_lead: bool) -> Integers:
    """Return the same by a pair's lead, with `left` rounds of a fixed number left."""
    results = _round_results(law)
    moves = np.concatenate([results[:, pair[0]] - results[:, pair[1]] for pair in law.pairs])
    changes, counts = np.unique(moves, return_counts=True)
    leads = np.arange(-MAX_TABLE_LEAD, MAX_TABLE_LEAD + 1)
    if of_lead:
        return np.full(len(leads), left * MILLI * (changes @ counts) // counts.sum())
    table = _decided(leads)
    for _ in range(left):
        total = np.zeros(len(leads), np.int64)
        for change, count in zip(changes.tolist(), counts.tolist(), strict=True):
            total += (
                count
                * table[np.clip(leads + change, -MAX_TABLE_LEAD, MAX_TABLE_LEAD) + MAX_TABLE_LEAD]
            )
        table = total // counts.sum()
    return table


@lru_cache(maxsize=512)
def _round_results(law: Law) -> Integers:
    """Return the points of each side in rounds that are dealt from fixed seeds."""
    batch = _fixed_deals(law.rules, law.seats)
    seeds = np.arange(LAW_ROUNDS) if law.policies else None
    results = batch.scores + play_out(batch, law.policies, seeds)
    return np.asarray(results[:, : law.sides], np.int64)


@cache
def _fixed_deals(rules: Ruleset, seats: int) -> RoundBatch:
    return RoundBatch.from_games(
        [_begin_game(rules, seats, number) for number in range(LAW_ROUNDS)]
    )


def _begin_game(rules: Ruleset, seats: int, number: int) -> Game:
    """Return a game in which a round has been dealt that brings no bonus for an early round."""
    game, seed = engine.new_game(rules, seats), board_seed(b"boneyard win chance 1", "", number)
    later = len(rules.score.bonus) + 1
    while engine.needs_deal(game):
        begin(game, replace(chance_decides(game, seed), round=later))
    return game
