"""Lines about a game are found by its name, and no others."""

from pathlib import Path

import pytest
from msgspec import Struct

from arena.logs.checksummed import DamagedFileError
from protocol.codec import decode_json
from tests.support.forgeries import write_sealed
from tournaments.dataset import line_index
from tournaments.dataset.line_index import LineIndex

LINES = (b'{"type":"head","of":"3"}', *(b'{"game":"%d.a.b","n":%d}' % (n % 3, n) for n in range(7)))


class About(Struct):
    game: str = ""
    n: int = -1


def decoded(line: bytes) -> About:
    return decode_json(line, About)


def about(index: LineIndex[About], game: str) -> list[int]:
    return [one.n for one in index.about(game)]


def test_lines_are_found_by_the_game_in_their_order(tmp_path: Path) -> None:
    index = LineIndex(write_sealed(tmp_path / "file.jsonl", LINES), decoded)
    assert about(index, "1.a.b") == [1, 4]
    assert about(index, "2.a.b") == [2, 5]
    assert about(index, "9.a.b") == []


def test_names_with_one_hash_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_index, "hash", lambda _: 7, raising=False)
    index = LineIndex(write_sealed(tmp_path / "file.jsonl", LINES), decoded)
    assert about(index, "1.a.b") == [1, 4]


def test_a_changed_line_is_refused(tmp_path: Path) -> None:
    path = write_sealed(tmp_path / "file.jsonl", LINES)
    path.write_bytes(path.read_bytes().replace(b'"n":4', b'"n":5'))
    with pytest.raises(DamagedFileError, match="line 6"):
        LineIndex(path, decoded)
