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

from arena.valuation.batch.tables import FREE, RIGHT, TILES, Flags, Ints, MaskTables, Places

UNIT = 1000
"""Parts of a logit in which worths are counted: whole numbers are the same on every machine."""
NOISES = 1 << 14
"""Gumbel noises in the table; a power of two."""
PRIMES = 331, 613, 1361
"""Places in it from one option to the next, by the end and by each tile of a turn."""


class Policy(Struct, frozen=True):
    """The weight, in logits, of each thing that a play does."""

    pip: float = 0.0
    """Of each pip that leaves the hand."""
    double: float = 0.0
    """Of a double that leaves it."""
    fits: float = 0.0
    """Of each tile of the rest of the hand that then fits."""
    safe: float = 0.0
    """Of a rest of the hand that then has a play."""
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
    """Of each place in the hand before the first tile: of equals most bots take the first option.
    Tiles drawn count those that had left the boneyard."""


FEATURES = Policy.__struct_fields__
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
    """Plays, several of each row; of those that look equally good the first is the favourite."""

    rows: Places
    tiles: tuple[Ints, ...]
    """The tile, or where a turn plays two those for the left and for the right end."""
    ends: Ints
    """The end for the first."""
    places: tuple[Places, ...]
    """The place of each tile in the tables of ends."""
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
        self._weights = {name: np.int32(round(UNIT * getattr(policy, name))) for name in FEATURES}
        self._shed = np.zeros(TILES, np.int32)
        for at, tile in enumerate(tables.tiles, FREE - 1):
            worth = policy.pip * sum(tile) + policy.double * (tile[0] == tile[1])
            self._shed[at] = round(UNIT * worth)
        held = range(self._many)
        equal = tables.left == tables.right
        self._fits_both = np.where(equal, tables.fitting, tables.both)
        stuck = [
            round(UNIT * policy.stuck * exp(-fitting * many / max(unseen, 1)))
            for many in held
            for unseen in held
            for fitting in held
        ]
        self._stuck = np.array(stuck, np.int32) if policy.stuck else None
        numbers = [1 << high | 1 << low for high, low in tables.tiles]
        self._numbers = tables.by_part(numbers, np.bitwise_or)

    def worths(self, position: Position, options: Options) -> NDArray[np.int32]:
        """Return the worth of each option in the position of its row."""
        hands, others, line, order = position
        tables, rows, weights = self.tables, options.rows, self._weights
        fitting, rest = tables.fitting.take(options.after), hands.take(rows)
        worth = np.zeros(len(rows), np.int32)
        for tiles, places in zip(options.tiles, options.places, strict=True):
            rest ^= tiles
            worth += self._shed.take(places)
        worth += weights["fits"] * np.bitwise_count(rest & fitting)
        worth += weights["safe"] * self._can_play(rest, fitting, options)
        if weights["both"]:
            fit = np.bitwise_count(rest & self._fits_both.take(options.after))
            worth += weights["both"] * fit
        if self._stuck is not None:
            unseen = tables.all & ~(hands | line)
            of_row = (tables.sizes(others) * self._many + tables.sizes(unseen)) * self._many
            follow = np.bitwise_count(unseen.take(rows) & fitting)
            worth += self._stuck.take(of_row.take(rows) + follow)
        if weights["kinds"]:
            numbers = tables.look_up(self._numbers, rest, np.bitwise_or)
            worth += weights["kinds"] * tables.sizes(numbers)
        if weights["blocks"]:
            worth += weights["blocks"] * ~self._can_play(others.take(rows), fitting, options)
        worth += weights["left"] * (options.ends != RIGHT)
        if weights["place"]:
            at = (options.places[0] - (FREE - 1)) * len(hands) + rows
            worth += weights["place"] * order.take(at)
        return worth

    def _can_play(self, hands: Ints, fitting: Ints, options: Options) -> Flags:
        """Tell for each hand whether it has a play after the option."""
        if self.tables.settings.two_tiles:
            return self.tables.can_play_two(hands, options.after)
        can: Flags = hands & fitting != 0
        return can


def options_of(
    tables: MaskTables, ends: Places, rows: Places, tile: Ints, side: Ints, *second: Ints
) -> Options:
    """Return these plays; `ends` are those of all rows, `side` the end of each play.

    `second`: the tiles for the right end where a turn plays two; 0 is no tile.
    """
    after = tables.ends_after(ends.take(rows), tile, side)
    for other in second:
        after = tables.ends_after(after, other, RIGHT)
    tiles = tile, *second
    return Options(rows, tiles, side, tuple(map(tables.places_of, tiles)), after)


def favourites(options: Options, worths: NDArray[np.int32], noise: Places | None) -> Places:
    """Return the number of the best option of each row that has any.

    `noise`: a place in the table of noises for each row; None: no noise.
    """
    if noise is not None:
        own = noise.take(options.rows)
        for places, prime in zip((options.ends, *options.places), PRIMES, strict=False):
            own += places * prime
        worths = worths + NOISE.take(own & NOISES - 1)
    return first_best(worths, options.rows)


def first_best(worths: NDArray[np.int32], rows: Places) -> Places:
    """Return the number of the best option of each row that has any, of equal ones the first."""
    # Below a worth's whole part stands the option, the first highest.
    many = len(worths)
    coded = worths.astype(np.int64) * many - np.arange(many)
    return -np.maximum.reduceat(coded, np.flatnonzero(np.diff(rows, prepend=-1))) % many


@lru_cache(maxsize=256)
def tables_of(tables: MaskTables, policy: Policy) -> PolicyTables:
    """Return the worths of plays with a set of tiles."""
    return PolicyTables(tables, policy)
