"""The matches: just the named tables play."""

import pytest

from protocol.errors import UserError
from tests.support.planned_events import PAIRS, event, plan_of, teams
from tournaments.formats.tables import Matches
from tournaments.plan.event import Event

THREE = (("bot0", "bot2"), ("bot2", "bot1"), ("bot1", "bot0"))


def matches(*tables: tuple[str, ...], bots: int = 3, seats: int = 2, boards: int = 3) -> Event:
    return event(bots, seats, boards, form=Matches(tables))


def test_tables_of_four_and_of_teams_can_be_named() -> None:
    names = ("bot3", "bot0", "bot1", "bot2")
    assert {frozenset(plan.seats) for plan in plan_of(matches(names, bots=4, seats=4))} == {
        frozenset(range(4))
    }
    units = tuple("+".join(pair) for pair in PAIRS)
    form = Matches(((units[0], units[1]), (units[2], units[1])))
    assert {frozenset(plan.seats) for plan in plan_of(teams(form=form))} == {
        frozenset({0, 1, 2, 3}),
        frozenset({2, 3, 4}),
    }


@pytest.mark.parametrize(
    ("tables", "part"),
    [
        ((), "Matches need tables"),
        ((("bot0", "bot1"), ("bot2", "bot9")), "bot in tables: 'bot9'"),
        ((("bot0", "bot1", "bot2"),), r"Table \[bot0, bot1, bot2\] needs 2 different bots"),
        ((("bot0", "bot0"), ("bot1", "bot2")), r"Table \[bot0, bot0\] needs 2 different bots"),
        ((*THREE, ("bot2", "bot0")), r"Table \[bot2, bot0\] is there twice"),
        ((("bot0", "bot1"),), "bot2 sits at no table"),
    ],
)
def test_impossible_tables_are_refused(tables: tuple[tuple[str, ...]], part: str) -> None:
    with pytest.raises(UserError, match=part):
        matches(*tables)


def test_matches_grow_by_tables_and_never_lose_one() -> None:
    few, more = matches(*THREE[:2]), matches(*THREE)
    assert few.format.why_not_extended(few, more) is None
    assert "would not meet any more" in str(more.format.why_not_extended(more, few))
