"""The schedule: everybody meets everybody equally, in every seat, and any prefix is balanced."""

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
def test_a_plan_is_balanced_and_seats_nobody_twice(event: Event) -> None:
    """Each table plays each board in each rotation; a sitting, which is what a set of processes
    plays, meets no board twice, and seats an entrant twice only as its own partner."""
    plan = plan_of(event)
    everything = Counter((game.board, sitting.seats) for sitting in plan for game in sitting.games)
    tables = {frozenset(sitting.seats) for sitting in plan}
    partnerships = 3 if event.rules.deal.partners and not event.teams else 1
    rotations = 2 if event.teams == SELF_PARTNERS else event.seats
    table_games = rotations * partnerships * event.boards
    assert sum(everything.values()) == count_all_games(event, {}) == len(tables) * table_games
    assert set(everything.values()) == {1}
    boards = {frozenset(b for b, seats in everything if set(seats) == table) for table in tables}
    assert boards == {frozenset(range(1, event.boards + 1))}
    seat_counts = Counter(
        (entrant, seat)
        for sitting in plan
        for seat, entrant in enumerate(sitting.seats)
        for _ in sitting.games
    )
    for entrant in range(len(event.entrants)):
        assert len({seat_counts[entrant, seat] for seat in range(event.seats)}) == 1
    games = [game.name for sitting in plan[::3] for game in sitting.games]
    met = {frozenset(sitting.seats) for sitting in plan[::3]}
    assert [*sittings(event, {}, games)] == [s for s in plan if frozenset(s.seats) in met]
    for sitting in plan:
        on = [game.board for game in sitting.games]
        assert event.teams or len(set(sitting.seats)) == event.seats
        assert on == sorted(set(on))
        assert [game.place for game in sitting.games] == list(range(1, len(on) + 1))
    assert len({sitting.name for sitting in plan}) == len(plan)
    assert len({game.name for sitting in plan for game in sitting.games}) == len(everything)


@pytest.mark.parametrize(
    ("entrants", "seats"), [(3, 3), (5, 3), (4, 4), (6, 4), (9, 4), (5, 5), (6, 6), (8, 7), (8, 8)]
)
def test_everybody_sits_beside_everybody_of_its_table_as_often(entrants: int, seats: int) -> None:
    boards = 12 if seats < 5 else len(circular_orders(seats))
    plan = plan_of(event(entrants, seats, boards, a_sitting=3))
    left: dict[frozenset[int], Counter[tuple[int, int]]] = {}
    for sitting in plan:
        pairs = left.setdefault(frozenset(sitting.seats), Counter())
        for seat in range(seats):
            pairs[sitting.seats[seat - 1], sitting.seats[seat]] += len(sitting.games)
    for pairs in left.values():
        assert len(pairs) == seats * (seats - 1)
        assert len(set(pairs.values())) == 1


@given(st.integers(2, 30), st.integers(1, 3))
@examples(20)
def test_any_prefix_of_a_plan_is_balanced(entrants: int, blocks: int) -> None:
    """After each sitting of two seats nobody lies two behind, or was first two times more often."""
    plan = plan_of(event(entrants, 2, boards=2 * blocks))
    counts, firsts = Counter[int](), Counter[int]()
    for sitting in plan:
        counts.update(sitting.seats)
        assert max(counts.values()) - min(counts[n] for n in range(entrants)) <= 1
        firsts[sitting.seats[0]] += 1
        for entrant in sitting.seats:
            assert abs(2 * firsts[entrant] - counts[entrant]) <= 2


def test_with_partners_every_two_of_a_four_sit_together_once() -> None:
    """The results of mixed partners could not be separated otherwise."""
    plan = plan_of(mixed(5, boards=1))
    pairs = Counter(
        frozenset(sitting.seats[side::2])
        for sitting in plan
        for side in (0, 1)
        for _ in sitting.games
    )
    assert len(pairs) == 10
    assert len(set(pairs.values())) == 1


def test_teams_stay_together_and_sit_beside_each_opponent_as_often() -> None:
    plan = plan_of(teams(boards=4))
    assert {frozenset(sitting.seats[side::2]) for sitting in plan for side in (0, 1)} == {
        frozenset((0, 1)),
        frozenset((2, 3)),
        frozenset((4,)),
    }
    left = Counter(
        (sitting.seats[seat - 1], sitting.seats[seat])
        for sitting in plan
        if 4 not in sitting.seats
        for seat in range(4)
        for _ in sitting.games
    )
    assert len(left) == 8
    assert len(set(left.values())) == 1


def test_a_block_of_boards_is_finished_before_the_next_begins() -> None:
    firsts = [sitting.games[0].board for sitting in plan_of(event(4))]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_more_boards_and_more_bots_change_no_game_and_no_name(seats: int) -> None:
    """An extended event is therefore the event that was played at once."""

    def all_games(event: Event) -> dict[str, str]:
        return {game.name: plan.name for plan in plan_of(event) for game in plan.games}

    small = all_games(event(5, seats, boards=7, a_sitting=3))
    large = all_games(event(6, seats, boards=20, a_sitting=3))
    assert small.items() < large.items()


# --- stages ---


@pytest.mark.parametrize(
    "event", DYNAMIC, ids=lambda event: f"{len(event.entrants)} {event.format}"
)
def test_a_stage_follows_from_the_results_of_those_before_it(event: Event) -> None:
    """It is the same while later results are known too, and a board belongs to one stage."""
    results = played_through(event, Random(1))
    all_stages = list(stages(event, results))
    assert next_stage(event, list(results.values())) == ()
    assert count_all_games(event, results) == len(results)
    before: list[Result] = []
    boards: set[int] = set()
    for stage in all_stages:
        assert next_stage(event, before) == stage
        stage_boards = {game.board for plan in stage for game in plan.games}
        assert not stage_boards & boards
        assert max(stage_boards) <= event.all_boards
        boards |= stage_boards
        before += [results[game.name] for plan in stage for game in plan.games]
    names = [plan.name for stage in all_stages for plan in stage]
    assert len(set(names)) == len(names)
