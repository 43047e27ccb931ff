"""Chances at each moment of a replay: playouts with all hands known, the boneyard's order unknown.

At a draw the chances change by luck, at a choice by what the choice was worth among tiles that are
all known. All moments share the same random orders of the tiles, which follow from public facts,
so the chances are the same on every machine and do not jump for want of playouts.
"""

from collections.abc import Iterator, Sequence
from hashlib import shake_256
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.analysis.frames import Viewer, moments
from arena.analysis.replay import steps
from arena.engine import game as engine
from arena.engine.state import Game
from arena.logs.gamelog import LoggedGame
from arena.match.referee import decided_by_fouls
from arena.valuation.playouts import play_out
from arena.valuation.states import States
from arena.valuation.win_chance import WHOLE, share_of_scores
from protocol.records import FoulRecord, Result
from protocol.ruleset import count_sides, set_of_tiles

ORDERS = 128
"""Random orders of the boneyard that each moment is played out with: the standard error of a share
is at most 0.5 / √128, 4 %, and between moments, which share the orders, much smaller."""


class Chance(Struct, frozen=True):
    """The expectation of each side at one moment of a replay, in the order of the scores."""

    shares: tuple[float, ...]
    """The expected share of the other sides that the side ends above: 0 to 1; two sides' add up
    to 1."""
    leads: tuple[float, ...]
    """The expected points that the side still gains in the round, less the others' mean."""


class Moment(NamedTuple):
    """One moment of a replay."""

    game: Game
    """The game."""
    over: bool
    """True if the result stands: by the rules, or by fouls."""

    @property
    def is_dealt(self) -> bool:
        """Tell whether a round is in play with tiles in hand: a guess for the lead comes before."""
        return not (self.over or engine.needs_deal(self.game)) and self.game.playing.held_mask != 0

    @property
    def orders(self) -> int:
        """Return the number of orders to play out: one if no more tile can be drawn."""
        return ORDERS if self.is_dealt and self.game.playing.drawable else 1

    @property
    def rounds(self) -> int:
        """Return the number of rounds played once the one in play is over."""
        state = self.game.playing
        return state.number - (not self.is_dealt and not state.over)


def chances(logged: LoggedGame, viewer: Viewer = None) -> tuple[Chance, ...]:
    """Return the chances at each moment that a viewer's replay shows. Raises DamagedLogError."""
    shown = [*_moments(logged, viewer)]
    if not shown:
        return ()
    rules, seats = logged.sitting.rules, len(logged.sitting.seats)
    sides = count_sides(rules.deal.partners, seats)
    counts = np.array([one.orders for one in shown])
    gains = _gains(shown, counts, _keys(logged))
    scores = gains + np.repeat([one.game.scores for one in shown], counts, axis=0)
    rounds = np.repeat([one.rounds for one in shown], counts)
    found = np.zeros((len(scores), sides), np.int64)
    for number in np.unique(rounds):
        rows = rounds == number
        found[rows] = share_of_scores(rules, seats, scores[rows], int(number))[:, :sides]
    # Sums of integers: the same on every machine.
    starts = np.cumsum(counts) - counts
    shares = np.add.reduceat(found, starts) / (counts[:, None] * WHOLE)
    leads = _leads(np.add.reduceat(gains[:, :sides], starts) / counts[:, None])
    if logged.result:
        shares[[one.over for one in shown]] = _won(logged.result.places[:sides])
    return tuple(map(Chance, map(tuple, shares.tolist()), map(tuple, leads.tolist())))


def _moments(logged: LoggedGame, viewer: Viewer) -> Iterator[Moment]:
    fouled = set(logged.game.forfeited)
    for moment in moments(steps(logged), viewer):
        records = [step.record for step in moment]
        fouled |= {one.seat for one in records if isinstance(one, FoulRecord)}
        game = moment[-1].game
        ended = game.over or isinstance(records[-1], Result)
        yield Moment(game, bool(ended or decided_by_fouls(game, logged.sitting.fouls, fouled)))


def _keys(logged: LoggedGame) -> NDArray[np.uint64]:
    """Return a key of each tile for each random order, in which the lowest key lies first."""
    tiles = len(set_of_tiles(logged.sitting.rules.deal))
    facts = f"boneyard chances 1\n{logged.sitting.event}\n{logged.game.game}\n".encode()
    stream = shake_256(facts).digest(8 * ORDERS * tiles)
    return np.frombuffer(stream, "<u8").reshape(ORDERS, tiles)


def _gains(
    shown: Sequence[Moment], counts: NDArray[np.int64], keys: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the points that each seat gains until the round's end, a row an order of a moment."""
    gains = np.zeros((counts.sum(), shown[0].game.seats), np.int64)
    rows = np.repeat([one.is_dealt for one in shown], counts)
    dealt = [one for one in shown if one.is_dealt]
    if dealt:
        orders = [_orders(one, keys) for one in dealt]
        wide = max(order.shape[1] for order in orders)
        padded = [
            np.pad(order, ((0, 0), (0, wide - order.shape[1])), constant_values=-1)
            for order in orders
        ]
        states = States.of([one.game for one in dealt])
        states = states.repeated(np.array([one.orders for one in dealt]))
        gains[rows] = play_out(states.with_stock(np.concatenate(padded)))
    return gains


def _orders(moment: Moment, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the orders of the tiles in the boneyard, a row each."""
    rows = moment.game.playing.stock_rows
    tiles = np.array(sorted(bit.bit_length() - 1 for row in rows for bit in row), np.int64)
    return tiles[np.argsort(keys[: moment.orders, tiles], axis=1)]


def _leads(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    others: NDArray[np.float64] = (gains.sum(axis=1, keepdims=True) - gains) / (gains.shape[1] - 1)
    return gains - others


def _won(places: Sequence[int]) -> list[float]:
    """Return the share of the other sides that each side ended above; ties count half."""
    return [
        (sum((own < other) + (own == other) / 2 for other in places) - 0.5) / (len(places) - 1)
        for own in places
    ]
