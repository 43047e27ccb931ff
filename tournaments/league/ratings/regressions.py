"""Regressions: new versions of bots that are probably worse than the ones before. Pure.

The probability is one-sided and comes from the fit of all results, with boards as clusters. But a
league chooses its tables by earlier results: a version whose rating is off by chance is soon far
from all others, plays less, and stays off. And whoever looks each day sees the worst day. So
errors are taken `WIDER` times as wide here. Then of versions that are as strong as the ones before,
at most one in twenty is ever flagged (simulated: tests/bench/league_flags.py).
"""

from collections.abc import Collection, Iterable, Sequence
from statistics import NormalDist

from msgspec import Struct

from tournaments.formats.base import first_version
from tournaments.rating.ratings import DECIMALS, FINE
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


CHANCE = 0.95
"""Probability from which a version is flagged as worse."""
WIDER = 1.5
"""Factor on the error of a lead, for the choice of tables by results and for many looks."""
TINY = 1e-9
"""Probability below which a likelihood of superiority is rounded to 0."""
FEWEST_BOARDS = 10
"""Boards that each of two versions must have played before they are compared."""


class Regression(Struct, frozen=True, kw_only=True):
    """A present version that is probably worse than the one before."""

    bot: str
    newer: str
    """The present version."""
    older: str
    """The last version before it that played."""
    chance: float
    """Probability that the newer one is worse, `CHANCE` to 1."""
    lead: float | None
    """Elo of the newer one over the older one; None if either has none."""
    half_width: float | None
    """Half width of the 95 % interval of `lead`, in Elo."""
    is_sure: bool
    """True if it is flagged even when all comparisons of the division together may give a false
    alarm in one of twenty cases (Holm)."""
    sentence: str
    """The finding in words, as in: mine@7 is worse than mine@6: 97 %."""


def comparable(pairs: Iterable[tuple[str, str]], main: RatedPool) -> list[tuple[str, str]]:
    """Return the pairs of a newer and an older version that have played enough."""
    return [
        pair
        for pair in pairs
        if main.has(*pair) and all(main.by_name[name].boards >= FEWEST_BOARDS for name in pair)
    ]


def find_regressions(pairs: list[tuple[str, str]], main: RatedPool) -> list[Regression]:
    """Return those of the comparisons of a newer with an older version that show a loss."""
    chances = sorted(
        ((_chance(main.chance(old, new)), new, old) for new, old in pairs), reverse=True
    )
    found, sure = [], True
    for place, (chance, newer, older) in enumerate(chances):
        if chance < CHANCE:
            break
        sure = sure and 1 - chance <= (1 - CHANCE) / (len(chances) - place)
        lead = main.lead(newer, older)
        found.append(
            Regression(
                bot=first_version(newer),
                newer=newer,
                older=older,
                chance=chance,
                lead=lead[0] if lead else None,
                half_width=lead[1] if lead else None,
                is_sure=sure,
                sentence=f"{newer} is worse than {older}: {_percent(chance)}",
            )
        )
    return found


def _chance(likelihood: float) -> float:
    """Return the likelihood that one is better, with its error `WIDER` times as wide."""
    normal = NormalDist()
    z = normal.inv_cdf(min(max(likelihood, TINY), 1 - TINY))
    return round(normal.cdf(z / WIDER), FINE)


def _percent(chance: float) -> str:
    return "over 99.9 %" if chance > 0.999 else f"{100 * chance:.0f} %"
