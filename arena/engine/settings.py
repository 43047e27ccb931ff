"""The choices of a ruleset as a turn needs them: looked up once when a game begins."""

from typing import assert_never

from arena.engine.tile_table import tile_table
from protocol.messages import Passed
from protocol.ruleset import Boneyard, Ruleset, side_of


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
        # No turn draws more tiles than the set has.
        unlimited = len(self.table.tiles)
        self.draw_limit = unlimited if turn.draw_limit == "unlimited" else turn.draw_limit
        """The most tiles that a turn draws (C.19, C.28)."""
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
        """Dead ends that end a round at once (C.20), and that a seat may call (E play); 0: none."""
        self.blocks_early = self.dead_ends_to_end > 0 or self.draw_optional
        """True if a round may end although a seat could draw."""
        self.plain_turns = not (
            self.auction or self.two_tiles or self.blocks_early or self.dead_ends_to_call
        )
        """True if after a turn only the hand and the tiles that fit tell what follows."""
        self.pips = self.table.pips | {self.table.blank: rules.score.double_blank}
        """The pips that each tile counts in a hand (C score, C Dutch)."""
        self.has_bonus = bool(rules.score.bonus or rules.score.capicu or rules.score.out_with_blank)
        """True if a round may bring more than the hands (C Puerto Rico)."""


def _side(partners: bool, seat: int, seats: int) -> tuple[int, ...]:
    own = side_of(partners, seat)
    return tuple(other for other in range(seats) if side_of(partners, other) == own)


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
