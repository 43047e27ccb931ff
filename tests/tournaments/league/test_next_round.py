"""The next round of a league: who may play in it, and why nothing is played."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.made_up import admitted
from tournaments.league.loop import begin_round, close_round
from tournaments.league.pairing import describe_slow, next_round
from tournaments.league.push import remove_tree
from tournaments.league.settings import LeagueFolder, load_settings
from tournaments.league.state import CheckSummary, RoundPlan, append_entry, read_league
from tournaments.league.update import update_register

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
HOUSE = 'house = ["first", "greedy", "random", "suit"]\nsandbox = "off"\nzone = "Europe/Berlin"\n'


def make(path: Path, settings: str) -> LeagueFolder:
    """Return a league that has its house bots."""
    folder = LeagueFolder(path)
    folder.settings.write_text(settings)
    assert len(list(update_register(folder, load_settings(folder.settings), NOW))) == 4
    return folder


def admit(folder: LeagueFolder, version: str, question_ms: float = 0.0) -> None:
    """Let an author's version play."""
    shutil.copytree(folder.version("greedy"), folder.version(version))
    check = CheckSummary(
        verdict="passed", steps=(), sandbox="off", seconds=1, question_ms=question_ms
    )
    append_entry(folder.register, replace(admitted(version, "2026-11-22"), check=check))


def close_next_round(folder: LeagueFolder) -> RoundPlan | str:
    """Begin a round and close it; return its plan, or the reason why there is none."""
    outlook = next_round(read_league(folder.path), NOW)
    if not outlook.round:
        return outlook.pauses["draw"]
    begin_round(folder, *outlook.round)
    last_round = read_league(folder.path).divisions["draw"].rounds[-1]
    assert not last_round.is_over
    close_round(last_round.folder, NOW, "A program is gone.")
    return last_round.plan


def test_versions_that_cannot_play_are_held_out(tmp_path: Path) -> None:
    """A round goes on without them, and no reason names the league's folder."""
    folder = make(tmp_path, HOUSE)
    remove_tree(folder.version("suit"))
    plan, following = close_next_round(folder), close_next_round(folder)
    assert isinstance(plan, RoundPlan)
    assert isinstance(following, RoundPlan)
    assert plan.active == ("first", "greedy", "random")
    assert "cannot play" in plan.held["suit"]
    assert str(tmp_path) not in plan.held["suit"]
    assert (following.number, following.active) == (2, plan.active)
    assert read_league(tmp_path).divisions["draw"].rounds[-1].closed


def test_a_bot_has_the_emblem_of_the_league_in_a_round_without_the_bots_before_it(
    tmp_path: Path,
) -> None:
    folder = make(tmp_path, HOUSE)
    remove_tree(folder.version("first"))
    admit(folder, "suit@2")
    league = read_league(folder.path)
    outlook = next_round(league, NOW)
    assert outlook.round
    emblems = outlook.round[1].emblems
    assert [*emblems] == ["greedy", "random", "suit@2"]
    assert emblems == {name: league.emblems[name] for name in emblems}
    assert emblems["suit@2"] == league.emblems["suit"] == 3


@pytest.mark.parametrize(
    ("settings", "pause"),
    [
        ('pace = "lesson"\nboards_a_table = 50\nboards_a_week = 10000', "has played 100 boards"),
        ("boards_a_table = 10\nboards_a_week = 1400", "this day are played but for 100 that are"),
    ],
)
def test_boards_are_kept_for_who_pushes_next(settings: str, pause: str, tmp_path: Path) -> None:
    """House bots and versions that have played enough leave them, and the reason is given."""
    folder = make(tmp_path, f'{HOUSE}[[divisions]]\nname = "draw"\n{settings}\n')
    while not isinstance(plan := close_next_round(folder), str):
        assert not plan.newcomers
    assert pause in plan
    for version in ("mine", "mine@2"):
        admit(folder, version)
        rounds = 0
        while not isinstance(plan := close_next_round(folder), str):
            assert plan.newcomers == (version,)
            assert all(version in table.entrants for table in plan.tables)
            rounds += 1
        assert rounds
        assert "The next round begins" in plan


def test_a_week_that_is_played_says_when_the_next_begins(tmp_path: Path) -> None:
    """The time is in the league's own zone."""
    division = '[[divisions]]\nname = "draw"\npace = "lesson"\nboards_a_week = 5\n'
    folder = make(tmp_path, HOUSE + division)
    admit(folder, "mine")
    assert isinstance(close_next_round(folder), RoundPlan)
    assert close_next_round(folder) == (
        "The boards of this week are played. The next round begins on 23 Nov 2026, 01:00 CET."
    )


def test_slow_bots_play_single_boards_while_they_take_less_time_than_others(tmp_path: Path) -> None:
    """The time of their check counts; the time of their games chooses nothing."""
    folder = make(tmp_path, HOUSE)
    admit(folder, "mine", 49)
    admit(folder, "snail", 400)
    plans = [plan for _ in range(9) if isinstance(plan := close_next_round(folder), RoundPlan)]
    slow = [number for number, plan in enumerate(plans) if "snail" in plan.active]
    assert 0 not in slow
    assert slow
    for plan in plans:
        if "snail" in plan.active:
            assert (plan.boards, len(plan.tables), plan.newcomers) == (1, 1, ("snail",))
            assert "snail" in plan.tables[0].entrants
        else:
            assert plan.boards == 5
            assert plan.held == {"snail": "slow"}
            assert "mine" in plan.active
    league = read_league(tmp_path)
    words = describe_slow(league, league.divisions["draw"])
    assert words.keys() == {"snail"}
    assert words["snail"].startswith("It takes 400 ms a question, 0 % of all time. It plays single")
