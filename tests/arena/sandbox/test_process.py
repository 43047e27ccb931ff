"""The process of a locked bot: its place after the referee, and its view of the organiser."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox.cgroups import Cgroup, NoCgroupError, parents
from arena.sandbox.command import BOUNDED, LOCKED, Command, Confinement, Limits
from arena.sandbox.process import INODE, Sandbox, clean_environment, files_in
from arena.sandbox.select import examine

WEIGHTS = ("cpu.weight", "cpu.shares")
LOOK = """
import json, mmap, os
def error(call):
    try:
        call()
    except OSError as no:
        return no.errno
def read(path):
    with open(path) as file:
        return file.read()
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
def fork_with_a_pidfd():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    room = ctypes.c_int()
    pid = libc.syscall(number, 0x1011, None, ctypes.byref(room), None, None)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
input()
print(json.dumps({
    "score": int(read("/proc/self/oom_score_adj")),
    "raises": error(lambda: write("/proc/self/oom_score_adj", "0")),
    "nice": os.getpriority(os.PRIO_PROCESS, 0),
    "session": error(os.setsid) if os.fork() else os._exit(0),
    "memory file": error(lambda: os.memfd_create("x")),
    "shared memory": error(lambda: mmap.mmap(-1, 4096)),
    "device": error(lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096)),
    "pidfd": error(fork_with_a_pidfd),
    "path": os.environ["PATH"].split(":"),
    "words": read("/proc/1/cmdline"),
}))
"""


@pytest.fixture(params=[BOUNDED, LOCKED], scope="module")
def look(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Return what a bot sees, in a world where our PATH tells about its owner."""
    confinement: Confinement = request.param
    tmp_path = tmp_path_factory.mktemp("ours")
    trial = examine(confinement, tmp_path)
    if not trial.is_proven:
        pytest.skip(trial.why_not)
    python = sys.executable
    reads = (python, sys.base_prefix, sys.prefix)
    slot = Sandbox(confinement, Limits()).new_slot()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{os.environ['PATH']}:{tmp_path}")
        process = slot.start(Command((python, "-c", LOOK), "/usr", reads))
    try:
        output, complaint = process.communicate(b"\n", timeout=120)
    finally:
        slot.kill()
        process.wait()
        slot.close()
    assert output, complaint
    return {**json.loads(output), "folder": str(tmp_path)}


def test_the_kernel_ends_a_bot_before_the_referee(look: dict[str, Any]) -> None:
    assert look["score"] == 1000
    assert look["raises"] in (errno.EROFS, errno.EACCES)


def test_a_bot_comes_after_the_referee_at_a_processor(look: dict[str, Any]) -> None:
    assert look["nice"] >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    assert look["session"] == errno.EPERM


def test_memory_that_stays_when_nobody_maps_it_is_refused(look: dict[str, Any]) -> None:
    assert look["memory file"] == look["shared memory"] == errno.ENOSYS
    assert look["device"] in (errno.ENODEV, errno.EACCES)


def test_no_number_is_taken_from_the_machines_pidfds(look: dict[str, Any]) -> None:
    assert look["pidfd"] == errno.EPERM


def test_a_bot_is_not_told_the_organisers_folders(look: dict[str, Any]) -> None:
    assert "/usr/bin" in look["path"]
    assert look["folder"] not in look["path"]
    assert "--ro-bind" not in look["words"]


def test_four_bots_weigh_as_much_as_the_referee() -> None:
    try:
        cgroup = Cgroup(parents(), 10_002, Limits())
    except NoCgroupError as error:
        pytest.skip(str(error))
    files = [Path(door).with_name(name) for door in cgroup.doors for name in WEIGHTS]
    weights = [(file.name, int(file.read_text())) for file in files if file.exists()]
    cgroup.remove()
    assert weights in ([("cpu.weight", 25)], [("cpu.shares", 256)])


FILES = """
print(flush=True)
input()
for number in range(4000):
    open(f"/tmp/{number}", "x").close()
print(flush=True)
input()
"""


def test_the_files_of_the_machine_do_not_count_as_a_bots() -> None:
    """A process that bubblewrap has not yet locked in has the machine's folders."""
    assert files_in(os.getpid(), "/tmp") == 0


def test_empty_files_count_as_memory_of_a_bot_without_a_cgroup(tmp_path: Path) -> None:
    """Bubblewrap cannot bound their number: 400,000 held 240 MiB of the kernel's memory."""
    if not examine(LOCKED, tmp_path).is_proven:
        pytest.skip("bots cannot be locked in here")
    slot = Sandbox(LOCKED, Limits()).new_slot()
    reads = (sys.executable, sys.base_prefix, sys.prefix)
    bot = slot.start(Command((sys.executable, "-c", FILES), "/usr", reads))
    assert bot.stdin
    assert bot.stdout
    try:
        bot.stdout.readline()
        before = slot.usage().memory
        bot.stdin.write(b"\n")
        bot.stdout.readline()
        assert slot.usage().memory - before >= 4000 * INODE
    finally:
        slot.kill()
        bot.communicate()
        slot.close()


def test_without_any_folder_that_it_can_read_a_bot_looks_in_the_machines() -> None:
    """An empty PATH would be the folder in which the bot runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "/home/somebody/bin")
        assert clean_environment(Command(("bot",), "/"), is_locked=True)["PATH"] == os.defpath
