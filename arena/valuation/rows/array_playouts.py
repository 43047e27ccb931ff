"""Playouts of arrays: all rounds of a batch take their turns together, seat after seat."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from arena.valuation.rows.array_rows import IN_PLAY, ArrayRows
from arena.valuation.rows.array_scores import (
    BLANK,
    CAPICU,
    NOBODY,
    lightest,
    parties,
    round_gains,
    seats_of,
)
from arena.valuation.rows.mask_tables import Flags, Ints, MaskTables, Places

TOGETHER = 16384
"""Rounds of a batch: their arrays stay in the processor's cache."""
RETIRED = 8
"""A batch is made smaller when one in so many of its rounds is over."""


def play_out_rows(rows: ArrayRows, batch: "type[Batch] | None" = None) -> NDArray[np.int32]:
    """Return for each row the points that each seat gains until its round is over.

    `batch`: how the seats play; else as the plain player.
    """
    tables, ending, ends = rows.tables, Ending(rows), rows.ends
    in_play = (rows.over == IN_PLAY) & ~_called(rows)
    for seat in range(tables.seats):
        of_seat = np.flatnonzero(in_play & (rows.turn == seat))
        for begin in range(0, len(of_seat), TOGETHER):
            members = of_seat[begin : begin + TOGETHER]
            (batch or Batch)(rows, members, ends.take(members), ending).play(seat)
    return ending.gains(rows).T


def _called(rows: ArrayRows) -> Flags:
    """Tell in which rounds one of the seats still to be asked calls: the lightest hand does."""
    tables = rows.tables
    if not tables.settings.dead_ends_to_call or not rows.asked.any():
        return np.zeros(len(rows), np.bool_)
    party = parties(tables, tables.held(rows.hands))
    caller = lightest(party)
    called = np.zeros(len(rows), np.bool_)
    for seat in range(tables.seats):
        place = (seat - rows.turn) * tables.settings.step % tables.seats
        called = called | (place >= tables.seats - rows.asked) & (caller == seat % len(party))
    return called


class Ending:
    """The ends of all rounds: what the seats hold then, and what tells of the last play."""

    def __init__(self, rows: ArrayRows) -> None:
        self.hands = rows.hands.copy()
        self.last_seat, self.last_tile = rows.last_seat.copy(), rows.last_tile.copy()
        self.draws = np.zeros((rows.tables.seats, len(rows)), np.int32)

    def gains(self, rows: ArrayRows) -> NDArray[np.int32]:
        """Return what each seat has gained since these rows; nothing where a round was over."""
        tables, pot = rows.tables, rows.pot
        fee, has_pot = tables.settings.fee, tables.rules.stakes.pot
        if fee and has_pot:
            pot = pot + fee * self.draws.sum(axis=0, dtype=np.int32)
        gains = round_gains(tables, self.hands, self.last_seat, self.last_tile, rows.bonus, pot)
        if fee:
            gains -= fee * seats_of(tables, parties(tables, self.draws))
        gains[:, rows.over != IN_PLAY] = 0
        return gains


