"""Leftovers of a killed referee, and bots that do not want to end: nothing of them stays."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from arena.sandbox import cgroups, command, process
from arena.sandbox.command import BOUNDED, Limits
from arena.sandbox.process import Sandbox

ROOT = os.geteuid() == 0


@pytest.mark.skipif(not ROOT, reason="only root gives each bot a user of its own")
def test_a_user_who_still_has_a_process_is_given_to_nobody() -> None:
    process._users_in_use.cache_clear()
    left = subprocess.Popen(("sleep", "60"), user=process.FIRST_USER)
    try:
        user = process.User()
        assert user.number > process.FIRST_USER
        user.release()
    finally:
        left.kill()
        left.wait()
        process._users_in_use.cache_clear()


def test_cgroups_of_a_killed_run_are_taken_away_with_all_that_runs_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parents = cgroup_parents()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 4_194_305)  # Above every process number that can be.
        dead = cgroups.Cgroup(parents, 1, Limits())
    # In a container's namespace that number may be a run's.
    foreign_folders = [parent / "boneyard-1-4194305-1" for parent in parents]
    for folder in foreign_folders:
        folder.mkdir()
    child = subprocess.Popen(("sleep", "60"))
    for door in dead.doors:
        Path(door).write_text(f"{child.pid}")
    cgroups.parents()
    survivors = [path for parent in parents for path in parent.glob("boneyard-*-4194305-*")]
    for folder in foreign_folders:
        folder.rmdir()
    assert child.wait() == -signal.SIGKILL
    assert survivors == foreign_folders


def test_a_bot_that_cannot_enter_its_cgroup_does_not_start() -> None:
    cgroup = cgroups.Cgroup(cgroup_parents(), 10_001, Limits())
    words = (*command.ENTRANCE, *cgroup.doors, "--", "echo", "started")
    cgroup.remove()
    child = subprocess.run(words, capture_output=True, check=False)
    assert (child.stdout, child.returncode) != (b"started\n", 0)
    assert not child.stdout


def test_a_cgroup_whose_bot_finds_no_user_is_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = cgroup_parents()
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = Sandbox(BOUNDED, Limits())
    if not ROOT:
        pytest.skip("only root gives each bot a user of its own")
    monkeypatch.setattr(process, "USERS_END", process.FIRST_USER)
    with pytest.raises(process.NoUserLeftError):
        sandbox.new_slot()
    assert not [path for parent in parents for path in parent.glob(f"boneyard-*-{os.getpid()}-*")]


def cgroup_parents() -> cgroups.Parents:
    try:
        return cgroups.parents()
    except cgroups.NoCgroupError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("listened_to", [True, False])
def test_a_bot_is_not_started_for_a_referee_who_is_gone(listened_to: bool) -> None:
    reader, writer = os.pipe()
    if not listened_to:
        os.close(reader)
    words = (*command.PARENT_CHECK, "echo", "started")
    child = subprocess.run(words, stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert child.stdout == (b"started\n" if listened_to else b"")


def test_the_gate_stands_right_before_the_bot() -> None:
    tools = command.Tools("bwrap", "setpriv", "prlimit")
    words = command.wrap_command(command.Command(("bot",), "/"), Limits(), tools, 1, {})
    assert words[-len(command.PARENT_CHECK) - 1 :] == (*command.PARENT_CHECK, "bot")
