"""The rules of play in numpy: rounds side by side, changed in place; equal to the engine."""

from arena.valuation.batch.round_batch import Numbers, RoundBatch
from arena.valuation.batch.tables import Flags, Ints, Places, mask_tables

__all__ = "Flags", "Ints", "Numbers", "Places", "RoundBatch", "mask_tables"
