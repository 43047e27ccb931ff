"""The gauntlet and the ladder: challengers meet the field."""

from collections.abc import Iterator
from itertools import combinations

from tests.support.planned_events import event, plan_of
from tournaments.formats.tables import Gauntlet, Ladder
from tournaments.plan.event import Event


def tables_of(event: Event) -> Iterator[frozenset[int]]:
    return (frozenset(plan.seats) for plan in plan_of(event))


def test_a_gauntlet_and_a_ladder_are_parts_of_a_round_robin() -> None:
    pairs = {frozenset(pair) for pair in combinations(range(5), 2)}
    challenge_tables = set(tables_of(event(5, form=Gauntlet(("bot1", "bot3")))))
    assert challenge_tables == {pair for pair in pairs if len(pair & {1, 3}) == 1}
    climbed = set(tables_of(event(5, form=Ladder(("bot1", "bot3")))))
    assert climbed == pairs - {frozenset((1, 3))}
    assert set(tables_of(event(5, form=Ladder()))) == pairs
