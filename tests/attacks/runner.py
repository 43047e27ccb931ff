"""Runs of the probes, and their outcomes as the referee sees them from outside."""

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.sandbox.canary import UNTRIED
from arena.sandbox.command import Confinement
from arena.sandbox.select import (
    NEEDED_PROMISES,
    TRIAL_LIMITS,
    CannotProbeError,
    ProbeResult,
    Starter,
    ask_process,
    close_pipes,
)
from protocol.codec import encode_json
from tests.attacks.fixtures import End, ProbeScene, Start, scene
from tests.attacks.probes import GROUPS, OUTLIVE, PROBES, Targets

GRACE_S = 5
"""Seconds that the kernel may take to end a killed process."""
TRIES = 10
"""Attempts at a probe that a busy machine did not let be made."""
LOOK_S = 0.1
"""The interval at which it is looked for, in s: each look reads all of /proc."""


class Attacks(Struct, frozen=True):
    """The result of all attacks on one confinement."""

    confinement: Confinement
    why_not: str
    """The reason why it is not available; empty if it is."""
    outcomes: dict[str, ProbeResult]

    @property
    def through(self) -> set[str]:
        return {name for name, outcome in self.outcomes.items() if outcome.got}

    @property
    def broken(self) -> set[str]:
        """Return the names of the guarantees that are not kept."""
        return {name for name, probes in GROUPS.items() if self.through & probes.keys()}

    @property
    def is_proven(self) -> bool:
        return not self.why_not and not self.broken & NEEDED_PROMISES


def attack(confinement: Confinement, folder: Path) -> Attacks:
    """Make all probes, started as the product starts bots."""
    try:
        starter = Starter(confinement, TRIAL_LIMITS)
        return Attacks(confinement, "", run_until_tried(starter.start, starter.end, folder))
    except (OSError, CannotProbeError) as error:
        return Attacks(confinement, str(error), {})


def run_until_tried(start: Start, end: End, folder: Path) -> dict[str, ProbeResult]:
    """Make all probes; those that were not tried, which would count as got through, again."""
    results = run_probes(start, end, folder)
    for _ in range(TRIES):
        untried = tuple(
            name for name, result in results.items() if result.detail.startswith(UNTRIED)
        )
        if not untried:
            break
        results |= run_probes(start, end, folder, untried)
    return results


def run_probes(
    start: Start, end: End, folder: Path, names: tuple[str, ...] = ()
) -> dict[str, ProbeResult]:
    """Make the named probes, or all, as a bot that `start` starts, in the order of probes.py.

    `folder` is that of events, and must be writable. Takes about a second; leaves nothing.
    Raises CannotProbeError if a process does not start or answer, OSError, and
    ValueError for a name that is not a probe's.
    """
    if stray := set(names).difference(PROBES):
        raise ValueError(f"no such probes: {sorted(stray)}")
    with scene(start, end, folder, names) as setting:
        before = _states(setting)
        try:
            outcomes = ask_process(setting.probing, encode_json(setting.targets))
        finally:
            end(setting.probing)
            close_pipes(setting.probing)
            alive = _end_survivors(setting.targets)
        results = _parse_outcomes(outcomes)
        effects = {**_effects(setting, before, results), **alive}
    return {name: _judge(outcome, effects.get(name)) for name, outcome in results.items()}


def _parse_outcomes(outcomes: Mapping[str, Any]) -> dict[str, ProbeResult]:
    try:
        return msgspec.convert(outcomes, dict[str, ProbeResult])
    except msgspec.ValidationError as error:
        raise CannotProbeError(f"The probes answered in no way known: {error}.") from None


def _judge(result: ProbeResult, effect: bool | None) -> ProbeResult:
    """Return an outcome in which observation outranks the report; untried stays unknown."""
    if effect is None or effect == result.got or result.detail.startswith(UNTRIED):
        return result
    return ProbeResult(effect, f"{result.detail}; {'seen' if effect else 'without effect'}")


def _states(setting: ProbeScene) -> dict[str, dict[str, Any]]:
    """Return the values of both stand-ins that a probe could have changed."""
    pair = (("referee", setting.referee), ("other-bot", setting.other))
    return {name: ask_process(process, b"report") for name, process in pair}


def _effects(
    setting: ProbeScene, before: dict[str, dict[str, Any]], results: Mapping[str, ProbeResult]
) -> dict[str, bool]:
    """Return whether each attempt at another process or file shows at the other end."""
    after, targets = _states(setting), setting.targets
    effects = {
        "udp-referee": after["referee"]["datagrams"] > 0,
        "write-game-log": b"forged" in Path(targets["game_log"]).read_bytes(),
        "write-other-bots-folder": Path(targets["other_folder"], "planted").exists(),
        "end-of-a-thread": after["other-bot"]["woken"] > before["other-bot"]["woken"],
        "write-times": int(Path(targets["shared"]).stat().st_mtime) != targets["shared_read_at"],
    }
    for name, old in before.items():
        new = after[name]
        effects[f"{name}-signal"] = new["signals"] > old["signals"]
        effects[f"{name}-renice"] = new["nice"] != old["nice"]
        effects[f"{name}-limit"] = new["open_files"] != old["open_files"]
        if old["cpus"] > 1:
            effects[f"{name}-pin"] = new["cpus"] != old["cpus"]
    return {name: effect for name, effect in effects.items() if name in results}


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
    names, survivors = {sign: name for name, sign in targets["outlive"].items()}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = status.read_text(errors="replace").rpartition(")")
            pid, _, sign = head.partition(" (")
            if sign in names and rest.split()[0] not in "ZX":
                survivors[names[sign]] = int(pid)
    return survivors
