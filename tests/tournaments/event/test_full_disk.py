"""A real disk that is full again and again: every stop has its reason, and nothing is lost."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.logs import checksummed
from tests.support.events import PLAIN, SMALL, boneyard, outputs, run
from tournaments.cli.main import main

PAGE = os.sysconf("SC_PAGE_SIZE")


def mount_disk(folder: Path, pages: int, prefix: str) -> str:
    """Mount a small disk, or give it another size; why that was refused."""
    options = f"{prefix}size={pages * PAGE}"
    words = ("mount", "-t", "tmpfs", "-o", options, "boneyard-test", str(folder))
    try:
        return subprocess.run(words, capture_output=True, text=True).stderr.strip()
    except OSError as error:
        return str(error)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if refusal := mount_disk(folder, 4, ""):
        pytest.skip(f"no disk can be mounted here: {refusal}")
    try:
        yield folder
    finally:
        subprocess.run(("umount", str(folder)), check=True)


@pytest.mark.slow
def test_a_full_disk_stops_the_run_and_more_room_lets_it_go_on(event: Path, disk: Path) -> None:
    """The disk grows step by step, so that now this file and now that one finds it full."""
    out, stops = disk / "out", 0
    for pages in (4, 5, 6, 7, 8, 12, *range(24, 240, 12)):
        assert not mount_disk(disk, pages, "remount,")
        words = ("run", *SMALL, *PLAIN, "--jobs", str(1 + stops % 2), "--out", str(out))
        done = CliRunner().invoke(main, words)
        if done.exit_code == 0:
            break
        assert done.exit_code == 1, done.output
        assert "No space left on device" in done.output
        assert done.output.count("run the same command again") == 1
        stops += 1
    assert stops > 5
    assert outputs(out) == outputs(event)
    assert "OK: " in boneyard("verify", str(out))


def test_a_full_disk_stops_luck_and_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, "first", "greedy", "--boards", "1", "--set", "target=1")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(checksummed, "append_records", full)
        for words in (("report", str(tmp_path), "--luck"), ("explain", "--review", str(tmp_path))):
            assert "make room, and run the same command again" in boneyard(*words, code=2)
    (tmp_path / "review.jsonl").unlink()
    (tmp_path / "review.jsonl").mkdir()
    for look in (("verify",), ("explain", "--review")):
        assert "review.jsonl cannot be accessed" in boneyard(*look, str(tmp_path), code=2)
