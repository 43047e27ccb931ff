"""Numbers for options: every option that a game can offer has one, the same at every moment.

The numbers run in blocks; a block exists only if the rules can offer its options. With T tiles, in
the order of `protocol.tiles.tile_set` (0-0, 1-0, 1-1, 2-0, ...):

| block | numbers | where |
| --- | --- | --- |
| play a tile on the left | T, by tile | |
| play a tile on the right | T, by tile | |
| lead a tile | T, by tile | |
| draw, pass | 2 | |
| play two tiles | T x T, by the left tile, then by the right one | two tiles a turn |
| keep, refuse the deal | 2 | deals may be refused |
| guess odd, even | 2 | odd or even decides who leads |
| bid 0, 1, 2, ... chips | 1 + seats x the chips that each begins with | an auction |
| call, go on | 2 | blocked rounds are called |

A seat that receives chips from outside the table (where points for a round are paid in chips)
could bid more than the table began with; such bids have no number and are not offered. No named
game pays chips so.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protocol.messages import (
    Bid,
    Call,
    Draw,
    End,
    GoOn,
    Guess,
    Keep,
    Option,
    Pass,
    Play,
    PlayTwo,
    Refuse,
)
from protocol.ruleset import Ruleset, set_of_tiles

Mask = NDArray[np.int8]
"""An array with 1 for each number that may be chosen."""
ENDS: tuple[End, ...] = ("left", "right", "lead")


class Actions:
    """A two-way mapping between the options of a game and their numbers."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        self.options: tuple[Option, ...] = tuple(_options(rules, seats))
        """Every option; its index is its number."""
        self.numbers = {option: number for number, option in enumerate(self.options)}

    def mask(self, options: Iterable[Option]) -> Mask:
        """Return 1 for each of these options and 0 for all others."""
        mask = np.zeros(len(self.options), np.int8)
        mask[[self.numbers[option] for option in options if option in self.numbers]] = 1
        return mask

    def choice(self, number: int, options: Sequence[Option]) -> int:
        """Return the index of the numbered option in the list of a question.

        Raises ValueError if the question does not offer it.
        """
        if not (0 <= number < len(self.options) and self.options[number] in options):
            raise ValueError(f"Action {number} is not offered now.")
        return options.index(self.options[number])


def _options(rules: Ruleset, seats: int) -> Iterator[Option]:
    tiles = set_of_tiles(rules.deal)
    for end in ENDS:
        yield from (Play(tile, end) for tile in tiles)
    yield from (Draw(), Pass())
    if rules.turn.tiles == 2:
        yield from (PlayTwo(left, right) for left in tiles for right in tiles)
    if rules.deal.refuse_doubles:
        yield from (Keep(), Refuse())
    if rules.lead.first == "odd_even":
        yield from (Guess("odd"), Guess("even"))
    if rules.boneyard.auction:
        yield from map(Bid, range(1 + seats * rules.stakes.chips))
    if rules.end.blocked == "call":
        yield from (Call(), GoOn())
