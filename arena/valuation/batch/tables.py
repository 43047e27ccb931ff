"""A set of tiles as tables for arrays of masks: what fits, the ends after a play, the pips held.

The bits stand in the plain player's order, its favourite tile lowest: the tile that it plays is the
lowest bit of those that fit. The two lowest bits stay free, see `TILES`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arena.engine.settings import Settings
from arena.valuation import why_no_values
from protocol.errors import UserError
from protocol.ruleset import Ruleset, hand_size, set_of_tiles
from protocol.tiles import Tile

Ints = NDArray[np.signedinteger]
"""Integers of a kind that may differ: masks, or small numbers in as few bytes as they need."""
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
"""Places in a table, or numbers of rounds in a batch."""

FREE = 2
"""The lowest bits, which no tile has: so the exponent of a mask of one tile is never that of 0."""
TILES = 64
"""Places that a table keeps for each two ends: one for each tile, by the exponent of its mask."""
SMALL = 32 - 1 - FREE
"""The most tiles of which masks have 32 bits; others have 64."""
PART = 16
"""The bits of a mask whose pips are looked up together."""
LEFT, RIGHT, HIGHER = range(3)
"""The end for a tile. `HIGHER`: that with the higher number if the tile fits it, else the other."""


def rank(tile: Tile) -> tuple[int, int, int]:
    """Return the rank of a tile, (high, low): doubles first, then more pips, then the higher."""
    return int(tile[0] == tile[1]), sum(tile), tile[0]


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
        self.all = self.bits.sum(dtype=self.dtype)
        """The mask of all tiles."""
        others = (seats - 1) * (hand_size(rules.deal, seats) or 0)
        self.last_place = len(tiles) - others - 1
        """The place in a hand of the last tile of the boneyard, see `RoundBatch.order`."""
        self.rank_of_bit = {self.settings.table.bit[tile]: at for at, tile in enumerate(self.tiles)}
        """The rank of each tile by its bit in the engine."""
        numbers = range(rules.deal.highest_pip + 1)
        self.suits = np.array([self._mask(_has(pip)) for pip in numbers])
        """The tiles of each number."""
        self.doubles = self._mask(lambda tile: tile[0] == tile[1])
        self.blank = self._mask(lambda tile: tile == (0, 0))
        """The 0-0, if the set has it."""
        self.pips = self.by_part([self.settings.pips[bit] for bit in self.rank_of_bit])
        """For each part of a mask, the pips of its tiles by its value."""
        self._fill_ends([(left, right) for left in numbers for right in numbers])

    def _mask(self, has: Callable[[Tile], bool]) -> np.signedinteger:
        bits = [1 << FREE + at for at, tile in enumerate(self.tiles) if has(tile)]
        return self.dtype(sum(bits))

    def by_part(self, worth: Sequence[int], join: np.ufunc = np.add) -> list[NDArray[np.int32]]:
        """Return for each part of a mask what its tiles are worth together, by its value."""
        by_bit = [0] * FREE + [*worth]
        parts = []
        for begin in range(0, len(by_bit), PART):
            joined = np.zeros(1, np.int32)
            for one in by_bit[begin : begin + PART]:
                joined = np.concatenate([joined, join(joined, np.int32(one))])
            parts.append(joined)
        return parts

    def _fill_ends(self, pairs: list[tuple[int, int]]) -> None:
        """Fill the tables of ends; their places are by the left and the right number.

        Then come the places before the first tile.
        """
        many = len(self.tiles)
        place = {pair: at * TILES for at, pair in enumerate(pairs)}
        self.ends = np.array([*place.values()], np.intp).reshape(len(self.suits), -1)
        """The ends by their two numbers. It is a place: that of the ends in each table below."""
        self.empty = len(pairs) * TILES
        """The ends before the first tile; then for each rank those at which only it may lead."""
        self.dead = self.empty + (1 + many) * TILES
        """The ends of a round that is over: nothing fits."""
        size = self.dead + TILES
        self.left, self.right = np.full((2, size), -1, np.int8)
        """The number on the left, and on the right; -1 before the first tile."""
        self.on_right, self.higher, self.lower = np.zeros((3, size), self.dtype)
        """The tiles that fit on the right, the higher number and the lower."""
        self.plays = np.zeros((3, size), self.dtype)
        """The tiles for the left end, for the right and to lead; equal ends are one place."""
        self.fitting, self.both = np.zeros((2, size), self.dtype)
        """The tiles that fit any end, and (but doubles) each."""
        self.low_end = np.zeros(size, np.int8)
        """The end with the lower number: `LEFT` or `RIGHT`."""
        ends = np.repeat(np.arange(0, size, TILES), TILES)
        self.after = np.stack([ends] * 3)
        """The ends after a play, by its end: at the place of the ends, plus that of the tile; 0 is
        no tile."""
        for (left, right), at in place.items():
            self.left[at], self.right[at] = left, right
            self.on_right[at] = self.suits[right]
            self.plays[:HIGHER, at] = self.suits[left], self.suits[right] * (left != right)
            low, high = sorted((left, right))
            self.higher[at], self.lower[at] = self.suits[high], self.suits[low]
            self.fitting[at] = self.suits[left] | self.suits[right]
            self.both[at] = self.suits[left] & self.suits[right] & ~self.doubles
            self.low_end[at] = LEFT if left < right else RIGHT
            for number, tile in enumerate(self.tiles, at + FREE - 1):
                if right in tile:
                    self.after[[RIGHT, HIGHER], number] = place[left, sum(tile) - right]
                if left in tile:
                    self.after[LEFT, number] = place[sum(tile) - left, right]
                    if left >= right or right not in tile:
                        self.after[HIGHER, number] = self.after[LEFT, number]
        leads = slice(self.empty, self.dead, TILES)
        for number, tile in enumerate(self.tiles):
            self.after[:, self.empty + FREE - 1 + number : self.dead : TILES] = place[tile]
        self.higher[leads] = self.lower[leads] = self.all
        self.fitting[leads] = [self.all, *self.bits]
        self.plays[HIGHER, leads] = self.all

    def held(self, masks: Ints) -> NDArray[np.int32]:
        """Return the pips that these hands count."""
        return self.look_up(self.pips, masks)

    def look_up(
        self, parts: list[NDArray[np.int32]], masks: Ints, join: np.ufunc = np.add
    ) -> NDArray[np.int32]:
        """Return what the tiles of each mask are worth together, see `by_part`."""
        found = np.zeros(masks.shape, np.int32)
        for at, own in enumerate(parts):
            join(found, own.take((masks >> PART * at) & (len(own) - 1)), out=found)
        return found

    def sizes(self, masks: Ints) -> NDArray[np.int32]:
        """Return the number of tiles in these hands."""
        return np.bitwise_count(masks).astype(np.int32)

    def each_tile(self, masks: Ints) -> tuple[Places, Ints]:
        """Return the tiles of all masks, favourites first: of which mask each is, and its own."""
        bits = np.unpackbits(masks.view(np.uint8), bitorder="little").view(np.bool_)
        of, exponents = np.divmod(np.flatnonzero(bits), 8 * masks.itemsize)
        return of, self.bits.take(exponents - FREE)

    def each_pair(self, able: Ints, ends: Places) -> tuple[Places, Ints, Ints]:
        """Return all pairs of these tiles, for the left end and for the right, and of which row."""
        rows, left = self.each_tile(able & self.plays[LEFT].take(ends))
        of, right = self.each_tile((able & self.on_right.take(ends)).take(rows) & ~left)
        return rows.take(of), left.take(of), right

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
        # The only tile for the lower number stays for it.
        higher &= ~np.where(lower & (lower - 1) == 0, lower, 0)
        high = higher & -higher
        lower &= ~high
        low = lower & -lower
        none = (high == 0) | (low == 0)
        return np.where(none, 0, high), np.where(none, 0, low)

    def ends_after(self, ends: Places, tile: Ints, end: int | Ints) -> Places:
        """Return the ends after a tile was put on one; 0 is no tile."""
        places = self.places_of(tile)
        places += ends
        if isinstance(end, int):
            after: Places = self.after[end].take(places)
        else:
            after = self.after.take(places + end.astype(np.intp) * self.after.shape[1])
        return after


def _has(pip: int) -> Callable[[Tile], bool]:
    return lambda tile: pip in tile


@lru_cache(maxsize=64)
def mask_tables(rules: Ruleset, seats: int) -> MaskTables:
    """Return the tables of a ruleset. Raises UserError for rules that arrays do not play."""
    if why := why_no_values(rules):
        raise UserError(
            f"There are no values for the rules {rules.name}: {why}. Leave out luck and reviews."
        )
    return MaskTables(rules, seats)
