"""A log is read as it was written, or refused with the place of the damage."""

import errno
import os
import re
from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.files import DamagedFileError
from arena.logs import checksummed
from arena.logs.gamelog import GameLog, is_over, read_games
from protocol.codec import encode_line
from protocol.messages import Clock
from protocol.records import ChoiceRecord, GameRecord, LogRecord, Result, SittingOver
from protocol.ruleset import Ruleset
from tests.support.forgeries import write_sealed
from tests.support.tables import flips, sitting

SITTING = sitting(("ada", "bob"), (1, 2), Ruleset(name="test"), Clock())
ELSEWHERE = replace(SITTING, sandbox="locked", worker="w1")
CHOICE = ChoiceRecord(seat=0, id=1, choice=0, ms=1.5)


def head(board: int) -> GameRecord:
    return GameRecord(game=f"{board}.x", number=board, board=board, commitment="0" * 64)


def result(board: int) -> Result:
    return Result(
        game=f"{board}.x",
        board=board,
        seats=SITTING.seats,
        scores=(100, 0),
        places=(1, 2),
        rounds=1,
        why="target",
    )


GAMES: list[list[LogRecord]] = [[head(board), CHOICE, result(board)] for board in (1, 2)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a sitting of two games, and its end."""
    path = tmp_path / "log.jsonl"
    game_log = GameLog(path, SITTING)
    for records in GAMES:
        game_log.append(records)
    game_log.close()
    return path


def refusal(path: Path) -> str | None:
    """Return why the log is not accepted as complete."""
    try:
        games = list(read_games(path))
    except DamagedFileError as error:
        return str(error)
    return None if is_over(path) and len(games) == 2 else "it does not go to its end"


def test_every_flipped_byte_of_a_log_is_found(log: Path) -> None:
    assert refusal(log) is None
    findings = [refusal(log) is not None for _ in islice(flips(log), 0, None, 5)]
    assert len(findings) > log.stat().st_size
    assert all(findings)
    assert refusal(log) is None


def test_every_cut_is_found(log: Path) -> None:
    log_bytes = log.read_bytes()
    # A cut within a line, or behind it, is found alike wherever the line is.
    for length in range(0, len(log_bytes), 7):
        log.write_bytes(log_bytes[:length])
        assert refusal(log)


def test_the_place_of_damage_is_named(log: Path) -> None:
    data = bytearray(log.read_bytes())
    offset = data.index(b'{"type":"choice"')
    data[offset + 20] ^= 1
    log.write_bytes(data)
    reason = refusal(log)
    assert reason == f"{log}, line 3, byte {offset}: its checksum does not match"


def forge_log(path: Path, *records: LogRecord) -> Path:
    """Return a log with these records and right checksums."""
    return write_sealed(path, map(encode_line, records))


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([head(1)], "line 1, byte 0: a log has one sitting"),
        ([SITTING, SITTING], "line 2, byte .*: a log has one sitting"),
        ([SITTING, replace(ELSEWHERE, boards=(1,))], "line 2, byte .*: a log has one sitting"),
        ([SITTING, replace(ELSEWHERE, event="other")], "line 2, byte .*: a log has one sitting"),
        (
            [SITTING, *GAMES[0], *GAMES[1], SittingOver(games=2, records=7), ELSEWHERE],
            "line 9, byte .*: a log has one sitting",
        ),
        ([SITTING, CHOICE], "line 2, byte .*: a record outside any game"),
        ([SITTING, SittingOver(games=1, records=1)], "the sitting's end counts other lines"),
        ([SITTING, SittingOver(games=0, records=2)], "the sitting's end counts other lines"),
        ([SITTING, SittingOver(games=0, records=1), head(1)], "after the sitting's end"),
    ],
)
def test_records_out_of_place_are_refused(
    tmp_path: Path, records: list[LogRecord], why: str
) -> None:
    assert re.search(why, refusal(forge_log(tmp_path / "log.jsonl", *records)) or "")


def reopen_log(path: Path, *records: LogRecord) -> bytes:
    log = GameLog(path, SITTING)
    log.append(records)
    log.close()
    return path.read_bytes()


def test_a_sitting_goes_on_where_it_was_cut_off(log: Path) -> None:
    """At any line: a game without its result is played again, and the end counts its lines."""
    lines = log.read_bytes().splitlines(keepends=True)
    for count in (1, 2, 3):
        log.write_bytes(b"".join(lines[:count]))
        reopen_log(log, *GAMES[0], *GAMES[1])
        assert is_over(log)
        assert sum(game.result is not None for game in read_games(log)) == 2


def test_an_end_that_was_cut_off_is_written_when_the_log_is_opened(log: Path) -> None:
    log_bytes = log.read_bytes()
    log.write_bytes(b"".join(log_bytes.splitlines(keepends=True)[:-1]))
    assert reopen_log(log) == log_bytes
    assert reopen_log(log) == log_bytes


def test_a_torn_line_is_mended_with_a_notice_and_never_written_after(log: Path) -> None:
    log_bytes = log.read_bytes()
    log.write_bytes(log_bytes + b'{"type"')
    with pytest.raises(DamagedFileError, match="is incomplete"):
        GameLog(log, SITTING)
    notice = checksummed.truncate_torn_line(log)
    assert notice == f"{log}: the last line was cut short; its 7 bytes were removed."
    assert log.read_bytes() == log_bytes
    assert checksummed.truncate_torn_line(log) is None
    assert checksummed.truncate_torn_line(log.with_name("nothing")) is None


def test_a_full_disk_takes_all_or_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the bytes are written, as a full disk does it: they are taken back."""
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    before, write = log.read_bytes(), os.write
    game = GameLog(log, SITTING)
    monkeypatch.setattr(os, "write", lambda to, data: write(to, data[: len(data) // 2]))
    with pytest.raises(OSError, match="No space left") as failure:
        game.append(GAMES[1])
    assert failure.value.errno == errno.ENOSPC
    assert log.read_bytes() == before
    monkeypatch.undo()
    game.append(GAMES[1])
    game.close()
    assert refusal(log) is None
