"""The rules of play in numpy: rounds side by side, changed in place; equal to the engine."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from arena import engine
from arena.engine import scoring
from arena.engine.scoring import points_by
from arena.engine.state import Game, Method, Round
from arena.engine.tables import Settings
from arena.valuation.terms import why_no_values
from protocol.errors import UserError
from protocol.messages import Bid, Call, Draw, GoOn, Option, Pass, Play, PlayTwo
from protocol.ruleset import BY_DOUBLE, Ruleset, Tile, count_sides, hand_size, set_of_tiles

# A set of tiles as tables for arrays of masks: what fits, the ends after a play, the pips held.
#
# The bits stand in the plain player's order, its favourite tile lowest: the tile that it plays is
# the lowest bit of those that fit. The two lowest bits stay free, see `TILE_PLACES`.


Ints = NDArray[np.signedinteger]
"""Integers of a kind that may differ: masks, or small numbers in as few bytes as they need."""
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
"""Places in a table, or numbers of rounds in a batch."""

FREE_BITS = 2
"""The lowest bits, which no tile has: so the exponent of a mask of one tile is never that of 0."""
TILE_PLACES = 64
"""Places that a table keeps for each two ends: one for each tile, by the exponent of its mask."""
NARROW_MASK_TILES = 32 - 1 - FREE_BITS
"""The most tiles of which masks have 32 bits; others have 64."""
PART = 16
"""The bits of a mask whose pips are looked up together."""
LEFT_END, RIGHT_END, HIGHER = range(3)
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
        self.dtype: type[np.signedinteger] = (
            np.int32 if len(tiles) <= NARROW_MASK_TILES else np.int64
        )
        """The type of a mask."""
        self.ranks = np.array([self.tiles.index(tile) for tile in tiles], np.int8)
        """The rank of each tile by its number in `set_of_tiles`."""
        self.bits: Ints = np.array(
            [1 << FREE_BITS + rank for rank in range(len(tiles))], self.dtype
        )
        """The mask of each tile by its rank."""
        self.all = self.bits.sum(dtype=self.dtype)
        """The mask of all tiles."""
        others = (seats - 1) * (hand_size(rules.deal, seats) or 0)
        self.last_place = len(tiles) - others - 1
        """The place in a hand of the last tile of the boneyard, see `RoundBatch.order`."""
        table = self.settings.table
        self.rank_of_bit = {table.bit[tile]: rank for rank, tile in enumerate(self.tiles)}
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
        bits = [1 << FREE_BITS + rank for rank, tile in enumerate(self.tiles) if has(tile)]
        return self.dtype(sum(bits))

    def by_part(self, worth: Sequence[int], join: np.ufunc = np.add) -> list[NDArray[np.int32]]:
        """Return for each part of a mask what its tiles are worth together, by its value."""
        by_bit = [0] * FREE_BITS + [*worth]
        parts = []
        for begin in range(0, len(by_bit), PART):
            joined = np.zeros(1, np.int32)
            for value in by_bit[begin : begin + PART]:
                joined = np.concatenate([joined, join(joined, np.int32(value))])
            parts.append(joined)
        return parts

    def _fill_ends(self, pairs: list[tuple[int, int]]) -> None:
        """Fill the tables of ends; their places are by the left and the right number.

        Then come the places before the first tile.
        """
        count = len(self.tiles)
        place = {pair: index * TILE_PLACES for index, pair in enumerate(pairs)}
        self.ends = np.array([*place.values()], np.intp).reshape(len(self.suits), -1)
        """The place of two ends in each table below, by their two numbers."""
        self.empty = len(pairs) * TILE_PLACES
        """The place before the first tile; then for each rank the place where only it may lead."""
        self.dead = self.empty + (1 + count) * TILE_PLACES
        """The ends of a round that is over: nothing fits."""
        size = self.dead + TILE_PLACES
        self.left, self.right = np.full((2, size), -1, np.int8)
        """The number on the left, and on the right; -1 before the first tile."""
        self.on_right, self.higher, self.lower = np.zeros((3, size), self.dtype)
        """The tiles that fit on the right, the higher number and the lower."""
        self.plays = np.zeros((3, size), self.dtype)
        """The tiles for the left end, for the right and to lead; equal ends are one place."""
        self.fitting, self.both = np.zeros((2, size), self.dtype)
        """The tiles that fit any end, and (but doubles) each."""
        self.low_end = np.zeros(size, np.int8)
        """The end with the lower number: `LEFT_END` or `RIGHT_END`."""
        ends = np.repeat(np.arange(0, size, TILE_PLACES), TILE_PLACES)
        self.after = np.stack([ends] * 3)
        """The ends after a play, by its end; index: the place of the ends before, plus that of the
        tile, 0 for no tile."""
        for (left, right), index in place.items():
            self.left[index], self.right[index] = left, right
            self.on_right[index] = self.suits[right]
            self.plays[:HIGHER, index] = self.suits[left], self.suits[right] * (left != right)
            low, high = sorted((left, right))
            self.higher[index], self.lower[index] = self.suits[high], self.suits[low]
            self.fitting[index] = self.suits[left] | self.suits[right]
            self.both[index] = self.suits[left] & self.suits[right] & ~self.doubles
            self.low_end[index] = LEFT_END if left < right else RIGHT_END
            for number, tile in enumerate(self.tiles, index + FREE_BITS - 1):
                if right in tile:
                    self.after[[RIGHT_END, HIGHER], number] = place[left, sum(tile) - right]
                if left in tile:
                    self.after[LEFT_END, number] = place[sum(tile) - left, right]
                    if left >= right or right not in tile:
                        self.after[HIGHER, number] = self.after[LEFT_END, number]
        leads = slice(self.empty, self.dead, TILE_PLACES)
        for number, tile in enumerate(self.tiles):
            self.after[:, self.empty + FREE_BITS - 1 + number : self.dead : TILE_PLACES] = place[
                tile
            ]
        self.higher[leads] = self.lower[leads] = self.all
        self.fitting[leads] = [self.all, *self.bits]
        self.plays[HIGHER, leads] = self.all

    def count_pips(self, masks: Ints) -> NDArray[np.int32]:
        """Return the pips that these hands count."""
        return self.look_up(self.pips, masks)

    def look_up(
        self, parts: list[NDArray[np.int32]], masks: Ints, join: np.ufunc = np.add
    ) -> NDArray[np.int32]:
        """Return what the tiles of each mask are worth together, see `by_part`."""
        sums = np.zeros(masks.shape, np.int32)
        for index, table in enumerate(parts):
            join(sums, table.take((masks >> PART * index) & (len(table) - 1)), out=sums)
        return sums

    def sizes(self, masks: Ints) -> NDArray[np.int32]:
        """Return the number of tiles in these hands."""
        return np.bitwise_count(masks).astype(np.int32)

    def each_tile(self, masks: Ints) -> tuple[Places, Ints]:
        """Return the tiles of all masks, favourites first: the mask's number, the tile's mask."""
        bits = np.unpackbits(masks.view(np.uint8), bitorder="little").view(np.bool_)
        mask_numbers, exponents = np.divmod(np.flatnonzero(bits), 8 * masks.itemsize)
        return mask_numbers, self.bits.take(exponents - FREE_BITS)

    def each_pair(self, able: Ints, ends: Places) -> tuple[Places, Ints, Ints]:
        """Return all pairs of these tiles: row, tile for the left end, tile for the right end."""
        rows, left = self.each_tile(able & self.plays[LEFT_END].take(ends))
        pair_rows, right = self.each_tile((able & self.on_right.take(ends)).take(rows) & ~left)
        return rows.take(pair_rows), left.take(pair_rows), right

    def places_of(self, masks: Ints) -> Places:
        """Return the place of each mask of one tile in the tables of ends; 0 for no tile."""
        exponents: Places = masks.astype(np.float64).view(np.int64)
        exponents >>= 52
        exponents &= TILE_PLACES - 1
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
        able = higher | lower
        can: Flags = (higher != 0) & (lower != 0) & (able & (able - 1) != 0)
        return can

    def can_end_two(self, hands: Ints, ends: Places) -> Flags:
        """Tell the same for when no more may be drawn: then a last tile is played alone."""
        is_last = (hands & (hands - 1) == 0) & (hands & self.fitting.take(ends) != 0)
        can: Flags = is_last | self.can_play_two(hands, ends)
        return can

    def best_pair(self, hands: Ints, ends: Places) -> tuple[Ints, Ints]:
        """Return the plain player's tiles for the higher and the lower number; 0 without a pair."""
        higher, lower = hands & self.higher.take(ends), hands & self.lower.take(ends)
        # The only tile for the lower number stays for it.
        higher &= ~np.where(lower & (lower - 1) == 0, lower, 0)
        high = higher & -higher
        lower &= ~high
        low = lower & -lower
        is_missing = (high == 0) | (low == 0)
        return np.where(is_missing, 0, high), np.where(is_missing, 0, low)

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


