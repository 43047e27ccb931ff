"""Who meets whom: everybody equally, in every seat, and any prefix balanced."""

from collections import Counter

import pytest

from arena.sandbox.limits import Limits
from arena.sandbox.profile import Command
from protocol.messages import Clock
from protocol.records import FoulPolicy
from protocol.rules import Ruleset
from tournaments.event import Entrant, Event
from tournaments.schedule import circle, games, pairings, sittings


def event(entrants: int, seats: int = 2, boards: int = 3, a_sitting: int = 2) -> Event:
    who = tuple(Entrant(f"bot{n}", Command(("x",), "."), "") for n in range(entrants))
    return Event(
        name="test",
        rules=Ruleset(name="draw"),
        seats=seats,
        boards=boards,
        boards_a_sitting=a_sitting,
        clock=Clock(),
        fouls=FoulPolicy(),
        sandbox="off",
        limits=Limits(),
        entrants=who,
        predictable=False,
    )


@pytest.mark.parametrize("entrants", range(2, 31))
def test_every_pair_meets_once_and_every_day_everybody_plays(entrants: int) -> None:
    days = circle(entrants)
    met = Counter(frozenset(pair) for day in days for pair in day)
    assert len(met) == entrants * (entrants - 1) // 2
    assert set(met.values()) == {1}
    for day in days:
        playing = [one for pair in day for one in pair]
        assert len(playing) == len(set(playing)) >= entrants - 1


@pytest.mark.parametrize(("entrants", "seats"), [(2, 2), (5, 2), (3, 3), (5, 3), (4, 4), (6, 4)])
def test_every_table_plays_every_board_in_every_rotation(entrants: int, seats: int) -> None:
    plan = event(entrants, seats)
    played = Counter(
        (game.board, sitting.seats) for sitting in sittings(plan) for game in sitting.games
    )
    assert set(played.values()) == {1}
    assert len(played) == games(plan) == len(pairings(entrants, seats)) * seats * plan.boards
    in_seat = Counter((entrant, seat) for _, table in played for seat, entrant in enumerate(table))
    assert len(set(in_seat.values())) == 1


def test_with_partners_every_two_of_a_four_sit_together_once() -> None:
    """Fixed partners could not be told apart by their results."""
    tables = pairings(5, 4, partners=True)
    together = Counter(frozenset((t[side], t[side + 2])) for t in tables for side in (0, 1))
    assert len(together) == 10
    assert set(together.values()) == {3}


def test_names_of_games_and_sittings_are_their_own() -> None:
    plan = list(sittings(event(4, 3)))
    assert len({sitting.name for sitting in plan}) == len(plan)
    named = [game.name for sitting in plan for game in sitting.games]
    assert len(set(named)) == len(named)


def test_a_sitting_meets_each_board_once() -> None:
    """Its processes would remember the deal."""
    for sitting in sittings(event(3)):
        boards = [game.board for game in sitting.games]
        assert len(set(boards)) == len(boards)
        assert [game.number for game in sitting.games] == list(range(1, len(boards) + 1))


def test_a_block_of_boards_is_finished_before_the_next_begins() -> None:
    firsts = [sitting.games[0].board for sitting in sittings(event(4))]
    assert firsts == sorted(firsts)
