"""Endgames of two seats with the boneyard used up: each seat knows all tiles, so they are solved.

Whoever is to move looks for the most points that it can be sure of. All plays of all positions are
tried level by level, each position once; then the leads are carried back from the ends.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena import engine
from arena.engine.state import Game
from arena.valuation.batch import RoundBatch

MOST_TILES = 12
"""The most tiles in both hands: more take more than a few ms."""
BLOCKER_CALLED = ("blocker", "call")
"""A tie-break and an end of a round that are not solved together."""

Leads = NDArray[np.int32]
"""Points that seat 0 gains beyond seat 1 until the end of each round."""


def is_open(game: Game) -> bool:
    """Tell whether the seat to move knows where every tile is."""
    return game.seats == 2 and game.playing.stock_size == 0


def exact_leads(games: Sequence[Game]) -> list[tuple[int, ...] | None]:
    """Return what each option brings the seat to move if both seats then play perfectly.

    For each game, in points of lead to the round's end; None for a position that is not solved.
    All games are of one ruleset.
    """
    options = [engine.legal(game) if _is_solvable(game) else () for game in games]
    solvable = [game for game, own in zip(games, options, strict=True) if own]
    if not solvable:
        return [None] * len(games)
    every = list(dict.fromkeys(option for own in options for option in own))
    which = np.array([every.index(option) for own in options for option in own])
    batch = RoundBatch.of(solvable).repeat(np.array([len(own) for own in options if own]))
    movers = batch.turn.copy()
    batch.take(every, which)
    leads = iter(np.where(movers == 0, 1, -1) * _solve(batch))
    return [tuple(int(next(leads)) for _ in own) or None for own in options]


def _is_solvable(game: Game) -> bool:
    state, rules = game.playing, game.rules
    few = sum(map(len, state.hand_bits)) <= MOST_TILES
    # After a call the seat that played last need not be the one that moved last.
    plain = not game.settings.has_bonus and (rules.score.tie, rules.end.blocked) != BLOCKER_CALLED
    return bool(is_open(game) and few and plain and state.layout and state.phase.name == "play")


def _solve(batch: RoundBatch) -> Leads:
    """Return the lead of seat 0 at the end of each round if both seats play perfectly."""
    # One of the two gains by a call, or neither loses by it.
    batch.ended |= batch.asked > 0
    leads: Leads = batch.gains[0] - batch.gains[1]
    rest = np.flatnonzero(~batch.ended)
    if rest.size:
        batch = batch.select(rest)
        facts = [*batch.hands, batch.ends, batch.turn, batch.bonus, batch.pot]
        _, first, same = np.unique(np.stack(facts), axis=1, return_index=True, return_inverse=True)
        leads[rest] = _best(batch.select(first))[same.ravel()]
    return leads


def _best(batch: RoundBatch) -> Leads:
    """Return the lead of seat 0 by the best plays of the seat to move."""
    parents, *puts = batch.plays()
    after = batch.select(parents)
    after.play(np.arange(len(after)), *puts)
    sign = np.where(batch.turn == 0, 1, -1)
    leads = sign[parents] * _solve(after)
    best: Leads = np.maximum.reduceat(leads, np.flatnonzero(np.diff(parents, prepend=-1)))
    best *= sign
    return best
