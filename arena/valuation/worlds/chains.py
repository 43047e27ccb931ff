"""Worlds: hidden tiles dealt anew so that a seat could not tell, for many questions at once.

Worlds are drawn by a Markov chain that moves tiles in small circles from place to place and begins
with the real world; every permitted world is equally likely in the long run (Metropolis).
"""

import math
from collections.abc import Sequence
from functools import cache
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from arena.engine.tile_table import Mask
from arena.valuation.states import States
from arena.valuation.worlds.hidden_tiles import MOST_BOUND, HiddenTiles

ROUNDS = 96
"""The rounds in which all tiles may move, from the real world to one that is used."""
FREE_ROUNDS = 24
"""Those where nothing is known but who played what: then a world is soon a new one."""
THREES = 4
"""One round in so many moves tiles in circles of three: swaps alone do not lead everywhere."""
TOGETHER = 2
"""The number of circles that are tried together where a limit or an order may forbid them."""

Tiles = NDArray[np.uint8]
"""Numbers of tiles: their places in `set_of_tiles`."""


def worlds(hidden: Sequence[HiddenTiles], many: int) -> list[States]:
    """Return for each question so many worlds; all are of one ruleset and number of seats.

    Which worlds a question gets depends on it alone, not on those beside it.
    """
    pairs = zip(hidden, sampled_tiles(hidden, many), strict=True)
    return [_states(one, tiles) for one, tiles in pairs]


def sampled_tiles(hidden: Sequence[HiddenTiles], many: int) -> list[Tiles]:
    """Return for each question the tile in each place (a row) of each world (a column)."""
    found: dict[int, Tiles] = {}
    kinds = [(one.is_bound, one.is_free) for one in hidden]
    for kind in set(kinds):
        rows = [row for row, own in enumerate(kinds) if own == kind]
        sampled = _Chains([hidden[row] for row in rows], many).sampled()
        found |= {row: sampled[: len(hidden[row].places), at] for at, row in enumerate(rows)}
    return [found[row] for row in range(len(hidden))]


def _states(hidden: HiddenTiles, tiles: Tiles) -> States:
    """Return the worlds of a question, given the tile in each place of each."""
    numbers = tiles.T.astype(np.int16)
    unseen = _row(hidden.unseen, 256)[tiles.T]
    holders = [place.holder for place in hidden.places]
    hands = {}
    for seat in {holder for holder in holders if holder is not None}:
        own = [at for at, holder in enumerate(holders) if holder == seat]
        hands[seat] = np.where(unseen[:, own], numbers[:, own], -1)
    stock = [at for at, holder in enumerate(holders) if holder is None]
    states = States.of([hidden.game]).repeated(len(numbers))
    return states.with_hands(hands).with_stock(numbers[:, stock])


