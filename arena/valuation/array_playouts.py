"""Playouts of arrays: all rounds of a batch take their turns together, seat after seat."""

import numpy as np
from numpy.typing import NDArray

from arena.valuation.array_rows import IN_PLAY, ArrayRows
from arena.valuation.array_scores import (
    BLANK,
    CAPICU,
    NOBODY,
    lightest,
    parties,
    round_gains,
    seats_of,
)
from arena.valuation.mask_tables import Flags, Ints, Places

TOGETHER = 8192
"""Rounds of a batch: their arrays stay in the processor's cache."""
RETIRED = 8
"""A batch is made smaller when one in so many of its rounds is over."""

EACH = ("members", "ends", "drawable", "drawn", "passes", "line", "last_seat", "last_tile")
"""The arrays of a batch."""


def play_out_rows(rows: ArrayRows) -> NDArray[np.int32]:
    """Return for each row the points that each seat gains until its round is over."""
    tables = rows.tables
    ends = Ending(rows)
    in_play = (rows.over == IN_PLAY) & ~_called(rows)
    for seat in range(tables.seats):
        of_seat = np.flatnonzero(in_play & (rows.turn == seat))
        for begin in range(0, len(of_seat), TOGETHER):
            Batch(rows, of_seat[begin : begin + TOGETHER], ends).play(seat)
    return ends.gains(rows).T


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
    """Rounds in which the same seat is to move."""

    def __init__(self, rows: ArrayRows, members: Places, ending: Ending) -> None:
        tables, settings = rows.tables, rows.tables.settings
        self.tables, self.settings, self.ending = tables, settings, ending
        self.stock = rows.stock.reshape(-1)
        begin = members * rows.stock.shape[1]
        self.members = members
        """The rows of the rounds."""
        self.hands = list(rows.hands.take(members, axis=1))
        self.ends = rows.ends.take(members)
        self.drawable = rows.drawable.take(members).astype(tables.dtype)
        self.front = [begin + front.take(members) for front in rows.front]
        self.back = [begin + back.take(members) for back in rows.back]
        self.drawn = rows.drawn.take(members)
        self.passes = rows.passes.take(members)
        self.line = rows.line.take(members)
        self.last_seat = rows.last_seat.take(members)
        self.last_tile = rows.last_tile.take(members)
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
            self.drawn[:] = 0
            seat = self.settings.after[seat]

    def _turn(self, seat: int) -> Flags:
        """Let the seat draw and play; tell which rounds are over."""
        hand = self.hands[seat]
        self.drew = np.zeros(len(hand), np.bool_)
        before = self.line.copy()
        self._draw(seat)
        if self.settings.two_tiles:
            self._play_two(seat)
        else:
            fits = hand & self.tables.fitting.take(self.ends)
            if self.settings.draw_ends_turn:
                fits[self.drew] = 0
            self._play(seat, fits & -fits, self.tables.after)
        if self.settings.draw_optional:
            self.passes[self.drew] = 0
            self.passes += not self.settings.draw_ends_turn or ~self.drew
            self.passes[self.line != before] = 0
        if self.settings.dead_ends_to_call:
            return self._over(seat)
        over: Flags = (hand == 0) | self._is_blocked()
        return over

    def _draw(self, seat: int) -> None:
        """Let the seat draw, where it cannot play, until it can or may draw no more."""
        need = np.flatnonzero(self.drawable > 0)
        need = need[~self._can_play(seat, need)]
        limit, drawn = self.settings.draw_limit, self.drawn
        if limit < len(self.tables.tiles):
            need = need[drawn.take(need) < limit]
        while need.size:
            tile = self.tables.bits.take(self.stock.take(self._next_tile(seat, need)))
            self.hands[seat][need] |= tile
            self.drawable[need] -= 1
            self.draws[seat][need] += 1
            drawn[need] += 1
            self.drew[need] = True
            if self.settings.draw_ends_turn:
                return
            more = (self.drawable.take(need) > 0) & (drawn.take(need) < limit)
            need = need[more & ~self._can_play(seat, need)]

    def _can_play(self, seat: int, some: Places) -> Flags:
        """Tell in which of these rounds the seat can play."""
        hand, ends = self.hands[seat].take(some), self.ends.take(some)
        if self.settings.two_tiles:
            return self.tables.can_play_two(hand, ends, self.drawable.take(some))
        can: Flags = hand & self.tables.fitting.take(ends) != 0
        return can

    def _next_tile(self, seat: int, some: Places) -> Places:
        """Take the pointers past the tile that the seat draws in these rounds; return its place."""
        own, many = self.settings.own_row[seat], len(self.front)
        if many == 1:
            return self._past(seat, 0, some)
        taken = np.empty_like(some)
        left = np.ones(len(some), np.bool_)
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

    def _play(self, seat: int, tile: Ints, after: Places) -> None:
        """Play these tiles, where there is one, on the ends that follow from such a table."""
        tables, played = self.tables, tile != 0
        self.last_seat[played] = seat
        capicu = np.where(tile & tables.both.take(self.ends) != 0, CAPICU, 0)
        blank = np.where(tile & tables.blank != 0, BLANK, 0)
        self.last_tile = np.where(played, capicu | blank, self.last_tile)
        self.ends = after.take(tables.places_of(tile) + self.ends)
        self.hands[seat] ^= tile
        self.line |= tile

    def _play_two(self, seat: int) -> None:
        """Play a tile on each end; the last tile alone, once no more may be drawn."""
        tables, hand, ends = self.tables, self.hands[seat], self.ends
        high, low = tables.best_pair(hand, ends)
        single = (self.drawable == 0) & (hand & (hand - 1) == 0)
        if self.settings.draw_ends_turn:
            high[self.drew] = low[self.drew] = 0
            single &= ~self.drew
        alone = hand & tables.fitting.take(ends) & -single.astype(tables.dtype)
        self._play(seat, alone, tables.after)
        self.ends = tables.after_two(self.ends, high, low)
        self.hands[seat] ^= high | low
        self.line |= high | low
        self.last_seat[high != 0] = seat

    def _over(self, seat: int) -> Flags:
        """Tell which rounds are over where the seats may call a blocked one."""
        tables = self.tables
        over: Flags = (self.hands[seat] == 0) | self._is_blocked()
        dead = tables.dead_ends(self.ends, self.line)
        asked = np.flatnonzero(~over & (dead >= self.settings.dead_ends_to_call))
        held = tables.held(np.array([hand.take(asked) for hand in self.hands]))
        over[asked[lightest(parties(tables, held)) != NOBODY]] = True
        return over

    def _is_blocked(self) -> Flags:
        tables = self.tables
        held = np.bitwise_or.reduce(np.array(self.hands))
        fitting = tables.fitting.take(self.ends)
        stuck = held & fitting == 0
        if self.settings.two_tiles:
            can = [tables.can_play_two(hand, self.ends, self.drawable) for hand in self.hands]
            stuck |= ~np.logical_or.reduce(can)
        blocked: Flags = stuck & (self.drawable == 0)
        if self.settings.dead_ends_to_end:
            blocked |= fitting & ~self.line == 0
        if self.settings.draw_optional:
            blocked |= self.passes >= tables.seats
        return blocked

    def _freeze(self, over: Flags) -> None:
        """Keep these rounds as they are: nothing fits, nothing can be drawn."""
        self.ends[over] = self.tables.dead
        self.drawable[over] = 0

    def _retire(self, over: Flags) -> None:
        """Note how these rounds ended, and go on with the others."""
        members, ending = self.members[over], self.ending
        for seat, (hand, draws) in enumerate(zip(self.hands, self.draws, strict=True)):
            ending.hands[seat][members] = hand[over]
            ending.draws[seat][members] = draws[over]
        ending.last_seat[members] = self.last_seat[over]
        ending.last_tile[members] = self.last_tile[over]
        rest = np.flatnonzero(~over)
        for name in EACH:
            setattr(self, name, getattr(self, name).take(rest))
        for name in ("hands", "front", "back", "draws"):
            setattr(self, name, [one.take(rest) for one in getattr(self, name)])
