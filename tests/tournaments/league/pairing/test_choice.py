"""The choice of a round's tables, on results written by hand or by chance."""

import random
from collections import Counter
from itertools import combinations
from math import ceil
from typing import Any

import pytest

from protocol.records import Result
from tests.support.leagues import round_plan
from tests.support.results import game, played
from tests.support.simulated_leagues import SimulatedLeague, precision_of
from tournaments.league.pairing.choice import OpenOrder, choose_tables, open_orders
from tournaments.league.pairing.information import NO_ENCOUNTERS, Encounters, count_encounters
from tournaments.league.records import ChosenTable

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


def test_each_version_sits_once_before_the_first_game() -> None:
    tables = choose([], FIELD)
    assert Counter(name for one in tables for name in one.entrants) == dict.fromkeys(FIELD, 1)
    assert tables[0].why.endswith("is new")


def test_newcomer_sits_most_and_hogs_no_round() -> None:
    results = played(random.Random(1), dict.fromkeys(FIELD[1:], 0.0), 400)
    sits = Counter(name for one in choose(results, FIELD) for name in one.entrants)
    assert sits.most_common(1) == [(FIELD[0], 5)]


def test_neighbours_meet_whose_order_is_open() -> None:
    strength = {"a": 0.0, "b": 0.0, "y": 800.0, "z": 800.0}
    fair = [one for pair in combinations(strength, 2) for one in _balanced(pair, strength)]
    tables = choose(fair, list(strength), most_tables=2)
    assert {one.entrants for one in tables} == {("a", "b"), ("y", "z")}
    assert "is before" in tables[0].why


def _balanced(pair: tuple[str, str], strength: dict[str, float]) -> list[Result]:
    wins = 25 if strength[pair[0]] == strength[pair[1]] else 1
    return boards(*pair, wins, 50 - wins)


@pytest.mark.parametrize(
    ("active", "seats", "partners"),
    [([], 2, False), (["a"], 2, False), (["a", "b"], 3, False), (["a", "b", "c"], 4, True)],
)
def test_too_few_versions_play_nothing(active: list[str], seats: int, partners: bool) -> None:
    assert choose([], active, partners, seats=seats) == []


@pytest.mark.parametrize("seats", range(2, 9))
def test_each_table_of_a_round_is_another_one(seats: int) -> None:
    tables = choose([], FIELD[: seats + 1], seats=seats, most_tables=seats)
    assert all(len(set(one.entrants)) == seats for one in tables)
    assert len({one.entrants for one in tables}) == len(tables) > 1
    assert all(one.entrants == tuple(sorted(one.entrants)) for one in tables)


def test_partners_sit_in_tables_of_four() -> None:
    results = [
        game(board, random.Random(board).sample(FIELD[:7], 4), (1, 0, 1, 0)) for board in range(30)
    ]
    tables = choose(results, FIELD[:8], True, seats=4)
    assert FIELD[7] in tables[0].entrants
    assert all(len(one.entrants) == 4 for one in tables)


def test_sweeps_and_separate_pools_have_finite_intervals() -> None:
    results = boards("a", "b", 500, 0) + boards("x", "y", 0, 500)
    tables = choose(results, ["a", "b", "x", "y"], most_tables=4)
    assert {len({*one.entrants} & {"a", "b"}) for one in tables[:2]} == {1}
    widest = open_orders(count_encounters(results, False), "abxy", partners=False)
    assert 100 < widest[0].half_width < 1000


def test_nothing_is_chosen_once_all_intervals_are_narrow() -> None:
    results = played(random.Random(2), {"a": 50.0, "b": 0.0, "c": -50.0}, 3000)
    assert choose(results, ["a", "b", "c"], until=20.0) == []
    assert choose(results, ["a", "b", "c"], until=2.0)
    assert choose(results, ["a", "b", "c"])
    (new, *_) = choose(results, ["a", "b", "c", "d"], until=20.0)
    assert "d" in new.entrants


def test_nothing_is_chosen_for_intervals_whose_order_is_known() -> None:
    """Versions far apart have a wide interval, but nobody waits for it, not even of the anchor."""
    results = boards("a", "b", 990, 10) + boards("b", "m", 900, 100) + boards("m", "y", 990, 10)
    wide = {one.versions for one in _intervals(results, "aby") if one.half_width > 60}
    assert wide == set()
    assert choose(results, ["a", "b", "y"], anchor="gone", until=60.0) == []
    assert choose(results, ["a", "b", "y"], anchor="a", until=60.0) == []
    results += boards("b", "c", 16, 4)
    found = choose(results, ["a", "b", "c"], anchor="b", until=60.0)
    assert found
    assert all("c" in one.entrants for one in found)


def test_two_versions_do_not_meet_any_more_once_their_games_would_all_end_alike() -> None:
    """Otherwise a small class plays most of its games against the weakest house bot."""
    level = boards("a", "b", 20, 20)
    lost = boards("a", "random", 40, 0) + boards("b", "random", 40, 0)
    tables = choose(level + lost, ["a", "b", "random"], anchor="a", most_tables=3)
    assert [one.entrants for one in tables] == [("a", "b")]
    # A lead that is certain, but not that great, may still grow or shrink.
    close = boards("a", "c", 140, 60)
    tables = choose(level + close, ["a", "b", "c"], anchor="a", most_tables=3)
    assert ("a", "c") in {one.entrants for one in tables}


def _intervals(results: list[Result], active: str) -> list[OpenOrder]:
    return open_orders(count_encounters(results, False), active, partners=False)


def test_chosen_tables_tell_more_than_as_many_games_of_a_round_robin() -> None:
    """Of 1,900 games each; the intervals of neighbours hold the truth all the same."""
    chosen, everybody = SimulatedLeague(300, 1), SimulatedLeague(300, 1)
    for _ in range(19):
        chosen.choose_round()
    everybody.play(combinations(everybody.active, 2), 5)
    told, least = (precision_of(one, one.results) for one in (chosen, everybody))
    assert told.games == least.games == 1900
    assert told.neighbours < 0.85 * least.neighbours
    assert told.held_neighbours > 0.8


def test_choice_depends_on_sums_alone() -> None:
    results = played(random.Random(3), {"a": 50.0, "b": 0.0, "c": -50.0, "d": 10.0}, 100, 4)
    halves = [count_encounters(part, False) for part in (results[:99], results[99:])]
    whole = halves[0].plus(halves[1])
    assert whole == count_encounters(reversed(results), False)
    shuffled = choose(results[::-1], ["d", "b", "a", "c"], seats=4)
    assert shuffled == choose(results, ["a", "b", "c", "d"], seats=4)


def test_encounters_of_no_game_are_none() -> None:
    assert count_encounters([], False) == count_encounters([], True) == NO_ENCOUNTERS
    assert isinstance(NO_ENCOUNTERS.plus(NO_ENCOUNTERS), Encounters)


def test_ties_fall_to_others_in_each_round() -> None:
    first = [choose([], FIELD, number=number)[0].entrants for number in (1, 2, 3)]
    assert len(set(first)) == 3
