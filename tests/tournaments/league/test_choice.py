"""The choice of a round's tables, on results written by hand or by chance."""

import random
from collections import Counter
from math import ceil
from typing import Any

import pytest

from protocol.records import Result
from tests.support.made_up import game, played, round_plan
from tournaments.league.pairing import Information, choose_tables, count_encounters
from tournaments.league.state import ChosenTable

FIELD = [f"bot{i:02}" for i in range(20)]


def choose(
    results: list[Result], active: list[str], partners: bool = False, seats: int = 2, **inputs: Any
) -> list[ChosenTable]:
    usual = {"anchor": min(active, default=""), "most_tables": ceil(len(active) / seats) or 1}
    encounters = count_encounters(results, partners)
    return choose_tables(round_plan(active, **usual | inputs), encounters, seats, partners=partners)


def boards(first: str, second: str, wins: int, losses: int) -> list[Result]:
    return [
        game(board, (first, second), (int(board < wins), int(board >= wins)))
        for board in range(wins + losses)
    ]


def test_newcomer_sits_most_and_hogs_no_round() -> None:
    results = played(random.Random(1), dict.fromkeys(FIELD[1:], 0.0), 400)
    sits = Counter(name for table in choose(results, FIELD) for name in table.entrants)
    assert sits.most_common(1) == [(FIELD[0], 5)]


@pytest.mark.parametrize(
    ("active", "seats", "partners"),
    [([], 2, False), (["a"], 2, False), (["a", "b"], 3, False), (["a", "b", "c"], 4, True)],
)
def test_too_few_versions_get_no_table(active: list[str], seats: int, partners: bool) -> None:
    assert choose([], active, partners, seats=seats) == []


def test_sweeps_and_separate_pools_have_finite_intervals() -> None:
    results = boards("a", "b", 500, 0) + boards("x", "y", 0, 500)
    tables = choose(results, ["a", "b", "x", "y"], most_tables=4)
    assert {len({*table.entrants} & {"a", "b"}) for table in tables[:2]} == {1}
    information = Information(count_encounters(results, False), list("abxy"), None, False)
    assert 100 < information.half_widths().max() < 1000


def test_no_table_is_chosen_for_intervals_of_known_order() -> None:
    """Versions far apart have a wide interval, but nobody waits for it, not even of the anchor."""
    results = boards("a", "b", 990, 10) + boards("b", "m", 900, 100) + boards("m", "y", 990, 10)
    assert choose(results, ["a", "b", "y"], anchor="gone", until=60.0) == []
    assert choose(results, ["a", "b", "y"], anchor="a", until=60.0) == []
    results += boards("b", "c", 16, 4)
    tables = choose(results, ["a", "b", "c"], anchor="b", until=60.0)
    assert tables
    assert all("c" in table.entrants for table in tables)


def test_versions_with_a_certain_outcome_meet_no_more() -> None:
    """A small class would else play most of its games against the weakest house bot."""
    level = boards("a", "b", 20, 20)
    sweeps = boards("a", "random", 40, 0) + boards("b", "random", 40, 0)
    tables = choose(level + sweeps, ["a", "b", "random"], anchor="a", most_tables=3)
    assert [table.entrants for table in tables] == [("a", "b")]
    # A lead that is certain, but not that great, may still grow or shrink.
    close = boards("a", "c", 140, 60)
    tables = choose(level + close, ["a", "b", "c"], anchor="a", most_tables=3)
    assert ("a", "c") in {table.entrants for table in tables}


def test_choice_depends_on_sums_alone() -> None:
    results = played(random.Random(3), {"a": 50.0, "b": 0.0, "c": -50.0, "d": 10.0}, 100, 4)
    halves = [count_encounters(part, False) for part in (results[:99], results[99:])]
    total = halves[0].plus(halves[1])
    assert total == count_encounters(reversed(results), False)
    choice = choose(results[::-1], ["d", "b", "a", "c"], seats=4)
    assert choice == choose(results, ["a", "b", "c", "d"], seats=4)


def test_ties_fall_to_others_in_each_round() -> None:
    first = [choose([], FIELD, number=number)[0].entrants for number in (1, 2, 3)]
    assert len(set(first)) == 3
