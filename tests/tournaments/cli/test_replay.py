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
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("event") / "event"
    run(folder, "first", "greedy", "--boards", "1", "--set", "target=100")
    with untouched(folder) as event:
        yield event


def rounds(text: str) -> set[int]:
    return set(map(int, re.findall(r"^Round (\d+)\.", text, re.MULTILINE)))


@pytest.mark.slow
def test_a_long_game_shows_the_rounds_with_the_widest_swing_and_its_end(event: Path) -> None:
    record = json.loads(boneyard("explain", str(event), GAME, "--json", "--seat", "0"))
    swings = {row["round"]: abs(row["gained"] - row["lost"]) for row in record["rounds"]}
    widest = set(sorted(swings, key=lambda number: -swings[number])[:2])
    output = boneyard("replay", str(event), GAME)
    assert rounds(output) == widest | {max(swings)}
    assert "--all shows all rounds" in output
    assert "The game is over" in output
    full_output = boneyard("replay", str(event), GAME, "--all")
    assert rounds(full_output) == set(swings)
    assert "--all" not in full_output
    assert rounds(boneyard("replay", str(event), GAME, "--round", "2")) == {2}


def test_pages_of_a_report_and_a_replay_open_in_the_browser(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses: list[str] = []

    def browse(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.chdir(tmp_path)
    boneyard("replay", str(event), GAME, "--no-review", "--browser")
    copy = shutil.copytree(event, tmp_path / "copy")
    boneyard("report", str(copy), "--browser")
    assert addresses == [(tmp_path / f"{GAME}.html").as_uri(), (copy / "report.html").as_uri()]


def test_replay_of_a_league_suggests_its_last_round(tmp_path: Path) -> None:
    for number in ("0001", "0002"):
        folder = tmp_path / "class" / "rounds" / "draw" / number
        folder.mkdir(parents=True)
        (folder / "event.json").write_text("{}")
    output = boneyard("replay", str(tmp_path / "class"), code=2)
    assert f"in its rounds, as {folder}" in output


def test_board_numbers_are_matched_whole(event: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path, *_) = logs(event)
    (game,) = gamelog.read_games(path)
    far = replace(game, game=replace(game.game, game="121.first.greedy"))
    monkeypatch.setattr(gamelog, "read_games", lambda _: iter([far]))
    for word in ("first.greedy", "121.f", "121"):
        assert find_game(event, word).game is far
    for word in ("21.first.greedy", "1.first"):
        with pytest.raises(UserError, match="Unknown game"):
            find_game(event, word)


def test_a_position_is_named_by_folder_game_and_question(event: Path) -> None:
    line = position_line(f"{event}/{GAME}:2:first")
    assert is_position(line)
    explained = boneyard("explain", str(event), GAME, "2", "--seat", "first")
    assert f"Position: {line}\n" in explained
