"""Limits of each bot's processes, and the names of the sandbox levels."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Level = Literal["A", "B", "C", "D", "off"]
"""A: namespaces and a cgroup. B: namespaces. C: Landlock. D: limits only. off: nothing."""
LEVELS: tuple[Level, ...] = ("A", "B", "C", "D", "off")
"""The levels, best first."""
ABOUT: dict[Level, str] = {
    "A": "namespaces, a filter of system calls, and a cgroup",
    "B": "namespaces and a filter of system calls",
    "C": "Landlock and a filter of system calls",
    "D": "limits only",
    "off": "nothing",
}
SandboxMode = Literal["auto", "require", "off"]
"""auto: the best level that this machine proves. require: level A or B, or no game at all."""
REQUIRED: tuple[Level, ...] = ("A", "B")
MIB = 2**20


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of each bot. If a bot is refused something, its author must deal with it."""

    memory_mib: Annotated[int, Meta(ge=16, le=1_048_576)] = 512
    """Memory that all its processes may keep resident together, in MiB; more is a foul."""
    processes: Annotated[int, Meta(ge=1, le=4096)] = 64
    """Processes and threads that it may have at once."""
    open_files: Annotated[int, Meta(ge=16, le=65_536)] = 64
    """Descriptors that each of its processes may have open."""
    file_mib: Annotated[int, Meta(ge=0, le=65_536)] = 16
    """Size of any file that it writes, and of its /tmp and its /dev/shm, in MiB."""
    cpu_s: Annotated[int, Meta(ge=1, le=31_536_000)] | None = None
    """CPU time in a sitting, in s: of all its processes at level A (more is a foul), of each of
    them at levels B to D (more kills it); None: only the clock counts."""
    cores: Annotated[float, Meta(ge=0.1, le=1024)] = 1.0
    """Cores that it may keep busy, thinking or not; held at level A only."""

    unavailable: Annotated[int, Meta(ge=0, le=1000)] = 3
    """Times in a sitting that it may say that it is unavailable and is started again, after a pause
    of up to a minute; once more is a foul."""

    cents: Annotated[float, Meta(ge=0.01, le=1e9)] | None = None
    """US cents that its answers may cost in the event, as it states them: then it plays no more."""

    @property
    def memory(self) -> int:
        """Return the resident memory of all its processes, in bytes."""
        return self.memory_mib * MIB

    @property
    def wall(self) -> int:
        """Return the private memory of each process, in bytes: twice the limit of the foul.

        The foul informs the author; this limit only protects the machine from a burst.
        """
        return 2 * self.memory

    @property
    def address_space(self) -> int:
        """Return the address space of each process, in bytes; Java reserves more than it uses."""
        return max(8192 * MIB, 8 * self.memory)

    @property
    def file_bytes(self) -> int:
        """Return the size of a file that it writes, in bytes."""
        return self.file_mib * MIB


def level_name(level: str) -> str:
    """Return the name of a level in a sentence."""
    return "off" if level == "off" else f"level {level}"
