"""Playouts by players that look at what will fit after their tile.

A play is worth more that is heavy, a double, easy for the own hand to follow, and hard for the next
seat. Of two tiles a turn these players play as the plain player, and they draw only if they must.
"""

from functools import cache
from math import exp
from typing import NamedTuple

import numpy as np

from arena.valuation.rows.array_playouts import Batch, Ending
from arena.valuation.rows.array_rows import ArrayRows
from arena.valuation.rows.mask_tables import FREE, TILES, Ints, MaskTables, Places


class Taste(NamedTuple):
    """The parts of a play's worth, in thousandths."""

    pip: int
    """The worth of a pip that leaves the hand."""
    double: int
    """The worth of a double that leaves it."""
    fits: int
    """The worth of each own tile that then fits."""
    safe: int
    """The worth of the first of them."""
    stuck: int
    """The worth of a next seat that cannot play; 0: the player looks at its own hand only."""


KEEN = Taste(pip=65, double=1100, fits=300, safe=700, stuck=20_000)
"""The taste of the sample bot `counting`; of the others it knows only how many tiles they hold."""
CAUTIOUS = Taste(pip=70, double=1800, fits=600, safe=1500, stuck=0)
"""The taste of a player that keeps its own numbers open."""


class KeenBatch(Batch):
    """Rounds in which the same keen player is to move."""

    taste = KEEN

    def __init__(self, rows: ArrayRows, members: Places, ends: Places, ending: Ending) -> None:
        super().__init__(rows, members, ends, ending)
        self.worths = worths_of(self.tables, self.taste)
        if self.taste.stuck:
            self.needs |= {"line"}

    def _favourite(self, able: Ints, seat: int) -> Ints:
        """Return the tile of each hand that looks best; of equal ones the plain player's."""
        tables, worths, stuck = self.tables, self.worths, bool(self.taste.stuck)
        found = super()._favourite(able, seat)
        open_to = np.flatnonzero(able & (able - 1))
        hands, ends = self.hands[seat].take(open_to), self.ends.take(open_to)
        if stuck:
            elsewhere = tables.bits.sum(dtype=tables.dtype) & ~(hands | self.line.take(open_to))
            next_hands = self.hands[self.settings.after[seat]].take(open_to)
            likely = worths.row_of(tables.sizes(next_hands), tables.sizes(elsewhere))
        best, left = np.zeros(len(open_to), np.int32), able.take(open_to)
        some = np.arange(len(open_to))
        while some.size:
            tile = left & -left
            places = tables.places_of(tile)
            fitting = worths.fitting.take(places + ends.take(some))
            worth = worths.shed.take(places)
            worth += worths.own.take(np.bitwise_count(hands.take(some) & fitting))
            if stuck:
                follow = np.bitwise_count(elsewhere.take(some) & fitting)
                worth += worths.stuck.take(likely.take(some) + follow)
            best[some] = np.maximum(best.take(some), worth)
            left ^= tile
            more = left != 0
            some, left = some[more], left[more]
        found[open_to] = worths.tile.take(best & TILES - 1)
        return found


class CautiousBatch(KeenBatch):
    """Rounds in which the same cautious player is to move."""

    taste = CAUTIOUS


class Worths:
    """The parts of a play's worth as tables of whole numbers: the same on every machine.

    A whole worth counts `TILES`; what is below that tells the tile, the plain player's favourite
    highest.
    """

    def __init__(self, tables: MaskTables, taste: Taste) -> None:
        self.many = many = len(tables.tiles) + 1
        self.fitting = tables.fitting.take(tables.after)
        """The tiles that fit after a play, by the places of its ends and its tile."""
        self.shed, self.tile = np.zeros(TILES, np.int32), np.zeros(TILES, tables.dtype)
        """The worth of each tile that leaves the hand, by its place; and the tile it tells of."""
        for at, (high, low) in enumerate(tables.tiles, FREE - 1):
            worth = taste.pip * (high + low) + taste.double * (high == low)
            self.shed[at] = TILES * (1 + worth) - at
            self.tile[TILES - at] = tables.bits[at - FREE + 1]
        after = np.maximum(np.arange(-1, many, dtype=np.int32), 0)
        self.own = TILES * (taste.fits * after + taste.safe * (after > 0)).astype(np.int32)
        """The worth of the own tiles that then fit, by their number and the tile played, as that
        always fits too."""
        self.stuck = np.array(
            [
                TILES * round(taste.stuck * exp(-fitting * held / max(unseen, 1)))
                for held in range(many)
                for unseen in range(many)
                for fitting in range(many if taste.stuck else 0)
            ],
            np.int32,
        )
        """The worth of a next seat that may be stuck, by its tiles, and by all tiles that are
        neither in the own hand nor in the line and those of them that fit."""

    def row_of(self, held: Ints, unseen: Ints) -> Places:
        """Return the place in `stuck` of so many tiles of the next seat, of so many unseen."""
        places: Places = (held.astype(np.intp) * self.many + unseen) * self.many
        return places


@cache
def worths_of(tables: MaskTables, taste: Taste) -> Worths:
    """Return the worths of plays with a set of tiles."""
    return Worths(tables, taste)
