"""The question of a sequential test, as users write it: hypotheses, risks and boards."""

from math import log
from typing import Literal

from msgspec import Struct

Measure = Literal["elo", "nelo", "points"]


FARTHEST = {"elo": 400.0, "nelo": 100.0, "points": 1000.0}
"""Greatest distance of a hypothesis from 0: farther out the error rates are not known to hold."""


MOST = 1_000_000
"""Most boards of an event, over all its rounds: each is committed to before the first game."""


class Sprt(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a sequential test. H0: A's lead is at most `h0`; H1: it is at least `h1`."""

    measure: Measure = "elo"
    """Unit of h0 and h1: Elo, normalised Elo, or the points that A is ahead by in a game."""
    h0: float = 0.0
    """A's lead under H0."""
    h1: float = 20.0
    """A's lead under H1; above h0."""
    alpha: float = 0.05
    """Probability of accepting H1 although H0 holds."""
    beta: float = 0.05
    """Probability of accepting H0 although H1 holds."""
    min_boards: int = 20
    """Boards before which the test decides nothing."""
    max_boards: int = 5000
    """Boards after which the test ends undecided."""
    without_luck: bool = False
    """With `points`: whether the luck of the draw is taken out of the margins first."""

    def __post_init__(self) -> None:
        """Refuse a test that cannot decide; ValueError."""
        most = FARTHEST[self.measure]
        if not -most <= self.h0 < self.h1 <= most:
            raise ValueError(
                f"h0 and h1 must be {-most:g} <= h0 < h1 <= {most:g} ({self.measure}), "
                f"not {self.h0:g} and {self.h1:g}"
            )
        for name, risk in (("alpha", self.alpha), ("beta", self.beta)):
            if not 1e-9 <= risk < 0.5:
                raise ValueError(f"{name} must be above 0 and below 0.5, not {risk:g}")
        if not 2 <= self.min_boards <= MOST:
            raise ValueError(f"min_boards must be from 2 to {MOST}, not {self.min_boards}")
        if not self.min_boards <= self.max_boards <= MOST:
            raise ValueError(
                f"nothing is decided before {self.min_boards} boards (min_boards), so max_boards "
                f"must be from {self.min_boards} to {MOST}, not {self.max_boards}"
            )
        if self.without_luck and self.measure != "points":
            raise ValueError(
                "luck is taken out of points (without_luck), so measure must be points, not "
                f"{self.measure}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at which the test accepts H0 and H1."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)