class Batch:
    """Rounds in which the same seat is to move.

    An array that these rules do not need is never brought up to date, see `needs`.
    """

    def __init__(self, rows: ArrayRows, members: Places, ends: Places, ending: Ending) -> None:
        tables, self.settings = rows.tables, rows.tables.settings
        self.tables, self.ending, self.needs = tables, ending, needs(tables)
        self.stock = rows.stock.reshape(-1)
        begin = members * rows.stock.shape[1]
        self.members = members
        """The rows of the rounds."""
        self.hands = list(rows.hands.take(members, axis=1))
        self.ends = ends
        self.fitting = tables.fitting.take(self.ends)
        """The tiles that fit."""
        self.drawable = rows.drawable.take(members).astype(tables.dtype)
        self.front = [begin + front.take(members) for front in rows.front]
        self.back = [begin + back.take(members) for back in rows.back]
        self.drawn = rows.drawn.take(members).astype(tables.dtype)
        self.passes = rows.passes.take(members)
        self.line = rows.line.take(members)
        self.last_seat = rows.last_seat.take(members)
        self.last_tile = rows.last_tile.take(members)
        self.purse = list(rows.points.take(members, axis=1) + self.settings.chips)
        """The chips of each seat at the beginning."""
        self.draws = list(ending.draws.take(members, axis=1))

    def play(self, seat: int) -> None:
        """Play all rounds to their end; this seat begins."""
        while len(self.members):
            over = self._turn(seat)
            many = np.count_nonzero(over)
            if many * RETIRED >= len(over):
                self._retire(over)
            elif many:
                self._freeze(over)
            seat = self.settings.after[seat]

    def _turn(self, seat: int) -> Flags:
        """Let the seat draw and play; tell which rounds are over."""
        drew = self._draw(seat)
        played = (self._play_two if self.settings.two_tiles else self._play_one)(seat, drew)
        self.fitting = self.tables.fitting.take(self.ends)
        if "line" in self.needs:
            self.line |= played
        if "last_seat" in self.needs:
            self.last_seat[played != 0] = seat
        if "passes" in self.needs:
            self.passes[drew] = -1 if self.settings.draw_ends_turn else 0
            self.passes += 1
            self.passes[played != 0] = 0
        if "drawn" in self.needs:
            self.drawn[:] = 0
        over = self._is_blocked()
        over |= self.hands[seat] == 0
        if self.settings.dead_ends_to_call:
            self._call(over)
        return over

    def _draw(self, seat: int) -> Places:
        """Let the seat draw, where it cannot play, until it can or may draw no more.

        Return the places in this batch of the rounds in which it drew.
        """
        limit, hand, bits = self.settings.draw_limit, self.hands[seat], self.tables.bits
        drew = np.flatnonzero(~self._can_play(hand, self.ends, self.fitting) & (self.drawable > 0))
        left = self.drawable.take(drew)
        if "drawn" in self.needs:
            left = np.minimum(left, limit - self.drawn.take(drew))
        if "purse" in self.needs:
            left = np.minimum(left, self._affordable(seat, drew))
        drew, left = drew[left > 0], left[left > 0]
        need, fitting = drew, self.fitting.take(drew)
        while need.size:
            tiles = hand.take(need) | bits.take(self.stock.take(self._next_tile(seat, need)))
            hand[need] = tiles
            self.drawable[need] -= 1
            if "draws" in self.needs:
                self.draws[seat][need] += 1
            if self.settings.draw_ends_turn:
                break
            left -= 1
            more = left > 0
            more &= ~self._can_play(tiles, self.ends.take(need), fitting)
            need, fitting, left = need[more], fitting[more], left[more]
        return drew

    def _affordable(self, seat: int, some: Places) -> Ints:
        """Return the number of tiles for which the side of this seat can still pay."""
        side = self.settings.sides[seat]
        left: Ints = self.purse[seat].take(some) // self.settings.fee
        for other in side:
            left -= self.draws[other].take(some)
        return left

    def _can_play(self, hands: Ints, ends: Places, fitting: Ints) -> Flags:
        """Tell with which of these hands a seat can play while more may be drawn."""
        if self.settings.two_tiles:
            return self.tables.can_play_two(hands, ends)
        can: Flags = hands & fitting != 0
        return can

    def _next_tile(self, seat: int, some: Places) -> Places:
        """Take the pointers past the tile that the seat draws in these rounds; return its place."""
        own, many = self.settings.own_row[seat], len(self.front)
        if many == 1:
            return self._past(seat, 0, some)
        taken, left = np.empty_like(some), np.ones(len(some), np.bool_)
        for at in range(own, own + many):
            row = at % many
            here = left & (self.front[row].take(some) < self.back[row].take(some))
            taken[here] = self._past(seat, row, some[here])
            left &= ~here
        return taken

    def _past(self, seat: int, row: int, some: Places) -> Places:
        if self.settings.from_back[seat]:
            place: Places = self.back[row].take(some) - 1
            self.back[row][some] = place
        else:
            place = self.front[row].take(some)
            self.front[row][some] = place + 1
        return place

    def _play_one(self, seat: int, drew: Places) -> Ints:
        """Let the seat play its favourite that fits; return that tile, 0 for none."""
        tables, able = self.tables, self.hands[seat] & self.fitting
        if self.settings.draw_ends_turn:
            able[drew] = 0
        tile = self._favourite(able, seat)
        if "last_tile" in self.needs:
            capicu = np.where(tile & tables.both.take(self.ends) != 0, CAPICU, 0)
            facts = np.where(tile & tables.blank != 0, BLANK, 0) | capicu
            self.last_tile = np.where(tile != 0, facts, self.last_tile)
        self.hands[seat] ^= tile
        self.ends = tables.after_one(self.ends, tile)
        return tile

    def _favourite(self, able: Ints, _seat: int) -> Ints:
        """Return of each hand's tiles that fit the one that the seat plays; 0 of none."""
        favourite: Ints = able & -able
        return favourite

    def _play_two(self, seat: int, drew: Places) -> Ints:
        """Let the seat play a tile on each end, or the last alone once no more may be drawn."""
        tables, hand, ends = self.tables, self.hands[seat], self.ends
        high, low = tables.best_pair(hand, ends)
        alone = np.where((self.drawable == 0) & (hand & (hand - 1) == 0), hand & self.fitting, 0)
        if self.settings.draw_ends_turn:
            high[drew] = low[drew] = alone[drew] = 0
        self.ends = tables.after_two(tables.after_one(ends, alone), high, low)
        played: Ints = high | low | alone
        self.hands[seat] ^= played
        return played

    def _is_blocked(self) -> Flags:
        """Tell in which rounds nobody can play or draw, or what else ends a round early."""
        held = self.hands[0] | self.hands[1]
        for hand in self.hands[2:]:
            held |= hand
        held &= self.fitting
        if self.settings.two_tiles:
            dry = np.flatnonzero((self.drawable == 0) & (held != 0))
            hands = np.array([hand.take(dry) for hand in self.hands])
            can = self.tables.can_end_two(hands, self.ends.take(dry)).any(axis=0)
            held[dry[~can]] = 0
        held |= self.drawable
        blocked: Flags = held == 0
        if self.settings.dead_ends_to_end:
            blocked |= self.fitting & ~self.line == 0
        if self.settings.draw_optional:
            blocked |= self.passes >= self.tables.seats
        return blocked

    def _call(self, over: Flags) -> None:
        """End the rounds that may be called blocked and in which one side has the lightest hand."""
        tables = self.tables
        dead = tables.dead_ends(self.ends, self.line)
        asked = np.flatnonzero(~over & (dead >= self.settings.dead_ends_to_call))
        if not asked.size:
            return
        held = tables.held(np.array([hand.take(asked) for hand in self.hands]))
        over[asked[lightest(parties(tables, held)) != NOBODY]] = True

    def _freeze(self, over: Flags) -> None:
        """Keep these rounds as they are: nothing fits, nothing can be drawn."""
        self.ends[over] = self.tables.dead
        self.fitting[over] = 0
        self.drawable[over] = 0

    def _retire(self, over: Flags) -> None:
        """Note how these rounds ended, and go on with the others."""
        ended, rest = np.flatnonzero(over), np.flatnonzero(~over)
        members, ending = self.members.take(ended), self.ending
        for seat, hand in enumerate(self.hands):
            ending.hands[seat][members] = hand.take(ended)
        for name in self.needs & {"last_seat", "last_tile"}:
            getattr(ending, name)[members] = getattr(self, name).take(ended)
        for seat in range(len(self.hands) if "draws" in self.needs else 0):
            ending.draws[seat][members] = self.draws[seat].take(ended)
        for name in self.needs:
            array = getattr(self, name)
            if isinstance(array, list):
                setattr(self, name, [one.take(rest) for one in array])
            else:
                setattr(self, name, array.take(rest))


@cache
def needs(tables: MaskTables) -> frozenset[str]:
    """Return the names of a batch's arrays that these rules need."""
    settings, score = tables.settings, tables.rules.score
    return frozenset(
        name
        for name, needed in (
            ("members", True),
            ("hands", True),
            ("ends", True),
            ("fitting", True),
            ("drawable", True),
            ("front", True),
            ("back", True),
            ("drawn", settings.draw_limit < len(tables.tiles)),
            ("passes", settings.draw_optional),
            ("line", settings.dead_ends_to_end or settings.dead_ends_to_call),
            ("last_seat", score.tie == "blocker"),
            ("last_tile", score.capicu or score.out_with_blank),
            ("draws", settings.fee),
            ("purse", settings.fee and settings.chips),
        )
        if needed
    )
