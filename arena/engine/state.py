"""The state of a game: decisions of chance, a round's phase, every tile's place. No rules here."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from arena.engine.tables import Bit, Ends, Mask, Settings, TileTable
from protocol.messages import Event, Lot, Option, Stock, WhyGame, WhyRound
from protocol.ruleset import LeadMethod, Ruleset, Tile, high_first

Hand = tuple[Tile, ...]
TileRow = tuple[Tile, ...]
SeatOrder = tuple[int, ...]
Lots = tuple[Lot, ...]
Method = LeadMethod
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
    """The boneyard in rows; see `arena.engine.deal.arrange_stock`."""


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


class Round:
    """One deal being played.

    Here tiles are bits (`arena.engine.tables`); the properties give them as pips. A hand is a
    mask, and a list too, because options are listed in the order in which a seat received tiles.
    """

    __slots__ = (
        "drawable",
        "drawn",
        "ends",
        "hand_bits",
        "hand_masks",
        "held_mask",
        "history",
        "layout",
        "leader",
        "line_mask",
        "number",
        "out",
        "over",
        "passes",
        "phase",
        "stock_rows",
        "stock_size",
        "table",
        "turn",
        "winner",
    )

    def __init__(
        self,
        table: TileTable,
        number: int,
        leader: int,
        hand_bits: list[list[Bit]],
        hand_masks: list[Mask],
        rows: list[list[Bit]],
        stock_size: int,
        drawable: int,
        history: list[Event],
        phase: Phase,
    ) -> None:
        self.table = table
        """The tables of the set."""
        self.number = number
        """The round's number, from 1."""
        self.leader = leader
        """The seat that leads."""
        self.turn = leader
        """The seat to move."""
        self.hand_bits = hand_bits
        """The tiles that each seat holds, in the order in which it received them."""
        self.hand_masks = hand_masks
        """The same tiles, as masks."""
        self.held_mask: Mask = sum(hand_masks)
        """The tiles that any seat holds."""
        self.stock_rows = rows
        """The boneyard in rows; see `arena.engine.deal.arrange_stock`."""
        self.stock_size = stock_size
        """The number of tiles in the boneyard."""
        self.drawable = drawable
        """The number of tiles in it that may still be drawn."""
        self.layout: list[Tile] = []
        """The line from left to right, each tile (left, right)."""
        self.line_mask: Mask = 0
        """The tiles in the line."""
        self.ends: Ends = table.empty
        """The ends of the line."""
        self.drawn = 0
        """Tiles drawn in this turn."""
        self.passes = 0
        """Passes since the last play or draw."""
        self.history = history
        """The events of the round, with nothing hidden."""
        self.phase = phase
        """The state of the round besides its tiles."""
        self.over: WhyRound | None = None
        """The reason why the round is over; None: it is not."""
        self.out: int | None = None
        """The seat that went out."""
        self.winner: int | None = None
        """The seat that won the round, once it is over; with partners the one that leads for its
        side."""

    def copy(self) -> "Round":
        """Return a round that can be played on without changing this one."""
        new = Round(
            self.table,
            self.number,
            self.leader,
            [tiles[:] for tiles in self.hand_bits],
            self.hand_masks[:],
            [row[:] for row in self.stock_rows],
            self.stock_size,
            self.drawable,
            self.history[:],
            self.phase,
        )
        new.turn = self.turn
        new.layout = self.layout[:]
        new.line_mask = self.line_mask
        new.ends = self.ends
        new.drawn, new.passes = self.drawn, self.passes
        new.over, new.out, new.winner = self.over, self.out, self.winner
        return new

    def lay(self, line: Sequence[Tile]) -> None:
        """Begin the line with these tiles, as they lie."""
        self.layout = list(line)
        self.line_mask = sum(self.table.bit[high_first(tile)] for tile in line)
        self.ends = self.table.ends[line[0][0]][line[-1][1]]

    def hand(self, seat: int) -> Hand:
        """Return the tiles that a seat holds, in the order in which it received them."""
        return tuple(map(self.table.tile.__getitem__, self.hand_bits[seat]))

    @property
    def hands(self) -> tuple[Hand, ...]:
        """The tiles that each seat holds."""
        tile = self.table.tile.__getitem__
        return tuple([tuple(map(tile, hand)) for hand in self.hand_bits])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of tiles that each seat holds."""
        return tuple([len(bits) for bits in self.hand_bits])

    @property
    def stock(self) -> tuple[TileRow, ...]:
        """The boneyard in rows."""
        tile = self.table.tile
        return tuple([tuple([tile[bit] for bit in row]) for row in self.stock_rows])

    @property
    def line(self) -> tuple[Tile, ...]:
        """The line from left to right, each tile (left, right)."""
        return tuple(self.layout)

    @property
    def events(self) -> tuple[Event, ...]:
        """The history of the round, with nothing hidden."""
        return tuple(self.history)


class Game:
    """A game in play: its scores, its pot, and the round that is played or was played last."""

    __slots__ = ("over", "points", "pot", "round", "rules", "scores", "seats", "settings", "target")

    def __init__(self, rules: Ruleset, seats: int, target: int, settings: Settings) -> None:
        self.rules = rules
        """The ruleset."""
        self.seats = seats
        """The number of seats."""
        self.target = target
        """Points that end the game."""
        self.settings = settings
        """The choices of the ruleset that turns need."""
        self.scores = (0,) * seats
        """Points of each seat."""
        self.pot = 0
        """Points in the pot."""
        self.round: Round | None = None
        """The round that is being played or was played last; None before the first."""
        self.points = self.scores
        """Points that each seat gained or lost in the last finished round."""
        self.over: WhyGame | None = None
        """The reason why the game is over; None: it is not."""

    def copy(self) -> "Game":
        """Return a game that can be played on without changing this one."""
        new = Game(self.rules, self.seats, self.target, self.settings)
        new.scores, new.pot, new.points = self.scores, self.pot, self.points
        new.round = self.round.copy() if self.round else None
        new.over = self.over
        return new

    @property
    def playing(self) -> Round:
        """The round that was dealt last; asking before the first deal is our own mistake."""
        assert self.round is not None, "No round has been dealt."
        return self.round

    def after(self, seat: int) -> int:
        """Return the next seat in the direction of play."""
        return self.settings.after[seat]

    def order(self, first: int) -> SeatOrder:
        """Return all seats in the direction of play, from this one on."""
        step = self.settings.step
        return tuple((first + turn * step) % self.seats for turn in range(self.seats))


class Opening(Struct, frozen=True):
    """The beginning of a game that goes on from a position: a round as far as its question."""

    start: Game
    """The game before the deals."""
    deals: tuple[Dealt, ...]
    """The deals of the round up to the question, annulled ones first."""
    options: tuple[Option, ...]
    """The options that the seats took, in order."""
