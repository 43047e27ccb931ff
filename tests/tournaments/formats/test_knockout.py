"""The knockout: its bracket, its ties and its winner."""

from collections.abc import Mapping
from random import Random

import pytest

from protocol.records import Result
from tests.support.planned_events import event, played_through, result
from tournaments.formats import knockout
from tournaments.formats.knockout import Knockout
from tournaments.plan.event import Event
from tournaments.plan.schedule import stages


def bracket_of(event: Event, results: Mapping[str, Result]) -> knockout.Bracket:
    assert isinstance(event.format, Knockout)
    return knockout.bracket(event, event.format, list(results.values()))


@pytest.mark.parametrize("entrants", range(2, 20))
def test_in_a_knockout_the_best_seeds_meet_last(entrants: int) -> None:
    cup = event(entrants, 2, 1, form=Knockout(1))
    rounds = bracket_of(cup, played_through(cup, Random(0), upset=0))
    assert rounds[-1][0].units == ((0,), (1,))
    assert rounds[-1][0].winner == (0,)
    assert sum(len(match.units) == 2 for matches in rounds for match in matches) == entrants - 1


def tied_results(event: Event, until: int) -> dict[str, Result]:
    """Return results that are ties, but on boards from `until` the second bot wins."""
    results: dict[str, Result] = {}
    for stage in stages(event, results):
        for plan in stage:
            for n, game in enumerate(plan.games):
                places = (1, 2) if plan.seats[0] == 1 else (2, 1)
                outcome = result(event, plan, n, places if game.board >= until else (1, 1))
                results[outcome.game] = outcome
    return results


def test_a_tied_match_continues_and_then_the_better_seed_advances() -> None:
    cup = event(2, 2, 2, form=Knockout(3))
    (match,) = bracket_of(cup, tied_results(cup, until=99))[0]
    assert (match.halves, match.more, match.winner) == ((4, 4), (6, 6), (0,))
    (match,) = bracket_of(cup, tied_results(cup, until=4))[0]
    assert (match.halves, match.more, match.winner) == ((4, 4), (2, 10), (1,))
    (match,) = bracket_of(cup, tied_results(cup, until=2))[0]
    assert (match.halves, match.more, match.winner) == ((2, 6), (), (1,))
