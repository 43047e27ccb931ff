"""The matches: just the named tables play."""

import pytest

from protocol.errors import UserError
from tests.support.planned_events import PAIRS, event, plan_of, teams
from tournaments.formats.base import MOST_GAMES
from tournaments.formats.matches import Matches
from tournaments.plan.event import Event

THREE = (("bot0", "bot2"), ("bot2", "bot1"), ("bot1", "bot0"))


def matches(*tables: tuple[str, ...], bots: int = 3, seats: int = 2, boards: int = 3) -> Event:
    return event(bots, seats, boards, form=Matches(tables))


def test_just_the_named_tables_play_every_board_in_every_rotation() -> None:
    one = matches(("bot0", "bot2"), ("bot2", "bot1"))
    played = [(*plan.seats, board) for plan in plan_of(one) for board in plan.boards]
    pairs = {(0, 2), (2, 0), (2, 1), (1, 2)}
    assert sorted(played) == sorted((*pair, board) for pair in pairs for board in (1, 2, 3))


def test_a_table_of_four_and_teams_are_named_too() -> None:
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


def test_on_a_day_nobody_sits_at_two_tables() -> None:
    one = matches(*THREE, ("bot3", "bot4"), bots=5)
    days = one.format.days(one)  # type: ignore[union-attr]
    assert days == [[((0,), (2,)), ((3,), (4,))], [((2,), (1,))], [((1,), (0,))]]


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
def test_tables_that_cannot_be_played_are_refused(
    tables: tuple[tuple[str, ...]], part: str
) -> None:
    with pytest.raises(UserError, match=part):
        matches(*tables)


def test_only_the_named_tables_count_for_the_size() -> None:
    tables = tuple((f"bot{n}", f"bot{n + 1}", f"bot{n + 2}") for n in range(0, 300, 3))
    matches(*tables, bots=300, seats=3).format.check_size(
        large := matches(*tables, bots=300, seats=3, boards=MOST_GAMES // 300)
    )
    with pytest.raises(UserError, match="at least 2,000,100 games"):
        large.format.check_size(matches(*tables, bots=300, seats=3, boards=MOST_GAMES // 300 + 1))


def test_matches_grow_by_tables_and_never_lose_one() -> None:
    few, more = matches(*THREE[:2]), matches(*THREE)
    assert few.format.why_not_extended(few, more) is None
    assert "would not meet any more" in str(more.format.why_not_extended(more, few))
