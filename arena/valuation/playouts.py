"""Playouts: rounds played on to their end by a policy in every seat.

All rounds of a batch take their turns together, seat after seat. The plain player plays the
heaviest tile that fits, doubles first; a tile that fits both ends covers the higher number. No
player draws if it can play; of two tiles a turn all play as the plain player; a blocked round is
called by the lightest hand only.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.valuation.batch.round_batch import ALL, RESULTS, RoundBatch, names_needed
from arena.valuation.batch.scores import find_lightest, parties
from arena.valuation.batch.tables import FREE, HIGHER, LEFT, RIGHT, Flags, Ints, Places
from arena.valuation.policy import KEEN, Policy, Position, all_options, favourites, tables_of

TOGETHER = 16384
"""Rounds of a batch: their arrays stay in the processor's cache."""
COMPACT_AT = 8
"""Compact the batch once 1/8 of its rounds are over."""
A_TURN = 7919
"""Places in the table of noises from one turn of a round to the next; a prime."""


def play_out(
    batch: RoundBatch, policies: Sequence[Policy] = (), seeds: Places | None = None
) -> NDArray[np.int32]:
    """Return for each round (a row) the points that each seat gains until it is over.

    `policies`: one for each seat; empty: all players are plain. `seeds`: a number for each round,
    from which its noise follows; None: each seat takes the best option. Fees and antes still to be
    paid count, and the pot that the winner takes. A round that is over brings no more.
    """
    needed = names_needed(batch.tables) | ({"line"} if policies else set())
    if any(policy.place for policy in policies):
        needed |= {"order"}
    end = batch.select(np.arange(len(batch)), RESULTS)
    in_play = ~(batch.ended | _called(batch))
    for seat in range(batch.tables.seats):
        of_seat = np.flatnonzero(in_play & (batch.turn == seat))
        for begin in range(0, len(of_seat), TOGETHER):
            members = of_seat[begin : begin + TOGETHER]
            own_seeds = None if seeds is None else seeds.take(members)
            rounds = batch.select(members, needed)
            _Playout(rounds, members, policies, own_seeds, end).play(seat)
    end.credited = batch.ended
    end.ended[:] = True
    return (end.points + end.gains - batch.points).T


def play_out_keenly(batch: RoundBatch) -> NDArray[np.int32]:
    """Return the same with the keen player in every seat."""
    return play_out(batch, [KEEN] * batch.tables.seats)


Player = Callable[[RoundBatch], NDArray[np.int32]]
"""A reference player: plays rounds on in every seat and returns each seat's gain, as `play_out`."""


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
        self,
        batch: RoundBatch,
        members: Places,
        policies: Sequence[Policy],
        seeds: Places | None,
        end: RoundBatch,
    ) -> None:
        self.batch, self.members, self.seeds, self.end = batch, members, seeds, end
        self.policies = [tables_of(batch.tables, one) for one in policies]
        self.turns = 0

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
        if batch.settings.two_tiles:
            high, low = tables.best_pair(batch.hands[seat], batch.ends)
            high[able == 0] = low[able == 0] = 0
            # A last tile alone goes where it fits.
            yield np.where(high != 0, high, able), HIGHER
            yield low, tables.low_end.take(batch.ends)
        elif self.policies:
            yield self._favourite(able, seat)
        else:
            yield able & -able, HIGHER

    def _favourite(self, able: Ints, seat: int) -> tuple[Ints, Ints]:
        """Return the tile that the seat plays by its policy in each round, and its end; 0: none."""
        batch, policy = self.batch, self.policies[seat]
        tables = batch.tables
        left, right, lead = batch.by_end(ALL, able)
        left |= lead
        tile, end = able & -able, np.where(left, LEFT, RIGHT)
        # Those with several tiles that fit, or several ends for one.
        several = np.flatnonzero(able & (able - 1) | left & right)
        self.turns += 1
        if not several.size:
            return tile, end
        hands, others = batch.hands[seat], batch.hands[batch.settings.after[seat]]
        plays = np.stack([left.take(several), right.take(several)])
        options = all_options(tables, batch.ends.take(several), plays)
        noise = None if self.seeds is None else self.seeds.take(several) + self.turns * A_TURN
        # Without it no policy asks which tiles come first.
        order = batch.order if "order" in batch.names else np.zeros((0, len(batch)), np.int8)
        seen = hands, others, batch.line, order
        position = Position(*(one.take(several, axis=-1) for one in seen))
        places, sides = favourites(options, policy.worths(position, options), noise, len(several))
        tile[several], end[several] = tables.bits.take(places - (FREE - 1)), sides
        return tile, end

    def _compact(self, over: Places) -> None:
        """Note how rounds ended, and go on with the others."""
        members, batch = self.members.take(over), self.batch
        rest = np.flatnonzero(~batch.ended)
        for name in batch.names & CHANGING:
            getattr(self.end, name)[..., members] = getattr(batch, name).take(over, axis=-1)
        self.members = self.members.take(rest)
        if self.seeds is not None:
            self.seeds = self.seeds.take(rest)
        batch.keep(rest)


CHANGING = frozenset(("hands", "last_seat", "last_tile", "points", "pot"))
"""Those of the arrays by which a batch scores that a playout changes."""
