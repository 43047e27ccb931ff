"""Policies: how a bot picks one of its plays, as weights of what a play does.

A policy is a conditional logit: an option is chosen with the probability exp(worth) / sum of all
exp(worth). A player of playouts adds Gumbel noise to each worth and takes the best option, which
has just these probabilities; without noise it takes the option of the greatest worth.
"""

from functools import lru_cache
from hashlib import shake_256
from math import exp, log
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.valuation.batch.tables import FREE, LAST, LEFT, PART, TILES, Ints, MaskTables, Places

UNIT = 1000
"""Parts of a logit in which worths are counted: whole numbers are the same on every machine."""
NOISES = 1 << 14
"""Gumbel noises in the table; a power of two."""


class Policy(Struct, frozen=True):
    """The weight, in logits, of each thing that a play of one tile does."""

    pip: float = 0.0
    """Of each pip that leaves the hand."""
    double: float = 0.0
    """Of a double that leaves it."""
    fits: float = 0.0
    """Of each tile of the rest of the hand that then fits."""
    safe: float = 0.0
    """Of the first of them."""
    both: float = 0.0
    """Of each of them that then fits both ends."""
    kinds: float = 0.0
    """Of each different number in the rest of the hand."""
    stuck: float = 0.0
    """Of the probability that the next seat cannot play, by how many tiles are unseen."""
    blocks: float = 0.0
    """Of a next seat that in truth cannot play: players who infer hands tend to choose it."""
    left: float = 0.0
    """Of a play on the left end."""
    place: float = 0.0
    """Of the tile's place in the hand, from 0 to 1: of equals most bots take the first option."""


FEATURES = Policy.__struct_fields__
"""The names of the weights."""
KEEN = Policy(pip=0.065, double=1.1, fits=0.3, safe=0.7, stuck=20.0)
"""The weights of the sample bot `counting`."""
USUAL = Policy(
    pip=0.25, double=3.5, fits=1.5, safe=0.5, both=0.6, kinds=0.3, stuck=30.0, blocks=1.0, left=0.6
)
"""The policy of a bot of which nothing is known: about what the choices of `counting` teach."""


def _noises() -> NDArray[np.int32]:
    words = np.frombuffer(shake_256(b"boneyard noise 1").digest(4 * NOISES), "<u4").tolist()
    return np.array([round(-UNIT * log(-log((one + 0.5) / 2**32))) for one in words], np.int32)


NOISE = _noises()
"""Gumbel noises, in parts of a logit."""


class Options(NamedTuple):
    """Plays of one tile, several of each row."""

    rows: Places
    tiles: Ints
    ends: Ints
    places: Places
    """The tile's place in the tables of ends."""
    after: Places
    """The ends of the line after the play."""


class Position(NamedTuple):
    """The hands and the line that a policy looks at, a row each."""

    hands: Ints
    others: Ints
    """The hand of the next seat."""
    line: Ints
    order: NDArray[np.int8]
    """See `RoundBatch.order`."""


