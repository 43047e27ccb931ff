"""The canary finds each mechanism that is taken away, and never takes a broken attempt for one."""

import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox import command, process
from arena.sandbox.kernel import landlock
from arena.sandbox.kernel.cgroups import Cgroup
from arena.sandbox.limits import Level, Limits
from arena.sandbox.select import LevelResult, choose_level, examine_level
from arena.sandbox.selftest import trial
from arena.sandbox.selftest.trial import CANARIES, ONLY, ProbeResult, try_level
from protocol.errors import UserError

ROOT = os.geteuid() == 0
SYSTEM_PYTHON = Path("/usr/bin/python3")
TMP = Path(tempfile.gettempdir())
Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def levels(monkeypatch: Patch) -> None:
    """Below B, root's bots cannot enter a private home: the machine's own Python will do."""
    if SYSTEM_PYTHON.exists():
        monkeypatch.setattr(sys, "executable", str(SYSTEM_PYTHON))
        monkeypatch.setattr(sys, "base_prefix", "/usr")


def through(level: Level) -> set[str]:
    return {name for name, outcome in try_level(level, TMP).items() if outcome.got}


def without(*words: str) -> Callable[[Patch], None]:
    """Return a change that takes these options from bubblewrap."""

    def change(patch: Patch) -> None:
        def fewer(*arguments: Any, **others: Any) -> list[str]:
            return [one for one in command.walls(*arguments, **others) if one not in words]

        patch.setattr(process, "walls", fewer)

    return change


def open_tmp(patch: Patch) -> None:
    def more(*arguments: Any, **others: Any) -> list[str]:
        return [*command.walls(*arguments, **others), "--bind", str(TMP), str(TMP)]

    patch.setattr(process, "walls", more)


def no_limits(patch: Patch) -> None:
    patch.setattr(command, "_prlimit", lambda *_: iter(()))


def no_filter(patch: Patch) -> None:
    patch.setattr(process, "filter_program", lambda **_: None)


def no_filter_nor_network(patch: Patch) -> None:
    no_filter(patch)
    without("--unshare-net")(patch)


def whole_environment(patch: Patch) -> None:
    patch.setattr(process, "clean_environment", lambda *_: dict(os.environ))


def whole_proc(patch: Patch) -> None:
    patch.setattr(command, "STEADY", frozenset(os.listdir("/proc")))  # noqa: PTH208


def no_cgroup(patch: Patch) -> None:
    patch.setattr(Cgroup, "doors", ())


def no_landlock(patch: Patch) -> None:
    def filtered(_: object) -> None:
        landlock._prctl(landlock._NO_NEW_PRIVS, 1)
        landlock._refuse_calls()

    patch.setattr(process, "restrict_this_thread", filtered)


def gains_rights(patch: Patch) -> None:
    given = command._setpriv

    def kept(*arguments: Any) -> Iterator[str]:
        return (word for word in given(*arguments) if word != "--no-new-privs")

    patch.setattr(command, "_setpriv", kept)


def one_user(patch: Patch) -> None:
    class Ours:
        number = 0

        def release(self) -> None:
            pass

    patch.setattr(process, "User", Ours)
    patch.setattr(process.SandboxedProcess, "_kill_user", lambda _: None)


def no_kill(patch: Patch) -> None:
    patch.setattr(process.SandboxedProcess, "_kill_user", lambda _: None)


REMOVED: dict[str, tuple[Level, Callable[[Patch], None], set[str]]] = {
    "namespace of mounts": ("B", open_tmp, {"read-event", "write-event", "write-tmp"}),
    "namespace of processes": ("B", without("--unshare-pid"), {"see-referee"}),
    "namespace of the network": ("B", without("--unshare-net"), {"same-network"}),
    "namespace of memory and queues": ("B", without("--unshare-ipc"), {"same-ipc"}),
    "covers of /proc": ("B", whole_proc, {"read-load"}),
    "filter": ("B", no_filter, {"lock-file", "share-memory"}),
    "filter and network": ("B", no_filter_nor_network, {"connect"}),
    "limits": ("B", no_limits, {"exceed-limits"}),
    "environment": ("B", whole_environment, {"inherit"}),
    "cgroup": ("A", no_cgroup, {"escape-cgroup"}),
    "Landlock": ("C", no_landlock, {"read-event", "write-event", "write-tmp"}),
}
AS_ROOT: dict[str, tuple[Level, Callable[[Patch], None], set[str]]] = {
    "no_new_privs": ("D", gains_rights, {"gain-rights"}),
    "user": ("D", one_user, {"read-secret", "same-user"}),
    "kill of the user": ("D", no_kill, {"leave-child"}),
}


@functools.cache
def whole(level: Level) -> LevelResult:
    """Return a level from which nothing was taken."""
    return examine_level(level, TMP)


@pytest.mark.parametrize("mechanism", [*REMOVED, *AS_ROOT])
def test_a_mechanism_that_is_missing_is_found(mechanism: str, monkeypatch: Patch) -> None:
    if mechanism in AS_ROOT and not ROOT:
        pytest.skip("only root gives each bot a user of its own")
    level, change, names = (REMOVED | AS_ROOT)[mechanism]
    before = whole(level)
    if not before.confirmed:
        pytest.skip(before.why_not)
    assert not names & {name for name, outcome in before.outcomes.items() if outcome.got}
    change(monkeypatch)
    assert names <= through(level)


def test_every_canary_is_shown_to_fail() -> None:
    """A change above is found by each, but for the count of pipes, which no level hides."""
    shown = {name for _, _, names in (REMOVED | AS_ROOT).values() for name in names}
    assert CANARIES.keys() - shown == {"number-pipe"}


def test_without_a_sandbox_all_get_through_that_a_plain_process_can() -> None:
    if not ROOT:
        pytest.skip("what a plain user may do depends on the machine")
    assert through("off") == CANARIES.keys() - ONLY.keys() - {"inherit"}


def test_a_refusal_beside_a_refused_control_proves_nothing(monkeypatch: Patch) -> None:
    """A canary that would be refused everywhere chooses no level."""
    asked, name = trial._outcomes, "read-event"

    def spoilt(one: Any, targets: Any) -> dict[str, ProbeResult]:
        found = asked(one, targets)
        return {**found, name: ProbeResult(False, "EIO")} if targets["who"] == "control" else found

    monkeypatch.setattr(trial, "_outcomes", spoilt)
    level: Level = "B"
    found = examine_level(level, TMP)
    if not found.outcomes:
        pytest.skip(found.why_not)
    assert found.outcomes[name].detail.startswith("not tried: the control was refused")
    assert not found.confirmed
    with pytest.raises(UserError, match="cannot lock bots in"):
        choose_level("require", Limits(), TMP)


def test_a_trial_leaves_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    descriptors = os.listdir("/proc/self/fd")  # noqa: PTH208
    try_level("off", tmp_path)
    assert os.listdir("/proc/self/fd") == descriptors  # noqa: PTH208
    assert not list(tmp_path.iterdir())
    assert trial.VARIABLE not in os.environ
