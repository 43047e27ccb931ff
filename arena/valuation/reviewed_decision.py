"""A reviewed decision: the value of each option, and what the choice cost. Without numpy."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Points = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Points of lead: far more than any game has, so that sums fit."""
Percent = Annotated[float, Meta(ge=-100, le=100)]
"""A difference of shares of the game, see `share_of_scores`, in percent."""
RoundPhase = Literal["lead", "early", "draws", "endgame"]
"""Before the first tile; before the first draw; after it; after the last tile that can be drawn."""
Kind = Literal["play", "draw_although_able", "draw", "pass", "call", "bid", "other"]
"""The kind of a choice; of a blocked round and an auction, that of the question."""


class ReviewedDecision(Struct, frozen=True):
    """A decision of a seat between several options, and what it cost."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    round: int
    """The round's number in the game, from 1."""
    phase: RoundPhase
    kind: Kind
    """The kind of the choice: play, draw_although_able, draw, pass, call, bid, other."""
    choice: int
    """The number of the chosen option, from 0."""
    best: int
    """The option with the highest value; the chosen one, if none is higher."""
    values: tuple[Points, ...]
    """The value of each option: the points that the seat's side gains beyond the average of the
    others, to the round's end."""
    errors: tuple[Points, ...]
    """The standard error of each value, in points; 0 if it is exact."""
    loss: Points
    """Points that the choice cost, for means; by chance it may be below 0."""
    error: Points
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
        """The value of the best option less that of the chosen one; 0 in a changed line."""
        named = {self.best, self.choice} <= {*range(len(self.values))}
        return self.values[self.best] - self.values[self.choice] if named else 0.0
