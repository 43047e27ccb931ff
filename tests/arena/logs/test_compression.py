"""Packed files: the same whichever way they lie; kills at any step, flips, foreign bytes."""

import os
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.files import DamagedFileError
from arena.logs import checksummed
from arena.logs.catalog import compress_finished, list_logs, remove_leftovers
from arena.logs.checksummed import (
    ZSTD_SUFFIX,
    actual_path,
    compress,
    decompress,
    grep_prefix,
    read_lines,
)
from arena.logs.gamelog import LoggedGame, is_over, read_games, sitting_lines
from tests.support.games import log_game, write
from tests.support.tables import flips

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GAME_COUNT = 40
"""Games that make a log worth packing."""


def wide_frame() -> bytes:
    """Return a frame that needs 128 MiB to decompress."""
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    compressor = zstd.ZstdCompressor(options=options)
    return compressor.compress(b"x\n") + compressor.flush()


WIDE = wide_frame()


def content(path: Path) -> bytes:
    return b"".join(line.data for line in read_lines(path))


def folder_names(path: Path) -> set[str]:
    return {entry.name for entry in path.parent.iterdir()}


@given(data=st.binary(max_size=3000), times=st.sampled_from([1, 100]))
def test_a_compressed_log_decompresses_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, times: int
) -> None:
    path = tmp_path_factory.mktemp("packed") / "log.jsonl"
    path.write_bytes(data * times)
    before = path.stat().st_mtime_ns
    lines = list(read_lines(path))
    compress(path)
    assert folder_names(path) == {"log.jsonl.zst"}
    assert actual_path(path).stat().st_mtime_ns == before
    assert list(read_lines(path)) == list(read_lines(actual_path(path))) == lines
    decompress(path)
    assert folder_names(path) == {"log.jsonl"}
    assert path.read_bytes() == data * times
    assert path.stat().st_mtime_ns == before


class Killed(BaseException):
    """The kill of the process: nothing runs after it."""


STEPS: dict[str, tuple[object, str]] = {
    "syncing": (os, "fsync"),
    "dating": (os, "utime"),
    "renaming": (Path, "replace"),
    "removing": (Path, "unlink"),
}


@pytest.mark.parametrize("action", [compress, decompress])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_leaves_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: Callable[[Path], None], step: str
) -> None:
    path = write(tmp_path / "games" / "from-1.a.b.jsonl", *[log_game()] * GAME_COUNT)
    data = path.read_bytes()
    if action is decompress:
        compress(path)

    def kill(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(*STEPS[step], kill)
        with pytest.raises(Killed):
            action(path)
    assert content(path) == data
    assert list_logs(path.parent) == [path]
    remove_leftovers(path.parent)
    assert content(path) == data
    assert folder_names(path) == {path.name + ZSTD_SUFFIX}, "what was left to do is done"


def refusal(path: Path, games: list[LoggedGame]) -> str | None:
    """Return why the log is refused; it must never pass as a log of other games."""
    try:
        assert list(read_games(path)) == games
    except DamagedFileError as error:
        return str(error)
    return None


def test_every_flip_that_matters_is_found_and_named(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", log_game())
    games = list(read_games(path))
    compress(path)
    packed_bytes = actual_path(path).read_bytes()
    reasons = [refusal(path, games) for _ in islice(flips(actual_path(path)), 0, None, 5)]
    refusals = [why for why in reasons if why is not None]
    # Few bits of a frame say nothing: without them it says the same.
    harmless = len(reasons) - len(refusals)
    assert all(why.startswith(f"{path}.zst: cannot be decompressed: ") for why in refusals)
    assert len(refusals) > len(packed_bytes) > 100 * harmless
    assert list(read_games(path)) == games


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda data: data[:-1], "the end is missing"),
        (lambda data: data[: len(data) // 2], "the end is missing"),
        (lambda _: b"", "the end is missing"),
        (lambda data: data + b"x", "there is data after the end"),
        (lambda data: data + data, "there is data after the end"),
        (lambda _: b"no frame at all", "cannot be decompressed"),
        (lambda _: WIDE, "cannot be decompressed"),
    ],
    ids=["cut", "half", "empty", "more", "twice", "text", "window"],
)
def test_a_foreign_compressed_file_is_refused(
    tmp_path: Path, change: Callable[[bytes], bytes], why: str
) -> None:
    path = write(tmp_path / "log.jsonl", log_game())
    compress(path)
    actual_path(path).write_bytes(change(actual_path(path).read_bytes()))
    with pytest.raises(DamagedFileError, match=why):
        list(read_lines(path))
    assert len(list(grep_prefix(path, (b'{"type":"sitting",',)))) <= 1


def test_an_endless_packed_line_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksummed, "MAX_LINE_BYTES", 2**16)
    monkeypatch.setattr(checksummed, "MOST_RATIO", 2**20)
    path = tmp_path / "log.jsonl.zst"
    path.write_bytes(zstd.compress(b"x" * 2**20))
    assert path.stat().st_size < 1000
    with pytest.raises(DamagedFileError, match="has no end"):
        list(read_lines(path))


def test_a_file_that_unpacks_to_200_times_its_size_is_damage(tmp_path: Path) -> None:
    """A gigabyte of newlines in 33 kB kept four commands for half a minute."""
    path = tmp_path / "log.jsonl"
    checksummed.compressed_path(path).write_bytes(zstd.compress(b"\n" * 2**24))
    with pytest.raises(DamagedFileError, match=r"unpacks to more than 200 times its size"):
        is_over(path)
    assert sitting_lines(path) == []


def test_a_log_is_packed_when_it_is_full_and_worth_it(tmp_path: Path) -> None:
    small_log = write(tmp_path / "small.jsonl", log_game())
    large_log = write(tmp_path / "large.jsonl", *[log_game()] * GAME_COUNT)
    torn_log = tmp_path / "torn.jsonl"
    torn_log.write_bytes(large_log.read_bytes() + b"{")
    open_one = tmp_path / "open.jsonl"
    open_one.write_bytes(b"".join(large_log.read_bytes().splitlines(keepends=True)[:-1]))
    for path in (small_log, large_log, torn_log, open_one, tmp_path / "none.jsonl"):
        compress_finished(path)
    assert folder_names(small_log) == {"small.jsonl", "large.jsonl.zst", "torn.jsonl", "open.jsonl"}
    assert is_over(large_log)
    assert not is_over(torn_log)
    assert not is_over(open_one)
    assert [path.name for path in list_logs(tmp_path)] == [
        "large.jsonl", "open.jsonl", "small.jsonl", "torn.jsonl",
    ]  # fmt: skip
