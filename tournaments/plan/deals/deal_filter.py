"""Filters of deals: `doubles>=4` keeps boards whose first deal has four doubles in a hand. Pure."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from protocol.errors import UserError, unknown_name
from protocol.tiles import Tile

Hands = Sequence[Sequence[Tile]]


def _doubles(hand: Sequence[Tile]) -> int:
    return sum(high == low for high, low in hand)


def _suit(hand: Sequence[Tile]) -> int:
    pips = {pip for tile in hand for pip in tile}
    return max((sum(pip in tile for tile in hand) for pip in pips), default=0)


def _pips(hand: Sequence[Tile]) -> int:
    return sum(map(sum, hand))


MEASURES: Mapping[str, tuple[str, Callable[[Hands], int]]] = {
    "doubles": ("the most doubles in a hand", lambda hands: max(map(_doubles, hands))),
    "suit": ("the most tiles of one number in a hand", lambda hands: max(map(_suit, hands))),
    "pips": ("the pips of the heaviest hand", lambda hands: max(map(_pips, hands))),
    "spread": (
        "the difference between the heaviest and the lightest hand, in pips",
        lambda hands: max(map(_pips, hands)) - min(map(_pips, hands)),
    ),
}
"""Numbers that a filter compares: their meaning, and how they are computed."""
SIGNS: Mapping[str, tuple[str, Callable[[int, int], bool]]] = {
    ">=": ("at least", operator.ge),
    "<=": ("at most", operator.le),
    "=": ("exactly", operator.eq),
}
_FORM = re.compile(r"\s*([a-z_]+)\s*(>=|<=|=)\s*([0-9]{1,4})\s*")


class DealFilter(NamedTuple):
    """A condition on the hands of a board's first deal."""

    measure: str
    sign: str
    number: int

    def accepts(self, hands: Hands) -> bool:
        """Tell whether these hands satisfy the condition."""
        (_, compare), (_, measured) = SIGNS[self.sign], MEASURES[self.measure]
        return compare(measured(hands), self.number)


def parse_filter(text: str) -> DealFilter:
    """Return the filter that a user wrote, as in doubles>=4. Raises UserError."""
    found = _FORM.fullmatch(text)
    if not found:
        raise UserError(
            f"A filter of deals is a measure, >=, <= or =, and a number, not {text!r}: doubles>=4."
        )
    measure, sign, number = found.groups()
    if measure not in MEASURES:
        raise unknown_name("measure of deals", measure, MEASURES)
    return DealFilter(measure, sign, int(number))


def describe_filter(text: str) -> str:
    """Return the meaning of a filter: the most doubles in a hand: at least 4."""
    one = parse_filter(text)
    return f"{MEASURES[one.measure][0]}: {SIGNS[one.sign][0]} {one.number}"
