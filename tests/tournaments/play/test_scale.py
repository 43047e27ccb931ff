"""Full logs are packed while an event is played; it goes on, grows and is checked as before."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.files import DamagedFileError
from arena.logs import catalog
from arena.logs.checksummed import (
    ZSTD_SUFFIX,
    append_records,
    compress,
    decompress,
    read_lines,
    read_sealed,
)
from protocol.codec import decode_result
from tests.support.events import SMALL, boneyard, copied, copy_of, outputs, run, untouched
from tournaments.cli.main import main
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder, load_event


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with untouched(copy_of("round-robin", tmp_path_factory.mktemp("plain"))) as folder:
        yield folder


@pytest.fixture
def event(plain: Path, tmp_path: Path) -> Path:
    """Return the same event with all its logs compressed."""
    folder = copied(plain, tmp_path)
    for path in Folder(folder).logs():
        compress(path)
    return folder


def log_suffixes(folder: Path) -> set[str]:
    return {path.name.partition(".jsonl")[2] for path in (folder / "games").iterdir()}


# Slow: a run packs the logs that are full.
@pytest.mark.slow
def test_runs_pack_full_logs(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "MIN_PACK_BYTES", 1)
    run(tmp_path, *SMALL, "--jobs", "2")
    assert log_suffixes(tmp_path) == {ZSTD_SUFFIX}
    assert outputs(tmp_path) == outputs(plain)
    assert "OK: " in boneyard("verify", str(tmp_path))


def test_the_next_run_packs_logs_of_a_kill(event: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = Folder(event).logs()
    decompress(first)
    data = b"".join(line.data for line in read_lines(second))
    second.write_bytes(data)
    (event / "games" / ".0123456789abcdef.new").write_bytes(b"half")
    monkeypatch.setattr(catalog, "MIN_PACK_BYTES", 1)
    run(event, *SMALL)
    assert log_suffixes(event) == {ZSTD_SUFFIX}
    assert b"".join(line.data for line in read_lines(second)) == data


def test_every_command_reads_packed_logs(event: Path, plain: Path) -> None:
    for words in (
        ("verify",),
        ("replay",),
        ("explain", "1.first.greedy"),
        ("show",),
        ("show", "--prior", "1", "--json"),
    ):
        texts = [boneyard(words[0], str(folder), *words[1:]) for folder in (event, plain)]
        assert texts[0].replace(str(event), "") == texts[1].replace(str(plain), "")
    log = Folder(event).logs()[0]
    assert "OK: " in boneyard("verify", f"{log}{ZSTD_SUFFIX}")
    assert "board 1" in boneyard("replay", f"{log}{ZSTD_SUFFIX}", "1.first.greedy")


def test_replays_of_packed_logs_are_made_once(event: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournaments.cli.run.MOST_REPLAYS", 12)
    replays = event / "replays"
    assert "Not all replays" not in run(event, *SMALL)
    before = {path: path.stat().st_mtime_ns for path in replays.iterdir()}
    assert "Not all replays" not in run(event, *SMALL)
    assert {path: path.stat().st_mtime_ns for path in replays.iterdir()} == before
    assert len(before) == 12


def test_verify_finds_a_flip_in_a_packed_log_and_reports_go_on(event: Path) -> None:
    path = event / "games" / f"from-1.first.greedy.jsonl{ZSTD_SUFFIX}"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = CliRunner().invoke(main, ["verify", str(event)])
    assert done.exit_code == 1
    assert f"{path}: cannot be decompressed: " in done.output
    assert "nothing after it was checked: 2 results of the ledger are not confirmed" in done.output
    boneyard("report", str(event))
    assert "cannot be decompressed" in boneyard("replay", str(event), "1.first.greedy", code=2)
    (event / "ledger.jsonl").unlink()
    with pytest.raises(DamagedFileError, match="cannot be decompressed"):
        Ledger(Book(Folder(event), load_event(Folder(event))))


def test_a_ledger_with_a_game_twice_is_put_in_order(plain: Path, tmp_path: Path) -> None:
    folder = Folder(copied(plain, tmp_path))
    entries = [entry.record for entry in read_sealed(folder.ledger, decode_result)]
    content = folder.ledger.read_bytes()
    folder.ledger.unlink()
    descriptor = os.open(folder.ledger, os.O_WRONLY | os.O_CREAT)
    append_records(descriptor, [*entries[:3], entries[1], *entries[3:]], 0)
    os.close(descriptor)
    Ledger(Book(folder, load_event(folder)))
    assert folder.ledger.read_bytes() == content
