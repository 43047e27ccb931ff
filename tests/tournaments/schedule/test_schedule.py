"""Who meets whom: everybody equally, in every seat, beside everybody, and any prefix balanced."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.logs.catalog import ORDERS
from protocol.errors import UserError
from protocol.records import Result
from protocol.ruleset import MOST_SEATS
from tests.support.fast_run import examples
from tests.support.planned_events import (
    ALONE,
    DYNAMIC,
    alone,
    event,
    mixed,
    played_through,
    result,
    teams,
)
from tournaments.formats import knockout, matching, swiss, versus
from tournaments.formats.base import MOST_GAMES
from tournaments.formats.gauntlet import Gauntlet
from tournaments.formats.knockout import Knockout
from tournaments.formats.ladder import Ladder
from tournaments.formats.pairings import ALL, round_robin
from tournaments.formats.swiss import Swiss
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.rating import sprt
from tournaments.rating.sprt import Outcome
from tournaments.rating.sprt_settings import Sprt
from tournaments.schedule.circular_orders import circular_orders
from tournaments.schedule.schedule import PlannedSitting, Stage, games, sittings, stages


def next_stage(one: Event, before: Sequence[Result]) -> Stage:
    """The first stage that is not over after these results."""
    results = {made.game: made for made in before}
    for stage in stages(one, results):
        if not all(game.name in results for plan in stage for game in plan.games):
            return stage
    return ()


def plan_of(one: Event) -> list[PlannedSitting]:
    return list(sittings(one, {}))


# --- designs: units and tables, as numbers ---


def played(tables: Sequence[tuple[int, ...]]) -> Counter[int]:
    return Counter(one for table in tables for one in table)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("units", range(2, 31))
def test_in_a_round_robin_everybody_meets_everybody_equally_at_any_time(
    units: int, size: int
) -> None:
    if units < size:
        return
    tables = [table for day in round_robin(units, size) for table in day]
    met = Counter(frozenset(pair) for table in tables for pair in combinations(table, 2))
    assert len(met) == units * (units - 1) // 2
    chosen = size > 2 and len(list(combinations(range(units), size))) > ALL
    assert max(met.values()) - min(met.values()) <= chosen
    assert len({frozenset(table) for table in tables}) == len(tables)
    assert all(len(set(table)) == size for table in tables)
    assert len({played(tables)[one] for one in range(units)}) == 1
    # With 13 at four seats any two tables share somebody: nobody can do better than three.
    allowed = (3 if (units, size) == (13, 4) else 2) if chosen else 1
    for end in range(len(tables)):
        counts = [played(tables[:end])[one] for one in range(units)]
        assert max(counts) - min(counts) <= allowed


@pytest.mark.parametrize("size", [5, 6, 7, 8])
@pytest.mark.parametrize("units", [*range(5, 18), 30])
def test_at_more_than_four_seats_too_as_nearly_as_tables_can_be_found(
    units: int, size: int
) -> None:
    if units < size:
        return
    tables = [table for day in round_robin(units, size) for table in day]
    met = Counter(frozenset(pair) for table in tables for pair in combinations(table, 2))
    assert len(met) == units * (units - 1) // 2
    whole = comb(units, size) <= ALL
    assert max(met.values()) - min(met.values()) <= (0 if whole else 3)
    assert len({frozenset(table) for table in tables}) == len(tables) <= max(ALL, 5 * units)
    assert all(len(set(table)) == size for table in tables)
    assert len({played(tables)[one] for one in range(units)}) == 1
    for end in range(len(tables)):
        counts = [played(tables[:end])[one] for one in range(units)]
        assert max(counts) - min(counts) <= (1 if whole else 4)


@pytest.mark.parametrize("units", range(2, 31))
def test_at_two_seats_everybody_sits_first_as_often(units: int) -> None:
    """In one rotation already: with an odd number exactly, with an even one give or take one."""
    firsts = Counter(table[0] for day in round_robin(units, 2) for table in day)
    counts = [firsts[one] for one in range(units)]
    assert max(counts) - min(counts) <= (units % 2 == 0)


@pytest.mark.parametrize("size", range(2, 9))
def test_in_all_circular_orders_everybody_sits_beside_everybody_as_often(size: int) -> None:
    orders = circular_orders(size)
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert len({order[order.index(0) :] + order[: order.index(0)] for order in orders}) == len(
        orders
    )
    left = Counter((order[seat - 1], order[seat]) for order in orders for seat in range(size))
    assert len(left) == size * (size - 1)
    assert len(set(left.values())) == 1


@pytest.mark.parametrize("size", range(3, 8))
def test_in_the_first_half_of_them_as_often_on_either_side(size: int) -> None:
    half = circular_orders(size)[: len(circular_orders(size)) // 2]
    beside = Counter(
        frozenset((order[seat - 1], order[seat])) for order in half for seat in range(size)
    )
    assert len(beside) == size * (size - 1) // 2
    assert len(set(beside.values())) == 1


def test_a_log_is_looked_for_among_as_many_as_there_are_circular_orders() -> None:
    assert max(len(circular_orders(size)) for size in range(2, MOST_SEATS + 1)) == ORDERS


# --- plans ---

PLANS = st.builds(
    lambda entrants, seats, boards, a_sitting: event(
        max(entrants, seats), seats, boards, a_sitting
    ),
    st.integers(2, 9),
    st.integers(2, MOST_SEATS),
    st.integers(1, 14),
    st.integers(1, 5),
)


TEAMS = st.builds(teams, st.integers(1, 9)) | st.builds(alone, st.integers(1, 9))


@given(PLANS | TEAMS | st.builds(mixed, st.integers(4, 6)))
@examples(60)
def test_a_plan_is_fair(one: Event) -> None:
    """Each table plays each board in each rotation; sittings meet no board twice."""
    plan = plan_of(one)
    everything = Counter((game.board, sitting.seats) for sitting in plan for game in sitting.games)
    tables = {frozenset(sitting.seats) for sitting in plan}
    partnerships = 3 if one.rules.deal.partners and not one.teams else 1
    rotations = 2 if one.teams == ALONE else one.seats
    each = rotations * partnerships * one.boards
    assert sum(everything.values()) == games(one, {}) == len(tables) * each
    assert set(everything.values()) == {1}
    boards = {frozenset(b for b, seats in everything if set(seats) == table) for table in tables}
    assert boards == {frozenset(range(1, one.boards + 1))}
    seated = Counter(
        (entrant, seat)
        for sitting in plan
        for seat, entrant in enumerate(sitting.seats)
        for _ in sitting.games
    )
    for entrant in range(len(one.entrants)):
        assert len({seated[entrant, seat] for seat in range(one.seats)}) == 1
    for sitting in plan:
        on = [game.board for game in sitting.games]
        assert on == sorted(set(on))
        assert [game.place for game in sitting.games] == list(range(1, len(on) + 1))
    assert len({sitting.name for sitting in plan}) == len(plan)
    assert len({game.name for sitting in plan for game in sitting.games}) == len(everything)


@pytest.mark.parametrize(
    ("entrants", "seats"), [(3, 3), (5, 3), (4, 4), (6, 4), (9, 4), (5, 5), (6, 6), (8, 7), (8, 8)]
)
def test_over_the_boards_everybody_sits_beside_everybody_of_its_table_as_often(
    entrants: int, seats: int
) -> None:
    boards = 12 if seats < 5 else len(circular_orders(seats))
    plan = plan_of(event(entrants, seats, boards, a_sitting=3))
    left: dict[frozenset[int], Counter[tuple[int, int]]] = {}
    for one in plan:
        at = left.setdefault(frozenset(one.seats), Counter())
        for seat in range(seats):
            at[one.seats[seat - 1], one.seats[seat]] += len(one.games)
    for at in left.values():
        assert len(at) == seats * (seats - 1)
        assert len(set(at.values())) == 1


@given(st.integers(2, 30), st.integers(1, 3))
@examples(20)
def test_any_prefix_of_a_plan_is_balanced(entrants: int, blocks: int) -> None:
    """In sittings, at two seats: nobody ever lies two behind, nor two more often first."""
    plan = plan_of(event(entrants, 2, boards=2 * blocks))
    counts, firsts = Counter[int](), Counter[int]()
    for sitting in plan:
        counts.update(sitting.seats)
        assert max(counts.values()) - min(counts[n] for n in range(entrants)) <= 1
        firsts[sitting.seats[0]] += 1
        for one in sitting.seats:
            assert abs(2 * firsts[one] - counts[one]) <= 2


def test_with_partners_every_two_of_a_four_sit_together_once() -> None:
    """Mixed partners could not be told apart by their results otherwise."""
    plan = plan_of(mixed(5, boards=1))
    together = Counter(
        frozenset(one.seats[side::2]) for one in plan for side in (0, 1) for _ in one.games
    )
    assert len(together) == 10
    assert len(set(together.values())) == 1


def test_teams_stay_together_and_sit_beside_each_opponent_as_often() -> None:
    plan = plan_of(teams(boards=4))
    assert {frozenset(one.seats[side::2]) for one in plan for side in (0, 1)} == {
        frozenset((0, 1)),
        frozenset((2, 3)),
        frozenset((4,)),
    }
    left = Counter(
        (one.seats[seat - 1], one.seats[seat])
        for one in plan
        if 4 not in one.seats
        for seat in range(4)
        for _ in one.games
    )
    assert len(left) == 8
    assert len(set(left.values())) == 1


def test_a_block_of_boards_is_finished_before_the_next_begins() -> None:
    firsts = [sitting.games[0].board for sitting in plan_of(event(4))]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_more_boards_and_more_bots_change_no_game_and_no_name(seats: int) -> None:
    """So that an extended event is the one that was played at once."""

    def all_games(one: Event) -> dict[str, str]:
        return {game.name: plan.name for plan in plan_of(one) for game in plan.games}

    small = all_games(event(5, seats, boards=7, a_sitting=3))
    large = all_games(event(6, seats, boards=20, a_sitting=3))
    assert small.items() < large.items()


# --- stages ---


@pytest.mark.parametrize("one", DYNAMIC, ids=lambda one: f"{len(one.entrants)} {one.format}")
def test_a_stage_follows_from_the_results_of_those_before_it(one: Event) -> None:
    """It is the same while later results are known too, and a board belongs to one stage."""
    results = played_through(one, Random(1))
    known = list(stages(one, results))
    assert next_stage(one, list(results.values())) == ()
    assert games(one, results) == len(results)
    before: list[Result] = []
    boards: set[int] = set()
    for stage in known:
        assert next_stage(one, before) == stage
        own = {game.board for plan in stage for game in plan.games}
        assert not own & boards
        assert max(own) <= one.all_boards
        boards |= own
        before += [results[game.name] for plan in stage for game in plan.games]
    names = [plan.name for stage in known for plan in stage]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("one", DYNAMIC, ids=lambda one: f"{len(one.entrants)} {one.format}")
def test_how_much_is_to_come_is_known_before_as_well_as_it_can_be(one: Event) -> None:
    results = played_through(one, Random(2))
    guessed = games(one, {})
    match one.format:
        case Knockout():
            assert guessed <= len(results)
        case Versus():
            assert guessed == 120 >= len(results)
        case _:
            assert guessed == len(results)


@given(st.integers(2, 30), st.integers(2, 4), st.integers(1, 6), st.integers(0, 999))
@examples(40)
def test_a_swiss_lets_nobody_rest_twice_and_meets_again_only_when_it_must(
    entrants: int, seats: int, rounds: int, luck: int
) -> None:
    one = event(max(entrants, seats), seats, 1, form=Swiss(rounds))
    results = played_through(one, Random(luck))
    byes, met = Counter[int](), Counter[frozenset[int]]()
    for number in range(1, rounds + 1):
        tables = {
            frozenset(plan.seats)
            for plan in sittings(one, results)
            if swiss.play_round(one, plan.games[0].board) == number
        }
        there = [entrant for table in tables for entrant in table]
        assert len(there) == len(set(there)) == len(one.entrants) // seats * seats
        byes.update(set(range(len(one.entrants))) - set(there))
        met.update(frozenset(pair) for table in tables for pair in combinations(table, 2))
    counts = [byes[entrant] for entrant in range(len(one.entrants))]
    assert max(counts) - min(counts) <= 1
    if seats == 2 and rounds <= entrants // 2:
        assert max(met.values()) == 1


def test_a_swiss_of_very_many_is_paired_without_a_rematch() -> None:
    """At 2,000 bots the search for tables was deeper than Python's stack."""
    order: list[tuple[int, ...]] = [(one,) for one in range(1_000)]
    met = Counter(frozenset(order[place : place + 2]) for place in range(999))
    found = matching.pairs(order, met)
    assert sorted(unit for pair in found for unit in pair) == order
    assert not any(met[frozenset(pair)] for pair in found)
    assert max(abs(one[0] - other[0]) for one, other in found) <= 4
    tables = swiss._fresh(tuple((one,) for one in range(3_600)), 3, Counter())
    assert tables
    assert len(tables) == 1_200


