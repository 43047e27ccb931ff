"""Choice of the best level that this machine proves: each level is tried at each start."""

import errno
import sys
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from arena.sandbox.dependencies import real_path
from arena.sandbox.limits import LEVELS, REQUIRED, Level, Limits, SandboxMode
from arena.sandbox.process import SHORTAGES
from arena.sandbox.pythons import barrier, runs_as_another
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.selftest.canary import UNTRIED
from arena.sandbox.selftest.guarantees import GUARANTEES, Guarantee
from arena.sandbox.selftest.processes import CannotProbeError
from arena.sandbox.selftest.trial import CANARIES, ProbeResult, try_level
from protocol.errors import UserError

_WALLS = frozenset({"files", "inherited", "network", "kernel"})
_ROOMS = _WALLS | {"processes", "shared", "outlive"}
NEEDED: dict[Level, frozenset[str]] = {
    "A": _ROOMS | {"limits"},
    "B": _ROOMS,
    "C": _WALLS,
    "D": frozenset(),
    "off": frozenset(),
}
"""The promises that a level must keep to bear its name."""
TRIES = 3
"""Tries of a level if the machine's load may have spoiled one."""
TRANSIENT_ERRORS = SHORTAGES | {errno.ENOSPC, errno.EDQUOT}
"""Errors that pass: they stop a run, and never lower its level."""
OFF = (
    "Bots run as your own user and can read, disturb and outlive what they like. "
    "`boneyard doctor` explains what would help."
)


class LevelResult(Struct, frozen=True):
    """The result of trying one level on this machine."""

    level: Level
    why_not: str
    """The reason why it is not available, a sentence; empty if it is."""
    broken: tuple[Guarantee, ...]
    outcomes: dict[str, ProbeResult]

    @property
    def confirmed(self) -> bool:
        """Tell whether bots can run at this level."""
        return not self.why_not


def choose_level(
    wish: SandboxMode, limits: Limits, folder: Path, files: Iterable[Path] = ()
) -> Sandbox:
    """Return the sandbox for a run whose event is in the folder.

    `files`: what its bots must be able to reach. Raises UserError if A or B is required and not
    available.
    """
    if wish == "off":
        return Sandbox("off", limits, (OFF,))
    reasons = []
    files = tuple(files)
    for level in REQUIRED if wish == "require" else LEVELS[:-1]:
        if shut := _shut_out(level, files):
            return Sandbox("off", limits, (shut, OFF))
        finding = examine_level(level, folder)
        if finding.confirmed:
            missing = (f"{promise.missing} {promise.remedy}" for promise in finding.broken)
            return Sandbox(level, limits, tuple(missing))
        reasons.append(f"Level {level}: {finding.why_not}")
    if wish == "require":
        raise UserError(
            f"This machine cannot lock bots in (sandbox: require). {' '.join(reasons)} "
            "`boneyard doctor` explains what would help."
        )
    return Sandbox("off", limits, (OFF,))


def _shut_out(level: Level, files: Iterable[Path]) -> str:
    """Return the reason why bots could not reach their files at a level; empty if they can."""
    for file in files if runs_as_another(level) else ():
        if shut := barrier(file):
            return (
                f"Not level {level}: as root each bot runs as another user, who may not enter "
                f"{shut}, and bots lie in {file.parent}. Move them to a folder that all may "
                "enter, or install bubblewrap."
            )
    return ""


def examine_level(level: Level, folder: Path) -> LevelResult:
    """Try a level with the canary, which takes about 0.05 s; nothing of it is left.

    Raises OSError if the machine is short of something now: that says nothing about the level.
    """
    for _ in range(TRIES):
        finding, certain = _try_once(level, folder)
        if certain:
            break
    return finding


def _try_once(level: Level, folder: Path) -> tuple[LevelResult, bool]:
    """Return the result of one try, and whether a busy machine cannot have influenced it."""
    try:
        found = try_level(level, folder)
    except OSError as error:
        if error.errno in TRANSIENT_ERRORS:
            raise
        return LevelResult(level, _sentence(error), (), {}), True
    except CannotProbeError as error:
        shut = barrier(Path(sys.executable)) if runs_as_another(level) else None
        foreign = shut is not None and "Permission denied" in str(error)
        why_not = _sentence(error)
        if foreign:
            why_not = (
                f"As root each bot runs as another user, who may not enter {shut}, where our "
                f"Python lies ({real_path(Path(sys.executable))}), and there is no other Python "
                "that they may run. Install one (Debian, Ubuntu: package `python3`), or run "
                "Boneyard with /usr/bin/python3."
            )
        return LevelResult(level, why_not, (), {}), foreign
    through = {CANARIES[name] for name, outcome in found.items() if outcome.got}
    broken = tuple(promise for promise in GUARANTEES if promise.name in through)
    why_not = " ".join(promise.missing for promise in broken if promise.name in NEEDED[level])
    # Certain: every attempt that decided against the level was made.
    untried = any(
        CANARIES[name] in NEEDED[level] and outcome.detail.startswith(UNTRIED)
        for name, outcome in found.items()
    )
    return LevelResult(level, why_not, broken, found), not untried


def _sentence(error: Exception) -> str:
    """Return an error as a sentence, without the number that it has for programs."""
    text = str(error).strip().rstrip(".")
    if isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {error.strerror}"
    return f"{text[:1].upper()}{text[1:]}."
