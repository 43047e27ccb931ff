"""The truth about a game as values: what lies where and who is to move. No rules live here."""

from typing import Literal

from msgspec import Struct

from protocol.messages import Event, Lot, WhyGame, WhyRound
from protocol.ruleset import FirstLead, Ruleset
from protocol.tiles import Tile

Hand = tuple[Tile, ...]
Row = tuple[Tile, ...]
Seats = tuple[int, ...]
Lots = tuple[Lot, ...]
Method = FirstLead | Literal["rotate", "same", "winner"]
"""How the leader of a round is found."""
Phase = Literal["guess", "deal", "keep", "play", "call", "auction"]


class Dealt(Struct, frozen=True):
    """What chance decided: all that a round needs besides what the seats choose."""

    round: int
    """The round's number, from 1."""
    deal: int
    """Which deal of the round, from 1; 0: only lots, before anything is dealt."""
    leader: int
    """The seat that leads, unless a double decides; with deal 0 the seat that guesses."""
    lots: Lots
    """Tiles drawn and shown for the lead, and shuffled back."""
    hands: tuple[Hand, ...]
    """Tiles dealt to each seat."""
    stock: tuple[Row, ...]
    """The boneyard in rows; see `arena.engine.boneyard`."""


class Interlude(Struct, frozen=True, gc=False):
    """What is going on besides playing tiles; the same value through most of a round."""

    deal: int
    """Which deal of the round is played."""
    how: Method
    """How the leader of this round is found."""
    began: int = 0
    """The seat that chance or the last round made leader, whatever a double said later."""
    phase: Phase = "play"
    """What the seat to move is asked about; "deal": nobody moves before tiles are dealt."""
    queue: Seats = ()
    """Seats that are still to be asked in this phase, the one to move first."""
    then: int = 0
    """The seat whose turn it is after this phase."""
    must_lead: Tile | None = None
    """The only tile that may be led."""
    lots: Lots = ()
    """Lots that were drawn but are not shown yet."""
    bid: int = 0
    """The highest bid, in chips."""
    bidder: int = 0
    """Who bid it."""
    auctioned: bool = False
    """Whether the last two tiles have been offered."""


class Round(Struct, frozen=True, gc=False):
    """One deal being played."""

    number: int
    """From 1."""
    leader: int
    """The seat that leads."""
    turn: int
    """The seat to move."""
    hands: tuple[Hand, ...]
    """What each seat holds."""
    stock: tuple[Row, ...]
    """The boneyard in rows; see `arena.engine.boneyard`."""
    drawable: int
    """How many of its tiles may still be drawn."""
    line: tuple[Tile, ...]
    """The line from left to right, each tile (left, right)."""
    drawn: int
    """Tiles drawn in this turn."""
    passes: int
    """Passes since the last play or draw."""
    events: tuple[Event, ...]
    """What has happened, with nothing hidden."""
    aside: Interlude
    """What is going on besides playing tiles."""
    over: WhyRound | None = None
    """Why the round is over, once it is."""
    out: int | None = None
    """The seat that went out."""
    winner: int | None = None
    """The seat that won it, once it is over; with partners the one that leads for its side."""


class Game(Struct, frozen=True, gc=False):
    """Rounds up to the target."""

    rules: Ruleset
    """The ruleset."""
    seats: int
    """How many seats."""
    target: int
    """Points that end the game."""
    step: int
    """What is added to a seat to find the next: 1, or -1 for counter-clockwise."""
    scores: tuple[int, ...]
    """Points of each seat."""
    pot: int
    """Points in the pot."""
    round: Round | None
    """The round that is being played or was played last; None before the first."""
    points: tuple[int, ...]
    """Points that the last finished round brought each seat."""
    over: WhyGame | None = None
    """Why the game is over, once it is."""

    @property
    def playing(self) -> Round:
        """The round; it is a mistake of ours to ask for it before one is dealt."""
        assert self.round is not None, "No round has been dealt."
        return self.round

    def after(self, seat: int) -> int:
        """The next seat in the direction of play."""
        return (seat + self.step) % self.seats

    def order(self, first: int) -> Seats:
        """All seats in the direction of play."""
        return tuple((first + turn * self.step) % self.seats for turn in range(self.seats))
