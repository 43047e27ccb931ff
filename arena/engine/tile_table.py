"""A set of tiles as tables: what fits where, how it then lies, what is said of it. No state.

Each tile is one bit, so that a hand is a number, and the tiles that fit two ends are another.
The tables of a set are made once for all games that are played with it.
"""

from functools import cache

from arena.engine.structs import Bit, Mask
from protocol.messages import Option, Play, Played
from protocol.tiles import Tile, flip, tile_set


class Ends:
    """The two ends of a line, and every play on them."""

    __slots__ = ("fitting", "left", "on_left", "on_right", "plays", "right", "suits")

    def __init__(self, left: int, right: int, suits: tuple[Mask, ...]) -> None:
        self.left = left
        """The pip on the left; -1 before the first tile."""
        self.right = right
        """The pip on the right; -1 before the first tile."""
        self.suits = suits
        """All tiles of the number on the left, and of that on the right."""
        self.on_left: dict[Tile, Landing] = {}
        """Every tile that fits on the left, as it then lies; before the first tile, as the lead."""
        self.on_right: dict[Tile, Landing] = {}
        """Every tile that fits on the right, as it then lies."""
        self.plays: dict[Mask, tuple[Option, ...]] = {0: ()}
        """The options of each tile that fits: on the left, then on the right; of no tile, none."""
        self.fitting: Mask = 0
        """All tiles that fit."""

    def allow(self, on_left: "dict[Tile, Landing]", on_right: "dict[Tile, Landing]") -> None:
        """Let these tiles be played, on the left or on the right."""
        self.on_left, self.on_right = on_left, on_right
        for landing in on_left.values():
            self.plays[landing.bit] = (landing.option,)
        # Equal ends are one place to play, not two.
        if self.left != self.right:
            for landing in on_right.values():
                self.plays[landing.bit] = (*self.plays.get(landing.bit, ()), landing.option)
        self.fitting = sum(self.plays)


class Landing:
    """A tile at the end of a line where it was played."""

    __slots__ = ("bit", "events", "next_ends", "option", "tile")

    def __init__(
        self, bit: Bit, option: Play, tile: Tile, next_ends: tuple[Ends, ...], seats: int
    ) -> None:
        self.bit = bit
        """The tile."""
        self.option = option
        """The play that puts it there."""
        self.tile = tile
        """The tile as it lies, (left, right)."""
        self.events = tuple(Played(seat, tile, option.end) for seat in range(seats))
        """The play as an event, by the seat that played."""
        self.next_ends = next_ends
        """The ends of the line with it, by the pip on the other end; of a lead the only ones."""


class TileTable:
    """The tables of one set of tiles, for a number of seats."""

    def __init__(self, highest_pip: int, doubles: bool, seats: int) -> None:
        self.tiles = tile_set(highest_pip, doubles)
        """The tiles in ascending order; the first is bit 0."""
        self.bit: dict[Tile, Bit] = {tile: 1 << at for at, tile in enumerate(self.tiles)}
        """The bit of each tile, (high, low)."""
        self.tile: dict[Bit, Tile] = {bit: tile for tile, bit in self.bit.items()}
        """The tile of each bit."""
        self.pips: dict[Bit, int] = {bit: sum(tile) for bit, tile in self.tile.items()}
        """The pips of each tile."""
        self.blank: Mask = self.bit.get((0, 0), 0)
        """The 0-0, if the set has it."""
        numbers = range(highest_pip + 1)
        self.suits: tuple[Mask, ...] = tuple(
            sum(bit for bit, tile in self.tile.items() if number in tile) for number in numbers
        )
        """All tiles of each number."""
        self.ends = tuple(
            tuple(Ends(left, right, (self.suits[left], self.suits[right])) for right in numbers)
            for left in numbers
        )
        """The ends of a line by their pips, left then right."""
        self.empty = Ends(-1, -1, ())
        """The ends before the first tile, when every tile fits."""
        self._fill(seats)

    def _fill(self, seats: int) -> None:
        """Find every play on all ends."""
        ends = self.ends
        leads: dict[Tile, Landing] = {}
        on_left: list[dict[Tile, Landing]] = [{} for _ in ends]
        on_right: list[dict[Tile, Landing]] = [{} for _ in ends]
        for bit, tile in self.tile.items():
            high, low = tile
            leads[tile] = Landing(bit, Play(tile, "lead"), tile, (ends[high][low],), seats)
            for outer, inner in {tile, flip(tile)}:
                left, right = Play(tile, "left"), Play(tile, "right")
                by_right, by_left = ends[outer], tuple(row[outer] for row in ends)
                on_left[inner][tile] = Landing(bit, left, (outer, inner), by_right, seats)
                on_right[inner][tile] = Landing(bit, right, (inner, outer), by_left, seats)
        self.empty.allow(leads, {})
        for at_left, row in zip(on_left, ends, strict=True):
            for at_right, one in zip(on_right, row, strict=True):
                one.allow(at_left, at_right)


@cache
def tile_table(highest_pip: int, doubles: bool, seats: int) -> TileTable:
    """Return the tables of a set for a number of seats."""
    return TileTable(highest_pip, doubles, seats)
