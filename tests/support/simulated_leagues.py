"""Simulated leagues of known strengths: a field of 20 in which a newcomer replaces one each day.

A game is played by Gumbel noise on the strengths in Elo, so the probability to finish ahead of
another is the logistic curve of Elo, exactly. A part of a seat's noise belongs to the board: all
tables of a round that play the board share it. With two seats, boards then save about a fifth of
the games, as with real bots (12 to 25 %).
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from math import ceil, erf, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from protocol.records import Result
from tests.support.leagues import round_plan
from tournaments.league.pairing.choice import choose_tables
from tournaments.league.pairing.information import NO_ENCOUNTERS, count_encounters
from tournaments.rating.ratings import fit
from tournaments.rating.regression import Floats
from tournaments.rating.statistics import ELO, Error
from tournaments.rating.tables import Anchor, Pool

FIELD = 20
HOUSE = (-1.5, 0.0, 0.3, 1.0)
"""Strengths of the house bots, in standard deviations of the field; the second is the anchor."""
ANCHOR = "house1"
FIRST = 30.0
"""Advantage of seat 0, in Elo."""
SHARED = 0.6
"""Correlation of a seat's noise with what the board gives the seat."""
BOARDS, TABLES = 5, 10
"""Boards of a table, and tables of a round, of a chosen round at two seats."""

_cdf = np.vectorize(lambda z: (1 + erf(z / sqrt(2))) / 2)


class SimulatedLeague:
    """A league with its true strengths."""

    def __init__(self, spread: float, seed: int, seats: int = 2) -> None:
        """Begin with a field of strangers whose strengths have this standard deviation, in Elo."""
        self.rng = np.random.default_rng(seed)
        self.spread, self.seats = spread, seats
        self.strength = {f"house{i}": spread * z for i, z in enumerate(HOUSE)}
        for number in range(FIELD - len(HOUSE)):
            self.strength[f"bot{number}"] = float(self.rng.normal(0, spread))
        self.active = list(self.strength)
        self.results: list[Result] = []
        self.encounters = NO_ENCOUNTERS
        self.boards = self.rounds = 0

    def replace_one(self) -> str:
        """Retire a bot; a new version of it comes, or a new bot. Return the newcomer."""
        old = self.active.pop(int(self.rng.integers(len(HOUSE), len(self.active))))
        name, _, version = old.partition("@")
        if self.rng.random() < 0.5:
            new = f"{name}@{int(version or 1) + 1}"
            better = self.rng.normal(0.05 * self.spread, 0.3 * self.spread)
            self.strength[new] = self.strength[old] + float(better)
        else:
            new = f"bot{len(self.strength)}x"
            self.strength[new] = float(self.rng.normal(0, self.spread))
        self.active.append(new)
        return new

    def choose_round(self) -> None:
        """Play a round of chosen tables."""
        self.rounds += 1
        plan = round_plan(self.active, number=self.rounds, boards=BOARDS, anchor=ANCHOR)
        plan = replace(plan, most_tables=ceil(len(self.active) / self.seats))
        tables = choose_tables(plan, self.encounters, self.seats, partners=False)
        self.play([one.entrants for one in tables], BOARDS)

    def play(self, tables: Iterable[Sequence[str]], boards: int) -> None:
        """Play each table on new boards, in all rotations."""
        given = SHARED * self.rng.standard_normal((boards, 1, self.seats))
        fresh = [one for table in tables for one in self._games(list(table), given)]
        self.results += fresh
        self.encounters = self.encounters.plus(count_encounters(fresh, False))
        self.boards += boards

    def _games(self, table: list[str], given: Floats) -> list[Result]:
        self.rng.shuffle(table)
        turned = [tuple(table[turn:] + table[:turn]) for turn in range(self.seats)]
        worth = np.array([[self.strength[name] for name in seats] for seats in turned]) / ELO
        worth[:, 0] += FIRST / ELO
        own = self.rng.standard_normal((len(given), self.seats, self.seats))
        noise = -np.log(-np.log(_cdf(given + sqrt(1 - SHARED**2) * own)))
        score = worth + noise
        places = 1 + (score[:, :, None, :] > score[:, :, :, None]).sum(axis=3)
        return [
            Result(
                game="g", board=self.boards + board, seats=seats, places=tuple(place),
                scores=tuple(-one for one in place), rounds=1, why="target",
            )
            for board, rotations in enumerate(places.tolist())
            for seats, place in zip(turned, rotations, strict=True)
        ]  # fmt: skip


class Precision(NamedTuple):
    """The precision of a ranking and the truth of its intervals: means over active versions."""

    games: float
    """Games so far."""
    rating: float
    """Half width of the ratings over the anchor, in Elo,"""
    neighbours: float
    """and of the differences of neighbours in rank whose order is open (0 is in the interval)."""
    wrong: float
    """Pairs of two versions, of 190, in the wrong order."""
    held: float
    """Share of the ratings whose interval held the truth,"""
    held_neighbours: float
    """of the differences of neighbours in rank,"""
    held_newcomers: float
    """and of the ratings of the three youngest versions."""
    bias: float
    """Mean error of the ratings of the three youngest versions, in Elo,"""
    stretch: float
    """and of all ratings away from the anchor."""


def precision_of(league: SimulatedLeague, results: Sequence[Result]) -> Precision:
    """Rate the results as the league's site does, and compare with the truth."""
    pool = fit(results, anchor=Anchor(ANCHOR, 0.0)).pools[0]
    place = {one.name: i for i, one in enumerate(pool.entrants)}
    # Outside the core there are only bounds.
    rated = [one for one in league.active if one in place and not pool.entrants[place[one]].bound]
    elo = {name: pool.entrants[place[name]].elo or 0.0 for name in rated}
    half = {name: pool.entrants[place[name]].half_width or 0.0 for name in rated}
    true = {name: league.strength[name] - league.strength[ANCHOR] for name in rated}
    order = sorted(rated, key=lambda name: -elo[name])
    others = [name for name in rated if name != ANCHOR]
    near = [(*pair, _half_width(pool, *map(place.get, pair))) for pair in pairwise(order)]
    young = [name for name in league.active[-3:] if name in others]
    held = {name: abs(elo[name] - true[name]) <= half[name] for name in others}
    return Precision(
        games=len(results),
        rating=fmean(half[name] for name in others),
        neighbours=fmean([w for a, b, w in near if elo[a] - elo[b] < w] or [np.nan]),
        wrong=sum(true[a] < true[b] for a, b in combinations(order, 2)),
        held=fmean(held.values()),
        held_neighbours=fmean(abs(elo[a] - elo[b] - true[a] + true[b]) <= w for a, b, w in near),
        held_newcomers=fmean([held[name] for name in young] or [np.nan]),
        bias=fmean([elo[name] - true[name] for name in young] or [np.nan]),
        stretch=fmean((elo[name] - true[name]) * float(np.sign(true[name])) for name in others),
    )


def _half_width(pool: Pool, one: int | None, other: int | None) -> float:
    assert one is not None
    assert other is not None
    boards = min(pool.entrants[one].boards, pool.entrants[other].boards)
    return Error(pool.errors[one][other] or 0.0, boards - 1).half_width()
