"""Results for the rating tests: written by hand or by chance, and a second solver for them."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence

from protocol.records import Result, SeatFoul
from tournaments.rating.ratings import fit
from tournaments.rating.tables import Anchor, Pool

ELO = 400 / math.log(10)


def game(
    board: int, seats: Sequence[str], scores: Sequence[int], fouls: tuple[SeatFoul, ...] = ()
) -> Result:
    ranked = sorted(scores, reverse=True)
    places = tuple([1 + ranked.index(score) for score in scores])
    return Result(
        game="g", board=board, seats=tuple(seats), scores=tuple(scores), places=places,
        rounds=1, why="target", fouls=fouls,
    )  # fmt: skip


def known(value: float | None) -> float:
    """Return a rating, an interval or an error of somebody in the core."""
    assert value is not None
    return value


STRENGTH = {"a": 90.0, "b": 30.0, "c": 0.0, "d": -40.0, "e": -80.0}


def played(
    rng: random.Random,
    strength: dict[str, float],
    boards: int,
    seats: int = 2,
    deal: float = 0.0,
    first: float = 0.0,
) -> list[Result]:
    """Boards of all rotations of random entrants; strengths, deal and first seat in Elo.

    With Gumbel noise the chance of finishing ahead is the logistic curve of the model. `deal`
    is the spread of what a board gives a seat, whoever sits there.
    """
    results = []
    for board in range(boards):
        who = rng.sample(sorted(strength), seats)
        luck = [rng.gauss(first * (seat == 0), deal) for seat in range(seats)]
        for turn in range(seats):
            names = who[turn:] + who[:turn]
            worth = [strength[n] + extra for n, extra in zip(names, luck, strict=True)]
            scores = [w / ELO - math.log(-math.log(rng.random())) for w in worth]
            results.append(game(board, names, [round(10000 * score) for score in scores]))
    return results


def pairs(result: Result) -> Iterator[tuple[int, int, float]]:
    for a, b in itertools.combinations(range(len(result.seats)), 2):
        ahead = result.places[b] - result.places[a]
        yield a, b, 0.5 + 0.5 * (ahead > 0) - 0.5 * (ahead < 0)


def ascent(results: Sequence[Result]) -> tuple[dict[str, float], list[float]]:
    """Ratings and seat advantages in Elo, by plain gradient ascent."""
    seats = len(results[0].seats)
    seen: dict[tuple[str, str, int, int], list[float]] = {}
    for result in results:
        for a, b, points in pairs(result):
            cell = seen.setdefault((result.seats[a], result.seats[b], a, b), [0.0, 0.0])
            cell[0] += 1
            cell[1] += points
    theta: dict[str | int, float] = dict.fromkeys((key[0] for key in seen), 0.0)
    theta |= dict.fromkeys((key[1] for key in seen), 0.0) | dict.fromkeys(range(seats), 0.0)
    rate = 1 / sum(n for n, _ in seen.values())  # No curvature exceeds the number of pairs.
    for _ in range(1000):
        slope = dict.fromkeys(theta, 0.0)
        for (x, y, a, b), (n, points) in seen.items():
            p = 1 / (1 + math.exp(theta[y] - theta[x] + theta[b] - theta[a]))
            for key, sign in ((x, 1), (y, -1), (a, 1), (b, -1)):
                slope[key] += sign * (points - n * p)
        theta = {key: value + rate * slope[key] for key, value in theta.items()}
    names = [key for key in theta if isinstance(key, str)]
    mean = sum(theta[name] for name in names) / len(names)
    last = theta[seats - 1]
    return (
        {name: ELO * (theta[name] - mean) for name in names},
        [ELO * (theta[seat] - last) for seat in range(seats - 1)],
    )


def only(
    results: Sequence[Result],
    prior: float = 1.0,
    *,
    partners: bool = False,
    anchor: Anchor | None = None,
) -> Pool:
    (pool,) = fit(results, prior=prior, partners=partners, anchor=anchor).pools
    return pool
