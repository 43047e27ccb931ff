"""Worlds: hidden tiles dealt anew so that a seat could not tell, for many questions at once.

Where the seat knows only who played what, a world is a shuffle of the unseen tiles. Else worlds are
drawn by a Markov chain that moves tiles in small circles from place to place and begins with the
real world; every permitted world is equally likely in the long run (Metropolis). Where a limit says
that a seat lacked one number or the other, no small change leads from the one to the other without
breaking it. So there a chain makes excursions: it may break bounds, each at a quarter of the
chance, and goes back to where it left if it has not mended them by the excursion's end.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from hashlib import shake_256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.engine.structs import Mask
from arena.valuation.batch import RoundBatch
from arena.valuation.worlds.hidden_tiles import MOST_BOUND, HiddenTiles

ROUNDS = 96
"""The rounds in which all tiles may move, from the real world to one that is used."""
BOUND_ROUNDS = 400
"""Rounds where many limits and orders hold: worlds lie apart, and chains find their way slowly."""
MANY_BOUNDS = 4
"""Limits and orders that count as many."""
EXCURSION = 8
"""Rounds after which a world must break no bound; the numbers of rounds are multiples of it."""
THREES = 4
"""One round in so many moves tiles in circles of three: swaps alone do not lead everywhere."""
TOGETHER = 2
"""The number of circles that are tried together where a limit or an order may forbid them."""

Tiles = NDArray[np.uint8]
"""Numbers of tiles: their places in `set_of_tiles`."""


def worlds(hidden: Sequence[HiddenTiles], many: int) -> RoundBatch:
    """Return for each question so many worlds; all are of one ruleset and number of seats.

    Which worlds a question gets depends on it alone, not on those beside it.
    """
    found = [tiles.T.astype(np.int16) for tiles in sampled_tiles(hidden, many)]
    games, orders = [one.game for one in hidden], list[Any]()
    for one, tiles in zip(hidden, found, strict=True):
        orders.append(tiles[:, [place.holder is None for place in one.places]])
    batch = RoundBatch.in_orders(games, orders)
    parts = [_hands(one, tiles) for one, tiles in zip(hidden, found, strict=True)]
    wide = max(held.shape[-1] for part in parts for held in part.values())
    hands = {seat: np.full((len(batch), wide), -1, np.int16) for seat in parts[0]}
    for at, part in enumerate(parts):
        for seat, held in part.items():
            hands[seat][at * many : (at + 1) * many, : held.shape[-1]] = held
    batch.set_hands(hands)
    return batch


def sampled_tiles(hidden: Sequence[HiddenTiles], many: int) -> list[Tiles]:
    """Return for each question the tile in each place (a row) of each world (a column)."""
    found: dict[int, Tiles] = {}
    kinds = defaultdict[tuple[bool, int], list[int]](list)
    for row, one in enumerate(hidden):
        if one.is_free:
            found[row] = _shuffled(one, many)
        else:
            kinds[one.is_bound, _rounds(one)].append(row)
    for rows in kinds.values():
        sampled = _Chains([hidden[row] for row in rows], many).sampled()
        found |= {row: sampled[: len(hidden[row].places), at] for at, row in enumerate(rows)}
    return [found[row] for row in range(len(hidden))]


def _rounds(hidden: HiddenTiles) -> int:
    """Return the rounds after which the worlds of a question are used."""
    return BOUND_ROUNDS if len(hidden.limits) + len(hidden.orders) >= MANY_BOUNDS else ROUNDS


def _shuffled(hidden: HiddenTiles, many: int) -> Tiles:
    """Return worlds where nothing is known but who played what: all unseen tiles change places."""
    tiles = np.array([[bit.bit_length() - 1] * many for bit in hidden.tiles], np.uint8)
    unseen = np.flatnonzero([bit & hidden.unseen != 0 for bit in hidden.tiles])
    keys = np.frombuffer(shake_256(hidden.seed).digest(4 * many * len(unseen)), "<u4")
    tiles[unseen] = tiles[unseen, 0][keys.reshape(many, -1).T.argsort(axis=0, kind="stable")]
    return tiles


def _mirrored(number: int) -> int:
    """Return the round whose circles move: the second half of an excursion goes back through them.

    So each excursion is as likely as its reverse.
    """
    return number + min(0, EXCURSION - 1 - 2 * (number % EXCURSION))


def _hands(hidden: HiddenTiles, tiles: NDArray[np.int16]) -> dict[int, NDArray[np.int16]]:
    """Return all hands in each world, given the tile in each place of each."""
    held, state = (
        np.where(_row(hidden.unseen, 256)[tiles], tiles, np.int16(-1)),
        hidden.game.playing,
    )
    holders = np.array([-1 if place.holder is None else place.holder for place in hidden.places])
    hands = {seat: held[:, holders == seat] for seat in range(hidden.game.seats)}
    own = [bit.bit_length() - 1 for bit in state.hand_bits[state.turn]]
    return {**hands, state.turn: np.array(own, np.int16)}


@lru_cache(maxsize=1024)
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
        self.rounds = _rounds(hidden[0])

    def sampled(self) -> Tiles:
        """Return the tile in each place after all rounds."""
        sizes = [len(one.places) for one in self.hidden]
        coins = self._coins(b"", sizes)
        leave = self._coins(b"1", sizes) & self._coins(b"2", sizes) if self.bounds else coins
        circles = partial(_circles, self.size)
        orders = {
            length: np.stack([circles(size, length)[: self.rounds] for size in sizes], axis=-1)
            for length in (2, 3)
        }
        for number in range(self.rounds):
            own = _mirrored(number) if self.bounds else number
            length = 2 if own % THREES else 3
            many = max(sizes) // length
            step = TOGETHER if self.bounds else many
            for begin in sorted(range(0, many, step), reverse=own < number):
                end = min(begin + step, many)
                here = orders[length][own, :, begin:end]
                self._move(here, coins[number, begin:end], leave[number, begin])
            if self.bounds and number % EXCURSION == EXCURSION - 1:
                self.tiles = self.bounds.mended(self.tiles)
        return self.tiles

    def _coins(self, purpose: bytes, sizes: Sequence[int]) -> NDArray[np.bool_]:
        """Return for each round, circle and question a coin for each world."""
        coins = np.zeros((self.rounds, max(sizes) // 2, len(sizes), self.many), bool)
        for at, (one, size) in enumerate(zip(self.hidden, sizes, strict=True)):
            shape = self.rounds, size // 2, -(-self.many // 8)
            bits = shake_256(one.seed + purpose).digest(math.prod(shape))
            drawn = np.frombuffer(bits, np.uint8).reshape(shape)
            coins[:, : size // 2, at] = np.unpackbits(drawn, axis=2, count=self.many)
        return coins

    def _move(
        self, circles: NDArray[np.intp], coins: NDArray[np.bool_], leave: NDArray[np.bool_]
    ) -> None:
        """Let the tiles of each circle of places move on by one where the world permits it.

        Two tiles change places or stay, as the coin falls; three go round one way or the other. So
        each change is as likely as its reverse. `leave`: the worlds in which a bound may be broken.
        """
        at = circles, self.columns
        here = self.tiles[at]
        back = here if len(circles) == 2 else here[[2, 0, 1]]
        moved = np.where(coins, here[[*range(1, len(here)), 0]], back)
        fit = self.permitted.take(self.begins[at] + moved).all(axis=0)
        moved = np.where(fit, moved, here)
        if self.bounds:
            moved = self.bounds.keep(circles, here, moved, leave)
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
        self.broken = np.zeros((len(hidden), tiles.shape[2]), np.int8)
        """The number of bounds that each world breaks."""
        self.left = tiles.copy(), self.held, self.came
        """The worlds as they were when the excursion began, with what the bounds speak of."""
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

    def keep(
        self, circles: NDArray[np.intp], here: Tiles, moved: Tiles, leave: NDArray[np.bool_]
    ) -> Tiles:
        """Return the moved tiles, or those of now in a world in which they may not move.

        They may if they break no more bounds than before, or one more where `leave` says so, and
        mend at most one.
        """
        places = circles.reshape(-1, len(self.rows))
        changed = _as_bits(here, moved)[:, :, None] & self.member[places, self.rows]
        held = self.held ^ np.bitwise_xor.reduce(changed, axis=0)
        left, right = held & self.one, held & self.other
        shown = self._shown(left | right) & (left != 0) & (right != 0)
        came = self.came.copy()
        for place, tile in zip(places, moved.reshape(-1, *moved.shape[2:]), strict=True):
            now = place.astype(np.uint8)[:, None, None]
            np.copyto(came, now, where=self.ordered == tile[:, None])
        broken = (shown.sum(axis=1) + (came[0] > came[1]).sum(axis=1)).astype(np.int8)
        more = broken - self.broken
        stays = (np.abs(more) > 1) | ((more == 1) & ~leave)
        self.held = np.where(stays[:, None], self.held, held)
        self.came = np.where(stays[:, None], self.came, came)
        self.broken = np.where(stays, self.broken, broken)
        return np.where(stays, here, moved)

    def mended(self, tiles: Tiles) -> Tiles:
        """End an excursion: return the worlds, those that break a bound as they were before it."""
        before, held, came = self.left
        back = self.broken > 0
        self.held = np.where(back[:, None], held, self.held)
        self.came = np.where(back[:, None], came, self.came)
        self.broken[:] = 0
        mended = np.where(back, before, tiles)
        self.left = mended.copy(), self.held, self.came
        return mended

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
    drawn = np.frombuffer(shake_256(b"boneyard worlds 1").digest(BOUND_ROUNDS * size * 8), "<u8")
    orders = np.argsort(drawn.reshape(BOUND_ROUNDS, size)[:, :places], axis=1)
    many = places // length
    found = np.full((BOUND_ROUNDS, length, size // length), size - 1)
    found[:, :, :many] = orders[:, : length * many].reshape(BOUND_ROUNDS, length, many)
    return found
