"""The next round of a league: who may play in it."""

from datetime import UTC, datetime
from pathlib import Path

from tournaments.league.loop import begin_round, close_round
from tournaments.league.pairing import next_round
from tournaments.league.push import remove_tree
from tournaments.league.settings import LeagueFolder, load_settings
from tournaments.league.state import read_league
from tournaments.league.update import update_register

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


def test_versions_that_cannot_play_are_held_out(tmp_path: Path) -> None:
    """A round goes on without them, and no reason tells where the league lies."""
    folder = LeagueFolder(tmp_path)
    folder.settings.write_text('house = ["first", "greedy", "random", "suit"]\nsandbox = "off"\n')
    assert len(list(update_register(folder, load_settings(folder.settings), NOW))) == 4
    remove_tree(folder.version("suit"))
    found = next_round(read_league(tmp_path), NOW)
    assert found
    plan, event = found
    assert plan.active == ("first", "greedy", "random")
    assert "cannot play" in plan.held["suit"]
    assert str(tmp_path) not in plan.held["suit"]
    path = begin_round(folder, plan, event)
    one = read_league(tmp_path).divisions["draw"].rounds[-1]
    assert (one.folder.path, one.is_over) == (path, False)
    close_round(one.folder, NOW, "A program is gone.")
    after = next_round(read_league(tmp_path), NOW)
    assert after
    assert (after[0].number, after[0].active) == (2, plan.active)
    assert read_league(tmp_path).divisions["draw"].rounds[-1].closed
