"""The structs of the engine: the decisions of chance, and a round besides its tiles."""

from typing import Literal

from msgspec import Struct

from protocol.messages import Lot, Stock
from protocol.ruleset import FirstLead, Tile

Bit = int
"""A tile: a number with a single bit."""
Mask = int
"""Several tiles: the sum of their bits."""
Hand = tuple[Tile, ...]
TileRow = tuple[Tile, ...]
SeatOrder = tuple[int, ...]
Lots = tuple[Lot, ...]
Method = FirstLead | Literal["rotate", "same", "winner"]
"""The method that decides the leader of a round."""
PhaseName = Literal["guess", "deal", "keep", "play", "call", "auction"]


class Dealt(Struct, frozen=True):
    """The lots and tiles of a deal: all of a round that the seats do not choose."""

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
    stock: tuple[TileRow, ...]
    """The boneyard in rows; see `arena.engine.boneyard`."""


class Phase(Struct, frozen=True, gc=False):
    """The state of a round besides its tiles: a value, replaced in the few moments it changes.

    So a copy of a round, which a search makes often, shares it.
    """

    deal: int
    """The number of the deal that is played, from 1."""
    method: Method
    """The method that decides the leader of this round."""
    began: int = 0
    """The seat that chance or the last round made leader, though a double may decide later."""
    name: PhaseName = "play"
    """The subject of the next question; "deal": tiles are dealt before a seat moves."""
    queue: SeatOrder = ()
    """Seats still to be asked in this phase, the one to move first."""
    next_seat: int = 0
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


class Onlooker(Struct, frozen=True):
    """The open table: all that an onlooker may know, who sits at no seat."""

    round: int
    """The round's number in the game, from 1."""
    line: tuple[Tile, ...]
    """The line from left to right, each tile [left, right]."""
    boneyard: Stock
    """The boneyard as everybody sees it."""
    hands: tuple[int, ...]
    """The number of tiles that each seat holds."""
    scores: tuple[int, ...]
    """Points of each seat so far."""
    pot: int
    """Points in the pot; 0 if the rules have no pot."""
