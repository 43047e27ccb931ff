"""Choice of the best level that this machine proves: each level is tried, never assumed.

What was found in full is kept for a day; then a check without the costly probes confirms it.
"""

import errno
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from subprocess import TimeoutExpired

from msgspec import Struct

from arena.sandbox.command import Command
from arena.sandbox.dependencies import real_path
from arena.sandbox.limits import LEVELS, REQUIRED, Level, Limits, SandboxMode
from arena.sandbox.process import SHORTAGES, SandboxedProcess
from arena.sandbox.pythons import barrier, runs_as_another
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.selftest.cache import load_outcomes, save_outcomes
from arena.sandbox.selftest.fixtures import TriedLimits as Tried
from arena.sandbox.selftest.guarantees import CHEAP, COSTLY, Guarantee, missing_guarantees
from arena.sandbox.selftest.machine import machine_fingerprint
from arena.sandbox.selftest.processes import PATIENCE_S, CannotProbeError, Popen, close_pipes
from arena.sandbox.selftest.runner import UNTRIED, ProbeResult, run_probes
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
SMALL = Limits(memory_mib=48, processes=16)
"""The limits under which the levels are tried: a probe that exceeds them does no harm."""
TRIED = Tried(
    processes=SMALL.processes,
    open_files=SMALL.open_files,
    file_mib=SMALL.file_mib,
    memory_mib=2 * SMALL.memory_mib,
    tmp_mib=SMALL.file_mib,
)
"""The same limits in the form that the probes take."""
TRIES = 3
"""Tries of a level if the machine's load may have spoiled one."""
PASSING = SHORTAGES | {errno.ENOSPC, errno.EDQUOT}
"""Errors that pass: they stop a run, and never lower its level."""
OFF = (
    "Bots run as your own user and can read, disturb and outlive what they like. "
    "`boneyard doctor` explains what would help."
)


class LevelResult(Struct, frozen=True):
    """The result of trying one level on this machine."""

    level: Level
    """The level."""
    why_not: str
    """The reason why it is not available, a sentence; empty if it is."""
    broken: tuple[Guarantee, ...]
    """The promises that it does not keep."""
    outcomes: dict[str, ProbeResult]
    """Every probe that was made, by name."""

    @property
    def confirmed(self) -> bool:
        """Tell whether bots can run at this level."""
        return not self.why_not

    def is_untried(self, probe: str) -> bool:
        """Tell whether a probe could not be made, on a busy machine perhaps."""
        return self.outcomes[probe].detail.startswith(UNTRIED)


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
        # Who requires a level is not content with what may be a day old.
        test = examine_level if wish == "require" else recheck_level
        finding = test(level, folder)
        if finding.confirmed:
            return Sandbox(level, limits, tuple(level_sentences(finding)))
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


def recheck_level(level: Level, folder: Path) -> LevelResult:
    """Try a level with the cheap probes; with every probe if one contradicts what is kept.

    Raises OSError as `examine_level` does.
    """
    fingerprint = machine_fingerprint(level)
    kept = load_outcomes(fingerprint)
    if kept and _agrees(kept, level, folder):
        return _level_result(level, kept)
    finding = examine_level(level, folder)
    if finding.outcomes and not any(map(finding.is_untried, COSTLY)):
        save_outcomes(fingerprint, finding.outcomes)
    return finding


def _agrees(kept: dict[str, ProbeResult], level: Level, folder: Path) -> bool:
    try:
        now = _run_probes(level, folder, CHEAP)
    except (OSError, CannotProbeError):
        return False  # The whole test shows why.
    return all(kept[name].got == outcome.got for name, outcome in now.items())


def examine_level(level: Level, folder: Path) -> LevelResult:
    """Try a level with every probe, which takes about a second; nothing of it is left.

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
        finding = _level_result(level, _run_probes(level, folder))
        return finding, _is_certain(finding)
    except OSError as error:
        if error.errno in PASSING:
            raise
        return LevelResult(level, _sentence(error), (), {}), True
    except CannotProbeError as error:
        shut = barrier(Path(sys.executable)) if runs_as_another(level) else None
        foreign = shut is not None and "Permission denied" in str(error)
        why_not = _foreign(shut) if shut and foreign else _sentence(error)
        return LevelResult(level, why_not, (), {}), foreign


def _level_result(level: Level, found: dict[str, ProbeResult]) -> LevelResult:
    broken = missing_guarantees(name for name, outcome in found.items() if outcome.got)
    lacking = [promise for promise in broken if promise.name in NEEDED[level]]
    why_not = " ".join(promise.missing for promise in lacking)
    return LevelResult(level, why_not, broken, found)


def _is_certain(finding: LevelResult) -> bool:
    """Tell whether every probe that decided against a level was made."""
    lacking = [promise for promise in finding.broken if promise.name in NEEDED[finding.level]]
    return not any(finding.is_untried(name) for promise in lacking for name in promise.probes)


def _foreign(shut: Path) -> str:
    return (
        f"As root each bot runs as another user, who may not enter {shut}, where our Python lies "
        f"({real_path(Path(sys.executable))}), and there is no other Python that they may run. "
        "Install one (Debian, Ubuntu: package `python3`), or run Boneyard with /usr/bin/python3."
    )


def _sentence(error: Exception) -> str:
    """Return an error as a sentence, without the number that it has for programs."""
    text = str(error).strip().rstrip(".")
    if isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {error.strerror}"
    return f"{text[:1].upper()}{text[1:]}."


def level_sentences(finding: LevelResult) -> Iterator[str]:
    """Yield one sentence for each promise that is missing."""
    for promise in finding.broken:
        yield f"{promise.missing} {promise.remedy}"


def _run_probes(level: Level, folder: Path, names: tuple[str, ...] = ()) -> dict[str, ProbeResult]:
    sandbox = Sandbox(level, SMALL)
    slots: dict[int, SandboxedProcess] = {}

    def start(argv: tuple[str, ...], reads: tuple[str, ...]) -> Popen:
        slot = sandbox.new_process()
        try:
            process = slot.start(Command(argv, str(Path(argv[-1]).parent), reads))
        except OSError:
            slot.close()
            raise
        slots[process.pid] = slot
        return process

    def end(process: Popen) -> None:
        slot = slots.pop(process.pid, None)
        if slot:
            slot.kill()
            try:
                process.wait(PATIENCE_S)
            except TimeoutExpired as error:
                raise CannotProbeError("A test process could not be ended.") from error
            slot.close()
        close_pipes(process)

    return run_probes(start, end, folder, TRIED, names)
