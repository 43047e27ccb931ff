"""Tests of `tournaments.league.ratings.cycles`: trios that beat each other in a circle."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest

from protocol.records import Result
from tests.bench.league_flags import League, cycle_found
from tests.support.results import game
from tournaments.league.ratings.cycles import search_cycles

NAMES = tuple("abcdefgh")


def meetings(
    rng: random.Random, names: Sequence[str], shares: Mapping[tuple[str, str], float], boards: int
) -> list[Result]:
    """Let every two meet twice on each board; the first by name wins this share, else half."""
    return [
        game(board, pair, (1, 0) if rng.random() < shares.get(pair, 0.5) else (0, 1))
        for pair in combinations(names, 2)
        for board in range(boards)
        for _ in range(2)
    ]


def test_planted_trio_is_found_in_its_order() -> None:
    """Three bots that each win 80 % against the next are named in the order in which they win."""
    planted = {("a", "d"): 0.8, ("d", "g"): 0.8, ("a", "g"): 0.2}
    (found,), trios = search_cycles(meetings(random.Random(1), NAMES, planted, 25), NAMES)
    assert found.versions == ("a", "d", "g")
    assert trios == math.comb(8, 3)
    assert min(found.shares) > 0.6
    assert found.games == (50, 50, 50)
    assert "a beats d" in found.sentence
    turned = {pair: 1 - share for pair, share in planted.items()}
    ((other,), _) = search_cycles(meetings(random.Random(1), NAMES, turned, 25), NAMES)
    assert other.versions == ("a", "g", "d")


def test_steep_ladder_is_no_cycle() -> None:
    """A field in which the better one always wins more is not flagged, however it bends."""
    ladder = {pair: 0.5 + 0.07 * (NAMES.index(pair[1]) - NAMES.index(pair[0]))
              for pair in combinations(NAMES, 2)}  # fmt: skip
    found, trios = search_cycles(meetings(random.Random(2), NAMES, ladder, 100), NAMES)
    assert found == []
    assert trios == math.comb(8, 3)


def test_games_that_repeat_each_other_count_once() -> None:
    """Copies of the games of a board prove nothing more; games on new boards do."""
    planted = {("a", "b"): 0.7, ("b", "c"): 0.7, ("a", "c"): 0.3}
    once = meetings(random.Random(3), "abc", planted, 10)
    ((copied,), _) = search_cycles(once * 50, "abc")
    assert 0.95 < copied.chance < 0.99
    ((played,), _) = search_cycles(meetings(random.Random(3), "abc", planted, 500), "abc")
    assert played.chance > 0.999999
    assert search_cycles(meetings(random.Random(3), "abc", planted, 9), "abc") == ([], 0)


def test_only_these_versions_are_looked_at() -> None:
    """A cycle with a version that does not play any more is not named."""
    planted = {("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "c"): 0.1}
    results = meetings(random.Random(4), NAMES, planted, 25)
    assert len(search_cycles(results, NAMES)[0]) == 1
    assert search_cycles(results, NAMES[1:])[0] == []


@pytest.mark.parametrize("results", [[], [game(1, "ab", (1, 0))]])
def test_too_few_games_show_no_trio(results: list[Result]) -> None:
    """Without three pairs that met often there is nothing to look at."""
    assert search_cycles(results, "abc") == ([], 0)


def test_simulation_finds_a_strong_cycle_and_no_other() -> None:
    """The bench plants a trio of 90 % and finds it; without one it finds none."""
    assert cycle_found(League(150.0, 0.9), boards=20, rounds=0, seed=1) == (True, False)
    assert cycle_found(League(150.0), boards=0, rounds=3, seed=1) == (False, False)
