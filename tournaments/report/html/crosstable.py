"""Results of each pair of entrants, with intervals that treat boards as independent. Pure."""

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from tournaments.rating.statistics import Ints, by_cluster, t_quantile
from tournaments.rating.tally import Tally

HALF = 0.5
TAIL = 0.025
"""The probability on either side of a 95 % interval."""


class Encounter(NamedTuple):
    """The result of an entrant against another."""

    games: int
    """Their pairs: at three seats or more a game has several."""
    share: float
    """Share of the points that it took, a tie ½."""
    low: float | None
    """The lower end of the share's 95 % interval; boards are independent."""
    high: float | None
    """The upper end; None: there is one board, or the error is unknown."""

    @property
    def decided(self) -> Literal["", "ahead", "behind"]:
        """Tell which side of one half the interval lies on; empty if it contains one half."""
        if self.low is not None and self.low > HALF:
            return "ahead"
        return "behind" if self.high is not None and self.high < HALF else ""

    def turned(self) -> "Encounter":
        """Return the same encounter from the other side."""
        low, high = (None if end is None else 1 - end for end in (self.high, self.low))
        return Encounter(self.games, 1 - self.share, low, high)


def encounters(tally: Tally, names: Sequence[str]) -> list[list[Encounter | None]]:
    """Return the encounters of each name with each, in their order; None: they never met.

    All names must be the tally's.
    """
    place = {name: at for at, name in enumerate(tally.names)}
    met = _met(tally)
    order = [place[name] for name in names]
    return [[_between(met, i, j) for j in order] for i in order]


def _between(met: dict[tuple[int, int], Encounter], i: int, j: int) -> Encounter | None:
    if i < j:
        return met.get((i, j))
    found = met.get((j, i))
    return found.turned() if found else None


def _met(tally: Tally) -> dict[tuple[int, int], Encounter]:
    """Return the encounters by the two entrants' numbers, the lower first."""
    size = len(tally.names)
    pairs = [_ordered(a, b, tally.half) for a in tally.left.T for b in tally.right.T]
    low, high, half = (np.concatenate(column) for column in zip(*pairs, strict=True))
    others = low != high  # A bot that partners itself may meet itself.
    codes, pair = np.unique((low * size + high)[others], return_inverse=True)
    _, board = np.unique(np.tile(tally.board, len(pairs))[others], return_inverse=True)
    told = by_cluster(pair, board, half[others], len(codes))
    columns = zip(codes, told.size, told.clusters, told.mean, told.clustered, strict=True)
    return {
        divmod(int(code), size): _encounter(int(n), int(boards), float(mean) / 2, float(spread) / 4)
        for code, n, boards, mean, spread in columns
    }


def _ordered(a: Ints, b: Ints, half: Ints) -> tuple[Ints, Ints, Ints]:
    return np.minimum(a, b), np.maximum(a, b), np.where(a < b, half, 2 - half)


def _encounter(games: int, boards: int, share: float, spread: float) -> Encounter:
    """Return the cluster mean and its interval by Student's t.

    A clean sweep has no spread; then boards are taken for tosses of a coin (Clopper and Pearson).
    """
    if share in (0.0, 1.0):
        end = TAIL ** (1 / boards)
        return Encounter(games, share, end * share, 1 - end * (1 - share))
    if boards < 2 or spread == 0:
        return Encounter(games, share, None, None)
    error = sqrt(boards / (boards - 1) * spread) / games
    width = error * t_quantile(1 - TAIL, boards - 1)
    return Encounter(games, share, max(0.0, share - width), min(1.0, share + width))
