"""The sandbox of a run: its level, and a sandboxed process for every bot."""

from copy import copy
from itertools import count
from shutil import which

from msgspec.structs import replace

from arena.sandbox.command import Tools, find_tools
from arena.sandbox.kernel.cgroups import Cgroup, Parents, parents
from arena.sandbox.limits import REQUIRED, Level, Limits
from arena.sandbox.process import SandboxedProcess
from arena.sandbox.pythons import about_python, runs_as_another

NUMBERS = count(1)
"""Numbers of cgroups: a worker has a sandbox for each order, and all are named by its process."""


class Sandbox:
    """A source of sandboxed processes, all at one level and with the same limits."""

    def __init__(self, level: Level, limits: Limits, missing: tuple[str, ...] = ()) -> None:
        """Prepare a level. `missing`: the promises that it is known not to keep, in sentences.

        Raises OSError (NoCgroupError among them) if this machine lacks its parts.
        """
        self.level = level
        self.limits = limits
        self.missing = missing
        self._tools: Tools = find_tools()
        self._parents: Parents | None = parents() if level == "A" else None
        self._check_parts()

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what an organiser should know before the first game, in sentences."""
        about = about_python() if runs_as_another(self.level) else ""
        return tuple(filter(None, (about, *self.missing)))

    @property
    def brief(self) -> str:
        """Return the level and the next step to a better one in a line; doctor has the rest."""
        if self.level == "A":
            return "Sandbox: A."
        if self.level == "off":
            # Why this event's bots have none, if there is more to say than what it means.
            why = self.missing[0] if len(self.missing) > 1 else "`boneyard doctor` helps."
            return f"Sandbox: off; bots can do all that you can. {why}"
        better = "A" if self.level == "B" else "B"
        step = f"`boneyard doctor` tells how to get {better}"
        if better == "B" and self._tools.bwrap is None:
            step = "`apt install bubblewrap` for B" if which("apt") else "install bubblewrap for B"
        return f"Sandbox: {self.level}; {step}."

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
            return SandboxedProcess(self.level, self.limits, self._tools, cgroup)
        except OSError:
            if cgroup:
                cgroup.remove()
            raise

    def _check_parts(self) -> None:
        tools = ("bwrap",) * (self.level in REQUIRED) + ("setpriv", "prlimit")
        for tool in tools if self.level != "off" else ():
            if getattr(self._tools, tool) is None:
                raise FileNotFoundError(f"The program {tool} is not installed")
