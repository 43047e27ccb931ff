"""The share of 95 % intervals that hold the truth, in simulated events of known strengths.

    python -m tests.bench.coverage [--events 300] [--luck 100]

Six bots play a round robin: at two seats every pair, at four every table, each board in all
rotations (at four seats in another circular order for each next board), all on the same boards. A
bot's result in a game is its strength, plus what the board gives its seat (the same in all games
on the board, normal with a standard deviation of `--luck` Elo; seat 0 has 30 Elo more), plus
noise after which the chance to finish ahead of another is the logistic curve of Elo. So results
on one board depend on each other. The truth is what the model would find in endless boards, for
those who are in the core in that event: luck flattens Elo, and the model knows nothing of it.

Printed for each field, seats and boards: the share of the ratings whose interval held the true
lead over the level (the mean of the same bots as in the event); the share of differences of two
ratings whose interval held the true one; the mean half width, in Elo; of the bounds that were shown
for bots outside the core, how many did not hold; and how many of the six were in the core.

300 events each take about 20 minutes; tournaments/METHODS.md has what they came to.
"""

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from protocol.records import Result
from tests.support.made_up import game
from tournaments.rating import regression
from tournaments.rating.ratings import fit
from tournaments.rating.regression import Design
from tournaments.rating.statistics import ELO, Error
from tournaments.rating.tables import Pool

FIRST = 30.0
"""Advantage of seat 0, in Elo."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
FIELDS = {
    "even": (0.0,) * 6,
    "±500": (-500.0, -300.0, -100.0, 100.0, 300.0, 500.0),
    "one wins all": (0.0, 0.0, 0.0, 0.0, 0.0, 10_000.0),
    "one 2,000 ahead": (0.0, 0.0, 0.0, 0.0, 0.0, 2_000.0),
}
"""Strengths in Elo."""
NAMES = "abcdef"


class Case(NamedTuple):
    """A kind of event."""

    field: str
    seats: int
    boards: int


def event(case: Case, luck: float, rng: random.Random) -> list[Result]:
    worth = dict(zip(NAMES, FIELDS[case.field], strict=True))
    return [
        game(board, seats, [round(10_000 * (worth[name] / ELO + shifts[seat] / ELO + noise(rng)))
                            for seat, name in enumerate(seats)])
        for board in range(case.boards)
        for shifts in [[rng.gauss(FIRST * (seat == 0), luck) for seat in range(case.seats)]]
        for seats in tables(case.seats, board)
    ]  # fmt: skip


def noise(rng: random.Random) -> float:
    """Draw Gumbel noise: differences of two are logistic."""
    return -math.log(-math.log(rng.random()))


def tables(seats: int, board: int) -> Iterator[Sequence[str]]:
    """Yield every table of a board, in every rotation."""
    orders = list(permutations(range(1, seats)))
    order = (0, *orders[board % len(orders)])
    for table in combinations(NAMES, seats):
        rotation = [table[place] for place in order]
        yield from (rotation[turn:] + rotation[:turn] for turn in range(seats))


@cache
def truth(field: str, seats: int, luck: float, core: str) -> dict[str, float]:
    """Fit what endless boards would come to, to those of the core; Elo over an arbitrary level."""
    worth = dict(zip(NAMES, FIELDS[field], strict=True))
    columns, values, shares = [], [], []
    for first, second in permutations(range(len(core)), 2):
        for a, b in combinations(range(seats), 2):
            lead = worth[core[first]] - worth[core[second]] + FIRST * (a == 0)
            places = [len(core) + seat if seat < seats - 1 else 0 for seat in (a, b)]
            columns.append([first, second, *places])
            values.append([1.0, -1.0, 1.0, -1.0 if b < seats - 1 else 0.0])
            leads = (lead + luck * math.sqrt(2) * NODES) / ELO
            shares.append(float(WEIGHTS @ regression.expected_share(leads) / WEIGHTS.sum()))
    size = len(core) + seats - 1
    pins = np.zeros((size, size))
    pins[: len(core), : len(core)] = 1 / len(core)
    design = Design(np.array(columns), np.array(values), size)
    theta, _ = regression.logistic(design, np.ones(len(shares)), np.array(shares), pins, 0)
    return {name: ELO * float(logit) for name, logit in zip(core, theta, strict=False)}


class Count(NamedTuple):
    """Intervals, or bounds, and how many of them held."""

    hits: int = 0
    total: int = 0

    def plus(self, hits: Sequence[bool]) -> "Count":
        """Add some."""
        return Count(self.hits + sum(hits), self.total + len(hits))

    @property
    def failed(self) -> str:
        """Return the misses, as `2 of 40`."""
        return f"{self.total - self.hits} of {self.total}"

    def __str__(self) -> str:
        return f"{self.hits / self.total:.3f}" if self.total else "·"


class Sample(NamedTuple):
    """The hits and misses of an event's intervals."""

    ratings: list[bool]
    """Of each rating of the core whether its interval held the true lead over the level,"""
    leads: list[bool]
    """of each two whether the difference's did,"""
    bounds: list[bool]
    """and of each bound whether it held."""
    half_width: float
    """Mean half width of the ratings, in Elo."""


def compare(case: Case, luck: float, pool: Pool) -> Sample:
    """Compare an event's ratings with the truth."""
    core = [(place, rating) for place, rating in enumerate(pool.entrants) if not rating.bound]
    names = "".join(sorted(rating.name for _, rating in core))
    true = truth(case.field, case.seats, luck, names)
    level = sum(true[name] for name in pool.level) / len(pool.level)
    elo = {rating.name: rating.elo or 0.0 for rating in pool.entrants}
    half = {rating.name: rating.half_width or 0.0 for _, rating in core}
    t = Error(1.0, case.boards - 1).half_width()
    worth = dict(zip(NAMES, FIELDS[case.field], strict=True))
    mean = sum(worth[name] for name in pool.level) / len(pool.level)
    return Sample(
        [abs(elo[name] - true[name] + level) <= half[name] for name in names],
        [
            abs(elo[first.name] - elo[second.name] - true[first.name] + true[second.name])
            <= t * (pool.errors[i][j] or 0.0)
            for (i, first), (j, second) in combinations(core, 2)
        ],
        [
            (worth[rating.name] - mean >= elo[rating.name]) == (rating.bound == ">")
            for rating in pool.entrants
            if rating.bound in (">", "<")
        ],
        sum(half.values()) / len(half),
    )


def row(case: Case, events: int, luck: float) -> str:
    """Simulate events of a kind, and word what came of them."""
    ratings, leads, bounds, halves, count = Count(), Count(), Count(), 0.0, 0
    for seed in range(events):
        (pool,) = fit(event(case, luck, random.Random(f"{case} {seed}"))).pools
        sample = compare(case, luck, pool)
        ratings, leads = ratings.plus(sample.ratings), leads.plus(sample.leads)
        bounds = bounds.plus(sample.bounds)
        halves += sample.half_width
        count += len(sample.ratings)
    return (
        f"| {case.field} | {case.seats} | {case.boards} | {ratings} | {leads} | "
        f"{halves / events:.0f} | {bounds.failed} | {count / events:.2f} |"
    )


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--luck", type=float, default=100.0)
    wanted = parser.parse_args()
    print("| field | seats | boards | rating | difference | ± | bounds fail | in the core |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for seats in (2, 4):
        for field in FIELDS:
            for boards in (5, 10, 25):
                print(row(Case(field, seats, boards), wanted.events, wanted.luck), flush=True)


if __name__ == "__main__":
    main()
