"""Synergy of partners: found where it is, not where it is not, its formula written out densely."""

import itertools
import math
import random
from collections.abc import Mapping

import numpy as np
import pytest

from protocol.records import Result
from tests.support.made_up import STRENGTH, game
from tournaments.rating import statistics
from tournaments.rating.ratings import fit
from tournaments.rating.tables import Partners, Pool
from tournaments.report.standings import partner_table


def play_partners(
    rng: random.Random,
    boards: int,
    names: str = "abcde",
    bonus: Mapping[str, float] = {},
    deal: float = 0.0,
) -> list[Result]:
    """Boards of four of these in all three pairings, both rotations; `bonus` in Elo."""
    results = []
    for board in range(boards):
        luck = rng.gauss(0, deal)
        for four in itertools.combinations(names, 4):
            a, b, c, d = four
            for seats in ((a, b, c, d), (a, c, b, d), (a, b, d, c)):
                for turn in (0, 1):
                    sat = seats[turn:] + seats[:turn]
                    results.append(_play_game(rng, board, sat, bonus, luck))
    return results


def _play_game(
    rng: random.Random, board: int, sat: tuple[str, ...], bonus: Mapping[str, float], luck: float
) -> Result:
    worth = [
        (STRENGTH[first] + STRENGTH[second]) / 2 + bonus.get("".join(sorted((first, second))), 0.0)
        for first, second in ((sat[0], sat[2]), (sat[1], sat[3]))
    ]
    won = rng.random() < 1 / (1 + 10 ** (-(worth[0] - worth[1] + luck) / 400))
    return game(board, sat, (10, 4) * 2 if won else (4, 10) * 2)


def rate(results: list[Result], prior: float = 2.0) -> Pool:
    (pool,) = fit(results, prior=prior, partners=True).pools
    return pool


def by_name(pool: Pool) -> dict[str, Partners]:
    return {"".join(pair.names): pair for pair in pool.partners}


def test_two_who_understand_each_other_stand_first() -> None:
    pool = rate(play_partners(random.Random(1), 60, bonus={"bd": 120.0}))
    first = pool.partners[0]
    assert first.names == ("b", "d")
    assert first.synergy is not None
    assert first.half_width is not None
    assert first.synergy > 1.5 * first.half_width > 0.02
    assert len(pool.partners) == 10
    assert {pair.games for pair in pool.partners} == {60 * 3 * 2}


def test_the_error_of_synergy_is_that_of_the_docstring() -> None:
    results = play_partners(random.Random(2), 12, deal=150)
    pool = rate(results, prior=0)
    names = sorted(STRENGTH)
    elo = {rating.name: rating.elo for rating in pool.entrants}
    seat = pool.seats[0].elo
    x, y, p, boards = [], [], [], []
    for result in results:
        row = np.zeros(6)
        for place, name in enumerate(result.seats):
            row[names.index(name)] += 0.5 if place % 2 == 0 else -0.5
        row[5] = 1
        lead = sum(elo[n] * row[i] for i, n in enumerate(names)) + seat
        x.append(row)
        y.append(float(result.places[0] == 1))
        p.append(1 / (1 + 10 ** (-lead / 400)))
        boards.append(result.board)
    design, error = np.array(x), np.array(y) - np.array(p)
    weight = np.array(p) * (1 - np.array(p))
    for key, pair in by_name(pool).items():
        z = np.array([_side_of(result, key) for result in results])
        gram = np.linalg.pinv(design.T @ (weight[:, None] * design))
        rest = z - design @ (gram @ (design.T @ (weight * z)))
        pair_boards = sorted({board for board, side in zip(boards, z, strict=True) if side})
        total = sum(
            float((rest * error)[np.array(boards) == board].sum()) ** 2 for board in set(boards)
        )
        n, count = len(pair_boards), int(np.abs(z).sum())
        half = statistics.t_quantile(0.975, n - 1) * math.sqrt(n / (n - 1) * total) / count
        assert pair.games == count
        assert pair.synergy == pytest.approx(float((z * error).sum()) / count, abs=1e-6)
        assert pair.half_width == pytest.approx(half, rel=1e-4)
        won = sum(
            result.places[0 if side == 1 else 1] == 1
            for result, side in zip(results, z, strict=True)
            if side
        )
        assert pair.win_share == pytest.approx(won / count)


def _side_of(result: Result, key: str) -> int:
    sides = ["".join(sorted(result.seats[side::2])) for side in (0, 1)]
    return (sides[0] == key) - (sides[1] == key)


def test_four_entrants_cannot_tell_synergy_from_strength() -> None:
    pool = rate(play_partners(random.Random(3), 10, names="abcd"))
    assert {(pair.synergy, pair.half_width) for pair in pool.partners} == {(None, None)}
    assert {row[4] for row in partner_table(pool).plain()[1]} == {"·"}
