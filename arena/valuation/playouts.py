"""Playouts: rounds played on to their end with the same player in every seat.

All rounds of a batch take their turns together, seat after seat. The plain player plays the
heaviest tile that fits, doubles first; a tile that fits both ends covers the higher number. The
others look at what will fit after their tile: a play is worth more that is heavy, a double, easy
for the own hand to follow, and hard for the next seat. No player draws if it can play; of two tiles
a turn all play as the plain player; a blocked round is called by the lightest hand only.
"""

from collections.abc import Callable, Iterator
from functools import cache
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.valuation.batch.round_batch import ALL, RESULTS, RoundBatch, names_needed
from arena.valuation.batch.scores import find_lightest, parties
from arena.valuation.batch.tables import FREE, HIGHER, TILES, Flags, Ints, MaskTables, Places

TOGETHER = 16384
"""Rounds of a batch: their arrays stay in the processor's cache."""
COMPACT_AT = 8
"""Compact the batch once 1/8 of its rounds are over."""


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


def play_out(batch: RoundBatch, taste: Taste | None = None) -> NDArray[np.int32]:
    """Return for each round (a row) the points that each seat gains until it is over.

    `taste`: that of all players; None: they are plain. Fees and antes still to be paid count, and
    the pot that the winner takes. A round that is over brings no more.
    """
    needed = names_needed(batch.tables) | ({"line"} if taste and taste.stuck else set())
    end = batch.select(np.arange(len(batch)), RESULTS)
    in_play = ~(batch.ended | _called(batch))
    for seat in range(batch.tables.seats):
        of_seat = np.flatnonzero(in_play & (batch.turn == seat))
        for begin in range(0, len(of_seat), TOGETHER):
            members = of_seat[begin : begin + TOGETHER]
            _Playout(batch.select(members, needed), members, taste, end).play(seat)
    end.credited = batch.ended
    end.ended[:] = True
    return (end.points + end.gains - batch.points).T


def play_out_keenly(batch: RoundBatch) -> NDArray[np.int32]:
    """Return the same with the keen player in every seat."""
    return play_out(batch, KEEN)


def play_out_mixed(batch: RoundBatch) -> NDArray[np.int32]:
    """Return the same, one row after another by each player of `MIXED` in turn."""
    gains = np.zeros((len(batch), batch.tables.seats), np.int32)
    for first, taste in enumerate(MIXED):
        own = np.arange(first, len(batch), len(MIXED))
        gains[own] = play_out(batch.select(own), taste)
    return gains


MIXED = (None, KEEN, CAUTIOUS)
"""The players of luck: their mean is nearer to how bots play than any one of them."""
Player = Callable[[RoundBatch], NDArray[np.int32]]
"""A reference player: plays rounds on in every seat and returns each seat's gain, as `play_out`."""
PLAYERS: dict[str, Player] = {"plain": play_out, "keen": play_out_keenly}
"""The reference players by their names."""


def _called(batch: RoundBatch) -> Flags:
    """Tell in which rounds one of the seats still to be asked calls: the lightest hand does."""
    called = np.zeros(len(batch), np.bool_)
    asked = np.flatnonzero(batch.asked) if batch.settings.dead_ends_to_call else called[:0]
    if not asked.size:
        return called
    tables, step = batch.tables, batch.settings.step
    sides = parties(tables, tables.held(batch.hands[:, asked]))
    lightest = find_lightest(sides)
    for seat in range(tables.seats):
        place = (seat - batch.turn[asked]) * step % tables.seats
        is_asked = place >= tables.seats - batch.asked[asked]
        called[asked] |= is_asked & (lightest == seat % len(sides))
    return called


class _Playout:
    """Rounds in which the same seat is to move, played to their end."""

    def __init__(
        self, batch: RoundBatch, members: Places, taste: Taste | None, end: RoundBatch
    ) -> None:
        self.batch, self.members, self.end = batch, members, end
        self.worths = worths_of(batch.tables, taste) if taste else None

    def play(self, seat: int) -> None:
        """Play all rounds to their end; this seat begins."""
        batch = self.batch
        while len(self.members):
            self._turn(seat)
            if batch.settings.dead_ends_to_call:
                batch.ended |= _called(batch)
            over = np.flatnonzero(batch.ended)
            if len(over) * COMPACT_AT >= len(batch):
                self._compact(over)
            elif over.size:
                batch.freeze(over)
            seat = batch.settings.after[seat]

    def _turn(self, seat: int) -> None:
        """Let the seat draw until it can play or may draw no more, and play."""
        batch, drew = self.batch, None
        able, draws = batch.legal(ALL, seat)
        if batch.settings.draw_when_able:
            draws &= able == 0
        stuck = np.flatnonzero(draws)
        while stuck.size:
            batch.draw_tile(seat, stuck)
            if batch.settings.draw_ends_turn:
                drew = stuck
                break
            able[stuck], draws = batch.legal(stuck, seat)
            stuck = stuck[draws & (able[stuck] == 0)]
        batch.play_of(seat, ALL, *self._plays(seat, able), drew=drew)

    def _plays(self, seat: int, able: Ints) -> Iterator[tuple[Ints, int | Ints]]:
        """Yield the tiles that the seat plays, and the end for each."""
        batch, tables = self.batch, self.batch.tables
        if not batch.settings.two_tiles:
            yield self._favourite(able, seat), HIGHER
            return
        high, low = tables.best_pair(batch.hands[seat], batch.ends)
        high[able == 0] = low[able == 0] = 0
        # A last tile alone goes where it fits.
        yield np.where(high != 0, high, able), HIGHER
        yield low, tables.low_end.take(batch.ends)

    def _favourite(self, able: Ints, seat: int) -> Ints:
        """Return the tile of each hand that the seat plays; 0 of none.

        Of tiles that look equally good it is the plain player's.
        """
        batch, tables, worths = self.batch, self.batch.tables, self.worths
        favourite: Ints = able & -able
        if not worths:
            return favourite
        several = np.flatnonzero(able & (able - 1))
        hands, ends = batch.hands[seat].take(several), batch.ends.take(several)
        stuck = worths.taste.stuck
        if stuck:
            elsewhere = tables.all & ~(hands | batch.line.take(several))
            next_hands = batch.hands[batch.settings.after[seat]].take(several)
            likely = worths.row_of(tables.sizes(next_hands), tables.sizes(elsewhere))
        best, left = np.zeros(len(several), np.int32), able.take(several)
        some = np.arange(len(several))
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
        favourite[several] = worths.tile.take(best & TILES - 1)
        return favourite

    def _compact(self, over: Places) -> None:
        """Note how rounds ended, and go on with the others."""
        members, batch = self.members.take(over), self.batch
        rest = np.flatnonzero(~batch.ended)
        for name in batch.names & CHANGING:
            getattr(self.end, name)[..., members] = getattr(batch, name).take(over, axis=-1)
        self.members = self.members.take(rest)
        batch.keep(rest)


CHANGING = frozenset(("hands", "last_seat", "last_tile", "points", "pot"))
"""Those of the arrays by which a batch scores that a playout changes."""


class Worths:
    """The parts of a play's worth as tables of whole numbers: the same on every machine.

    A whole worth counts `TILES`; what is below that tells the tile, the plain player's favourite
    highest.
    """

    def __init__(self, tables: MaskTables, taste: Taste) -> None:
        self.taste, self.many = taste, len(tables.tiles) + 1
        many = self.many
        self.fitting = tables.fitting.take(tables.after[HIGHER])
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
