"""Information that games have about the ratings of active versions, or would add. Pure.

A Bradley–Terry fit with a prior: each version also has `PRIOR_DRAWS` virtual draws against the
level, so that a version without games, or that won or lost everything, has a rating and a finite
error. This fit only decides who meets; the ratings that readers see have no such prior.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import erf, pi, sqrt
from typing import NamedTuple

import numpy as np

from protocol.records import Result
from protocol.ruleset import count_sides
from tournaments.rating import regression
from tournaments.rating.regression import Design, Floats
from tournaments.rating.statistics import ELO, Z

Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""Two sides that met, the first in the order of names first; each has its members sorted."""


class Encounters(NamedTuple):
    """Games and points of each two sides; small however many games there were."""

    sides: int
    """Sides of a game: its seats, or two with partners; 0 before the first game."""
    games: Counter[Sides]
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


NO_ENCOUNTERS = Encounters(0, Counter(), Counter())
"""The encounters before the first round."""


def count_encounters(results: Iterable[Result], partners: bool) -> Encounters:
    """Add up results.

    The encounters of several rounds are the sum of those of each, so a caller may keep the sum and
    add only the newest round.
    """
    found = Encounters(0, Counter(), Counter())
    for result in results:
        sides = count_sides(partners, len(result.seats))
        found = found._replace(sides=sides)
        members = [(tuple(sorted(result.seats[side::sides])), side) for side in range(sides)]
        for (left, one), (right, other) in combinations(sorted(members), 2):
            ahead = result.places[other] - result.places[one]
            found.games[left, right] += 1
            found.half_points[left, right] += 1 + (ahead > 0) - (ahead < 0)
    return found


PRIOR_DRAWS = 3.0
"""Virtual draws of each version against the level: a standard deviation of 200 Elo before the
first game."""


class Information:
    """Ratings of the active versions, in natural logits, and the covariances of their errors."""

    def __init__(
        self, encounters: Encounters, active: Sequence[str], anchor: str | None, partners: bool
    ) -> None:
        """Fit all games; versions that play no more connect the others, so they count too."""
        self.partners = partners
        self.anchor = active.index(anchor) if anchor in active else None
        played = Counter[str]()
        for (left, right), many in encounters.games.items():
            played.update(dict.fromkeys((*left, *right), many))
        names = [*active, *sorted(played.keys() - set(active))]
        rating, covariance = _fit(encounters, names)
        size = len(active)
        self.games = [played[name] for name in active]
        self.lead: Floats = rating[:size, None] - rating[None, :size]
        self.covariance: Floats = covariance[:size, :size]

    def half_widths(self) -> Floats:
        """Return the half widths of the 95 % intervals of all differences, in Elo."""
        return np.asarray(ELO * Z * np.sqrt(_apart(self.covariance)), np.float64)

    def doubts(self) -> Floats:
        """Return twice the probability that two versions' order is not as it seems, 0 to 1."""
        error = np.sqrt(_apart(self.covariance)) + np.eye(len(self.lead))
        z = np.abs(self.lead) / error / sqrt(2)
        return np.asarray(1 - np.vectorize(erf)(z), np.float64) if len(z) else z

    def shares(self) -> Floats:
        """Return the expected share of the points of each against each, 0 to 1.

        The lead is uncertain itself, so this is an average over it.
        """
        lead = self.lead / 2 if self.partners else self.lead
        flat = 1 + pi / 8 * _apart(self.covariance)
        return np.asarray(regression.expected_share(lead / np.sqrt(flat)), np.float64)

    def worth(self, boards: int, seats: int) -> Floats:
        """Return the information of a table about the difference of each two that sit there.

        With partners the three ways to split a table of four tell together as much as each two of
        them in one game.
        """
        share, flat = self.shares(), 1 + pi / 8 * _apart(self.covariance)
        games = boards if self.partners else boards * seats * 3 / (seats + 1)
        return np.asarray(games * share * (1 - share) / np.sqrt(flat), np.float64)

    def gains(self, weights: Floats, worth: Floats) -> Floats:
        """Return by how much a meeting of each two shrinks the weighted variances, in Elo²."""
        laplacian = np.diag(weights.sum(axis=1)) - weights
        spread = self.covariance @ laplacian @ self.covariance
        return np.asarray(ELO**2 * worth * _apart(spread) / (1 + worth * _apart(self.covariance)))

    def add(self, table: Sequence[int], worth: Floats) -> None:
        """Add what a table will tell about its entrants; their leads stay as they are."""
        for place, one in enumerate(table):
            for other in table[:place]:
                column = self.covariance[:, one] - self.covariance[:, other]
                told = worth[one, other]
                variance = column[one] - column[other]
                self.covariance = self.covariance - np.outer(column, column) * (
                    told / (1 + told * variance)
                )


def _apart(covariance: Floats) -> Floats:
    """Return the variance of the difference of each two."""
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, None] + own - 2 * covariance, 0), np.float64)


def _fit(encounters: Encounters, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the ratings of the names, in natural logits, and their covariances."""
    size, number = len(names), {name: i for i, name in enumerate(names)}
    pairs = sorted(encounters.games)
    members = len(pairs[0][0]) if pairs else 1
    column = np.zeros((len(pairs) + size, 2 * members), np.int64)
    value = np.zeros(column.shape)
    games = np.full(len(column), PRIOR_DRAWS)
    points = np.full(len(column), PRIOR_DRAWS / 2)
    value[: len(pairs)] = np.repeat([1 / members, -1 / members], members)
    # Pairs of seats at a table of several tell less than as many games of two.
    weight = 3 / (encounters.sides + 1)
    for row, pair in enumerate(pairs):
        column[row] = [number[name] for side in pair for name in side]
        games[row] = weight * encounters.games[pair]
        points[row] = weight * encounters.half_points[pair] / 2
    column[len(pairs) :, 0], value[len(pairs) :, 0] = np.arange(size), 1.0
    nothing = np.zeros((size, size))
    rating, information = regression.logistic(
        Design(column, value, size), games, points, nothing, 0
    )
    return rating, np.asarray(np.linalg.inv(information), np.float64)
