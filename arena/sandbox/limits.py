"""Limits of each bot's processes, and how a machine confines them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

SandboxMode = Literal["auto", "require", "off"]
"""auto: locked where this machine proves it. require: locked, or no game at all."""
SandboxState = Literal["locked", "off"]
MIB = 2**20


class Confinement(Struct, frozen=True):
    """The confinement of bots on a machine, as a trial proved it at the start of a run."""

    state: SandboxState
    """locked: bubblewrap, a filter of system calls, limits, and as root a user of its own; off:
    a plain process of our own user."""
    is_bounded: bool = False
    """True if a cgroup bounds memory and processors of all that a bot starts."""
    missing: tuple[str, ...] = ()
    """The promises that are known not to be kept, in sentences."""

    @property
    def is_locked(self) -> bool:
        """Tell whether bots are locked in."""
        return self.state == "locked"

    @property
    def description(self) -> str:
        """Return the state, and in words what it does not bound."""
        unbounded = self.is_locked and not self.is_bounded
        return f"{self.state}, memory and processors not bounded" if unbounded else self.state


OFF = Confinement("off")
LOCKED = Confinement("locked")
BOUNDED = Confinement("locked", is_bounded=True)


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
    """CPU time in a sitting, in s: of all its processes where a cgroup counts it (more is a foul),
    else of each of them (more kills it); None: only the clock counts."""
    cores: Annotated[float, Meta(ge=0.1, le=1024)] = 1.0
    """Cores that it may keep busy, thinking or not; held in a cgroup only."""

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