# Scores of finished rounds in arrays: winners and points, as in `arena.engine.scoring`.


PointsArray = NDArray[np.int32]
CAPICU, BLANK = 1, 2
"""Bits that tell of a last tile: it fitted both ends; it was the 0-0."""
NO_PARTY = -1


def round_gains(
    tables: MaskTables,
    hands: Ints,
    last_seat: Ints,
    last_tile: Ints,
    bonus: PointsArray,
    pot: PointsArray,
) -> PointsArray:
    """Return what each seat gains by the end of each round, the pot included; fees are not here.

    `hands` are the masks that are left, `last_seat` and `last_tile` tell of the last play, `bonus`
    are the extra points for a round of this number.
    """
    score, rows = tables.rules.score, np.arange(hands.shape[1])
    pips = tables.count_pips(hands)
    party = parties(tables, pips)
    out = _single(hands == 0)
    won = _winner(tables, hands, party, out, last_seat)
    total = party.sum(axis=0, dtype=np.int32)
    own_pips = party[won, rows]
    points = np.where(
        out >= 0,
        points_by(score.points_out, own_pips, total - own_pips, len(party) - 1),
        points_by(score.points_blocked, own_pips, total - own_pips, len(party) - 1),
    )
    worth = np.maximum(points, 0) + bonus + pot
    if score.capicu or score.out_with_blank:
        last = np.where((out >= 0) & (out % len(party) == won), last_tile, 0)
        worth = worth + score.capicu * (last & CAPICU != 0)
        worth += score.out_with_blank * (last & BLANK != 0)
    gains = np.zeros_like(party)
    gains[won, rows] = np.where(won >= 0, worth, 0)
    return seats_of(tables, gains)


