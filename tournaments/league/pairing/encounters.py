"""Encounters: the games and points of each two sides that met, added up. Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from protocol.records import Result
from tournaments.rating.statistics import numbered, sums
from tournaments.rating.tally import Tally, collect

Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""Two sides that met, the first in the order of names first; each has its members sorted."""


class Encounters(NamedTuple):
    """Games and points of each two sides; small however many games there were."""

    sides: int
    """Sides of a game: its seats, or two with partners; 0 before the first game."""
    games: Counter[Sides]
    """Number of games of two sides,"""
    half_points: Counter[Sides]
    """and the half points of the first of them."""

    def plus(self, other: "Encounters") -> "Encounters":
        """Return both, added up."""
        return Encounters(
            self.sides or other.sides,
            self.games + other.games,
            # Sums of counters leave out zeros; here they mean lost games, and read as 0 anyway.
            self.half_points + other.half_points,
        )

    def games_of(self) -> Counter[str]:
        """Count the encounters of each version that played."""
        found: Counter[str] = Counter()
        for (left, right), many in self.games.items():
            for name in (*left, *right):
                found[name] += many
        return found


NO_ENCOUNTERS = Encounters(0, Counter(), Counter())
"""The encounters before the first round."""


def count_encounters(results: Iterable[Result], partners: bool) -> Encounters:
    """Add up results. ValueError if their games differ in seats, or cannot have partners.

    The encounters of several rounds are the sum of those of each, so a caller may keep the sum and
    add only the newest round.
    """
    tally = collect(results, partners)
    if not tally.names:
        return NO_ENCOUNTERS
    size, code = len(tally.names), np.zeros(len(tally.board), np.int64)
    for column in (*tally.left.T, *tally.right.T):
        code = code * size + column
    codes, cell = numbered(code, size ** (2 * tally.left.shape[1]))
    found = Encounters(tally.sides, Counter(), Counter())
    games = sums(cell, np.ones_like(cell), len(codes)).astype(int).tolist()
    halves = sums(cell, tally.half, len(codes)).astype(int).tolist()
    for code_of, many, half in zip(codes.tolist(), games, halves, strict=True):
        left, right = _sides(code_of, tally)
        if right < left:
            left, right, half = right, left, 2 * many - half
        found.games[left, right] += many
        found.half_points[left, right] += half
    return found


def _sides(code: int, tally: Tally) -> Sides:
    """Return the two sides that a code of names as digits stands for."""
    members, names = tally.left.shape[1], list[str]()
    for _ in range(2 * members):
        code, digit = divmod(code, len(tally.names))
        names.insert(0, tally.names[digit])
    return tuple(names[:members]), tuple(names[members:])
