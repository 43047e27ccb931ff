"""The cgroup of one bot: it counts, limits and ends all that the bot starts.

It supports both layouts of the kernel: one tree for everything (v2), or a tree a controller (v1).
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from arena.sandbox.command import Limits

Parents = dict[Path, list[str]]
MOUNTS = Path("/proc/self/mountinfo")
"""The kernel's list of mounted file systems and their devices."""
MEMBERSHIP = Path("/proc/self/cgroup")
NEEDED_CONTROLLERS = ("pids", "memory", "cpu")
REFEREE = "boneyard-referee"
"""The cgroup into which we move ourselves: one that holds processes cannot have children."""
PERIOD_US = 100_000
"""The period over which busy cores are counted, in µs."""
WEIGHT = 25
"""Weight of a bot at the processors; the referee has 100, as much as four bots."""
REMOVE_S = 2.0
"""Seconds that the kernel may take to release an ended process."""


class NoCgroupError(OSError):
    """There is no cgroup that we may write to; the text says why."""


class Cgroup:
    """One bot's cgroup: a folder, or one for each controller."""

    def __init__(self, parents: Parents, number: int, limits: Limits) -> None:
        """Make the cgroup and set its limits. Raises NoCgroupError."""
        self._made: list[Path] = []
        try:
            for parent, controllers in parents.items():
                folder = parent / f"{_prefix()}{os.getpid()}-{number}"
                folder.mkdir()
                self._made.append(folder)
                for controller in controllers:
                    _limit(folder, controller, limits)
        except OSError as error:
            self.remove()
            raise NoCgroupError(error.errno, f"No cgroup can be made: {error.strerror}") from error
        # Looked up once: these files are read ten times a second for each bot.
        self._cpuacct = self._file("cpuacct.usage")
        self._cpu_stat = self._file("cpu.stat")
        self._memory_stat = self._file("memory.stat")

    @property
    def doors(self) -> tuple[str, ...]:
        """Return the files to which a process writes 0 to enter."""
        return tuple(str(folder / "cgroup.procs") for folder in self._made)

    def is_entered(self) -> bool:
        """Tell whether a process is in it, for each controller."""
        return all(_words(Path(door)) for door in self.doors) and bool(self.doors)

    def cpu_ms(self) -> float:
        """Return the CPU time of all that ever ran in it, in ms."""
        with suppress(OSError, ValueError):
            return int(self._cpuacct.read_text()) / 1e6
        with suppress(OSError, ValueError, KeyError):
            return _numbers(self._cpu_stat)["usage_usec"] / 1e3
        return 0.0

    def memory(self) -> int:
        """Return the memory of all that runs in it, with its shared memory, in bytes."""
        with suppress(OSError, ValueError, KeyError):
            stat = _numbers(self._memory_stat)
            # One tree counts all below it; of the two figures of the others this is the total.
            if "anon" in stat:
                return stat["anon"] + stat["shmem"]
            return stat["total_rss"] + stat["total_shmem"]
        return 0

    def _file(self, name: str) -> Path:
        paths = [folder / name for folder in self._made]
        return next((path for path in paths if path.exists()), paths[0])

    def kill(self) -> None:
        """Kill all that runs in it at once, if the kernel can; otherwise namespaces do it."""
        for folder in self._made:
            with suppress(OSError):
                (folder / "cgroup.kill").write_text("1")

    def remove(self) -> None:
        """Remove the cgroup; whatever ran in it has been killed."""
        self._made = _remove(self._made)


def parents() -> Parents:
    """Return the places for cgroups; remove those of killed runs. Raises NoCgroupError."""
    folders: Parents = {}
    for controller, folder in _controllers():
        if os.access(folder, os.W_OK):
            folders.setdefault(folder, []).append(controller)
    missing = set(NEEDED_CONTROLLERS).difference(*folders.values())
    if missing:
        raise NoCgroupError(f"no cgroup with {', '.join(sorted(missing))} is ours to write to")
    for parent in folders:
        _sweep(parent)
    return folders


def _prefix() -> str:
    """Return the beginning of our names: elsewhere the numbers after it are other processes."""
    return f"boneyard-{Path('/proc/self/ns/pid').stat().st_ino}-"


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_prefix()}*-*"):
        owner, _, number = folder.name.removeprefix(_prefix()).partition("-")
        if owner.isdecimal() and number.isdecimal() and not Path("/proc", owner).exists():
            # The bots that a killed referee was just starting.
            with suppress(OSError, ValueError):
                for process in map(int, _words(folder / "cgroup.procs")):
                    os.kill(process, signal.SIGKILL)
            _remove([folder])


def _remove(folders: list[Path]) -> list[Path]:
    """Remove the folders; return those that the kernel does not release in time."""
    end = time.monotonic() + REMOVE_S
    while folders := [folder for folder in folders if not _removed(folder)]:
        if time.monotonic() > end:
            break
        time.sleep(0.001)
    return folders


def _controllers() -> Iterator[tuple[str, Path]]:
    for line in _lines(MEMBERSHIP):
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            root = _mounted(name)
            if root:
                folder = root / path.lstrip("/")
                folder = folder.parent if folder.name == REFEREE else folder
                offered = [name] if name else _delegated(folder)
                counted = (*NEEDED_CONTROLLERS, "cpuacct")
                yield from ((controller, folder) for controller in offered if controller in counted)


def _delegated(folder: Path) -> list[str]:
    """Return the controllers of the one tree that children of our folder get."""
    offered = _words(folder / "cgroup.controllers")
    wanted = " ".join(
        f"+{controller}" for controller in NEEDED_CONTROLLERS if controller in offered
    )
    with suppress(OSError):
        if not wanted or (folder / "cgroup.subtree_control").write_text(wanted):
            return _words(folder / "cgroup.subtree_control")
    with suppress(OSError):
        (folder / REFEREE).mkdir(exist_ok=True)
        (folder / REFEREE / "cgroup.procs").write_text("0")
        (folder / "cgroup.subtree_control").write_text(wanted)
    return _words(folder / "cgroup.subtree_control")


def _mounted(controller: str) -> Path | None:
    """Return the mount point of a controller's tree; an empty name means the one tree."""
    for line in _lines(MOUNTS):
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == ("cgroup" if controller else "cgroup2") and (
            not controller or controller in options.split(",")
        ):
            return Path(before.split(" ")[4])
    return None


def _limit(folder: Path, controller: str, limits: Limits) -> None:
    busy = int(limits.cores * PERIOD_US)
    if controller == "pids":
        (folder / "pids.max").write_text(str(limits.processes + 4))
    elif controller == "memory":
        files = [folder / name for name in ("memory.max", "memory.limit_in_bytes")]
        file = next((file for file in files if file.exists()), None)
        if file is None:
            raise NoCgroupError(f"{folder} has no limit of memory")
        file.write_text(str(limits.wall))
    elif controller == "cpu":
        if (folder / "cpu.max").exists():
            (folder / "cpu.weight").write_text(f"{WEIGHT}")
            (folder / "cpu.max").write_text(f"{busy} {PERIOD_US}")
        else:
            (folder / "cpu.shares").write_text(f"{WEIGHT * 1024 // 100}")
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(busy))


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _numbers(path: Path) -> dict[str, int]:
    lines = (line.partition(" ") for line in path.read_text().splitlines())
    return {name: int(value) for name, _, value in lines}


def _words(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text().split()
    return []


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text().splitlines()
    return []
