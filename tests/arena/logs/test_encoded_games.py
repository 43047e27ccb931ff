"""Games that are read as lines and decoded elsewhere are those of the log."""

from pathlib import Path

import pytest

from arena.logs.checksummed import append_records
from arena.logs.gamelog import DamagedLogError, read_encoded_games, read_games
from protocol.codec import encode_line
from tests.support.forgeries import write_sealed
from tests.support.games import log_game, write


def test_encoded_games_are_the_finished_games_of_the_log(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", log_game(), log_game(board=2))
    games = [*read_encoded_games(path)]
    assert [game.name for game in games] == ["1.game", "2.game"]
    assert [game.decode() for game in games] == [*read_games(path)]


@pytest.mark.parametrize("nonsense", [b'{"type":"choice"}\n', b'{"type":"odd"}\n'])
def test_a_line_that_is_no_record_is_refused_by_name(tmp_path: Path, nonsense: bytes) -> None:
    game = log_game()
    lines = [*map(encode_line, (game.sitting, game.game, *game.records))]
    path = write_sealed(tmp_path / "log.jsonl", (*lines[:2], nonsense, lines[-1]))
    (encoded_game,) = read_encoded_games(path)
    with pytest.raises(DamagedLogError, match=r"log\.jsonl: a game of it cannot be read"):
        encoded_game.decode()


def test_a_result_of_another_sitting_is_refused(tmp_path: Path) -> None:
    game, foreign_game = log_game(), log_game(seats=3)
    records = (game.sitting, foreign_game.game, *foreign_game.records)
    with (tmp_path / "log.jsonl").open("wb") as file:
        append_records(file.fileno(), records, 0)
    (encoded_game,) = read_encoded_games(tmp_path / "log.jsonl")
    with pytest.raises(DamagedLogError, match="not a game of its sitting"):
        encoded_game.decode()
