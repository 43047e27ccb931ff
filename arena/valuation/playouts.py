"""Playouts: rounds played on to their end with the same player in every seat."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arena.valuation.rows.array_playouts import Batch, play_out_rows
from arena.valuation.rows.array_rows import ArrayRows
from arena.valuation.rows.keen_batch import CautiousBatch, KeenBatch
from arena.valuation.states import States


def play_out(states: States) -> NDArray[np.int32]:
    """Return for each row the points that each seat gains, all plain, until its round is over.

    Fees and antes still to be paid count, and the pot that the winner takes. A round that is over
    brings no more.
    """
    rows = states.rows
    return play_out_rows(rows) if isinstance(rows, ArrayRows) else rows.play_out()


def play_out_keenly(states: States) -> NDArray[np.int32]:
    """Return the same with the keen player in every seat.

    Where rules need games of the engine, the plain player plays.
    """
    rows = states.rows
    return play_out_rows(rows, KeenBatch) if isinstance(rows, ArrayRows) else rows.play_out()


def play_out_mixed(states: States) -> NDArray[np.int32]:
    """Return the same, one row after another by each player of `MIXED` in turn.

    Where rules need games of the engine, the plain player plays.
    """
    rows = states.rows
    if not isinstance(rows, ArrayRows):
        return rows.play_out()
    gains = np.zeros((len(rows), rows.tables.seats), np.int32)
    for first, batch in enumerate(MIXED):
        own = np.arange(first, len(rows), len(MIXED))
        gains[own] = play_out_rows(rows.taken(own), batch)
    return gains


MIXED = (Batch, KeenBatch, CautiousBatch)
"""The players of luck: their mean is nearer to how bots play than any one of them."""
Player = Callable[[States], NDArray[np.int32]]
"""A reference player: plays states on in every seat, and tells each seat's gain, as `play_out`."""
PLAYERS: dict[str, Player] = {"plain": play_out, "keen": play_out_keenly}
"""The reference players by their names."""
