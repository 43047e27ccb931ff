"""Limits of an event's size, by format."""

import pytest
from msgspec.structs import replace

from protocol.errors import UserError
from tests.support.planned_events import event, mixed, teams
from tournaments.formats.base import MAX_STAGE_GAMES
from tournaments.formats.swiss import Swiss
from tournaments.formats.tables import Gauntlet
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.plan.schedule import count_all_games
from tournaments.rating.sprt import Sprt


@pytest.mark.parametrize(
    ("event", "part"),
    [
        (event(200, 2, 50), None),
        (event(2, 2, 1_000_000), None),
        (event(1000, 4, 50, form=Swiss()), None),
        (event(2, 2, 1_000_000, form=Versus(Sprt(max_boards=1_000_000))), None),
        (event(250, 4, 1), None),
        (event(251, 3, 1), "at most 250 can play"),
        (event(200, 2, 51), "at least 2,029,800 games"),
        (event(10, 2, 1_000_000, form=Gauntlet()), "18,000,000 games"),
        (mixed(9, 100_000), "at least 7,200,000 games"),
        (teams(300_000), "at least 3,600,000 games"),
    ],
)
def test_a_contest_that_is_too_large_is_refused(event: Event, part: str | None) -> None:
    if part is None:
        event.format.check_size(event)
        return
    with pytest.raises(UserError, match=part):
        event.format.check_size(event)


@pytest.mark.parametrize(
    "event", [event(7), event(9, 3), event(12, 4), mixed(5), teams(), event(7, form=Gauntlet())]
)
def test_an_event_below_the_limit_is_never_refused(event: Event) -> None:
    largest = replace(
        event, boards=-(-MAX_STAGE_GAMES // (count_all_games(event, {}) // event.boards)) - 1
    )
    largest.format.check_size(largest)
