"""Chances at each moment of a replay: playouts with all hands known, the boneyard's order unknown.

At a draw the chances change by luck, at a choice by what the choice was worth among tiles that are
all known. All moments share the same random orders of the tiles, which follow from public facts,
so the chances are the same on every machine and do not jump for want of playouts.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena import engine
from arena.analysis.frames import join_draws
from arena.analysis.timeline import Timeline
from arena.engine.state import Game
from arena.logs.gamelog import LoggedGame
from arena.match.referee import decided_by_fouls
from arena.valuation.batch import RoundBatch
from arena.valuation.luck import random_keys, stock_tiles
from arena.valuation.playouts import play_out
from arena.valuation.win_chance import WHOLE, Law, share_of_scores
from protocol.records import FoulRecord, Result
from protocol.ruleset import count_sides, set_of_tiles

ORDERS = 128
"""Random orders of the boneyard that each moment is played out with: the standard error of a share
is at most 0.5 / √128, 4 %, and between moments, which share the orders, much smaller."""


LAST = -1_000_000
"""The score of a seat that has fouled: below all others."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Chance(Struct, frozen=True):
    """The expectation of each side at one moment of a replay, in the order of the scores."""

    shares: tuple[float, ...]
    """The expected share of the other sides that the side ends above: 0 to 1; two sides' add up
    to 1."""
    leads: tuple[float, ...]
    """The expected points that the side still gains in the round, less the others' mean."""


class ReplayMoment(NamedTuple):
    """One moment of a replay."""

    game: Game
    over: bool
    """True if the result stands: by the rules, or by fouls."""
    fouled: frozenset[int]
    """The seats that have lost by a foul."""

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


def replay_chances(timeline: Timeline) -> tuple[Chance, ...]:
    """Return the chances at each moment of the replay for everybody."""
    logged, shown = timeline.logged, [*_moments(timeline)]
    if not shown:
        return ()
    sides = count_sides(logged.sitting.rules.deal.partners, len(logged.sitting.seats))
    counts = np.array([one.orders for one in shown])
    label, deal = f"{logged.sitting.event}|{logged.game.game}|chances", logged.sitting.rules.deal
    gains = _gains(shown, counts, random_keys(label, ORDERS, len(set_of_tiles(deal))))
    # Sums of integers: the same on every machine.
    starts = np.cumsum(counts) - counts
    found = np.add.reduceat(_shares(logged, shown, counts, gains)[:, :sides], starts)
    shares = found / (counts[:, None] * WHOLE)
    leads = _leads(np.add.reduceat(gains[:, :sides], starts) / counts[:, None])
    for at, one in enumerate(shown):
        if one.over and logged.result:
            shares[at] = _won(logged.result.places[:sides])
        elif one.fouled:
            shares[at] = _beaten(shares[at], [*one.fouled])
    return tuple(map(Chance, map(tuple, shares.tolist()), map(tuple, leads.tolist())))


def _moments(timeline: Timeline) -> Iterator[ReplayMoment]:
    logged = timeline.logged
    fouled = set(logged.game.forfeited)
    for together in join_draws(timeline.moments, None):
        records = [one.record for one in together]
        fouled |= {one.seat for one in records if isinstance(one, FoulRecord)}
        game = together[-1].game
        ended = game.over or isinstance(records[-1], Result)
        over = bool(ended or decided_by_fouls(game, logged.sitting.fouls, fouled))
        yield ReplayMoment(game, over, frozenset(fouled))


def _shares(
    logged: LoggedGame, shown: Sequence[ReplayMoment], counts: Integers, gains: Integers
) -> Integers:
    """Return each seat's expected share, in millionths, after the round in each order."""
    scores = np.repeat([one.game.scores for one in shown], counts, axis=0) + gains
    rounds = np.repeat([one.rounds for one in shown], counts)
    for seat in range(len(logged.sitting.seats)):
        scores[np.repeat([seat in one.fouled for one in shown], counts), seat] = LAST
    return share_of_scores(Law(logged.sitting.rules, scores.shape[1]), scores, rounds)


def _beaten(shares: Floats, fouled: Sequence[int]) -> Floats:
    """Return the shares if these sides end below all others, and tie with one another.

    Where two sides can win nobody plays on after a foul, so here each seat is a side. The others
    share equally in what the fouled sides were still expected to win from them.
    """
    rest, many = len(shares) - 1, len(fouled)
    tied = (many - 1) / 2 / rest
    given = (shares[fouled].sum() - many * tied) / (len(shares) - many)
    shares = np.minimum(shares + given, 1)
    shares[fouled] = tied
    return shares


def _gains(shown: Sequence[ReplayMoment], counts: Integers, keys: NDArray[np.uint32]) -> Integers:
    """Return the points that each seat gains until the round's end, a row an order of a moment."""
    gains = np.zeros((counts.sum(), shown[0].game.seats), np.int64)
    rows = np.repeat([one.is_dealt for one in shown], counts)
    dealt = [one for one in shown if one.is_dealt]
    if dealt:
        orders = [_orders(one, keys) for one in dealt]
        gains[rows] = play_out(RoundBatch.in_orders([one.game for one in dealt], orders))
    return gains


def _orders(moment: ReplayMoment, keys: NDArray[np.uint32]) -> Integers:
    """Return the orders of the tiles in the boneyard, a row each."""
    tiles = stock_tiles(moment.game)
    return tiles[np.argsort(keys[: moment.orders, tiles], axis=1)]


def _leads(gains: Floats) -> Floats:
    others: Floats = (gains.sum(axis=1, keepdims=True) - gains) / (gains.shape[1] - 1)
    return gains - others


def _won(places: Sequence[int]) -> list[float]:
    """Return the share of the other sides that each side ended above; ties count half."""
    return [
        (sum((own < other) + (own == other) / 2 for other in places) - 0.5) / (len(places) - 1)
        for own in places
    ]
