"""The state of a game as values: every tile's place and the seat to move. No rules live here."""

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
"""The method that decides the leader of a round."""
Phase = Literal["guess", "deal", "keep", "play", "call", "auction"]


class Dealt(Struct, frozen=True):
    """The decisions of chance: all that a round needs besides the choices of the seats."""

    round: int
    """The round's number, from 1."""
    deal: int
    """The deal's number in the round, from 1; 0: only lots, before tiles are dealt."""
    leader: int
    """The seat that leads, unless a double decides; with deal 0 the seat that guesses."""
    lots: Lots
    """Tiles that seats drew and showed for the lead; they were shuffled back."""
    hands: tuple[Hand, ...]
    """Tiles dealt to each seat."""
    stock: tuple[Row, ...]
    """The boneyard in rows; see `arena.engine.boneyard`."""


class Interlude(Struct, frozen=True, gc=False):
    """The state of a round besides its tiles.

    It stays the same value through most of a round, so that a move does not copy it.
    """

    deal: int
    """The number of the deal that is played, from 1."""
    how: Method
    """The method that decides the leader of this round."""
    began: int = 0
    """The seat that chance or the last round made leader, though a double may decide later."""
    phase: Phase = "play"
    """The subject of the next question; "deal": tiles are dealt before a seat moves."""
    queue: Seats = ()
    """Seats still to be asked in this phase, the one to move first."""
    then: int = 0
    """The seat whose turn it is after this phase."""
    must_lead: Tile | None = None
    """The only tile that may be led."""
    lots: Lots = ()
    """Lots that were drawn but are not shown yet."""
    bid: int = 0
    """The highest bid, in chips."""
    bidder: int = 0
    """The seat that bid it."""
    auctioned: bool = False
    """True once the last two tiles have been auctioned."""


class Round(Struct, frozen=True, gc=False):
    """One deal being played."""

    number: int
    """The round's number, from 1."""
    leader: int
    """The seat that leads."""
    turn: int
    """The seat to move."""
    hands: tuple[Hand, ...]
    """The tiles that each seat holds."""
    stock: tuple[Row, ...]
    """The boneyard in rows; see `arena.engine.boneyard`."""
    drawable: int
    """The number of its tiles that may still be drawn."""
    line: tuple[Tile, ...]
    """The line from left to right, each tile (left, right)."""
    drawn: int
    """Tiles drawn in this turn."""
    passes: int
    """Passes since the last play or draw."""
    events: tuple[Event, ...]
    """The history of the round, with nothing hidden."""
    aside: Interlude
    """The state of the round besides its tiles."""
    over: WhyRound | None = None
    """The reason why the round is over; None: it is not."""
    out: int | None = None
    """The seat that went out."""
    winner: int | None = None
    """The seat that won the round, once it is over; with partners the one that leads for its side.
    """


class Game(Struct, frozen=True, gc=False):
    """A game: its rounds up to the target."""

    rules: Ruleset
    """The ruleset."""
    seats: int
    """The number of seats."""
    target: int
    """Points that end the game."""
    step: int
    """The step from a seat to the next: 1, or -1 for counter-clockwise."""
    scores: tuple[int, ...]
    """Points of each seat."""
    pot: int
    """Points in the pot."""
    round: Round | None
    """The round that is being played or was played last; None before the first."""
    points: tuple[int, ...]
    """Points that each seat gained or lost in the last finished round."""
    over: WhyGame | None = None
    """The reason why the game is over; None: it is not."""

    @property
    def playing(self) -> Round:
        """The round that was dealt last; asking before the first deal is our own mistake."""
        assert self.round is not None, "No round has been dealt."
        return self.round

    def after(self, seat: int) -> int:
        """Return the next seat in the direction of play."""
        return (seat + self.step) % self.seats

    def order(self, first: int) -> Seats:
        """Return all seats in the direction of play, from this one on."""
        return tuple((first + turn * self.step) % self.seats for turn in range(self.seats))
