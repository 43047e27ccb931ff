"""Attacks on a level of this machine, started as the product starts bots."""

from pathlib import Path

from msgspec import Struct

from arena.sandbox.limits import Level
from arena.sandbox.select import NEEDED
from arena.sandbox.selftest.canary import UNTRIED
from arena.sandbox.selftest.processes import CannotProbeError, Starter
from arena.sandbox.selftest.trial import SMALL, ProbeResult
from tests.attacks.fixtures import TriedLimits
from tests.attacks.probes import GROUPS
from tests.attacks.runner import run_probes

TRIED = TriedLimits(
    processes=SMALL.processes,
    open_files=SMALL.open_files,
    file_mib=SMALL.file_mib,
    memory_mib=2 * SMALL.memory_mib,
    tmp_mib=SMALL.file_mib,
)
"""The limits under which levels are tried, in the form that the probes take."""
TRIES = 10
"""Attempts at a probe that a busy machine did not let be made."""


class Attacks(Struct, frozen=True):
    """The result of all attacks on one level."""

    level: Level
    why_not: str
    """The reason why the level is not available; empty if it is."""
    outcomes: dict[str, ProbeResult]

    @property
    def through(self) -> set[str]:
        return {name for name, outcome in self.outcomes.items() if outcome.got}

    @property
    def broken(self) -> set[str]:
        """Return the names of the guarantees that the level does not keep."""
        return {name for name, probes in GROUPS.items() if self.through & probes.keys()}

    @property
    def confirmed(self) -> bool:
        return not self.why_not and not self.broken & NEEDED[self.level]


def run_at(level: Level, folder: Path, names: tuple[str, ...] = ()) -> dict[str, ProbeResult]:
    """Make the named probes, or all, once. Raises CannotProbeError, OSError."""
    starter = Starter(level, SMALL)
    return run_probes(starter.start, starter.end, folder, TRIED, names)


def attack(level: Level, folder: Path) -> Attacks:
    """Make all probes; what was not tried would count as what got through, and is tried again."""
    try:
        found = run_at(level, folder)
        for _ in range(TRIES):
            untried = tuple(n for n, one in found.items() if one.detail.startswith(UNTRIED))
            if not untried:
                break
            found |= run_at(level, folder, untried)
    except (OSError, CannotProbeError) as error:
        return Attacks(level, str(error), {})
    return Attacks(level, "", found)
