"""Every game of every format is found in its sitting and in its log, by its name alone."""

from pathlib import Path
from random import Random

import pytest

from arena.logs.catalog import GAMES_FOLDER, SittingLogs
from tests.support.planned_events import DYNAMIC, event, mixed, played_through, teams
from tournaments.event.folder import Folder
from tournaments.plan.event import Event
from tournaments.plan.schedule import GameIndex, sittings

PLANS = [*DYNAMIC, event(4, 2, 7), event(4, 3, 9), event(5, 4, 20), mixed(5, 9), teams(7)]


@pytest.mark.parametrize("event", PLANS, ids=lambda event: f"{len(event.entrants)} {event.format}")
def test_every_game_is_found_by_its_name(event: Event, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    plans = list(sittings(event, played_through(event, Random(1))))
    (tmp_path / GAMES_FOLDER).mkdir()
    for plan in plans:
        folder.log(plan.name).write_bytes(b"")
    expected = {game.name: (plan, game) for plan in plans for game in plan.games}
    index = GameIndex(plans, lambda plan, game: (plan, game))
    assert dict(index) == expected
    assert len(index) == len(expected)
    for name in sorted(expected)[:: 1 + len(expected) // 20]:
        assert folder.log(expected[name][0].name) in SittingLogs(tmp_path / GAMES_FOLDER).of(name)
