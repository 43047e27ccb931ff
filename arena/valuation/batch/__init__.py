"""The rules of play in numpy: rounds side by side, changed in place; equal to the engine."""

from arena.valuation.batch.round_batch import ALL, Numbers, RoundBatch
from arena.valuation.batch.tables import (
    HIGHER,
    LEFT,
    RIGHT,
    Flags,
    Ints,
    Places,
    mask_tables,
    why_no_values,
)  # fmt: skip

__all__ = (
    "ALL", "HIGHER", "LEFT", "RIGHT", "Flags", "Ints", "Numbers", "Places", "RoundBatch",
    "mask_tables", "why_no_values",
)  # fmt: skip
