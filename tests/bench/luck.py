"""Real games with the luck of the draw taken out: weights, bias, variance and coverage.

    python -m tests.bench.luck weights  [--boards 200] [--games draw/2 dutch/2 …]
    python -m tests.bench.luck worth    [--boards 1000] [--slow-boards 300] [--games …]
    python -m tests.bench.luck unbiased [--boards 2000] [--games …]
    python -m tests.bench.luck coverage [--events 1000] [--boards 300] [--games …]

Bots play in this process. A board is two games: at two seats in both rotations, at four A and B
sit in turn. `--target` ends games sooner, so that many are played. Each part plays on seeds of its
own: what `weights` finds on boards of other bots stands in `arena/valuation/weights.py`, and the
other parts only use it. The tables that came of it are in `arena/valuation/README.md`.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.timeline import Timeline
from arena.rules.variants import find_variant
from arena.valuation.luck import game_luck
from arena.valuation.weights import weight_of
from protocol.ruleset import Ruleset, derive
from tests.support.quick_games import bots, play_quickly
from tournaments.rating.statistics import Error

Floats = NDArray[np.float64]

GAMES = ("draw/2", "dutch/2", "old-draw/2", "double-draw/2",
         "draw/4", "dutch/4", "old-draw/4", "double-draw/4")  # fmt: skip
PAIRS = (
    ("greedy", "suit"),
    ("suit", "counting"),
    ("suit", "suit-twin"),
    ("counting", "montecarlo"),
)
"""Bots of the proof."""
OTHERS = (
    ("careless-greedy", "open"),
    ("careless-greedy", "heavy"),
    ("open", "open-twin"),
    ("open", "watchful"),
    ("heavy", "blocking"),
    ("careless-watchful", "watchful"),
)
"""Bots on whose boards the weights were found."""
SLOW = "montecarlo"
EVENT_BOARDS = (20, 50, 100)
DRAWS = 500
"""Resamples of boards for an interval."""
BOTS = bots()


class Table(NamedTuple):
    """A game at a table."""

    name: str
    rules: Ruleset
    seats: int


class Boards(NamedTuple):
    """The margin and the share of A on each board, and its luck in both, without a weight."""

    margin: Floats
    share: Floats
    luck_points: Floats
    luck_share: Floats


def table(name: str, target: int | None) -> Table:
    """Return the game of a name such as draw/2."""
    game, _, seats = name.partition("/")
    rules = find_variant(game)
    if target:
        rules = derive(rules, game, {"target": target})
    return Table(name, rules, int(seats))


def play(at: Table, pair: Sequence[str], boards: Sequence[int], event: str) -> Boards:
    """Play boards of two bots."""
    return Boards(*np.array([board_of(at, pair, board, event) for board in boards]).T)


def board_of(at: Table, pair: Sequence[str], board: int, event: str) -> Floats:
    """Play one board: A's lead over the mean of the others and its share of pairs, and its luck."""
    total = np.zeros(4)
    names = tuple(pair) * (at.seats // 2)
    for rotation in range(2):
        logged = play_quickly(at.rules, names, BOTS, event, board, rotation)
        result, luck = logged.result, game_luck(Timeline(logged))
        assert result is not None
        places = np.array(result.places)
        above = [np.sign(places - place).sum() for place in places]
        share = 0.5 + np.array(above) / (2 * (at.seats - 1))
        mine = np.arange(at.seats) % 2 == rotation
        rows = (result.scores, share, luck.points, luck.share)
        scores, shares, points, lucky = (np.array(row, float)[mine].mean() for row in rows)
        sums = (sum(result.scores), sum(luck.points))
        over = [(at.seats * own - all_) / (at.seats - 1)
                for own, all_ in zip((scores, points), sums, strict=True)]  # fmt: skip
        total += (over[0], shares, over[1], lucky)
    return total / 2


def corrected(at: Table, played: Boards) -> tuple[Floats, Floats]:
    """Return margins and shares with luck taken out."""
    weight = weight_of(at.rules, at.seats)
    return (
        played.margin - weight.points * played.luck_points,
        played.share - weight.share * played.luck_share,
    )


def weights(words: argparse.Namespace) -> Iterator[str]:
    """Find the weights that leave the least variance, over all pairs of other bots."""
    yield "| game, seats | boards | points | share | × margins | × wins |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name in words.games:
        at = table(name, words.target)
        sets = [play(at, pair, range(words.boards), f"weights {name} {pair}") for pair in OTHERS]
        kept = []
        for what, luck in (("margin", "luck_points"), ("share", "luck_share")):
            # Each pair counts alike: its variance is 1 before.
            both = [np.array([getattr(one, what), getattr(one, luck)]) for one in sets]
            both = [one for one in both if one[0].std() > 0]  # Twins may never differ.
            moments = sum(np.cov(one) / one[0].var() for one in both)
            weight = moments[0, 1] / moments[1, 1]
            left = np.mean([np.var(one[0] - weight * one[1]) / one[0].var() for one in both])
            kept.append((weight, 1 / left))
        (points, times), (share, wins) = kept
        boards = words.boards * len(OTHERS)
        yield f"| {name} | {boards} | {points:.2f} | {share:.2f} | {times:.2f} | {wins:.2f} |"


def worth(words: argparse.Namespace) -> Iterator[str]:
    """Compare the variance of boards, plain and corrected."""
    yield "| game, seats | pair | boards | luck's mean | × margins | × wins |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for pair in PAIRS:
        boards = words.slow_boards if SLOW in pair else words.boards
        for name in words.games:
            at = table(name, words.target)
            played = play(at, pair, range(boards), f"worth {name} {pair}")
            margin, share = corrected(at, played)
            yield (
                f"| {name} | {'–'.join(pair)} | {boards} | {interval(played.luck_points)} | "
                f"{times(played.margin, margin)} | {times(played.share, share)} |"
            )


def interval(values: Floats) -> str:
    """Return a mean and its 95 % half width."""
    return f"{values.mean():.2f} ± {half_width(values):.2f}"


def half_width(values: Floats) -> float:
    """Return the half width of the mean's 95 % interval over boards."""
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    return float(Error(error, len(values) - 1).half_width())


def times(plain: Floats, after: Floats) -> str:
    """Return how many boards fewer do, with its interval by drawing boards again."""
    rng = np.random.default_rng(1)
    some = rng.integers(0, len(plain), (DRAWS, len(plain)))
    ratios = plain[some].var(axis=1) / after[some].var(axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return f"{plain.var() / after.var():.2f} ({low:.2f}–{high:.2f})"


def unbiased(words: argparse.Namespace) -> Iterator[str]:
    """Measure the mean correction between bots of about the same strength."""
    yield "| game, seats | boards | mean correction, points | share of the game |"
    yield "| --- | ---: | ---: | ---: |"
    for name in words.games:
        at = table(name, words.target)
        played = play(at, ("suit", "suit-twin"), range(words.boards), f"unbiased {name}")
        weight = weight_of(at.rules, at.seats)
        points, share = weight.points * played.luck_points, weight.share * played.luck_share
        yield (
            f"| {name} | {words.boards} | {interval(points)} | "
            f"{share.mean():.5f} ± {half_width(share):.5f} |"
        )


def coverage(words: argparse.Namespace) -> Iterator[str]:
    """Count how many events' intervals hold the truth, plain and corrected.

    An event draws its boards from those that were played, whose mean is the truth.
    """
    yield "| game, seats | pair | played | an event | margins | corrected | wins | corrected |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name in words.games:
        at = table(name, words.target)
        for pair in PAIRS[:1]:
            # The boards of `worth`.
            played = play(at, pair, range(words.boards), f"worth {name} {pair}")
            margin, share = corrected(at, played)
            columns = (played.margin, margin, played.share, share)
            for boards in EVENT_BOARDS:
                held = " | ".join(f"{held_by(one, boards, words.events):.3f}" for one in columns)
                yield f"| {name} | {'–'.join(pair)} | {words.boards} | {boards} | {held} |"


def held_by(values: Floats, boards: int, events: int) -> float:
    """Return the share of events whose 95 % interval holds the mean of all boards."""
    rng = np.random.default_rng(2)
    some = values[rng.integers(0, len(values), (events, boards))]
    half = np.array([half_width(one) for one in some])
    return float((np.abs(some.mean(axis=1) - values.mean()) <= half).mean())


PARTS = {"weights": weights, "worth": worth, "unbiased": unbiased, "coverage": coverage}


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("--slow-boards", type=int, default=200)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--target", type=int)
    words = parser.parse_args()
    random.seed(0)
    for line in PARTS[words.part](words):
        print(line, flush=True)


if __name__ == "__main__":
    main()
