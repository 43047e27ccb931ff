"""Playouts: rounds played on to their end with the plain player in every seat."""

import numpy as np
from numpy.typing import NDArray

from arena.valuation.rows.array_playouts import play_out_rows
from arena.valuation.rows.array_rows import ArrayRows
from arena.valuation.states import States


def play_out(states: States) -> NDArray[np.int32]:
    """Return for each row the points that each seat gains until its round is over.

    Fees and antes still to be paid count, and the pot that the winner takes. A round that is over
    brings no more.
    """
    rows = states.rows
    return play_out_rows(rows) if isinstance(rows, ArrayRows) else rows.play_out()