def _row(mask: Mask, width: int) -> NDArray[np.bool_]:
    """Return a mask as an array of truth values, one a tile."""
    data = np.frombuffer(mask.to_bytes(width // 8, "little"), np.uint8)
    return np.unpackbits(data, bitorder="little").astype(bool)


class _Chains:
    """Markov chains over the worlds of some questions, all moved on together.

    Arrays have a row for each place, a column for each question, and a layer for each world.
    """

    def __init__(self, hidden: Sequence[HiddenTiles], many: int) -> None:
        self.hidden, self.many = hidden, many
        self.columns = np.arange(len(hidden))
        self.size = size = len(hidden[0].game.settings.table.tiles)
        self.tiles = np.full((size, len(hidden), many), size, np.uint8)
        """The tile in each place; after the last place, one that may move nowhere."""
        permitted = np.zeros((size, len(hidden), 256), bool)
        for at, one in enumerate(hidden):
            for place, (bit, mask) in enumerate(zip(one.tiles, one.allowed(), strict=True)):
                self.tiles[place, at] = bit.bit_length() - 1
                permitted[place, at] = _row(mask, 256)
        self.permitted = permitted.ravel()
        self.begins = np.arange(permitted.size, step=256, dtype=np.int32).reshape(size, -1, 1)
        self.bounds = _Bounds(hidden, self.tiles) if hidden[0].is_bound else None
        self.rounds = FREE_ROUNDS if hidden[0].is_free and not self.bounds else ROUNDS

    def sampled(self) -> Tiles:
        """Return the tile in each place after all rounds."""
        sizes = [len(one.places) for one in self.hidden]
        coins = np.zeros((self.rounds, max(sizes) // 2, len(sizes), self.many), bool)
        for at, (one, size) in enumerate(zip(self.hidden, sizes, strict=True)):
            coins[:, : size // 2, at] = self._coins(one.seed, size // 2)
        orders = {
            length: np.stack([_circles(self.size, size, length) for size in sizes], axis=-1)
            for length in (2, 3)
        }
        for number in range(self.rounds):
            length = 2 if number % THREES else 3
            many = max(sizes) // length
            step = TOGETHER if self.bounds else many
            for begin in range(0, many, step):
                end = min(begin + step, many)
                self._move(orders[length][number, :, begin:end], coins[number, begin:end])
        return self.tiles

    def _coins(self, seed: bytes, circles: int) -> NDArray[np.bool_]:
        """Return for each round and each of so many circles a coin for each world."""
        shape = self.rounds, circles, -(-self.many // 8)
        drawn = np.frombuffer(shake_256(seed).digest(math.prod(shape)), np.uint8)
        return np.unpackbits(drawn.reshape(shape), axis=2, count=self.many).astype(bool)

    def _move(self, circles: NDArray[np.intp], coins: NDArray[np.bool_]) -> None:
        """Let the tiles of each circle of places move on by one where the world permits it.

        Two tiles change places or stay, as the coin falls; three go round one way or the other. So
        each change is as likely as its reverse.
        """
        at = circles, self.columns
        here = self.tiles[at]
        back = here if len(circles) == 2 else np.roll(here, 1, axis=0)
        moved = np.where(coins, np.roll(here, -1, axis=0), back)
        fit = self.permitted.take(self.begins[at] + moved).all(axis=0)
        moved = np.where(fit, moved, here)
        if self.bounds:
            moved = self.bounds.keep(circles, here, moved)
        self.tiles[at] = moved


class _Bounds:
    """The limits and orders of some questions, with what they speak of in each world.

    Arrays have a row for each question, a column for each bound, and a layer for each world.
    """

    def __init__(self, hidden: Sequence[HiddenTiles], tiles: Tiles) -> None:
        self.rows = np.arange(len(hidden))
        shape = len(hidden), max(len(one.limits) for one in hidden), 1
        self.one, self.other = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        self.many = np.ones(shape, np.uint8)
        self.held = np.zeros((*shape[:2], tiles.shape[2]), np.uint64)
        """The tiles in the places of each limit."""
        self.member = np.zeros((len(tiles), *shape), np.uint64)
        """For each place: all bits where a limit speaks of it, else none."""
        shape = len(hidden), max(len(one.orders) for one in hidden), 1
        self.ordered = np.full((2, *shape), MOST_BOUND, np.uint8)
        """The first and the second tile of each order; where there is none, no tile."""
        self.came = np.zeros((2, *shape[:2], tiles.shape[2]), np.uint8)
        """The places of both."""
        self.came[1] = 1
        for at, question in enumerate(hidden):
            for row, limit in enumerate(question.limits):
                own = [place for place, one in enumerate(question.places) if one in limit.places]
                self.one[at, row], self.other[at, row] = limit.one, limit.other
                self.many[at, row] = limit.many
                self.member[own, at, row] = ~np.uint64(0)
                self.held[at, row] = sum(question.tiles[place] for place in own)
            for row, order in enumerate(question.orders):
                for which, tile in enumerate(order):
                    self.ordered[which, at, row] = tile.bit_length() - 1
                    self.came[which, at, row] = question.tiles.index(tile)

    def keep(self, circles: NDArray[np.intp], here: Tiles, moved: Tiles) -> Tiles:
        """Return the moved tiles, or those of now in a world in which they would break a bound."""
        places = circles.reshape(-1, len(self.rows))
        changed = _as_bits(here, moved)[:, :, None] & self.member[places, self.rows]
        held = self.held ^ np.bitwise_xor.reduce(changed, axis=0)
        left, right = held & self.one, held & self.other
        broken = (self._shown(left | right) & (left != 0) & (right != 0)).any(axis=1)
        came = self.came.copy()
        for place, tile in zip(places, moved.reshape(-1, *moved.shape[2:]), strict=True):
            now = place.astype(np.uint8)[:, None, None]
            np.copyto(came, now, where=self.ordered == tile[:, None])
        broken |= (came[0] > came[1]).any(axis=1)
        self.held = np.where(broken[:, None], self.held, held)
        self.came = np.where(broken[:, None], self.came, came)
        return np.where(broken, here, moved)

    def _shown(self, held: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tell where so many tiles are held that the limit is broken."""
        for taken in range(1, int(self.many.max(initial=1))):
            held = np.where(self.many > taken, held & (held - np.uint64(1)), held)
        shown: NDArray[np.bool_] = held != 0
        return shown


def _as_bits(here: Tiles, moved: Tiles) -> NDArray[np.uint64]:
    """Return for each place the bits of the tile that leaves it and of that which comes."""
    one, last = np.uint64(1), np.uint8(MOST_BOUND - 1)
    was, now = (np.minimum(tiles, last).astype(np.uint64) for tiles in (here, moved))
    bits = (one << was) ^ (one << now)
    return bits.reshape(-1, *here.shape[2:])


@cache
def _circles(size: int, places: int, length: int) -> NDArray[np.intp]:
    """Return for each round the circles of places that may move; they are the same everywhere.

    Where a set of this size has more places, their circles are of the last, which never move.
    """
    drawn = np.frombuffer(shake_256(b"boneyard worlds 1").digest(ROUNDS * size * 8), "<u8")
    orders = np.argsort(drawn.reshape(ROUNDS, size)[:, :places], axis=1)
    many = places // length
    found = np.full((ROUNDS, length, size // length), size - 1)
    found[:, :, :many] = orders[:, : length * many].reshape(ROUNDS, length, many)
    return found