class PolicyTables:
    """The worths of plays by a policy, as tables of whole numbers."""

    def __init__(self, tables: MaskTables, policy: Policy) -> None:
        self.tables, self._many = tables, len(tables.tiles) + 1
        self._both, self._kinds, self._blocks, self._left = (
            round(UNIT * one) for one in (policy.both, policy.kinds, policy.blocks, policy.left)
        )
        self._shed = np.zeros(TILES, np.int32)
        for at, tile in enumerate(tables.tiles, FREE - 1):
            worth = policy.pip * sum(tile) + policy.double * (tile[0] == tile[1])
            self._shed[at] = round(UNIT * worth)
        held = range(self._many)
        own = [UNIT * (policy.fits * many + policy.safe * (many > 0)) for many in held]
        self._own = np.array([*map(round, own)], np.int32)
        equal = tables.left == tables.right
        self._fits_both = np.where(equal, tables.fitting, tables.both)
        stuck = [
            round(UNIT * policy.stuck * exp(-fitting * many / max(unseen, 1)))
            for many in held
            for unseen in held
            for fitting in held
        ]
        self._stuck = np.array(stuck, np.int32) if policy.stuck else None
        places = [UNIT * policy.place * at / max(size, 1) for size in held for at in held]
        self._place = np.array([*map(round, places)], np.int32) if policy.place else None
        self._numbers = _numbers_by_part(tables)

    def worths(self, position: Position, options: Options) -> NDArray[np.int32]:
        """Return the worth of each option in the position of its row."""
        hands, others, line, _ = position
        tables, rows = self.tables, options.rows
        unseen = tables.all & ~(hands | line)
        sizes = tables.sizes(others).astype(np.intp), tables.sizes(unseen)
        fitting = tables.fitting.take(options.after)
        rest = hands.take(rows) ^ options.tiles
        worth = self._shed.take(options.places)
        worth += self._own.take(np.bitwise_count(rest & fitting))
        if self._both:
            fit = np.bitwise_count(rest & self._fits_both.take(options.after))
            worth += self._both * fit.astype(np.int32)
        if self._stuck is not None:
            of_row = (sizes[0] * self._many + sizes[1]) * self._many
            follow = np.bitwise_count(unseen.take(rows) & fitting)
            worth += self._stuck.take(of_row.take(rows) + follow)
        if self._kinds:
            worth += self._kinds * self._count_numbers(rest)
        if self._blocks:
            worth += self._blocks * (others.take(rows) & fitting == 0)
        if self._left:
            worth += self._left * (options.ends == LEFT)
        if self._place is not None:
            before = self._tiles_before(position, options)
            worth += self._place.take(tables.sizes(hands).take(rows) * self._many + before)
        return worth

    def _tiles_before(self, position: Position, options: Options) -> NDArray[np.int32]:
        """Return the number of tiles of the hand that come before the tile of each option."""
        held = np.where(position.hands & self.tables.bits[:, None], position.order, np.int8(LAST))
        own = position.order[options.places - (FREE - 1), options.rows]
        before: NDArray[np.int32] = (held.take(options.rows, axis=1) < own).sum(
            axis=0, dtype=np.int32
        )
        return before

    def _count_numbers(self, masks: Ints) -> NDArray[np.int32]:
        found = np.zeros(masks.shape, np.int32)
        for at, numbers in enumerate(self._numbers):
            found |= numbers.take((masks >> PART * at) & (len(numbers) - 1))
        return np.bitwise_count(found).astype(np.int32)


def options_of(tables: MaskTables, ends: Places, rows: Places, tiles: Ints, side: Ints) -> Options:
    """Return these plays; `ends` are those of all rows, `side` the end of each play."""
    places = tables.places_of(tiles)
    after = tables.after.take(ends.take(rows) + places + side * tables.after.shape[1])
    return Options(rows, tiles, side, places, after)


def all_options(tables: MaskTables, ends: Places, plays: Ints) -> Options:
    """Return all plays: `plays` has the tiles that fit on the left end, and on the right."""
    fits = plays[:, None] & tables.bits[:, None] != 0
    # Much quicker than `np.nonzero` of three axes.
    side, rank, rows = np.unravel_index(np.flatnonzero(fits), fits.shape)
    return options_of(tables, ends, rows, tables.bits.take(rank), side)


def favourites(
    options: Options, worths: NDArray[np.int32], noise: Places | None, rows: int
) -> tuple[Places, Ints]:
    """Return the place of the tile, and the end, that each row plays.

    `noise`: a place in the table of noises for each row; None: no noise. Of options that look
    equally good it is the plain player's favourite, on the left end.
    """
    places, ends = options.places, options.ends
    if noise is not None:
        worths = worths + NOISE.take(
            noise.take(options.rows) + places * 613 + ends * 331 & NOISES - 1
        )
    # Below a worth's whole part stands the option, the favourite highest.
    coded = worths.astype(np.int64) * (2 * TILES) - (places + ends * TILES)
    best = np.full(rows, np.iinfo(np.int64).min)
    np.maximum.at(best, options.rows, coded)
    side, place = np.divmod(-best % (2 * TILES), TILES)
    return place, side


def _numbers_by_part(tables: MaskTables) -> list[NDArray[np.int32]]:
    """Return for each part of a mask the numbers on its tiles, a bit each, by its value."""
    of_bit = [0] * FREE + [1 << high | 1 << low for high, low in tables.tiles]
    parts = []
    for begin in range(0, len(of_bit), PART):
        numbers = np.zeros(1, np.int32)
        for one in of_bit[begin : begin + PART]:
            numbers = np.concatenate([numbers, numbers | np.int32(one)])
        parts.append(numbers)
    return parts


@lru_cache(maxsize=256)
def tables_of(tables: MaskTables, policy: Policy) -> PolicyTables:
    """Return the worths of plays with a set of tiles."""
    return PolicyTables(tables, policy)
