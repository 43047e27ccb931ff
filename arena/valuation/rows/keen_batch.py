"""Playouts by the keen player: it also looks at what will fit after its tile, and in whose hands.

A play is worth more that is heavy, a double, hard to follow for the next seat, and easy for the own
hand: as the sample bot `counting` judges, but of the others it knows only how many tiles they hold.
Of two tiles a turn it plays as the plain player, and it draws only if it must.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from arena.valuation.rows.array_playouts import Batch, Ending
from arena.valuation.rows.array_rows import ArrayRows
from arena.valuation.rows.mask_tables import FREE, TILES, Ints, MaskTables, Places

PIPS, DOUBLE = 0.065, 1.1
"""The worth of a pip and of a double that leave the hand."""
STUCK = 20.0
"""The worth of a next seat that cannot play."""
FITS, SAFE = 0.3, 0.7
"""The worth of each own tile that then fits, and of the first of them."""


class KeenBatch(Batch):
    """Rounds in which the same keen player is to move."""

    def __init__(self, rows: ArrayRows, members: Places, ends: Places, ending: Ending) -> None:
        super().__init__(rows, members, ends, ending)
        self.needs |= {"line"}

    def _favourite(self, able: Ints, seat: int) -> Ints:
        """Return the tile of each hand that looks best, one after the other."""
        tables, found = self.tables, super()._favourite(able, seat)
        open_to = np.flatnonzero(able & (able - 1))
        hands, ends = self.hands[seat].take(open_to), self.ends.take(open_to)
        elsewhere = ~(hands | self.line.take(open_to)) & tables.bits.sum(dtype=tables.dtype)
        next_hands = self.hands[self.settings.after[seat]].take(open_to)
        likely = tables.sizes(next_hands) / np.maximum(tables.sizes(elsewhere), 1)
        best, left = np.full(len(open_to), -np.inf), able.take(open_to)
        some = np.arange(len(open_to))
        while some.size:
            tile = left & -left
            left ^= tile
            places = tables.places_of(tile)
            fitting = tables.fitting.take(tables.after.take(places + ends.take(some)))
            own = tables.sizes(hands.take(some) & fitting & ~tile)
            follow = tables.sizes(elsewhere.take(some) & fitting) * likely.take(some)
            worth = appeal(tables).take(places) + STUCK * np.exp(-follow)
            worth += FITS * own + SAFE * (own > 0)
            better = worth > best.take(some)
            best[some[better]] = worth[better]
            found[open_to[some[better]]] = tile[better]
            more = left != 0
            some, left = some[more], left[more]
        return found


@cache
def appeal(tables: MaskTables) -> NDArray[np.float64]:
    """Return the worth of each tile that leaves a hand, by its place in the tables of ends."""
    found = np.zeros(TILES)
    for at, (high, low) in enumerate(tables.tiles, FREE - 1):
        found[at] = PIPS * (high + low) + DOUBLE * (high == low)
    return found
