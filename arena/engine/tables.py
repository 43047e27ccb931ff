"""Tables of a game: its tiles, and the choices of its ruleset, looked up again and again."""

from functools import cache
from typing import assert_never

from protocol.messages import Option, Passed, Play, Played
from protocol.ruleset import Boneyard, DrawLimit, Ruleset, Tile, flip, side_of, tile_set

Bit = int
"""A tile: a number with a single bit."""
Mask = int
"""Several tiles: the sum of their bits."""

# A set of tiles as tables: what fits where, how it then lies, what is said of it. No state.
#
# Each tile is one bit, so that a hand is a number, and the tiles that fit two ends are another. The
# tables of a set are made once for all games that are played with it.


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
        """The options of each tile that fits: on the left, then on the right; 0 has none."""
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
        """The ends of the line after the play, by the pip on the other end; of a lead, one item."""


class TileTable:
    """The tables of one set of tiles, for a number of seats."""

    def __init__(self, highest_pip: int, doubles: bool, seats: int) -> None:
        self.tiles = tile_set(highest_pip, doubles)
        """The tiles in ascending order; the first is bit 0."""
        self.bit: dict[Tile, Bit] = {tile: 1 << index for index, tile in enumerate(self.tiles)}
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
            for at_right, open_ends in zip(on_right, row, strict=True):
                open_ends.allow(at_left, at_right)


@cache
def tile_table(highest_pip: int, doubles: bool, seats: int) -> TileTable:
    """Return the tables of a set for a number of seats."""
    return TileTable(highest_pip, doubles, seats)


# The choices of a ruleset as a turn needs them: looked up once when a game begins.


class Settings:
    """The choices of a ruleset at a table with a number of seats."""

    __slots__ = (
        "after",
        "auction",
        "blocks_early",
        "chips",
        "dead_ends_to_call",
        "dead_ends_to_end",
        "draw_ends_turn",
        "draw_limit",
        "draw_optional",
        "draw_when_able",
        "fee",
        "from_back",
        "has_bonus",
        "leader_may_draw",
        "own_row",
        "pass_events",
        "pips",
        "plain_turns",
        "sides",
        "step",
        "table",
        "two_at_once",
        "two_tiles",
    )

    def __init__(self, rules: Ruleset, seats: int) -> None:
        deal, turn = rules.deal, rules.turn
        self.table = tile_table(deal.highest_pip, deal.doubles, seats)
        """The tables of the set."""
        self.step = step = 1 if deal.direction == "clockwise" else -1
        """The step from a seat to the next: 1, or -1 for counter-clockwise."""
        self.after = tuple((seat + step) % seats for seat in range(seats))
        """For each seat, the next in the direction of play."""
        self.sides = tuple(_side(deal.partners, seat, seats) for seat in range(seats))
        """For each seat, the seats that win and pay with it."""
        self.pass_events = tuple(Passed(seat) for seat in range(seats))
        """For each seat, the event of its pass."""
        self.two_tiles = turn.tiles == 2
        """True if a turn plays two tiles (E play)."""
        self.draw_limit = _most_draws_a_turn(turn.draw_limit, len(self.table.tiles))
        """The most tiles that a turn draws (C.19, C.28)."""
        self.two_at_once = turn.draw_limit == "two_at_once"
        """True if a seat that draws a tile draws a second before anything else (A, C Dutch)."""
        self.draw_when_able = turn.draw_when_able
        """True if a seat that can play may draw (C.22)."""
        self.leader_may_draw = turn.leader_may_draw
        """True if that holds before the first tile too (B, C; not D)."""
        self.draw_ends_turn = turn.draw_ends_turn
        """True if drawing a tile is the whole turn (E play)."""
        self.draw_optional = turn.draw_optional
        """True if a seat that cannot play may pass instead of drawing (C.27)."""
        self.own_row, self.from_back = _draws(rules.boneyard, seats)
        """For each seat, the row from which it draws first, and true if it draws from the back."""
        self.auction = rules.boneyard.auction
        """True if the last two tiles are auctioned (C.26)."""
        self.fee = rules.stakes.fee
        """The price of a drawn tile (C.27)."""
        self.chips = rules.stakes.chips
        """Chips with which each seat begins; 0: the game has no chips."""
        self.dead_ends_to_end, self.dead_ends_to_call = _dead_ends(rules)
        """Numbers of dead ends that end a round (C.20), or let seats call it (E play); 0: none."""
        self.blocks_early = self.dead_ends_to_end > 0 or self.draw_optional
        """True if a round may end although a seat could draw."""
        self.plain_turns = not (
            self.auction or self.two_tiles or self.blocks_early or self.dead_ends_to_call
        )
        """True if hands, tiles that fit and the boneyard alone decide what follows a turn."""
        self.pips = self.table.pips | {self.table.blank: rules.score.double_blank}
        """The pips that each tile counts in a hand (C score, C Dutch)."""
        self.has_bonus = bool(rules.score.bonus or rules.score.capicu or rules.score.out_with_blank)
        """True if a round may bring more than the hands (C Puerto Rico)."""


def _most_draws_a_turn(limit: DrawLimit, tiles: int) -> int:
    match limit:
        case "unlimited":
            return tiles  # No turn draws more tiles than the set has.
        case "two_at_once":
            return 2
        case _:
            return limit


def _side(partners: bool, seat: int, seats: int) -> tuple[int, ...]:
    side = side_of(partners, seat)
    return tuple(ally for ally in range(seats) if side_of(partners, ally) == side)


def _dead_ends(rules: Ruleset) -> tuple[int, int]:
    """Return the dead ends that end a round, and those that a seat may call."""
    match rules.end.blocked:
        case "play_on":
            return 0, 0
        case "at_once":
            return 2, 0
        case "call":
            # With two tiles a turn one is enough, for nobody can play a pair any more.
            return 0, 1 if rules.turn.tiles == 2 else 2
        case _:
            assert_never(rules.end.blocked)


def _draws(boneyard: Boneyard, seats: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return for each seat the row from which it draws first, and whether from the back."""
    match boneyard.order:
        case "row":
            return (0,) * seats, (False,) * seats
        case "scattered":
            order = range(seats)
            return tuple(seat // 2 for seat in order), tuple(seat % 2 == 1 for seat in order)
        case _:
            assert_never(boneyard.order)
