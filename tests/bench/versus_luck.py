"""Boards that a versus needs, and its wrong answers, with luck in the margins and with luck out.

python -m tests.bench.versus_luck                 # 50 tests of suit against greedy, in this process
python -m tests.bench.versus_luck --pool 1000     # wrong answers, over boards drawn from so many

Each repetition plays fresh boards until both tests have answered. The wrong answers are those of
thousands of tests whose boards are drawn, with repetition, from boards of real play: the lead is
then known exactly, and lies at H0 or at H1. tournaments/RATINGS.md has the figures.
"""

import argparse
from collections.abc import Iterator, Sequence
from statistics import mean, median, variance
from typing import NamedTuple

import numpy as np

from arena.valuation.weights import weight_of
from tests.bench.luck import Table, board_of, table
from tournaments.rating.sprt import Outcome, answer, walk
from tournaments.rating.sprt_settings import Sprt

MOST = 1000
"""Boards after which a test ends undecided."""
TESTS = 2000
"""Tests for a rate of wrong answers."""
WAYS = ("luck in", "luck out")


class Board(NamedTuple):
    """The mean margin of the first bot on a board."""

    plain: float
    without: float


def played(at: Table, pair: Sequence[str], event: str) -> Iterator[Board]:
    """Play one board after another, each in both seats."""
    weight = weight_of(at.rules, at.seats).points
    for board in range(1, MOST + 1):
        margin, _, luck, _ = board_of(at, pair, board, event).tolist()
        yield Board(margin, margin - weight * luck)


def tested(settings: Sprt, values: Sequence[float]) -> tuple[str, int]:
    """Return the answer to these boards, and after how many it came."""
    boards = [Outcome(number, 2, value) for number, value in enumerate(values, 1)]
    steps = walk(settings, boards)
    return answer(settings, steps), steps[-1].boards


def boards_needed(at: Table, pair: Sequence[str], settings: Sprt, repetitions: int) -> None:
    """Print the boards until the answer, over tests that play fresh boards."""
    needed: list[list[int]] = [[], []]
    answers: list[list[str]] = [[], []]
    pool: list[Board] = []
    for repetition in range(repetitions):
        boards: list[Board] = []
        found: list[tuple[str, int] | None] = [None, None]
        for board in played(at, pair, f"versus {repetition}"):
            boards.append(board)
            if len(boards) % 10 == 0:
                for way in (0, 1):
                    now = found[way] or tested(settings, [one[way] for one in boards])
                    found[way] = now if now[0] != "undecided" else None
                if all(found):
                    break
        for way, last in enumerate(found):
            answers[way].append(last[0] if last else "undecided")
            needed[way].append(last[1] if last else MOST)
        pool += boards[:20]
    print(f"{pair[0]} against {pair[1]}, H1 {settings.h1:g} points, {repetitions} tests:")
    for way, name in enumerate(WAYS):
        lead, spread = mean(one[way] for one in pool), variance(one[way] for one in pool)
        counts = {said: answers[way].count(said) for said in sorted(set(answers[way]))}
        print(
            f"  {name}: boards {mean(needed[way]):.0f} (median {median(needed[way]):.0f}, most "
            f"{max(needed[way])}), answers {counts}; lead {lead:+.1f}, variance of a board "
            f"{spread:.0f}"
        )


def wrong_answers(at: Table, pair: Sequence[str], settings: Sprt, size: int) -> None:
    """Print the share of wrong answers where the lead is exactly that of H0, and of H1."""
    boards = [board for board, _ in zip(played(at, pair, "pool"), range(size), strict=False)]
    rng = np.random.default_rng(1)
    print(f"{pair[0]} against {pair[1]}, boards drawn from {len(boards)}, {TESTS} tests each:")
    for way, name in enumerate(WAYS):
        values = np.array([one[way] for one in boards])
        for true, wrong in (("H0", "H1"), ("H1", "H0")):
            lead = settings.h0 if true == "H0" else settings.h1
            moved = values - values.mean() + lead
            said = [tested(settings, rng.choice(moved, MOST).tolist()) for _ in range(TESTS)]
            share = mean(one == wrong for one, _ in said)
            print(
                f"  {name}, {true} true: {100 * share:.1f} % wrong, "
                f"{mean(boards for _, boards in said):.0f} boards"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pair", nargs=2, default=["suit", "greedy"])
    parser.add_argument("--game", default="draw/2", help="game and seats")
    parser.add_argument("--h1", type=float, default=5.0)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--pool", type=int, default=0)
    words = parser.parse_args()
    at = table(words.game, None)
    settings = Sprt("points", h0=0.0, h1=words.h1, max_boards=MOST)
    if words.pool:
        wrong_answers(at, words.pair, settings, words.pool)
    else:
        boards_needed(at, words.pair, settings, words.repetitions)


if __name__ == "__main__":
    main()
