"""Playouts: rounds played on to their end by a policy in every seat.

All rounds of a batch take their turns together, seat after seat. The plain player plays the
heaviest tile that fits, doubles first; a tile that fits both ends covers the higher number. No
player draws if it can play; a blocked round is called by the lightest hand only.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.valuation.batch.round_batch import ALL, RESULTS, RoundBatch, names_needed
from arena.valuation.batch.scores import find_lightest, parties
from arena.valuation.batch.tables import HIGHER, LEFT, RIGHT, Flags, Ints, Places
from arena.valuation.policy import Options, Policy, Position, favourites, options_of, tables_of

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
        members = np.flatnonzero(in_play & (batch.turn == seat))
        own_seeds = None if seeds is None else seeds.take(members)
        rounds = batch.select(members, needed)
        _Playout(rounds, members, policies, own_seeds, end).play(seat)
    end.credited = batch.ended
    end.ended[:] = True
    return (end.points + end.gains - batch.points).T


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
        if self.policies:
            yield from self._favourites(able, seat)
        elif batch.settings.two_tiles:
            high, low = tables.best_pair(able, batch.ends)
            # A last tile alone goes where it fits.
            yield np.where(high != 0, high, able), HIGHER
            yield low, tables.low_end.take(batch.ends)
        else:
            yield able & -able, HIGHER

    def _favourites(self, able: Ints, seat: int) -> list[tuple[Ints, Ints]]:
        """Return the tiles that the seat plays by its policy, and the end for each; 0: none."""
        batch, policy = self.batch, self.policies[seat]
        left, right, lead = batch.by_end(ALL, able)
        left |= lead
        puts = [(able & -able, np.where(left, LEFT, RIGHT))]
        several = able & (able - 1)
        if batch.settings.two_tiles:
            puts.append((np.zeros_like(able), np.full_like(able, RIGHT)))
        else:
            several |= left & right
        self.turns += 1
        rows = np.flatnonzero(several)
        if not rows.size:
            return puts
        options = self._options(rows, able, left, right)
        hands, others = batch.hands[seat], batch.hands[batch.settings.after[seat]]
        # Without it no policy asks which tiles come first.
        order = batch.order if "order" in batch.names else batch.line
        worths = policy.worths(Position(hands, others, batch.line, order), options)
        noise = None if self.seeds is None else self.seeds + self.turns * A_TURN
        best = favourites(options, worths, noise)
        puts[0][1][rows] = options.ends.take(best)
        for (put, _), tiles in zip(puts, options.tiles, strict=True):
            put[rows] = tiles.take(best)
        return puts

    def _options(self, rows: Places, able: Ints, *by_end: Ints) -> Options:
        """Return all plays of these rows."""
        tables, ends = self.batch.tables, self.batch.ends
        if self.batch.settings.two_tiles:
            of, tile, second = tables.each_pair(able.take(rows), ends.take(rows))
            return options_of(tables, ends, rows.take(of), tile, np.zeros_like(of), second)
        of, tile = tables.each_tile(np.stack([own.take(rows) for own in by_end], axis=1).ravel())
        return options_of(tables, ends, rows.take(of >> 1), tile, of & 1)

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
