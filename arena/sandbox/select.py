"""Choice of a run's sandbox: bots are locked in where a trial proves it at the start.

Whoever could make the trial fail could have bots run without a sandbox. So nothing that others can
do decides a trial, an error that may pass stops the run, and a machine that has locked bots in once
never runs them without a sandbox until its user says so.
"""

import errno
import hashlib
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from arena.files import describe_error
from arena.sandbox.canary import UNTRIED
from arena.sandbox.command import BOUNDED, LOCKED, OFF, Confinement, Limits, SandboxMode
from arena.sandbox.process import SHORTAGES, Sandbox
from arena.sandbox.trial import (
    CANARIES,
    GUARANTEES,
    CannotProbeError,
    Guarantee,
    NoAnswerError,
    ProbeResult,
    try_sandbox,
)
from protocol.errors import UserError

# The memory that this user locked bots in on this machine: a file of the user's own.
#
# A trial that fails where one succeeded is a reason to stop, not to play without a sandbox.


def remember_proof() -> None:
    """Note that bots were locked in here. A home that cannot be written to remembers nothing."""
    with suppress(OSError, KeyError):
        note = _note()
        if not note.exists():
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.touch(0o600)


def has_proved() -> bool:
    """Tell whether this user locked bots in on this machine before."""
    with suppress(OSError, KeyError, ImportError):
        return _note().exists()
    return False


def _note() -> Path:
    """Return the file's path. Raises KeyError for a user without a home.

    Not by HOME: with it `sudo` may name the folder of another user, who could remove the file.
    """
    import pwd  # Windows has none.

    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    state = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    # Machines may share a home.
    machine = platform.node()
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text()
    return state / "boneyard" / f"locked-{hashlib.sha256(machine.encode()).hexdigest()[:16]}"


# --- the choice ---


NEEDED_PROMISES = frozenset(
    {"files", "inherited", "network", "kernel", "processes", "shared", "outlive", "limits"}
)
"""The promises without which no bot is locked in."""
SANDBOX_TRIES = 3
"""Tries of a sandbox if the machine's load may have spoiled one."""
TRANSIENT_ERRORS = SHORTAGES | {errno.ENOSPC, errno.EDQUOT}
"""Errors that pass: they stop a run, and never decide how its bots run."""
SHORTAGE_WORDS = (
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "Too many open files",
)
"""The words of bubblewrap and the shell for such errors."""
LINUX_LOCKS = "Only Linux can lock them in; `--sealed` locks any Python bot in everywhere."
ADVICE = "`boneyard doctor` explains what would help." if sys.platform == "linux" else ""
UNLOCKED = (
    f"Bots run as your own user and can read, disturb and outlive what they like. {ADVICE}".rstrip()
)


class TrialResult(Struct, frozen=True):
    """The result of trying one way to confine bots on this machine."""

    confinement: Confinement
    why_not: str
    """The reason why it is not available, a sentence; empty if it is."""
    broken: tuple[Guarantee, ...] = ()
    outcomes: dict[str, ProbeResult] = {}

    @property
    def is_proven(self) -> bool:
        """Tell whether bots can be confined so."""
        return not self.why_not


def choose_sandbox(
    mode: SandboxMode, limits: Limits, folder: Path, *, was_locked: bool = False
) -> Sandbox:
    """Return the sandbox for a run whose event is in the folder.

    `was_locked`: bots of this event were locked in before. Raises UserError if they cannot be now,
    and the mode or the past forbids to play without; OSError if the machine is short of something.
    """
    if mode == "off":
        return Sandbox(replace(OFF, missing=(UNLOCKED,)), limits)
    trial = try_to_lock(folder)
    if trial.is_proven:
        remember_proof()
        return Sandbox(trial.confinement, limits)
    why_not = f"{trial.why_not} {ADVICE}".rstrip()
    if mode == "require":
        raise UserError(f"This machine cannot lock bots in (sandbox: require). {why_not}")
    if was_locked or has_proved():
        place = "of this event" if was_locked else "on this machine"
        other = "A new event (--out) may play with" if was_locked else "Or play with"
        raise UserError(
            f"The sandbox fails, and bots {place} were locked in before: {why_not} "
            f"{other} --sandbox off."
        )
    return Sandbox(replace(OFF, missing=(UNLOCKED,)), limits, trial.why_not)


def try_to_lock(folder: Path) -> TrialResult:
    """Try to lock bots in, with a cgroup where one can be had; see `examine`. Raises OSError."""
    if sys.platform != "linux":
        return TrialResult(OFF, LINUX_LOCKS)
    bounded = examine(BOUNDED, folder)
    if bounded.is_proven:
        return bounded
    locked = examine(LOCKED, folder)
    unbounded = f"Memory and processors of bots are not bounded: {bounded.why_not}"
    missing = (unbounded, *locked.confinement.missing)
    return replace(locked, confinement=replace(locked.confinement, missing=missing))


def examine(confinement: Confinement, folder: Path) -> TrialResult:
    """Try a confinement with the canary, which takes about 0.05 s; nothing of it is left.

    Raises OSError if the machine is short of something now: that says nothing about the sandbox.
    """
    for _ in range(SANDBOX_TRIES):
        trial = _try_once(confinement, folder)
        # A busy machine may have spoiled an attempt that was not made.
        if not any(_decides(name, outcome) for name, outcome in trial.outcomes.items()):
            break
    return trial


def _decides(name: str, outcome: ProbeResult) -> bool:
    """Tell whether an attempt that was not made decides against the sandbox."""
    return CANARIES[name] in NEEDED_PROMISES and outcome.detail.startswith(UNTRIED)


def _try_once(confinement: Confinement, folder: Path) -> TrialResult:
    try:
        outcomes = try_sandbox(confinement, folder)
    except OSError as error:
        if error.errno in TRANSIENT_ERRORS:
            raise
        return TrialResult(confinement, _sentence(error))
    except CannotProbeError as error:
        if isinstance(error, NoAnswerError) or any(words in f"{error}" for words in SHORTAGE_WORDS):
            raise OSError(errno.EAGAIN, f"The sandbox cannot be tried now: {error}") from error
        return TrialResult(confinement, _sentence(error))
    through = {CANARIES[name] for name, outcome in outcomes.items() if outcome.got}
    broken = tuple(promise for promise in GUARANTEES if promise.name in through)
    fatal = [promise.missing for promise in broken if promise.name in NEEDED_PROMISES]
    missing = tuple(promise.missing for promise in broken)
    why_not = " ".join(fatal) if confinement.is_locked else ""
    return TrialResult(replace(confinement, missing=missing), why_not, broken, outcomes)


def _sentence(error: Exception) -> str:
    """Return an error as a sentence, without the number that it has for programs."""
    text = describe_error(error)
    return f"{text[:1].upper()}{text[1:]}."
