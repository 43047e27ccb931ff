"""The choice of a round's tables: those that shrink the intervals that matter most. Pure.

**What matters.** Two active versions matter to each other as far as their order is open: by the
doubt d, twice the probability that the better one is the other one, which is 1 for equal versions
and near 0 where the order is certain. A new version's order is open against everybody, later only
against its neighbours in rank. A version's own rating, its lead over the anchor, matters too. With
`until` an interval counts while it is wider; nothing is played once all are narrow but those
between versions whose order is known.

**Choice.** The measure is the sum of weight x variance of the difference over all pairs; a weight
is a mean of d and 1, so that also a version that was only lucky is asked again. For each
two versions the information of a table says by how much it would fall; the table with the greatest
fall is taken, its information is added, and the next is sought, as if its games had been played.
Two versions do not meet any more once one wins nearly all of their games, for certain.

Everything follows from sums of earlier games, so anybody can repeat it.
"""

from collections.abc import Collection
from math import ceil

import numpy as np

from tournaments.league.pairing.information import Encounters, Information
from tournaments.league.records import ChosenTable, RoundPlan
from tournaments.rating.regression import Bools, Floats

METHOD = "information 3"
"""Name of this method in a round's plan; a change of any choice needs another one."""
FLOOR = 0.3
"""Weight of two versions whose order seems certain, beside 1 where it is quite open. Without it
nobody asks a version again that was lucky once: ratings would be stretched, and intervals lie."""
RATING = 0.3
"""Weight of the lead over the anchor, beside 1 of two versions whose order is quite open."""
MOST = 1 / 2
"""Share of a round's tables at which a version may sit, so that nobody hogs a round: also not an
author who pushes a new version every hour."""
DECIMALS = 6
"""Decimals of a gain relative to the greatest: further ones depend on the processor."""
OPEN = 0.05
"""Doubt below which an order counts as known."""
CERTAIN, ALIKE = 1e-3, 0.9
"""Doubt below which, and share of the points from which, two versions do not meet any more: their
games would all end alike. Otherwise most games of a small class would be lost by `random`."""

REACH = 0.95
"""Share of the points against the anchor beyond which nobody waits for a narrow rating: games that
a version almost always wins or loses hardly narrow it."""


def choose_tables(
    plan: RoundPlan, encounters: Encounters, seats: int, *, partners: bool
) -> list[ChosenTable]:
    """Choose the tables of a round from the inputs in its plan, whatever its tables are.

    Return the most telling first; none if nothing is worth playing. `encounters`: all finished
    rounds of the division before it, see `count_encounters`. `partners`: two sides of two; a table
    of four plays in all three splits. Ties fall to other names in each round, by its number.
    """
    if len(plan.active) < seats:
        return []
    names = sorted(plan.active)
    turn = plan.number % len(names)
    names = names[turn:] + names[:turn]
    most = max(ceil(MOST * plan.most_tables), ceil(plan.most_tables * seats / len(names)))
    information = Information(encounters, names, plan.anchor, partners)
    start = information.half_widths()
    chosen: dict[frozenset[int], ChosenTable] = {}
    sits = np.zeros(len(names), np.int64)
    while len(chosen) < plan.most_tables:
        worth = information.worth(plan.boards, seats)
        doubts = information.doubts()
        gains = information.gains(_weights(information, doubts, plan.until), worth)
        gains[sits >= most] = gains[:, sits >= most] = 0
        gains[_decided(information, doubts)] = 0
        table = _best_table(gains, sits < most, seats, chosen)
        if not table:
            break
        why = _why(information, [names[i] for i in table], table, start)
        gain = float(gains[np.ix_(table, table)].sum()) / 2
        chosen[frozenset(table)] = ChosenTable(
            entrants=tuple(sorted(names[i] for i in table)), why=why, gain=float(f"{gain:.3g}")
        )
        information.add(table, worth)
        sits[table] += 1
    return list(chosen.values())


def _weights(information: Information, doubts: Floats, until: float | None) -> Floats:
    weights, is_open = FLOOR + (1 - FLOOR) * doubts, doubts > OPEN
    if (level := information.anchor) is not None:
        weights[level] += RATING
        weights[:, level] += RATING
        # The lead over the anchor matters of those within its reach.
        within: Bools = np.abs(information.shares()[level] - 0.5) < REACH - 0.5
        within[level] = False
        is_open[level] |= within
        is_open[:, level] = is_open[level]
    np.fill_diagonal(weights, 0)
    if until is not None:
        is_wide = information.half_widths() > until
        weights[~is_wide] = 0
        weights *= (is_wide & is_open).any()
    return weights


def _decided(information: Information, doubts: Floats) -> Bools:
    """Tell of which two versions games would all end alike, for certain."""
    lopsided = np.abs(information.shares() - 0.5) > ALIKE - 0.5
    return np.asarray((doubts < CERTAIN) & lopsided)


def _best_table(
    gains: Floats, may_sit: Bools, seats: int, taken: Collection[frozenset[int]]
) -> list[int]:
    """Return the table with the greatest gain: the best two, then those who add most; [] if none.

    A table that is taken does not play again: the boards are the same.
    """
    if seats == 2:
        for one, other in taken:
            gains[one, other] = gains[other, one] = 0
    if not gains.max() > 0 or may_sit.sum() < seats:
        return []
    gains = np.round(gains / gains.max(), DECIMALS)
    table = [int(i) for i in np.unravel_index(gains.argmax(), gains.shape)]
    while len(table) < seats:
        added: Floats = np.where(may_sit, gains[table].sum(axis=0), -1)
        added[table] = -1
        added[[i for one in taken for i in one.difference(table) if one <= {*table, i}]] = -1
        if added.max() < 0:
            return []
        table.append(int(added.argmax()))
    return table


def _why(information: Information, names: list[str], table: list[int], start: Floats) -> str:
    one, other = table[:2]
    for place, name in zip(table, names, strict=True):
        if not information.games[place]:
            return f"{name} is new"
    chance, half_width = 1 - information.doubts()[one, other] / 2, start[one, other]
    if information.lead[one, other] < 0:
        one, other, names = other, one, [names[1], names[0]]
    if 2 * (1 - chance) > OPEN:
        return f"{names[0]} is before {names[1]} with {100 * chance:.0f} %"
    return f"{names[0]} and {names[1]}: ± {half_width:.0f} Elo"
