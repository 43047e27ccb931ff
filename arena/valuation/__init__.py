"""Values of states, draws and decisions, by playouts: what a tile was worth, what a choice cost."""

from typing import TYPE_CHECKING, NamedTuple

from protocol.ruleset import Ruleset, set_of_tiles

if TYPE_CHECKING:  # It needs numpy.
    from arena.valuation.policy import Policy

MORE = 3
"""Worlds of the second try of a decision that looks dear, as a multiple of the first try's."""
WORLDS = 64
"""Deals of the hidden tiles over which an option is valued, unless a user asks for another number.

Pages, reports and commands value a game over the same deals, so that they show the same numbers.
"""
MOST_TILES = 61
"""The most tiles of a set: a mask of 64 bits keeps two free, and one for its sign."""


def why_no_values(rules: Ruleset) -> str | None:
    """Return why arrays do not play these rules; None if they do."""
    deal, score = rules.deal, rules.score
    if deal.refuse_doubles:
        return "seats may refuse a deal"
    if rules.lead.first == "odd_even":
        return "seats guess odd or even"
    if rules.turn.tiles == 2 and (score.capicu or score.out_with_blank):
        return "the last of two tiles brings extra points"
    many = len(set_of_tiles(deal))
    return f"a set has {many} tiles, more than {MOST_TILES}" if many > MOST_TILES else None


class LuckTerms(NamedTuple):
    """The terms by which luck is measured, fixed before the board was played."""

    policies: "tuple[Policy, ...]" = ()
    """That of each seat; empty: the usual one."""
    foreseen: tuple[float, ...] = ()
    """The share of its choices that each policy foresees."""
    deals: bool = True
    """False if hands were not dealt at random."""


USUAL_TERMS = LuckTerms()
