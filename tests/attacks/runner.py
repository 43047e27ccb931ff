"""Runs of the probes at one level, and their outcomes as the referee sees them from outside."""

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.sandbox.selftest.canary import UNTRIED
from arena.sandbox.selftest.processes import CannotProbeError, ask_process, close_pipes
from arena.sandbox.selftest.trial import ProbeResult
from protocol.codec import encode_json
from tests.attacks.fixtures import End, ProbeScene, Start, TriedLimits, scene
from tests.attacks.probes import OUTLIVE, PROBES, Targets

GRACE_S = 5
"""Seconds that the kernel may take to end a killed process."""
LOOK_S = 0.1
"""The interval at which it is looked for, in s: each look reads all of /proc."""


class State(Struct, frozen=True):
    """The values of a stand-in that a probe could have changed."""

    signals: int
    """Signals that arrived."""
    woken: int
    """The number of times that it was woken at a page of a file."""
    datagrams: int
    """Sockets with datagrams waiting."""
    nice: int
    """Its place at the processor: more is later."""
    cpus: int
    """Processors that it may use."""
    open_files: int
    """Its limit on open files."""


def run_probes(
    start: Start,
    end: End,
    folder: Path,
    limits: TriedLimits | None = None,
    names: tuple[str, ...] = (),
) -> dict[str, ProbeResult]:
    """Make the named probes, or all, as a bot that `start` starts, in the order of probes.py.

    `folder` is that of events, and must be writable. Takes about a second; leaves nothing.
    Raises CannotProbeError if a process does not start or answer at this level, OSError, and
    ValueError for a name that is not a probe's.
    """
    if stray := set(names).difference(PROBES):
        raise ValueError(f"no such probes: {sorted(stray)}")
    with scene(start, end, folder, limits or TriedLimits(), names) as setting:
        before = _states(setting)
        try:
            said = ask_process(setting.probing, encode_json(setting.targets))
        finally:
            end(setting.probing)
            close_pipes(setting.probing)
            alive = _end_survivors(setting.targets)
        found = _parse_outcomes(said)
        seen = {**_effects(setting, before, found), **alive}
    return {name: _judge(outcome, seen.get(name)) for name, outcome in found.items()}


def _parse_outcomes(said: Mapping[str, Any]) -> dict[str, ProbeResult]:
    try:
        return msgspec.convert(said, dict[str, ProbeResult])
    except msgspec.ValidationError as no:
        raise CannotProbeError(f"The probes answered in no way known: {no}.") from None


def _judge(said: ProbeResult, seen: bool | None) -> ProbeResult:
    """Return an outcome in which observation outranks the report; untried stays unknown."""
    if seen is None or seen == said.got or said.detail.startswith(UNTRIED):
        return said
    return ProbeResult(seen, f"{said.detail}; {'seen' if seen else 'without effect'}")


def _states(setting: ProbeScene) -> dict[str, State]:
    return {
        who: msgspec.convert(ask_process(process, b"report"), State)
        for who, process in (("referee", setting.referee), ("other-bot", setting.other))
    }


def _effects(
    setting: ProbeScene, before: Mapping[str, State], found: Mapping[str, ProbeResult]
) -> dict[str, bool]:
    """Return whether each attempt at another process or file shows at the other end."""
    after, targets = _states(setting), setting.targets
    seen = {
        "udp-referee": after["referee"].datagrams > 0,
        "write-game-log": b"forged" in Path(targets["game_log"]).read_bytes(),
        "write-other-bots-folder": Path(targets["other_folder"], "planted").exists(),
        "end-of-a-thread": after["other-bot"].woken > before["other-bot"].woken,
        "write-times": int(Path(targets["shared"]).stat().st_mtime) != targets["shared_read_at"],
    }
    for who, old in before.items():
        new = after[who]
        seen[f"{who}-signal"] = new.signals > old.signals
        seen[f"{who}-renice"] = new.nice != old.nice
        seen[f"{who}-limit"] = new.open_files != old.open_files
        if old.cpus > 1:
            seen[f"{who}-pin"] = new.cpus != old.cpus
    return {name: effect for name, effect in seen.items() if name in found}


def _end_survivors(targets: Targets) -> dict[str, bool]:
    """Return which processes are still there after the kill, and end them."""
    deadline = time.monotonic() + GRACE_S
    while (alive := _survivors(targets)) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    for pid in alive.values():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return {name: name in alive for name in OUTLIVE}


def _survivors(targets: Targets) -> dict[str, int]:
    """Return processes with one of this scene's names that are not zombies, by probe."""
    names, found = {sign: name for name, sign in targets["outlive"].items()}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = status.read_text(errors="replace").rpartition(")")
            pid, _, sign = head.partition(" (")
            if sign in names and rest.split()[0] not in "ZX":
                found[names[sign]] = int(pid)
    return found
