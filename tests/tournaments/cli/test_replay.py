"""`boneyard replay`: the rounds of a game that it shows."""

import json
import re
import shutil
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.analysis.find import find_game, logs
from arena.logs import gamelog
from protocol.errors import UserError
from protocol.position import is_position
from tests.support.events import boneyard, run, untouched
from tournaments.cli.options import position_line

GAME = "1.first.greedy"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("event") / "event"
    run(folder, "first", "greedy", "--boards", "1", "--set", "target=100")
    with untouched(folder) as event:
        yield event


def rounds(text: str) -> set[int]:
    return set(map(int, re.findall(r"^Round (\d+)\.", text, re.MULTILINE)))


@pytest.mark.slow
def test_a_long_game_shows_the_rounds_with_the_widest_swing_and_its_end(played: Path) -> None:
    told = json.loads(boneyard("explain", str(played), GAME, "--json", "--seat", "0"))
    swings = {one["round"]: abs(one["gained"] - one["lost"]) for one in told["rounds"]}
    widest = set(sorted(swings, key=lambda number: -swings[number])[:2])
    shown = boneyard("replay", str(played), GAME)
    assert rounds(shown) == widest | {max(swings)}
    assert "--all shows all rounds" in shown
    assert "The game is over" in shown
    whole = boneyard("replay", str(played), GAME, "--all")
    assert rounds(whole) == set(swings)
    assert "--all" not in whole
    assert rounds(boneyard("replay", str(played), GAME, "--round", "2")) == {2}


def test_pages_of_a_report_and_a_replay_open_in_the_browser(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browse(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.chdir(tmp_path)
    boneyard("replay", str(played), GAME, "--no-review", "--browser")
    copy = shutil.copytree(played, tmp_path / "copy")
    boneyard("report", str(copy), "--browser")
    assert opened == [(tmp_path / f"{GAME}.html").as_uri(), (copy / "report.html").as_uri()]


def test_a_league_leads_to_its_last_round(tmp_path: Path) -> None:
    for number in ("0001", "0002"):
        folder = tmp_path / "class" / "rounds" / "draw" / number
        folder.mkdir(parents=True)
        (folder / "event.json").write_text("{}")
    said = boneyard("replay", str(tmp_path / "class"), code=2)
    assert f"in its rounds, as {folder}" in said


def test_the_number_of_a_board_is_not_the_end_of_another_number(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path, *_) = logs(played)
    (game,) = gamelog.read_games(path)
    far = replace(game, game=replace(game.game, game="121.first.greedy"))
    monkeypatch.setattr(gamelog, "read_games", lambda _: iter([far]))
    for word in ("first.greedy", "121.f", "121"):
        assert find_game(played, word).game is far
    for word in ("21.first.greedy", "1.first"):
        with pytest.raises(UserError, match="Unknown game"):
            find_game(played, word)


def test_a_folder_may_stand_before_a_game_to_go_on_from(played: Path) -> None:
    line = position_line(f"{played}/{GAME}:2:first")
    assert is_position(line)
    explained = boneyard("explain", str(played), GAME, "2", "--seat", "first")
    assert f"Position: {line}\n" in explained
