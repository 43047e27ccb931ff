"""The rules of play without I/O, on a game changed in place: a file for each group of choices."""

from arena.engine.deal import begin, chance_decides
from arena.engine.game import (
    IllegalOptionError,
    act,
    act_unchecked,
    legal,
    needs_deal,
    new_game,
    pips,
)
from arena.engine.round_end import places

__all__ = (
    "IllegalOptionError", "act", "act_unchecked", "begin", "chance_decides", "legal", "needs_deal",
    "new_game", "pips", "places",
)  # fmt: skip
