"""The truth about a game as values: what lies where and who is to move. No rules live here."""

from msgspec import Struct

from protocol.messages import Event, WhyGame, WhyRound
from protocol.rules import Ruleset
from protocol.tiles import Tile

Hand = tuple[Tile, ...]
Row = tuple[Tile, ...]


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
    events: tuple[Event, ...]
    """What has happened, with nothing hidden."""
    over: WhyRound | None = None
    """Why the round is over, once it is."""
    out: int | None = None
    """The seat that went out."""


class Game(Struct, frozen=True, gc=False):
    """Rounds up to the target."""

    rules: Ruleset
    """The ruleset."""
    seats: int
    """How many seats."""
    target: int
    """Points that end the game."""
    scores: tuple[int, ...]
    """Points of each seat."""
    round: Round | None
    """The round that is being played or was played last; None before the first."""
    points: tuple[int, ...]
    """Points that the last finished round brought each seat."""
    over: WhyGame | None = None
    """Why the game is over, once it is."""
