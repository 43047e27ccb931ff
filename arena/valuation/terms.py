"""Terms and answers of a valuation, for modules that must not load numpy."""

from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from protocol.ruleset import Ruleset, set_of_tiles

# Values of states, draws and decisions, by playouts: what a tile was worth, what a choice cost.


MORE = 3
"""Worlds of the second try of a decision that looks dear, as a multiple of the first try's."""
USUAL_WORLDS = 64
"""Deals of the hidden tiles over which an option is valued, unless a user asks for another number.

Pages, reports and commands value a game over the same deals, so that they show the same numbers.
"""
MAX_SET_TILES = 61
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
    count = len(set_of_tiles(deal))
    return f"a set has {count} tiles, more than {MAX_SET_TILES}" if count > MAX_SET_TILES else None


class Policy(Struct, frozen=True):
    """The weight, in logits, of each thing that a play does."""

    pip: float = 0.0
    """Of each pip that leaves the hand."""
    double: float = 0.0
    """Of a double that leaves it."""
    fits: float = 0.0
    """Of each tile of the rest of the hand that then fits."""
    safe: float = 0.0
    """Of a rest of the hand that then has a play."""
    both: float = 0.0
    """Of each tile of the rest that then fits both ends."""
    kinds: float = 0.0
    """Of each different number in the rest of the hand."""
    stuck: float = 0.0
    """Of the probability that the next seat cannot play, by how many tiles are unseen."""
    blocks: float = 0.0
    """Of a next seat that in truth cannot play: players who infer hands tend to choose it."""
    left: float = 0.0
    """Of a play on the left end."""
    place: float = 0.0
    """Of each place in the hand before the tile played: most bots take the first of equal options.
    The place of a drawn tile counts every earlier draw."""


class LuckTerms(NamedTuple):
    """The terms by which luck is measured, fixed before the board was played."""

    policies: tuple[Policy, ...] = ()
    """That of each seat; empty: the usual one."""
    foreseen: tuple[float, ...] = ()
    """The share of its choices that each policy foresees."""
    deals: bool = True
    """False if hands were not dealt at random."""


USUAL_TERMS = LuckTerms()


# A reviewed decision: the value of each option, and what the choice cost. Without numpy.


LeadPoints = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Points of lead: far more than any game has, so that sums fit."""
Percent = Annotated[float, Meta(ge=-100, le=100)]
"""A difference of shares of the game, see `share_of_scores`, in percent."""
RoundPhase = Literal["lead", "early", "draws", "endgame"]
"""Before the first tile; before the first draw; after it; after the last tile that can be drawn."""
ChoiceKind = Literal["play", "draw_although_able", "draw", "pass", "call", "bid", "other"]
"""The kind of a choice; of a blocked round and an auction, that of the question."""


class ReviewedDecision(Struct, frozen=True):
    """A decision of a seat between several options, and what it cost."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    round: int
    """The round's number in the game, from 1."""
    phase: RoundPhase
    kind: ChoiceKind
    """The kind of the choice: play, draw_although_able, draw, pass, call, bid, other."""
    choice: int
    """The number of the chosen option, from 0."""
    best: int
    """The option with the highest value; the chosen one, if none is higher."""
    values: tuple[LeadPoints, ...]
    """The value of each option: the points that the seat's side gains beyond the average of the
    others, to the round's end."""
    errors: tuple[LeadPoints, ...]
    """The standard error of each value, in points; 0 if it is exact."""
    loss: LeadPoints
    """Points that the choice cost, for means; by chance it may be below 0."""
    error: LeadPoints
    """The standard error of the gap, in points; 0 if it is exact."""
    percent_loss: Percent
    """The percent of the game that the choice cost, for means."""
    percent_gap: Percent
    """The share by the best option less that by the chosen one; near the target the option of
    most points may have less."""
    exact: bool
    """True if the values are those of perfect play with all tiles known."""

    @property
    def gap(self) -> float:
        """The value of the best option less that of the chosen one; 0 if a record lacks one."""
        has_values = {self.best, self.choice} <= {*range(len(self.values))}
        return self.values[self.best] - self.values[self.choice] if has_values else 0.0
