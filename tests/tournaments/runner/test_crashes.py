"""A bot with a typo: the run of its author stops and names it."""

from itertools import chain
from pathlib import Path

import pytest

from arena.logs.gamelog import read_games
from tests.support.events import PLAIN, boneyard
from tournaments.runner.crashes import FIRST_GAMES
from tournaments.storage.folder import Folder

BOT = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "hello", "name": "typo", "version": "1"}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "choose", "id": message["id"], "choice": 0}), flush=True)
"""
CRASH = "typo crashes: NameError: name 'jsno' is not defined (typo.py, line 7)."


@pytest.fixture
def typo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "typo.py"
    path.write_text(BOT.replace("json.dumps", "jsno.dumps"))
    return path


def the_event() -> Folder:
    (path,) = Path("runs").resolve().iterdir()
    return Folder(path)


def games_played() -> int:
    games = chain.from_iterable(map(read_games, the_event().logs()))
    return sum(one.result is not None for one in games)


def test_run_stops_at_a_bot_that_crashes_in_each_of_its_first_games(typo: Path) -> None:
    words = ("run", "typo.py", "greedy", "--boards", "10", "--set", "target=1", *PLAIN)
    assert f"{CRASH} Try `boneyard check typo.py`." in boneyard(*words, code=2)
    played = games_played()
    assert FIRST_GAMES <= played < 20
    # It would crash again: nothing more is played until its file changes.
    assert CRASH in boneyard(*words, code=2)
    assert games_played() == played
    typo.write_text(BOT)
    assert "typo@2" in boneyard(*words)
