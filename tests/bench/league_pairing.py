"""Games that a league's chosen tables need, against round robins, and the truth of its intervals.

    python -m tests.bench.league_pairing [--leagues 32]

TABLE
"""

import argparse
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tests.support.simulated_leagues import (
    FIELD,
    TABLES,
    Precision,
    SimulatedLeague,
    precision_of,
)
from tournaments.rating.statistics import Floats

DAYS = 30
LOOKS = (12, 18, 24, 30)
"""Days after which a league is looked at: more would be much alike."""
FIRST_DAYS = 10
"""Days' worth of games for the first field."""
ROUNDS = (1, 2)
"""Rounds a day of chosen tables."""
BOARDS = (3, 5, 10)
"""Boards of each pair in a round robin."""
MEASURES = ("rating", "neighbours", "wrong")


def chosen(spread: float, seed: int, rounds: int, seats: int = 2) -> list[Precision]:
    """Play so many rounds of chosen tables a day."""
    league = SimulatedLeague(spread, seed, seats)
    for _ in range(FIRST_DAYS * rounds):
        league.choose_round()
    found = []
    for day in range(1, DAYS + 1):
        league.replace_one()
        for _ in range(rounds):
            league.choose_round()
        if day in LOOKS:
            found.append(precision_of(league, league.results))
    return found


def newcomer_meets_all(spread: float, seed: int, boards: int) -> list[Precision]:
    """Let each newcomer play everybody on so many boards; the first field played a round robin."""
    league = SimulatedLeague(spread, seed)
    league.play(combinations(league.active, 2), boards)
    found = []
    for day in range(1, DAYS + 1):
        new = league.replace_one()
        league.play([(new, other) for other in league.active if other != new], boards)
        if day in LOOKS:
            found.append(precision_of(league, league.results))
    return found


def anew_each_day(spread: float, seed: int, boards: int) -> list[Precision]:
    """Play the whole round robin each day, rated by itself."""
    league = SimulatedLeague(spread, seed)
    found = []
    for day in range(1, DAYS + 1):
        league.replace_one()
        if day in LOOKS:
            before = len(league.results)
            league.play(combinations(league.active, 2), boards)
            found.append(precision_of(league, league.results[before:]))
    return found


class Mean(NamedTuple):
    """Means over leagues, and their standard errors."""

    of: Precision
    error: Precision


def mean_of(leagues: Iterable[list[Precision]]) -> Mean:
    """Return the means; looks at the same league are not independent, leagues are."""
    values: Floats = np.array([np.nanmean(np.array(one), axis=0) for one in leagues])
    error = np.nanstd(values, axis=0, ddof=1) / np.sqrt(len(values))
    return Mean(Precision(*np.nanmean(values, axis=0)), Precision(*error))


def games_needed(measure: str, value: float, tried: list[tuple[int, Mean]]) -> float:
    """Return the games a day with which a round robin reaches a precision, between tried ones."""
    values = np.log([getattr(mean.of, measure) for _, mean in tried])
    slope, level = np.polyfit(values, np.log([games for games, _ in tried]), 1)
    return float(np.exp(level + slope * np.log(value)))


def compare(spread: float, leagues: int) -> None:
    """Print a field's rows: precision, and games against those of both round robins."""
    plays: tuple[tuple[Callable[[float, int, int], list[Precision]], int], ...] = (
        (newcomer_meets_all, 2 * (FIELD - 1)),
        (anew_each_day, FIELD * (FIELD - 1)),
    )
    few = max(2, leagues // 4)
    tried = [
        [
            (games * boards, mean_of(play(spread, seed, boards) for seed in range(few)))
            for boards in BOARDS
        ]
        for play, games in plays
    ]
    for rounds in ROUNDS:
        mean = mean_of(chosen(spread, seed, rounds) for seed in range(leagues))
        games = rounds * TABLES * 2 * 5
        shares = [
            " / ".join(
                f"{games / games_needed(one, getattr(mean.of, one), ways):.0%}" for one in MEASURES
            )
            for ways in tried
        ]
        own = mean.of
        print(
            f"| {spread:g} | {games} | {own.rating:.0f} / {own.neighbours:.0f} / {own.wrong:.1f} | "
            f"{' | '.join(shares)} | {coverage(mean)} |",
            flush=True,
        )


def coverage(mean: Mean) -> str:
    """Return the cells about the truth of the intervals."""
    cells = [
        f"{getattr(mean.of, one):.3f} ± {getattr(mean.error, one):.3f}"
        for one in ("held", "held_neighbours", "held_newcomers")
    ]
    cells += [
        f"{getattr(mean.of, one):+.1f} ± {getattr(mean.error, one):.1f}"
        for one in ("bias", "stretch")
    ]
    return " | ".join(cells)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--leagues", type=int, default=32)
    parser.add_argument("--spreads", type=float, nargs="*", default=[80.0, 150.0, 300.0])
    wanted = parser.parse_args()
    for spread in wanted.spreads:
        compare(spread, wanted.leagues)
        mean = mean_of(chosen(spread, seed, 1, 4) for seed in range(wanted.leagues // 2))
        print(f"| {spread:g}, 4 seats | {coverage(mean)} |", flush=True)


if __name__ == "__main__":
    main()