def everybody_met(order: Sequence[tuple[int, ...]]) -> Counter[frozenset[tuple[int, ...]]]:
    return Counter(frozenset(pair) for pair in combinations(order, 2))


@pytest.mark.parametrize("many", [4, 10, 100])
def test_the_only_round_without_a_rematch_is_found(many: int) -> None:
    """Everybody met everybody but for one round, which lies across the whole table."""
    order: list[tuple[int, ...]] = [(one,) for one in range(many)]
    last = {frozenset((order[one], order[-1 - one])) for one in range(many // 2)}
    met = everybody_met(order)
    for pair in last:
        del met[pair]
    assert {frozenset(pair) for pair in matching.pairs(order, met)} == last


def test_where_all_have_met_neighbours_meet_again_who_met_least() -> None:
    order: list[tuple[int, ...]] = [(one,) for one in range(6)]
    met = everybody_met(order)
    assert matching.pairs(order, met) == [((0,), (1,)), ((2,), (3,)), ((4,), (5,))]
    met[frozenset(order[:2])] += 1
    assert frozenset(order[:2]) not in map(frozenset, matching.pairs(order, met))


def test_a_swiss_finds_the_best_of_many() -> None:
    one = event(16, 2, 1, form=Swiss(4))
    results = played_through(one, Random(0), upset=0)
    table = swiss.standings(one, list(results.values()))
    assert table[0].unit == (0,)
    assert table[0].points == 8
    assert sum(line.points for line in table) == 16 * 4


def test_the_swiss_table_by_hand() -> None:
    """Three bots, two rounds: a bye counts as a win, a tie as a half; Buchholz breaks the tie."""
    one = event(3, 2, 1, form=Swiss(2))
    first = next_stage(one, [])
    assert {plan.seats for plan in first} == {(0, 1), (1, 0)}
    results = [result(one, first[0], 0, (1, 2)), result(one, first[1], 0, (1, 2))]
    table = swiss.standings(one, results)
    lines = [(line.unit, line.points, line.buchholz, line.halves) for line in table]
    # Each won its game in seat 0, and bot2 had the bye.
    assert lines == [((2,), 2, 0, 0), ((0,), 1, 1, 2), ((1,), 1, 1, 2)]
    second = next_stage(one, results)
    assert {frozenset(plan.seats) for plan in second} == {frozenset((0, 2))}
    assert {plan.games[0].board for plan in second} == {2}


def bracket_of(one: Event, results: Mapping[str, Result]) -> knockout.Bracket:
    assert isinstance(one.format, Knockout)
    return knockout.bracket(one, one.format, list(results.values()))


@pytest.mark.parametrize("entrants", range(2, 20))
def test_in_a_knockout_the_best_seeds_meet_last(entrants: int) -> None:
    one = event(entrants, 2, 1, form=Knockout(1))
    known = bracket_of(one, played_through(one, Random(0), upset=0))
    assert known[-1][0].units == ((0,), (1,))
    assert known[-1][0].winner == (0,)
    assert sum(len(match.units) == 2 for matches in known for match in matches) == entrants - 1


def drawn(one: Event, until: int) -> dict[str, Result]:
    """Every game is a tie, but on boards from `until` the second bot wins."""
    results: dict[str, Result] = {}
    for stage in stages(one, results):
        for plan in stage:
            for n, game in enumerate(plan.games):
                lost = (1, 2) if plan.seats[0] == 1 else (2, 1)
                made = result(one, plan, n, lost if game.board >= until else (1, 1))
                results[made.game] = made
    return results


def test_a_tied_match_goes_on_and_then_the_better_seed_does() -> None:
    one = event(2, 2, 2, form=Knockout(3))
    (match,) = bracket_of(one, drawn(one, until=99))[0]
    assert (match.halves, match.more, match.winner) == ((4, 4), (6, 6), (0,))
    (match,) = bracket_of(one, drawn(one, until=4))[0]
    assert (match.halves, match.more, match.winner) == ((4, 4), (2, 10), (1,))
    (match,) = bracket_of(one, drawn(one, until=2))[0]
    assert (match.halves, match.more, match.winner) == ((2, 6), (), (1,))


def test_versus_looks_at_each_board_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be a million of them."""
    one = event(2, 2, 300, 10, form=Versus(Sprt(h0=-1, h1=1, max_boards=300)))
    results = played_through(one, Random(3), upset=1)
    seen: list[Result] = []
    asked = sprt.outcomes

    def looked(
        test: Sprt, played: Iterable[Result], *words: Any, **more: Any
    ) -> tuple[Outcome, ...]:
        again = list(played)
        seen.extend(again)
        return asked(test, again, *words, **more)

    monkeypatch.setattr(versus, "outcomes", looked)
    assert len(list(sittings(one, results))) == 60
    assert seen == list(results.values())


def test_versus_ends_with_the_block_in_which_the_answer_is_known() -> None:
    one = event(2, 2, 500, 10, form=Versus(Sprt(max_boards=500)))
    results = played_through(one, Random(0), upset=0)
    boards = max(made.board for made in results.values())
    assert boards % 10 == 0
    assert 20 <= boards < 100
    assert next_stage(one, list(results.values())) == ()


@pytest.mark.parametrize(
    ("one", "part"),
    [
        (event(200, 2, 50), None),
        (event(2, 2, 1_000_000), None),
        (event(1000, 4, 50, form=Swiss()), None),
        (event(2, 2, 1_000_000, form=Versus(Sprt(max_boards=1_000_000))), None),
        (event(250, 4, 1), None),
        (event(251, 3, 1), "250 bots are the most"),
        (event(200, 2, 51), "2,029,800 games at least"),
        (event(10, 2, 1_000_000, form=Gauntlet()), "18,000,000 games"),
        (mixed(9, 100_000), "7,200,000 games at least"),
        (teams(300_000), "3,600,000 games at least"),
    ],
)
def test_what_is_too_large_to_plan_is_refused_before_it_is_planned(
    one: Event, part: str | None
) -> None:
    if part is None:
        one.format.check_size(one)
        return
    with pytest.raises(UserError, match=part):
        one.format.check_size(one)


@pytest.mark.parametrize(
    "one", [event(7), event(9, 3), event(12, 4), mixed(5), teams(), event(7, form=Gauntlet())]
)
def test_the_size_that_is_refused_is_never_more_than_there_is(one: Event) -> None:
    whole = replace(one, boards=-(-MOST_GAMES // (games(one, {}) // one.boards)) - 1)
    whole.format.check_size(whole)


def tables_of(one: Event) -> Iterator[frozenset[int]]:
    return (frozenset(plan.seats) for plan in plan_of(one))


def test_a_gauntlet_and_a_ladder_are_parts_of_a_round_robin() -> None:
    pairs = {frozenset(pair) for pair in combinations(range(5), 2)}
    challenged = set(tables_of(event(5, form=Gauntlet(("bot1", "bot3")))))
    assert challenged == {pair for pair in pairs if len(pair & {1, 3}) == 1}
    climbed = set(tables_of(event(5, form=Ladder(("bot1", "bot3")))))
    assert climbed == pairs - {frozenset((1, 3))}
    assert set(tables_of(event(5, form=Ladder()))) == pairs
