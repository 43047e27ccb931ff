"""A set of tiles as tables for arrays of masks: what fits, the ends after a play, the pips held.

The bits stand in the plain player's order, its favourite tile lowest: the tile that it plays is the
lowest bit of those that fit. The two lowest bits stay free, see `TILES`.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arena.engine.settings import Settings
from arena.valuation.plain import rank
from protocol.ruleset import Ruleset, set_of_tiles
from protocol.tiles import Tile

Ints = NDArray[np.signedinteger]
"""Integers of a kind that may differ: masks, or small numbers in as few bytes as they need."""
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
"""Places in a table, or numbers of rows."""

FREE = 2
"""The lowest bits, which no tile has: so the exponent of a mask of one tile is never that of 0."""
TILES = 64
"""Places that a table keeps for each two ends: one for each tile, by the exponent of its mask."""
SMALL, LARGE = 32 - 1 - FREE, 64 - 1 - FREE
"""The most tiles of which masks have 32 bits, and 64."""
BEYOND = 100
"""More than the sum of any tile."""
PART = 16
"""The bits of a mask whose pips are looked up together."""


class MaskTables:
    """The tables of one ruleset at a table with a number of seats."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        self.rules, self.seats, self.settings = rules, seats, Settings(rules, seats)
        tiles = set_of_tiles(rules.deal)
        self.tiles = tuple(sorted(tiles, key=rank, reverse=True))
        """The tiles in the plain player's order; a tile's place here is its rank."""
        self.pairs = np.array(self.tiles, np.int8)
        """The two numbers of each tile by its rank."""
        self.dtype: type[np.signedinteger] = np.int32 if len(tiles) <= SMALL else np.int64
        """The type of a mask."""
        self.ranks = np.array([self.tiles.index(tile) for tile in tiles], np.int8)
        """The rank of each tile by its number in `set_of_tiles`."""
        self.bits: Ints = np.array([1 << FREE + at for at in range(len(tiles))], self.dtype)
        """The mask of each tile by its rank."""
        self.rank_of_bit = {self.settings.table.bit[tile]: at for at, tile in enumerate(self.tiles)}
        """The rank of each tile by its bit in the engine."""
        self.suits = np.array([self._mask(_has(pip)) for pip in self._numbers()])
        """The tiles of each number."""
        self.doubles = self._mask(lambda tile: tile[0] == tile[1])
        """The doubles."""
        self.blank = self._mask(lambda tile: tile == (0, 0))
        """The 0-0, if the set has it."""
        self.pips = self._sums([self.settings.pips[bit] for bit in self.rank_of_bit])
        """For each part of a mask, the pips of its tiles by its value."""
        by_place = [(0, 0)] * (FREE - 1) + [rank(tile)[:2] for tile in self.tiles]
        self.totals = np.array([total for _, total in by_place], np.intp)
        """The sum of each tile's numbers, by its place."""
        self.grades = np.array([double * BEYOND + total for double, total in by_place], np.intp)
        """The rank of each tile as far as its double and its sum tell."""
        self._fill_ends()

    def _numbers(self) -> range:
        return range(self.rules.deal.highest_pip + 1)

    def _mask(self, chosen: Callable[[Tile], bool]) -> np.signedinteger:
        """Return the mask of the tiles that are chosen."""
        bits = [1 << FREE + at for at, tile in enumerate(self.tiles) if chosen(tile)]
        return self.dtype(sum(bits))

    def _sums(self, worth: list[int]) -> list[NDArray[np.int16]]:
        """Return for each part of a mask the sums of what its tiles are worth."""
        by_bit = [0] * FREE + worth
        parts = []
        for begin in range(0, len(by_bit), PART):
            sums = np.zeros(1, np.int16)
            for one in by_bit[begin : begin + PART]:
                sums = np.concatenate([sums, sums + np.int16(one)])
            parts.append(sums)
        return parts

    def _fill_ends(self) -> None:
        """Fill the tables of ends.

        Their places are by the higher and the lower pip; then come those before the first tile.
        """
        numbers, many = self._numbers(), len(self.tiles)
        pairs = [(high, low) for high in numbers for low in range(high + 1)]
        place = {pair: at * TILES for at, pair in enumerate(pairs)}
        self.empty = len(pairs) * TILES
        """The ends before the first tile; then for each rank those at which only it may lead."""
        self.dead = self.empty + (1 + many) * TILES
        """The ends of a round that is over: nothing fits."""
        self.ends = np.array(
            [[place[max(one, two), min(one, two)] for two in numbers] for one in numbers], np.intp
        )
        """The ends by their two pips. It is a place: that of the ends in each table below."""
        size = self.dead + TILES
        self.high, self.low = np.zeros((2, size), np.intp)
        """The higher number, and the lower."""
        self.higher, self.lower, self.fitting, self.both = np.zeros((4, size), self.dtype)
        """The tiles that fit the higher number, the lower, any of both, and (but doubles) each."""
        self.after = np.repeat(np.arange(0, size, TILES), TILES)
        """The ends after a play: at the place of the ends, plus that of the tile; 0 is no tile."""
        for (high, low), at in place.items():
            self.high[at], self.low[at] = high, low
            self.higher[at], self.lower[at] = self.suits[high], self.suits[low]
            self.fitting[at] = self.suits[high] | self.suits[low]
            self.both[at] = self.suits[high] & self.suits[low] & ~self.doubles
            for number, tile in enumerate(self.tiles, at + FREE - 1):
                if high in tile:
                    self.after[number] = self.ends[sum(tile) - high, low]
                elif low in tile:
                    self.after[number] = self.ends[high, sum(tile) - low]
        for at in range(self.empty, self.dead, TILES):
            self.after[at + FREE - 1 : at + FREE - 1 + many] = [place[tile] for tile in self.tiles]
            self.higher[at] = self.lower[at] = self.bits.sum()
        self.fitting[self.empty] = self.bits.sum()
        self.fitting[self.empty + TILES : self.dead : TILES] = self.bits

    def held(self, masks: Ints) -> NDArray[np.int32]:
        """Return the pips that these hands count."""
        total = np.zeros(masks.shape, np.int32)
        for at, sums in enumerate(self.pips):
            total += sums.take((masks >> PART * at) & (len(sums) - 1))
        return total

    def sizes(self, masks: Ints) -> NDArray[np.int32]:
        """Return the number of tiles in these hands."""
        return np.bitwise_count(masks).astype(np.int32)

    def places_of(self, masks: Ints) -> Places:
        """Return the place of each mask of one tile in the tables of ends; 0 for no tile."""
        exponents: Places = masks.astype(np.float64).view(np.int64)
        exponents >>= 52
        exponents &= TILES - 1
        return exponents

    def dead_ends(self, ends: Places, line: Ints) -> Ints:
        """Return the number of dead ends: all tiles of their number lie in the line."""
        rest = ~line
        high, low = (table.take(ends) & rest == 0 for table in (self.higher, self.lower))
        dead: Ints = np.add(high, low, dtype=np.int8)
        return dead

    def can_play_two(self, hands: Ints, ends: Places) -> Flags:
        """Tell for each hand if it has two tiles for a turn: one for each end."""
        higher, lower = hands & self.higher.take(ends), hands & self.lower.take(ends)
        either = higher | lower
        can: Flags = (higher != 0) & (lower != 0) & (either & (either - 1) != 0)
        return can

    def can_end_two(self, hands: Ints, ends: Places) -> Flags:
        """Tell the same for when no more may be drawn: then a last tile is played alone."""
        alone = (hands & (hands - 1) == 0) & (hands & self.fitting.take(ends) != 0)
        can: Flags = alone | self.can_play_two(hands, ends)
        return can

    def best_pair(self, hands: Ints, ends: Places) -> tuple[Ints, Ints]:
        """Return the plain player's tiles for the higher and the lower number; 0 without a pair."""
        higher, lower = hands & self.higher.take(ends), hands & self.lower.take(ends)
        high, low = higher & -higher, lower & -lower
        # One tile may be the favourite of both: then it goes where the other end has the better.
        same = high == low
        higher ^= high
        lower ^= low
        next_high, next_low = higher & -higher, lower & -lower
        grades = (self.grades.take(self.places_of(one)) for one in (next_high, next_low))
        at_low = same & np.greater(*grades)
        high = np.where(at_low, next_high, high)
        low = np.where(same & ~at_low, next_low, low)
        none = (high == 0) | (low == 0)
        return np.where(none, 0, high), np.where(none, 0, low)

    def after_one(self, ends: Places, tile: Ints) -> Places:
        """Return the ends after a tile; 0 is none."""
        places = self.places_of(tile)
        places += ends
        return self.after.take(places)

    def after_two(self, ends: Places, high: Ints, low: Ints) -> Places:
        """Return the ends after a tile on the higher number and one on the lower; 0 is no pair."""
        one = self.totals.take(self.places_of(high)) - self.high.take(ends)
        two = self.totals.take(self.places_of(low)) - self.low.take(ends)
        return np.where(high != 0, self.ends[one, two], ends)


def _has(pip: int) -> Callable[[Tile], bool]:
    return lambda tile: pip in tile


@lru_cache(maxsize=64)
def mask_tables(rules: Ruleset, seats: int) -> MaskTables | None:
    """Return the tables of a ruleset; None if its rounds are too rare a kind for arrays.

    Those have deals that seats may refuse, a guess for the lead, or extra points for the last of
    two tiles; or their masks would have more than 64 bits.
    """
    deal = rules.deal
    last_tile = rules.score.capicu or rules.score.out_with_blank
    rare = (
        deal.refuse_doubles > 0
        or rules.lead.first == "odd_even"
        or (rules.turn.tiles == 2 and last_tile)
        or len(set_of_tiles(deal)) > LARGE
    )
    if rare:
        return None
    return MaskTables(rules, seats)
