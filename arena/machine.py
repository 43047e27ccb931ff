"""The machine: its cores, the sittings that it can play on them, and its description in a line."""

import ctypes
import os
import platform
import select
import signal
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path

from arena.rules.english import count_in_digits

CPU_INFO = Path("/proc/cpuinfo")
PR_SET_PDEATHSIG = 1


@cache
def usable_cores() -> frozenset[int]:
    """Return the numbers of the cores that this process might use when it first asked."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(usable_cores())


def stay_on(cores: Collection[int]) -> None:
    """Keep this thread, and whatever it starts, on these cores, where that is allowed."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(0, cores)


def raise_file_limit() -> int:
    """Let this process open as many files as it may; return that number."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def has_bounded_addresses() -> bool:
    """Tell whether this process may have only so many addresses, as after `ulimit -v`."""
    if sys.platform == "win32":
        return False
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


@cache
def has_kernel_events() -> bool:
    """Tell whether the kernel reports news of pipes and ends of processes; else threads watch them.

    The variable BONEYARD_POLLER, if it is "threads", tries those here too.
    """
    is_able = hasattr(select, "epoll") and hasattr(os, "pidfd_open") and hasattr(os, "P_PIDFD")
    return is_able and os.environ.get("BONEYARD_POLLER") != "threads"


def end_with_parent(ending: signal.Signals) -> None:
    """Have the kernel send this process a signal when the thread ends that started it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ending)


def release_memory() -> None:
    """Give memory that is free back to the system, where the C library can.

    That of Linux keeps what the ratings of a thousand bots took for a while: 100 MB.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def default_jobs() -> int:
    """Return the default number of sittings side by side: all cores but one, for the referee."""
    return max(1, cores() - 1)


@cache
def machine() -> str:
    """Return the system, processor, cores and Python: bots' times say little without them.

    Nothing in it tells whose machine it is.
    """
    return ", ".join(
        (
            f"{platform.system()} {platform.release()}",
            _processor(),
            count_in_digits(cores(), "core"),
            f"{platform.python_implementation()} {platform.python_version()}",
        )
    )


def _processor() -> str:
    """Return the kernel's name of the processor, or else its architecture."""
    try:
        lines = CPU_INFO.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
