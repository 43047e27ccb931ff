"""The resources used by a process and its descendants, read from /proc. Ends and starts nothing."""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


class ResourceUsage(Struct, frozen=True):
    """A bot's use of resources."""

    cpu_ms: float
    """CPU time of all its processes since it was started, in ms."""
    memory: int
    """Memory that its processes keep resident now, in bytes."""


def usage_of(pid: int, most: int) -> ResourceUsage:
    """Return the use of a process and its descendants; consider no more than `most` of them."""
    cpu_ms, memory = 0.0, 0
    for _, process in zip(range(most), process_tree(pid), strict=False):
        with suppress(OSError, IndexError, ValueError):
            # The name may hold anything; the figures follow its closing bracket.
            fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
            cpu_ms += sum(map(int, fields[11:15])) * TICK_MS
            memory += int(fields[21]) * PAGE
    return ResourceUsage(cpu_ms, memory)


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, parents first."""
    waiting = deque([pid])
    while waiting:
        process = waiting.popleft()
        yield process
        waiting += children(process)


def children(pid: int) -> list[int]:
    """Return the processes that the threads of a process started and that still are its own."""
    processes: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - as in `_read`
            processes += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return processes


def _read(path: str) -> bytes:
    """Return a file of the kernel. Raises OSError.

    Not by pathlib, which takes twice as long: each bot is measured ten times a second.
    """
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see above
        return file.readall()
