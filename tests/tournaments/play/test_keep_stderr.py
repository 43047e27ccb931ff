"""`run --keep-stderr`: the logs keep what bots write to stderr, beside their answers, bounded."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.logs.gamelog import LoggedGame, read_games
from arena.machine import has_kernel_events
from arena.match import table
from protocol.records import ChoiceRecord, FoulRecord
from tests.support.events import boneyard, run
from tournaments.event.folder import Folder
from tournaments.play import sittings

TALKS = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "hello":
        print("ready", file=sys.stderr, flush=True)
        print('{"type":"hello","name":"talks","version":"1"}', flush=True)
    elif said["type"] == "ask":
        print("\\x1b[31mquestion", said["id"], file=sys.stderr, flush=True)
        print(json.dumps({"type": "choose", "id": said["id"], "choice": 0}), flush=True)
"""
SMALL = ("greedy", "--boards", "1", "--set", "target=1")


@pytest.fixture
def bot(tmp_path: Path) -> str:
    (tmp_path / "talks.py").write_text(TALKS)
    return str(tmp_path / "talks.py")


def games(folder: Path) -> Iterator[LoggedGame]:
    for path in Folder(folder).logs():
        yield from read_games(path)


def choices(game: LoggedGame, seat: int) -> list[ChoiceRecord]:
    records = [record for record in game.choices() if isinstance(record, ChoiceRecord)]
    return [record for record in records if record.seat == seat]


def words(game: LoggedGame, seat: int) -> list[str]:
    return [choice.stderr for choice in choices(game, seat)]


@pytest.mark.skipif(
    not has_kernel_events(), reason="a thread may read stderr a moment after the answer"
)
def test_answers_have_the_stderr_before_them_and_the_log_verifies(tmp_path: Path, bot: str) -> None:
    folder = tmp_path / "event"
    run(folder, bot, *SMALL, "--keep-stderr")
    for game in games(folder):
        seat = game.sitting.seats.index("talks")
        ids = [choice.id for choice in choices(game, seat)]
        texts = words(game, seat)
        assert texts[0].endswith(f"\\x1b[31mquestion {ids[0]}\\n")
        assert texts[1:] == [f"\\x1b[31mquestion {number}\\n" for number in ids[1:]]
        assert set(words(game, 1 - seat)) == {""}
    assert "\nOK: " in boneyard("verify", str(folder))
    name = next(games(folder)).game.game
    output = boneyard("explain", str(folder), name, "--seat", "talks", "--all")
    assert output.count("stderr  ") == len(
        words(next(games(folder)), name.split(".").index("talks") - 1)
    )
    assert "\x1b" not in output
    assert "stderr  " in boneyard("replay", str(folder), name)


def test_first_games_keep_stderr_without_the_option(
    tmp_path: Path, bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keeps_stderr(folder: str, *entries: str) -> bool:
        run(tmp_path / folder, *entries)
        (game, *_) = games(tmp_path / folder)
        return any(words(game, game.sitting.seats.index("talks")))

    assert keeps_stderr("small", bot, *SMALL)
    monkeypatch.setattr("tournaments.cli.run.STDERR_GAMES", 2)
    assert keeps_stderr("first", bot, *SMALL[:2], "2", *SMALL[3:])
    run(tmp_path / "first", bot, *SMALL[:2], "4", *SMALL[3:])
    later = [game for game in games(tmp_path / "first") if game.game.board == 3]
    assert any(word for game in later for seat in (0, 1) for word in words(game, seat))
    monkeypatch.setattr("tournaments.cli.run.STDERR_GAMES", 1)
    assert not keeps_stderr("large", bot, *SMALL)
    file = tmp_path / "file.toml"
    file.write_text('bots = ["greedy", { name = "talks", run = ["{python}", "talks.py"] }]')
    monkeypatch.undo()
    assert not keeps_stderr("file", str(file), *SMALL[1:])


def test_kept_stderr_is_bounded(tmp_path: Path, bot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LOGGED_STDERR_LENGTH", 50)
    run(tmp_path / "event", bot, *SMALL, "--keep-stderr")
    for game in games(tmp_path / "event"):
        text = "".join(words(game, 0) + words(game, 1))
        assert len(text) == 50


def test_stderr_kept_apart_is_in_no_log_and_bounded(
    tmp_path: Path, bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A league's logs are public: its bots' stderr is not, not even of a crash."""
    folder = Folder(tmp_path / "event")
    Path(bot).write_text(TALKS.replace('"choice": 0', '"choice": 99 * (said["id"] % 1000 > 2)'))
    run(folder.path, bot, *SMALL)
    folder.stderr.mkdir()
    monkeypatch.setattr(sittings, "STDERR_APART", 200)
    run(folder.path, bot, *SMALL[:2], "2", *SMALL[3:])
    later = [game for game in games(folder.path) if game.game.board == 2]
    assert {record.stderr for game in later for record in game.choices()} == {""}
    assert any(isinstance(record, FoulRecord) for game in later for record in game.choices())
    (bot_folder,) = folder.stderr.iterdir()
    assert bot_folder.name == "talks"
    for path in bot_folder.iterdir():
        text = path.read_text()
        assert ", question " in text
        assert "\\x1b[31mquestion" in text
        assert "\x1b" not in text
        assert len(text) <= 400
    assert "\nOK: " in boneyard("verify", str(folder.path))