def parties(tables: MaskTables, values: PointsArray) -> PointsArray:
    """Add the values of partners: return one for each side, or without partners for each seat."""
    return values[:2] + values[2:] if tables.rules.deal.partners else values


def seats_of(tables: MaskTables, sides: PointsArray) -> PointsArray:
    """Return for each seat the value of its side."""
    return np.concatenate([sides, sides]) if tables.rules.deal.partners else sides


def find_lightest(party: PointsArray) -> Ints:
    """Return the side with the fewest pips in each row; `NO_PARTY` if several have them."""
    return _find_lowest(np.ones_like(party, np.bool_), party)


def _find_lowest(among: Flags, values: Ints) -> Ints:
    """Return of these sides the one with the lowest value; `NO_PARTY` if none or several do."""
    value = np.where(among, values, np.iinfo(np.int32).max)
    return _single((value == value.min(axis=0)) & among)


def _single(flags: Flags) -> Ints:
    """Return the only seat or side whose flag is set in each row; `NO_PARTY` if not one is."""
    holders, counts = np.full(flags.shape[1], NO_PARTY, np.int32), flags.sum(axis=0, dtype=np.int8)
    for number, flag in enumerate(flags):
        holders[flag] = number
    holders[counts != 1] = NO_PARTY
    return holders


def _winner(
    tables: MaskTables, hands: Ints, party: PointsArray, out: Ints, last_seat: Ints
) -> Ints:
    score = tables.rules.score
    won = find_lightest(party)
    if score.tie != "nobody":
        won = np.where((won == NO_PARTY) & (out < 0), _broken(tables, hands, party, last_seat), won)
    if score.winner == "out":
        won = np.where(out >= 0, out % len(party), won)
    return won


def _broken(tables: MaskTables, hands: Ints, party: PointsArray, last_seat: Ints) -> Ints:
    """Return the winner of each tied blocked round (C.37)."""
    tied = party == party.min(axis=0)
    match tables.rules.score.tie:
        case "nobody":
            return np.full_like(last_seat, NO_PARTY)
        case "blocker":
            return np.where(last_seat >= 0, last_seat % len(party), NO_PARTY)
        case "fewest_tiles":
            return _find_lowest(tied, parties(tables, tables.sizes(hands)))
        case "lowest_end":
            heaviest = np.zeros(hands.shape, np.int32)
            for pip, suit in enumerate(tables.suits):
                heaviest[hands & suit != 0] = pip
            if tables.rules.deal.partners:
                heaviest = np.maximum(heaviest[:2], heaviest[2:])
            return _find_lowest(tied, heaviest)
        case "outsider":
            return _find_lowest(~tied, party)
        case _:
            assert_never(tables.rules.score.tie)


# Rounds side by side, changed in place: what the seat to move may do, and what follows from it.
#
# Hands are masks, the boneyard is an order with pointers. It does what the engine does, and a test
# holds it equal to the engine step by step.


NumberArray = NDArray[np.integer]
"""Numbers of tiles, seats or rounds. A tile's number is its place in `set_of_tiles`."""
RowChoice = slice | Places
"""Some rounds of a batch."""
ALL_ROUNDS = slice(None)
END_NUMBER = {"left": LEFT_END, "right": RIGHT_END, "lead": HIGHER}


