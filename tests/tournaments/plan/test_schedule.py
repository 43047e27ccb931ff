"""Who meets whom: everybody equally, in every seat, beside everybody, and any prefix balanced."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.records import Result
from protocol.ruleset import MOST_SEATS
from tests.support.fast_run import examples
from tests.support.planned_events import (
    DYNAMIC,
    SELF_PARTNERS,
    event,
    mixed,
    next_stage,
    plan_of,
    played_through,
    self_partners,
    teams,
)
from tournaments.plan.event import Event
from tournaments.plan.schedule import circular_orders, count_all_games, sittings, stages

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


TEAMS = st.builds(teams, st.integers(1, 9)) | st.builds(self_partners, st.integers(1, 9))


@given(PLANS | TEAMS | st.builds(mixed, st.integers(4, 6)))
@examples(60)
def test_a_plan_is_fair(one: Event) -> None:
    """Each table plays each board in each rotation; a sitting, which is what a set of processes
    plays, meets no board twice, and seats an entrant twice only as its own partner."""
    plan = plan_of(one)
    everything = Counter((game.board, sitting.seats) for sitting in plan for game in sitting.games)
    tables = {frozenset(sitting.seats) for sitting in plan}
    partnerships = 3 if one.rules.deal.partners and not one.teams else 1
    rotations = 2 if one.teams == SELF_PARTNERS else one.seats
    each = rotations * partnerships * one.boards
    assert sum(everything.values()) == count_all_games(one, {}) == len(tables) * each
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
    games = [game.name for sitting in plan[::3] for game in sitting.games]
    met = {frozenset(sitting.seats) for sitting in plan[::3]}
    assert [*sittings(one, {}, games)] == [s for s in plan if frozenset(s.seats) in met]
    for sitting in plan:
        on = [game.board for game in sitting.games]
        assert one.teams or len(set(sitting.seats)) == one.seats
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
    assert count_all_games(one, results) == len(results)
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
