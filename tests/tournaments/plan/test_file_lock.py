"""The right to write into an event's folder, whatever the process before has left."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from arena import files
from protocol.errors import UserError
from tournaments.event.folder import Folder, lock_for_writing

HOLDS = r"""
import os, sys
from pathlib import Path
from tempfile import TemporaryDirectory
from tournaments.event.folder import Folder, lock_for_writing
with lock_for_writing(Folder(Path(sys.argv[1]))):
    os.fork()
    os.write(1, b"held\n")
    sys.stdin.read()
"""
"""Holds the folder, with a child that has begun no program of its own: so bots begin."""


def test_a_child_that_outlives_the_writer_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        (sys.executable, "-c", HOLDS, str(tmp_path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        assert [writer.stdout.readline() for _ in range(2)] == [b"held\n"] * 2
        with (
            pytest.raises(UserError, match="by another boneyard"),
            lock_for_writing(Folder(tmp_path)),
        ):
            pass
        writer.kill()
        writer.wait()
        with lock_for_writing(Folder(tmp_path)):
            pass
        writer.stdin.close()
        # The child had it open all the while: here it ends.
        assert writer.stdout.read() == b""


def test_who_holds_a_folder_removes_what_a_killed_process_left_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "YOUNG_S", -1.0)
    (tmp_path / f"{files.TEMPORARY_PREFIX}probe-x").mkdir(mode=0o755)
    with lock_for_writing(Folder(tmp_path)):
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
@pytest.mark.parametrize("mode", [None, 0o644])
def test_another_user_cannot_keep_a_folder_locked(mode: int | None) -> None:
    """Not even of a file that earlier versions made: a read lock would keep every writer out."""
    with TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        folder = Folder(Path(place))
        if mode:
            folder.lock.touch(mode)
        with lock_for_writing(folder):
            pass
        words = ("sh", "-c", 'exec 9<"$0" && flock -s 9', f"{folder.lock}")
        done = subprocess.run(words, user=65534, group=65534, extra_groups=[], capture_output=True)
        assert b"Permission denied" in done.stderr
