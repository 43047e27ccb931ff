"""The machine: the sittings that it can play side by side, and its description in one line."""

import os
import platform
from functools import cache
from pathlib import Path

from arena.rules.english import count_in_digits

CPU_INFO = Path("/proc/cpuinfo")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


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
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
