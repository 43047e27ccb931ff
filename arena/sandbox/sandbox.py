"""The sandbox of a run: how bots are confined, and a process for every bot."""

from copy import copy
from itertools import count

from msgspec.structs import replace

from arena.sandbox.command import Tools, find_tools
from arena.sandbox.kernel.cgroups import Cgroup, Parents, parents
from arena.sandbox.limits import Confinement, Limits, SandboxState
from arena.sandbox.process import SandboxedProcess

NUMBERS = count(1)
"""Numbers of cgroups: a worker has a sandbox for each order, and all are named by its process."""


class Sandbox:
    """A source of processes of bots, all confined alike and with the same limits."""

    def __init__(self, confinement: Confinement, limits: Limits, why_off: str = "") -> None:
        """Prepare a sandbox. `why_off`: the reason why bots are not locked in, if nobody wished it.

        Raises OSError (NoCgroupError among them) if its parts are missing.
        """
        self.confinement = confinement
        self.limits = limits
        self.why_off = why_off
        self._tools: Tools = find_tools()
        self._parents: Parents | None = parents() if confinement.is_bounded else None
        for tool in ("bwrap", "setpriv", "prlimit") if self.is_locked else ():
            if getattr(self._tools, tool) is None:
                raise FileNotFoundError(f"The program {tool} is not installed")

    @property
    def state(self) -> SandboxState:
        """Return the word for how bots are confined."""
        return self.confinement.state

    @property
    def is_locked(self) -> bool:
        """Tell whether bots are locked in."""
        return self.confinement.is_locked

    @property
    def brief(self) -> str:
        """Return how bots are confined, in a line; doctor has the rest."""
        if self.is_locked:
            return f"Sandbox: {self.confinement.description}."
        why = self.why_off or "`boneyard doctor` helps."
        return f"Sandbox: off; bots can do all that you can. {why}"

    def for_hosts(self, mib: int) -> "Sandbox":
        """Return the same sandbox with so much more memory, for processes that count their work."""
        other = copy(self)
        other.limits = replace(self.limits, memory_mib=self.limits.memory_mib + mib, cpu_s=None)
        return other

    def new_process(self) -> SandboxedProcess:
        """Return a place for one bot. Raises OSError."""
        cgroup = None
        if self._parents is not None:
            cgroup = Cgroup(self._parents, next(NUMBERS), self.limits)
        try:
            return SandboxedProcess(self.confinement, self.limits, self._tools, cgroup)
        except OSError:
            if cgroup:
                cgroup.remove()
            raise
