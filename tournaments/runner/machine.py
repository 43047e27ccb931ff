"""What this machine is, in a line: times that bots took say little without it."""

import os
import platform
from functools import cache
from pathlib import Path

CPU_INFO = Path("/proc/cpuinfo")


@cache
def machine() -> str:
    """System, processor, cores and Python; no name that says whose machine it is."""
    cores = len(os.sched_getaffinity(0))
    return ", ".join(
        (
            f"{platform.system()} {platform.release()}",
            _processor(),
            "1 core" if cores == 1 else f"{cores} cores",
            f"{platform.python_implementation()} {platform.python_version()}",
        )
    )


def _processor() -> str:
    """What the kernel calls the processor, or else its kind."""
    try:
        lines = CPU_INFO.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
