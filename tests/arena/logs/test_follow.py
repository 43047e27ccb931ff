"""A log that is followed while it is written, however much of it is there at each look."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.files import DamagedFileError
from arena.logs import gamelog
from arena.logs.gamelog import LogFollower, read_games
from protocol.records import Result
from tests.support.fast_run import examples
from tests.support.games import any_of, log_game, short, write


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tail")
    games = [log_game(short("draw"), 2, any_of(n), board=n) for n in (1, 2)]
    return write(folder / "log.jsonl", *games)


@examples(30)
@given(cuts=st.lists(st.floats(0, 1), max_size=8))
def test_the_same_games_end_whatever_the_writing_pattern(log: Path, cuts: list[float]) -> None:
    data, growing_log = log.read_bytes(), log.with_name("growing.jsonl")
    growing_log.write_bytes(b"")
    follower, games = LogFollower(growing_log), []
    for end in sorted({*(int(share * len(data)) for share in cuts), len(data)}):
        growing_log.write_bytes(data[:end])
        games += list(follower.look())
        playing = follower.playing()
        unfinished = [game for game in read_games(growing_log) if game.result is None]
        assert ([playing] if playing else []) == unfinished
    assert games == list(read_games(log))
    assert follower.size == len(data)
    assert follower.playing() is None


def test_a_log_that_has_become_shorter_is_damage(log: Path, tmp_path: Path) -> None:
    short_log = tmp_path / "short.jsonl"
    short_log.write_bytes(log.read_bytes())
    followed = LogFollower(short_log)
    list(followed.look())
    short_log.write_bytes(b"")
    with pytest.raises(DamagedFileError, match="was truncated"):
        list(followed.look())


def test_an_endless_line_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamelog, "FOLLOW_CHUNK", 100)
    endless_log = tmp_path / "endless.jsonl"
    endless_log.write_bytes(b"x" * 100)
    with pytest.raises(DamagedFileError, match="more than 100 bytes"):
        list(LogFollower(endless_log).look())


def test_the_records_kept_of_a_game_are_bounded(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamelog, "LONGEST_GAME", 3)
    for game in LogFollower(log).look():
        assert len(game.records) == 4
        assert isinstance(game.records[-1], Result)
