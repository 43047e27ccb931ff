"""The pool of a division whose ratings are compared, by name. Pure."""

from collections.abc import Collection, Sequence

from tournaments.rating.ratings import DECIMALS
from tournaments.rating.statistics import Error, degrees_of_freedom, rank_intervals
from tournaments.rating.tables import Pool, Rating


class RatedPool:
    """The pool of a division whose ratings are compared, by name."""

    def __init__(self, pool: Pool | None) -> None:
        self.pool = pool
        self.ratings: Sequence[Rating] = pool.entrants if pool else ()
        self.by_name = {rating.name: rating for rating in self.ratings}
        self._number = {rating.name: place for place, rating in enumerate(self.ratings)}

    def has(self, *names: str) -> bool:
        """Tell whether all these versions are in the pool."""
        return all(name in self._number for name in names)

    def of(self, names: Collection[str]) -> list[str]:
        """Return those of these versions that are in the pool, best first."""
        return [name for name in self._number if name in names]

    def chance(self, one: str, other: str) -> float:
        """Return the likelihood that one is better than the other."""
        assert self.pool
        return self.pool.los[self._number[one]][self._number[other]]

    def lead(self, one: str, other: str) -> tuple[float, float] | None:
        """Return one's Elo over the other and the half width of its interval, if both are known."""
        if not self.has(one, other):
            return None
        assert self.pool
        error = self.pool.errors[self._number[one]][self._number[other]]
        first, second = self.by_name[one], self.by_name[other]
        if error is None or first.elo is None or second.elo is None or first.bound or second.bound:
            return None
        df = degrees_of_freedom(min(first.boards, second.boards))
        lead, half_width = first.elo - second.elo, Error(error, df).half_width()
        return round(lead, DECIMALS), round(half_width, DECIMALS)

    def rank_intervals(self, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """Return the ranks among these versions that the results leave open."""
        return rank_intervals([[self.chance(one, other) for other in names] for one in names])
