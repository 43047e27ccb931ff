"""Endgames of two seats with the boneyard used up: each seat knows all tiles, so they are solved.

Whoever is to move looks for the most points that it can be sure of. All plays of all positions are
tried level by level, each position once; then the leads are carried back from the ends.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena import engine
from arena.engine.state import Game
from arena.valuation.batch import ALL_ROUNDS, RoundBatch
from arena.valuation.policy import first_best

MAX_ENDGAME_TILES = 12
"""The most tiles in both hands: more take more than a few ms."""
BLOCKER_CALLED = ("blocker", "call")
"""A tie-break and an end of a round that are not solved together."""

Gains = NDArray[np.int32]
"""Points that each seat (a row) gains until the end of each round."""


def is_open(game: Game) -> bool:
    """Tell whether the seat to move knows where every tile is."""
    return game.seats == 2 and game.playing.stock_size == 0


def exact_gains(games: Sequence[Game]) -> list[Gains | None]:
    """Return what each option (a column) brings each seat if both then play perfectly.

    For each game, in points to the round's end; None for a position that is not solved. All games
    are of one ruleset.
    """
    options = [engine.legal(game) if _is_solvable(game) else () for game in games]
    solvable = [game for game, row in zip(games, options, strict=True) if row]
    if not solvable:
        return [None] * len(games)
    all_options = list(dict.fromkeys(option for row in options for option in row))
    numbers = np.array([all_options.index(option) for row in options for option in row])
    batch = RoundBatch.from_games(solvable).repeat(np.array([len(row) for row in options if row]))
    batch.take(all_options, numbers)
    parts = np.split(_solve(batch), np.cumsum([len(row) for row in options])[:-1], axis=1)
    return [part if row else None for part, row in zip(parts, options, strict=True)]


def exact_leads(game: Game) -> tuple[int, ...]:
    """Return the lead that each option brings the seat to move, see `exact_gains`; empty: none."""
    (gains,), seat = exact_gains([game]), game.playing.turn
    return () if gains is None else tuple((gains[seat] - gains[1 - seat]).tolist())


def _is_solvable(game: Game) -> bool:
    state, rules = game.playing, game.rules
    few = sum(map(len, state.hand_bits)) <= MAX_ENDGAME_TILES
    # After a call the seat that played last need not be the one that moved last.
    plain = not game.settings.has_bonus and (rules.score.tie, rules.end.blocked) != BLOCKER_CALLED
    return bool(is_open(game) and few and plain and state.layout and state.phase.name == "play")


def _solve(batch: RoundBatch) -> Gains:
    """Return the gains at the end of each round if both seats play perfectly."""
    # One of the two gains by a call, or neither loses by it.
    batch.is_over |= batch.ask_count > 0
    gains: Gains = batch.gains[:2]
    rest = np.flatnonzero(~batch.is_over)
    if rest.size:
        batch = batch.select(rest)
        facts = [*batch.hands, batch.left, batch.right, batch.turn, batch.bonus, batch.pot]
        _, first, ids = np.unique(np.stack(facts), axis=1, return_index=True, return_inverse=True)
        gains[:, rest] = _best(batch.select(first))[:, ids.ravel()]
    return gains


def _best(batch: RoundBatch) -> Gains:
    """Return the gains by the best plays of the seat to move, of equal ones the first."""
    plays = batch.plays()
    parents = plays["row"]
    after = batch.select(parents)
    after.play(ALL_ROUNDS, plays["first"], plays["end"], plays["second"])
    gains = _solve(after)
    leads = np.where(batch.turn == 0, 1, -1)[parents] * (gains[0] - gains[1])
    return gains[:, first_best(leads, parents)]
