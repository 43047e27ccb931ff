"""Weights of the luck correction by family of rulesets: constants, never fitted to an event.

A weight that had seen the games which it corrects would make their intervals too small. These were
found in simulated play: the weight that leaves the least variance of boards between six pairs of
other bots, with bots and seeds of which no proof makes use. They are rounded to twentieths: each is
uncertain by about a tenth, which costs less than a hundredth of the gain. They are below 1 because
playouts are noisy, and because the bots do not play as those of the playouts (METHODS.md).
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
DRAW = Weight(0.7, 0.6)
"""The weight where a turn may draw many tiles: `draw` at two seats."""
FEW_DRAWS = Weight(0.85, 0.75)
"""The weight where a turn draws one tile or two: `dutch` at two seats."""
OUT_WINS = Weight(0.6, 0.55)
"""The weight where a turn may draw many tiles and going out wins: `old-draw` at two seats."""
TWO_TILES = Weight(0.65, 0.6)
"""The weight where a turn plays two tiles: `double-draw`."""
MANY_SEATS = Weight(0.65, 0.75)
"""The weight at three seats or more: about the mean of `draw`, `dutch` and `old-draw` at four."""
FEW = 2
"""The most tiles that few draws are."""


def weight_of(rules: Ruleset, seats: int) -> Weight:
    """Return the weight of the luck in games of a ruleset, of the family that is nearest."""
    if not has_draws(rules, seats):
        return NOTHING
    if rules.turn.tiles > 1:
        return TWO_TILES
    if seats > 2:
        return MANY_SEATS
    limit = rules.turn.draw_limit
    if limit != "unlimited" and limit <= FEW:
        return FEW_DRAWS
    return OUT_WINS if rules.score.winner == "out" else DRAW
