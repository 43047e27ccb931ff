"""Weights of the luck correction by family of rulesets: constants, never fitted to an event.

A weight that had seen the games which it corrects could make any interval small.
"""

from typing import NamedTuple

from arena.valuation.luck import has_draws
from protocol.ruleset import Ruleset


class Weight(NamedTuple):
    """The parts of the luck that are taken out of a margin and of a share."""

    points: float
    """The part of the luck in points."""
    share: float
    """The part of the luck in shares of the game."""


NOTHING = Weight(0.0, 0.0)
"""The weight where no tile is drawn."""
USUAL = Weight(0.7, 0.7)
"""The weight from a first experiment: greedy against suit in `draw`, 150 boards."""


def weight_of(rules: Ruleset, seats: int) -> Weight:
    """Return the weight of the luck in games of a ruleset at a table of so many seats."""
    return USUAL if has_draws(rules, seats) else NOTHING
