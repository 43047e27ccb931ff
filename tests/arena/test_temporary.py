"""Temporary folders: those of killed processes are swept, and nothing else, whoever tries."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena import files
from arena.files import TEMPORARY_PREFIX, sweep, temporary_folder
from tests.support.events import BONEYARD
from tournaments.cli.main import main

OWNER = """
import sys
from pathlib import Path
from arena.files import temporary_folder
with temporary_folder("test", Path(sys.argv[1]), shared=True) as folder:
    (folder / "part").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def no_folder_is_too_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "YOUNG_S", -1.0)


@pytest.fixture
def owner(tmp_path: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """Return a process that has a temporary folder here, and waits."""
    words = (sys.executable, "-c", OWNER, str(tmp_path))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert Path(process.stdout.readline().decode().strip()).is_dir()
        yield process
        process.kill()


def wait_for_lock(folder: Path) -> None:
    """Wait until nobody holds a folder: a bot that was just begun has its lock till it runs."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def leftovers(folder: Path) -> list[Path]:
    return list(folder.glob(f"{TEMPORARY_PREFIX}*"))


def test_folders_of_killed_processes_are_swept_and_those_of_living_ones_kept(
    tmp_path: Path, owner: "subprocess.Popen[bytes]"
) -> None:
    sweep(tmp_path)
    assert len(leftovers(tmp_path)) == 1
    owner.kill()
    owner.wait()
    sweep(tmp_path)
    assert leftovers(tmp_path) == []


def test_a_folder_that_was_only_just_made_is_not_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner may not have locked it yet."""
    (tmp_path / f"{TEMPORARY_PREFIX}x").mkdir(mode=0o711)
    monkeypatch.setattr(files, "YOUNG_S", 60.0)
    sweep(tmp_path)
    assert len(leftovers(tmp_path)) == 1
    monkeypatch.setattr(files, "YOUNG_S", -1.0)
    sweep(tmp_path)
    assert leftovers(tmp_path) == []


def test_the_folder_of_a_block_goes_with_it(tmp_path: Path) -> None:
    with temporary_folder("x", tmp_path, shared=True) as shared_folder:
        assert shared_folder.stat().st_mode & 0o777 == 0o711
        with temporary_folder("x", tmp_path, shared=False) as private:
            assert shared_folder.is_dir()
            assert private.stat().st_mode & 0o777 == 0o700
    assert leftovers(tmp_path) == []


def test_nobody_can_make_us_remove_something_else(tmp_path: Path) -> None:
    """A link, a file, a folder that others may write to and so could have moved here."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis").touch()
    (tmp_path / f"{TEMPORARY_PREFIX}link").symlink_to(precious)
    (tmp_path / f"{TEMPORARY_PREFIX}file").touch()
    (tmp_path / f"{TEMPORARY_PREFIX}moved").mkdir()
    (tmp_path / f"{TEMPORARY_PREFIX}moved").chmod(0o777)
    sweep(tmp_path)
    assert len(leftovers(tmp_path)) == 3
    assert (precious / "thesis").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_of_other_users_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / f"{TEMPORARY_PREFIX}x"
    folder.mkdir(mode=0o711)
    os.chown(folder, 60_599, 60_599)
    sweep(tmp_path)
    assert folder.exists()


def test_nothing_is_swept_if_others_can_exchange_folders(tmp_path: Path) -> None:
    (tmp_path / f"{TEMPORARY_PREFIX}x").mkdir(mode=0o711)
    tmp_path.chmod(0o777)
    sweep(tmp_path)
    assert len(leftovers(tmp_path)) == 1
    tmp_path.chmod(0o1777)
    sweep(tmp_path)
    assert leftovers(tmp_path) == []


def test_a_killed_check_leaves_nothing_once_the_next_has_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("check", "first", "--only", "pause", "--sandbox", "off")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen((*BONEYARD, *words), env=environment, stdout=subprocess.PIPE) as killed:
        deadline = time.monotonic() + 120
        while not leftovers(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
    (folder,) = leftovers(tmp_path)
    wait_for_lock(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = CliRunner().invoke(main, ["check", "first", "--only", "hello", "--sandbox", "off"])
    assert result.exit_code == 0, result.output
    assert leftovers(tmp_path) == []