class RoundBatch:
    """Rounds of one ruleset and number of seats; the last axis of an array is the round.

    A batch for playouts has only the arrays that its rules need, see `names_needed`.
    """

    hands: Ints
    """The tiles of each seat, as masks."""
    order: NDArray[np.int8]
    """For each tile, by its rank, its place in its hand; a tile drawn later has a later one."""
    front: Places
    """For each row of the boneyard the place in `stock` of its first tile."""
    back: Places
    """The place after its last tile."""
    drawable: Ints
    """The number of tiles that may still be drawn."""
    ends: Places
    """The ends of the line, as places in the tables."""
    fitting: Ints
    line: Ints
    """The tiles in the line, as a mask."""
    turn: NDArray[np.int8]
    """The seat to move; while seats are asked for a call, the seat that moves after that."""
    ask_count: NDArray[np.int8]
    """The number of seats that are still to be asked whether they call the round blocked."""
    drawn: Ints
    """Tiles drawn in this turn."""
    passes: NDArray[np.int8]
    """Passes since the last play or draw."""
    last_seat: NDArray[np.int8]
    """The seat that played last; -1: none did."""
    last_tile: NDArray[np.int8]
    """The facts about the last tile that bring extra points: see `CAPICU` and `BLANK`."""
    is_over: Flags
    credited: Flags
    """True if `points` have what the round brought: it was over when the batch was made."""
    bonus: PointsArray
    """Extra points for winning a round of this number."""
    pot: PointsArray
    points: PointsArray
    """Points of each seat, fees paid, without those of a round that ended in this batch."""

    def __init__(
        self, tables: MaskTables, stock: NDArray[np.int8], arrays: Mapping[str, Any]
    ) -> None:
        self.tables, self.settings = tables, tables.settings
        self.stock = stock
        """The ranks of the tiles of all boneyards; never changed, so batches share it."""
        self.names = frozenset(arrays)
        """The names of its arrays."""
        vars(self).update(arrays)

    @classmethod
    def from_games(cls, games: Sequence[Game]) -> "RoundBatch":
        """Return a batch of games of one ruleset and number of seats, tiles dealt in each.

        Where an auction is open nobody bids any more. Raises UserError for rules that arrays do
        not play.
        """
        games = [_auctioned(game) for game in games]
        return _batch_of(mask_tables(games[0].rules, games[0].seats), games)

    @classmethod
    def in_orders(cls, games: Sequence[Game], orders: Sequence[NumberArray]) -> "RoundBatch":
        """Return each game once for each of its orders of the boneyard, see `lay_stock`."""
        batch = cls.from_games(games).repeat(np.array([len(part) for part in orders]))
        padded, begin = np.zeros((len(batch), max(part.shape[1] for part in orders)), np.int16), 0
        for part in orders:
            padded[begin : begin + len(part), : part.shape[1]] = part
            begin += len(part)
        batch.lay_stock(padded)
        return batch

    @staticmethod
    def joined(parts: "Sequence[RoundBatch]") -> "RoundBatch":
        """Return the rounds of all parts, in their order."""
        sizes = [len(part.stock) for part in parts]
        begin = np.repeat(np.cumsum([0, *sizes[:-1]]), [len(part) for part in parts])
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in parts[0].names
        }
        arrays["front"] += begin
        arrays["back"] += begin
        return RoundBatch(parts[0].tables, np.concatenate([part.stock for part in parts]), arrays)

    def __len__(self) -> int:
        """Return the number of rounds."""
        return len(self.is_over)

    # --- copies ---

    def select(self, rows: NumberArray, names: Collection[str] | None = None) -> "RoundBatch":
        """Return a copy of these rounds, in their order; a number may come more than once."""
        arrays: dict[str, Any] = {
            name: getattr(self, name).take(rows, axis=-1) for name in names or self.names
        }
        return RoundBatch(self.tables, self.stock, arrays)

    def repeat(self, count: int | NumberArray) -> "RoundBatch":
        """Return each round `count` times, one after the other; or a count for each."""
        return self.select(np.repeat(np.arange(len(self)), count))

    def keep(self, rows: Places) -> None:
        """Keep these rounds only."""
        for name in self.names:
            setattr(self, name, getattr(self, name).take(rows, axis=-1))

    def replace(self, rows: Places, other: "RoundBatch") -> None:
        """Put the rounds of another batch in the places of rows; both were made by `from_games`."""
        for name in self.names:
            getattr(self, name)[..., rows] = getattr(other, name)
        width = len(self.tables.tiles)
        self.stock.reshape(-1, width)[rows] = other.stock.reshape(-1, width)
        for pointers in (self.front, self.back):
            pointers[:, rows] += (rows - np.arange(len(rows))) * width

    # --- other tiles ---

    def lay_stock(self, orders: NumberArray) -> None:
        """Lay these tiles in the boneyards.

        `orders` has the tiles' numbers for each round, or one order for all: first those of the
        first row of the boneyard from front to back, then of the next. The rows keep their lengths;
        numbers beyond them are ignored.
        """
        lengths, width = self.back - self.front, orders.shape[-1]
        if width < lengths.sum(axis=0).max(initial=0):
            raise ValueError("An order has fewer tiles than the boneyard. Name all of them.")
        orders = np.broadcast_to(orders, (len(self), width))
        self.stock = self.tables.ranks.take(orders).reshape(-1)
        self.back = np.cumsum(lengths, axis=0) + np.arange(len(self)) * width
        self.front = self.back - lengths

    def set_hands(self, hands: Mapping[int, NumberArray]) -> None:
        """Replace the hands of these seats.

        Each seat's array has the tiles' numbers for each round, or one hand for all; -1 is no tile.
        """
        bits = np.append(self.tables.bits.take(self.tables.ranks), self.tables.dtype(0))
        for seat, tiles in hands.items():
            self.hands[seat] = np.bitwise_or.reduce(bits[tiles], axis=-1)
            tiles = np.broadcast_to(tiles, (len(self), tiles.shape[-1]))
            rows, places = np.nonzero(tiles >= 0)
            self.order[self.tables.ranks.take(tiles[rows, places]), rows] = places

    # --- the lead ---

    def deal(self, orders: NumberArray, method: Method) -> None:
        """Deal rounds that were only laid out, and begin them, see `find_leaders`.

        `orders` has the numbers of all tiles for each round: the hands, and then the boneyard.
        """
        seats = len(self.hands)
        size = hand_size(self.tables.rules.deal, seats) or 0
        self.set_hands({n: orders[:, n * size : (n + 1) * size] for n in range(seats)})
        # All tiles, so that rounds can take each other's places, see `replace`.
        self.lay_stock(np.roll(orders, -seats * size, axis=1))
        self.find_leaders(method)

    def find_leaders(self, method: Method) -> None:
        """Begin rounds that were only laid out, see `arena.engine.deal.lay_out`; all deals count.

        `method`: that by which leaders are decided. The seats draw for the lead from the boneyard
        as it lies, or its front tile is turned up.
        """
        tables, lead = self.tables, self.tables.rules.lead
        tile = np.zeros(len(self), tables.dtype)
        if method in BY_DOUBLE:
            if lead.missing == "draw_for_it":
                self._draw_for_double(tables.bits[0] if method == "double_six" else tables.doubles)
            tiles = np.bitwise_or.reduce(self.hands, axis=0)
            tile = tiles & -tiles
            self.turn = (self.hands & tile != 0).argmax(axis=0).astype(np.int8)
        if lead.tile == "highest":
            hands = self.hands[self.turn, np.arange(len(self))]
            tile = hands & -hands
        if lead.tile != "any":
            must = np.maximum(tables.places_of(tile) - FREE_BITS + 2, 0)
            self._set_ends(ALL_ROUNDS, tables.empty + must * TILE_PLACES)
        if tables.rules.deal.starter:
            self._turn_up_starter()
        self._open_play()

    def _draw_for_double(self, wanted: np.signedinteger) -> None:
        """Let the seats draw a tile each in turn until one has a tile of these (C.3)."""
        rows = np.arange(len(self))
        while (rows := rows[np.bitwise_or.reduce(self.hands[:, rows]) & wanted == 0]).size:
            for seat, places in self._by_seat(rows):
                self._take_next_tile(seat, rows[places])
                self.drawable[rows[places]] = np.maximum(self.drawable[rows[places]] - 1, 0)
                self.turn[rows[places]] = self.settings.after[seat]

    def _turn_up_starter(self) -> None:
        """Begin each line with the front tile of the first row that has any (E deal)."""
        rows = np.arange(len(self))
        first_row = (self.front < self.back).argmax(axis=0)
        tile = self.tables.bits.take(self.stock.take(self.front[first_row, rows]))
        self.front[first_row, rows] += 1
        self.drawable = np.maximum(self.drawable - 1, 0)
        self.line = tile
        self._set_ends(ALL_ROUNDS, self.tables.ends_after(self.ends, tile, HIGHER))

    def _open_play(self) -> None:
        """Begin play: the seats pay their antes."""
        rules = self.tables.rules
        if rules.stakes.ante:
            paid = np.full_like(self.points, rules.stakes.ante)
            if rules.stakes.chips:
                paid = np.minimum(paid, self.points + rules.stakes.chips)
            self.points -= paid
            self.pot += paid[: count_sides(rules.deal.partners, len(paid))].sum(axis=0)
        self._settle(ALL_ROUNDS)

    # --- options ---

    def legal(self, rows: RowChoice, seat: int | None = None) -> tuple[Ints, Flags]:
        """Return the tiles that the seat to move may play, and where it may draw.

        `seat`: the seat, if it is the same in all these rounds. Where a turn plays two tiles there
        are tiles only if two, or the last, can be played.
        """
        settings, tables = self.settings, self.tables
        turn = self.turn[rows] if seat is None else seat
        hand = self.hands[turn, rows] if seat is None else self.hands[seat][rows]
        able = hand & self.fitting[rows]
        if settings.two_tiles:
            can_end = (hand & (hand - 1) == 0) & (self.drawable[rows] == 0)
            able[~(can_end | tables.can_play_two(hand, self.ends[rows]))] = 0
        if settings.two_at_once:
            able[(self.drawn[rows] == 1) & (self.drawable[rows] > 0)] = 0
        draws = self.drawable[rows] > 0
        if not settings.draw_when_able:
            draws &= able == 0
        else:
            # The only tile that may be led must be led.
            first = tables.empty + TILE_PLACES * settings.leader_may_draw
            draws &= (able == 0) | (self.ends[rows] < first)
        if "drawn" in self.names:
            draws &= self.drawn[rows] < settings.draw_limit
        if settings.fee and settings.chips:
            draws &= self.points[turn, rows] + settings.chips >= settings.fee
        return able, draws

    def may_pass(self, able: Ints, draws: Flags) -> Flags:
        """Tell in which rounds the seat to move may pass, by what `legal` returns."""
        passes: Flags = able == 0
        return passes if self.settings.draw_optional else passes & ~draws

    def plays_by_end(self, rows: RowChoice, able: Ints) -> Ints:
        """Return the tiles of `legal` for the left end, for the right, and to lead."""
        tiles: Ints = self.tables.plays.take(self.ends[rows], axis=1)
        tiles &= able
        return tiles

    def plays(self) -> tuple[Places, tuple[Ints, Ints], tuple[Ints, Ints]]:
        """Return all plays, and a pass where there is none: the round, and two tiles with ends.

        The rounds are ascending; where a turn plays one tile the second is none.
        """
        tables, rounds = self.tables, np.arange(len(self))
        able, _ = self.legal(rounds)
        hands = self.hands[self.turn, rounds]
        two = self.settings.two_tiles & (hands & (hands - 1) != 0)
        rows, left, right = tables.each_pair(np.where(two, able, 0), self.ends)
        end_rows, tiles = tables.each_tile(
            self.plays_by_end(ALL_ROUNDS, np.where(two, 0, able)).T.ravel()
        )
        passing = np.flatnonzero(able == 0)
        play_rows = np.concatenate([rows, end_rows // 3, passing])
        order, no_tiles = np.argsort(play_rows, kind="stable"), np.zeros(len(passing), tables.dtype)
        first = np.concatenate([left, tiles, no_tiles])[order]
        ends = np.concatenate([np.full(len(rows), LEFT_END), end_rows % 3, no_tiles])[order]
        second = np.zeros(len(play_rows), tables.dtype)
        second[: len(rows)] = right
        return play_rows[order], (first, ends), (second[order], np.full(len(play_rows), RIGHT_END))

    # --- acts ---

    def take(self, options: Sequence[Option], numbers: NumberArray) -> None:
        """Take an option in each round; `numbers` are those of options that are legal there.

        Raises ValueError for an option that no array of states knows: act on the games instead.
        """
        kinds = np.array([_kind(option) for option in options]).take(numbers)
        puts = np.array([self.puts(option) for option in options], np.int64)[numbers]
        self.draw(np.flatnonzero(kinds == DRAW_KIND))
        self.answer(np.flatnonzero(kinds == ANSWER_KIND), puts[kinds == ANSWER_KIND, 0] != 0)
        plays = np.flatnonzero(kinds == PLAY_KIND)
        count = 2 if any(isinstance(option, PlayTwo) for option in options) else 1
        masks = puts[plays].astype(self.tables.dtype)
        ends = puts[plays].astype(np.intp)
        self.play(plays, *[(masks[:, 2 * index], ends[:, 2 * index + 1]) for index in range(count)])

    def puts(self, option: Option) -> tuple[int, ...]:
        """Return the mask of the first tile and its end, and of the second; 0 is no tile."""
        mask = dict(zip(self.tables.tiles, self.tables.bits.tolist(), strict=True))
        match option:
            case Play():
                return mask[option.tile], END_NUMBER[option.end], 0, LEFT_END
            case PlayTwo():
                return mask[option.left], LEFT_END, mask[option.right], RIGHT_END
            case _:
                return isinstance(option, Call), LEFT_END, 0, LEFT_END

    def _by_seat(self, rows: Places) -> Iterator[tuple[int, Places]]:
        """Yield each seat that is to move, and the places in `rows` of its rounds."""
        turn = self.turn[rows]
        for seat in range(self.tables.seats):
            places = np.flatnonzero(turn == seat)
            if places.size:
                yield seat, places

    def play(self, rows: Places, *puts: tuple[Ints, Ints]) -> None:
        """Play tiles in these rounds, each with its end, or pass where no mask has a tile."""
        for seat, places in self._by_seat(rows):
            self.play_of(seat, rows[places], *[(tile[places], end[places]) for tile, end in puts])

    def play_of(
        self, seat: int, rows: RowChoice, *puts: tuple[Ints, int | Ints], drew: Places | None = None
    ) -> None:
        """Do as `play` where the same seat is to move; `drew`: rows where a draw was the turn."""
        played = self._put_tiles(seat, rows, *puts[0])
        for tile_and_end in puts[1:]:
            played = played | self._put_tiles(seat, rows, *tile_and_end)
        if "passes" in self.names:
            self.passes[rows] = np.where(played != 0, 0, self.passes[rows] + 1)
            if drew is not None:
                self.passes[drew] = 0
        self._next_turn(seat, rows)

    def _put_tiles(self, seat: int, rows: RowChoice, tile: Ints, end: int | Ints) -> Ints:
        """Move tiles of a seat to an end of the line; return them."""
        tables, before = self.tables, self.ends[rows]
        self.hands[seat][rows] ^= tile
        if "line" in self.names:
            self.line[rows] |= tile
        if "last_seat" in self.names:
            self.last_seat[rows] = np.where(tile != 0, seat, self.last_seat[rows])
        if "last_tile" in self.names:
            capicu = np.where(tile & tables.both.take(before) != 0, CAPICU, 0)
            facts = np.where(tile & tables.blank != 0, BLANK, 0) | capicu
            self.last_tile[rows] = np.where(tile != 0, facts, self.last_tile[rows])
        self._set_ends(rows, tables.ends_after(before, tile, end))
        return tile

    def _set_ends(self, rows: RowChoice, ends: Places) -> None:
        fitting = self.tables.fitting.take(ends)
        if isinstance(rows, slice):
            self.ends, self.fitting = ends, fitting
        else:
            self.ends[rows], self.fitting[rows] = ends, fitting

    def draw(self, rows: Places) -> None:
        """Draw in these rounds the tile that lies next."""
        for seat, places in self._by_seat(rows):
            drew = rows[places]
            self.draw_tile(seat, drew)
            if self.settings.draw_ends_turn:
                self._next_turn(seat, drew)
            else:
                self.is_over[drew] |= self._is_blocked(drew)

    def draw_tile(self, seat: int, rows: Places) -> None:
        """Let a seat draw and pay in these rounds; `play_of` then ends the turn."""
        settings = self.settings
        self._take_next_tile(seat, rows)
        self.drawable[rows] -= 1
        if "drawn" in self.names:
            self.drawn[rows] += 1
        if "passes" in self.names:
            self.passes[rows] = 0
        if settings.fee:
            for member in settings.sides[seat]:
                self.points[member][rows] -= settings.fee
            self.pot[rows] += settings.fee * self.tables.rules.stakes.pot

    def _take_next_tile(self, seat: int, rows: Places) -> None:
        """Move the tile that a seat draws next into its hand."""
        first_row, row_count = self.settings.own_row[seat], len(self.front)
        if row_count == 1:
            places = self._past(seat, 0, rows)
        else:
            places, left = np.empty_like(rows), np.ones(len(rows), np.bool_)
            for number in range(first_row, first_row + row_count):
                row = number % row_count
                is_next = left & (self.front[row][rows] < self.back[row][rows])
                places[is_next] = self._past(seat, row, rows[is_next])
                left &= ~is_next
        ranks = self.stock.take(places)
        self.hands[seat][rows] |= self.tables.bits.take(ranks)
        if "order" in self.names:
            stock = self.back[:, rows] - self.front[:, rows]
            self.order[ranks, rows] = self.tables.last_place - stock.sum(axis=0)

    def _past(self, seat: int, row: int, rows: Places) -> Places:
        """Move a pointer past the next tile in a row of the boneyard; return the tile's place."""
        if self.settings.from_back[seat]:
            place: Places = self.back[row][rows] - 1
            self.back[row][rows] = place
        else:
            place = self.front[row][rows]
            self.front[row][rows] = place + 1
        return place

    def answer(self, rows: Places, calls: Flags) -> None:
        """Let the next seat call these rounds blocked, where `calls` is true, or go on."""
        self.is_over[rows[calls]] = True
        self.ask_count[rows[~calls]] -= 1

    def _next_turn(self, seat: int, rows: RowChoice) -> None:
        """End a turn of a seat: it went out, or the next seat moves."""
        if "turn" in self.names:
            self.turn[rows] = self.settings.after[seat]
        if "drawn" in self.names:
            self.drawn[rows] = 0
        self.is_over[rows] |= self.hands[seat][rows] == 0
        self._settle(rows)

    def _settle(self, rows: RowChoice) -> None:
        """End the rounds that are blocked; where a seat may call that, ask all of them."""
        self.is_over[rows] |= self._is_blocked(rows)
        least = self.settings.dead_ends_to_call
        if least:
            dead = self.tables.dead_ends(self.ends[rows], self.line[rows])
            asks = ~self.is_over[rows] & (dead >= least)
            self.ask_count[rows] = np.where(asks, self.tables.seats, 0)

    def _is_blocked(self, rows: RowChoice) -> Flags:
        """Tell in which rounds nobody can play or draw, or what else ends a round early."""
        fitting, drawable, ends = self.fitting[rows], self.drawable[rows], self.ends[rows]
        tiles = self.hands[0][rows] | self.hands[1][rows]
        for hand in self.hands[2:]:
            tiles |= hand[rows]
        tiles &= fitting
        if self.settings.two_tiles:
            dry = np.flatnonzero((drawable == 0) & (tiles != 0))
            hands = np.array([hand[rows][dry] for hand in self.hands])
            can = self.tables.can_end_two(hands, ends[dry]).any(axis=0)
            tiles[dry[~can]] = 0
        tiles |= drawable
        blocked: Flags = tiles == 0
        if self.settings.dead_ends_to_end:
            blocked |= fitting & ~self.line[rows] == 0
        if self.settings.draw_optional:
            blocked |= self.passes[rows] >= self.tables.seats
        return blocked

    def freeze(self, rows: Places) -> None:
        """Leave rounds that are over without any option: nothing fits, nothing can be drawn."""
        self.ends[rows] = self.tables.dead
        self.fitting[rows] = 0
        self.drawable[rows] = 0

    def numbers(self, rows: RowChoice) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the numbers at the left and the right end of lines; -1 before the first tile."""
        ends = self.ends[rows]
        return self.tables.left.take(ends), self.tables.right.take(ends)

    # --- points ---

    @property
    def gains(self) -> PointsArray:
        """Points that each seat gained by the ends of rounds in this batch, the pot included."""
        last = self.last_seat, self.last_tile
        gains = round_gains(self.tables, self.hands, *last, self.bonus, self.pot)
        gains[:, ~self.is_over | self.credited] = 0
        return gains

    @property
    def scores(self) -> PointsArray:
        """Points of each seat (a column) in each round (a row), what its end brought included."""
        return (self.points + self.gains).T

    def scores_of(self, rows: NumberArray) -> PointsArray:
        """Return the scores of these rounds."""
        return self.select(rows, RESULTS).scores


RESULTS = frozenset(
    ("hands", "last_seat", "last_tile", "is_over", "credited", "bonus", "pot", "points")
)
"""The names of the arrays by which a batch scores."""
PLAY_KIND, DRAW_KIND, ANSWER_KIND = range(3)
"""Kinds of options; a pass plays no tile."""


def _kind(option: Option) -> int:
    match option:
        case Play() | PlayTwo() | Pass():
            return PLAY_KIND
        case Draw():
            return DRAW_KIND
        case Call() | GoOn():
            return ANSWER_KIND
        case _:
            raise ValueError(f"Arrays of states know no such option: {option}.")


def names_needed(tables: MaskTables) -> frozenset[str]:
    """Return the names of the arrays that change in rounds by these rules and decide anything."""
    settings, score = tables.settings, tables.rules.score
    always = "hands", "front", "back", "drawable", "ends", "fitting", "is_over"
    sometimes = {
        "drawn": settings.draw_limit < len(tables.tiles),
        "passes": settings.draw_optional,
        "line": settings.dead_ends_to_end or settings.dead_ends_to_call,
        "ask_count": settings.dead_ends_to_call,
        "turn": settings.dead_ends_to_call,
        "last_seat": score.tie == "blocker",
        "last_tile": score.capicu or score.out_with_blank,
        "points": settings.fee,
        "pot": settings.fee,
    }
    return frozenset((*always, *(name for name, needed in sometimes.items() if needed)))


def _auctioned(game: Game) -> Game:
    """Return a game without an open auction: nobody bids any more."""
    if game.playing.phase.name != "auction":
        return game
    game = game.copy()
    while game.playing.phase.name == "auction":
        engine.act_unchecked(game, Bid(0))
    return game


def _batch_of(tables: MaskTables, games: Sequence[Game]) -> RoundBatch:
    states, width = [game.playing for game in games], len(tables.tiles)
    score = tables.rules.score
    rank = tables.rank_of_bit.__getitem__
    bit = dict(zip(tables.rank_of_bit, tables.bits.tolist(), strict=True)).__getitem__
    stock = [[rank(tile) for row in state.stock_rows for tile in row] for state in states]
    lengths = np.array([[len(row) for row in state.stock_rows] for state in states]).T
    row_ends = np.cumsum(lengths, axis=0) + np.arange(len(games)) * width
    hand_masks = [[sum(map(bit, hand)) for hand in state.hand_bits] for state in states]
    hands: Ints = np.array(hand_masks, tables.dtype).T.copy()
    lying = [sum(map(bit, chain(*state.stock_rows))) for state in states]
    ends = np.array([_ends(tables, state) for state in states], np.intp)

    def small(fact: Callable[[Round], int], kind: Any = np.int8) -> NDArray[Any]:
        return np.array([fact(state) for state in states], kind)

    order = np.zeros((width, len(states)), np.int8)
    for row, state in enumerate(states):
        for hand in state.hand_bits:
            order[[*map(rank, hand)], row] = range(len(hand))
    arrays = {
        "hands": hands,
        "order": order,
        "front": row_ends - lengths,
        "back": row_ends,
        "drawable": small(lambda state: state.drawable, tables.dtype),
        "ends": ends,
        "fitting": tables.fitting.take(ends),
        "line": tables.all & ~np.bitwise_or.reduce(hands) & ~np.array(lying, tables.dtype),
        "turn": small(_turn),
        "ask_count": small(lambda state: len(state.phase.queue)),
        "drawn": small(lambda state: state.drawn),
        "passes": small(lambda state: state.passes),
        "last_seat": small(_last_seat),
        "last_tile": np.zeros(len(states), np.int8),
        "is_over": small(lambda state: state.over is not None, np.bool_),
        "credited": small(lambda state: state.over is not None, np.bool_),
        "bonus": small(lambda state: scoring.bonus_of_round(score, state.number), np.int32),
        "pot": np.array([game.pot for game in games], np.int32),
        "points": np.array([game.scores for game in games], np.int32).T.copy(),
    }
    orders = [order + [0] * (width - len(order)) for order in stock]
    return RoundBatch(tables, np.array(orders, np.int8).reshape(-1), arrays)


def _ends(tables: MaskTables, state: Round) -> int:
    if state.layout:
        return int(tables.ends[state.ends.left, state.ends.right])
    tile = state.phase.must_lead
    return tables.empty + (0 if tile is None else tables.tiles.index(tile) + 1) * TILE_PLACES


def _turn(state: Round) -> int:
    return state.phase.next_seat if state.phase.name == "call" else state.turn


def _last_seat(state: Round) -> int:
    last = scoring.last_play(state)
    return last.seat if last else -1
