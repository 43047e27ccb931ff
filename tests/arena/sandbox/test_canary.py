"""The canary finds each mechanism that is taken away, and never takes a broken attempt for one."""

import functools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox import command, process, select
from arena.sandbox.cgroups import Cgroup
from arena.sandbox.command import BOUNDED, LOCKED, OFF, Confinement, Limits
from arena.sandbox.select import (
    CANARIES,
    CGROUP_ESCAPE,
    ProbeResult,
    TrialResult,
    choose_sandbox,
    examine,
    try_sandbox,
)
from protocol.errors import UserError

ROOT = os.geteuid() == 0
TMP = Path(tempfile.gettempdir())
Patch = pytest.MonkeyPatch


def drop_options(*words: str) -> Callable[[Patch], None]:
    """Return a change that takes these options from bubblewrap."""

    def change(patch: Patch) -> None:
        def reduced_walls(*arguments: Any, **keywords: Any) -> list[str]:
            return [word for word in command.walls(*arguments, **keywords) if word not in words]

        patch.setattr(process, "walls", reduced_walls)

    return change


def open_tmp(patch: Patch) -> None:
    def extended_walls(*arguments: Any, **keywords: Any) -> list[str]:
        return [*command.walls(*arguments, **keywords), "--bind", str(TMP), str(TMP)]

    patch.setattr(process, "walls", extended_walls)


def no_limits(patch: Patch) -> None:
    patch.setattr(command, "_prlimit", lambda *_: iter(()))


def no_filter(patch: Patch) -> None:
    patch.setattr(process, "filter_program", lambda **_: None)


def no_filter_nor_network(patch: Patch) -> None:
    no_filter(patch)
    drop_options("--unshare-net")(patch)


def whole_environment(patch: Patch) -> None:
    patch.setattr(process, "clean_environment", lambda *_, **__: dict(os.environ))


def whole_proc(patch: Patch) -> None:
    patch.setattr(command, "STEADY", frozenset(os.listdir("/proc")))  # noqa: PTH208


def no_cgroup(patch: Patch) -> None:
    patch.setattr(Cgroup, "doors", ())


def one_user(patch: Patch) -> None:
    class Ours:
        number = 0

        def release(self) -> None:
            pass

    patch.setattr(process, "User", Ours)
    open_tmp(patch)


def keeps_rights(patch: Patch) -> None:
    patch.setattr(command, "_setpriv", lambda *_: ("env",))


REMOVED: dict[str, tuple[Callable[[Patch], None], set[str]]] = {
    "namespace of mounts": (open_tmp, {"read-event", "write-event", "write-tmp"}),
    "namespace of processes": (drop_options("--unshare-pid"), {"see-referee", "leave-child"}),
    "namespace of the network": (drop_options("--unshare-net"), {"same-network"}),
    "namespace of memory and queues": (drop_options("--unshare-ipc"), {"same-ipc"}),
    "covers of /proc": (whole_proc, {"read-load"}),
    "filter": (no_filter, {"lock-file", "share-memory"}),
    "filter and network": (no_filter_nor_network, {"connect"}),
    "limits": (no_limits, {"exceed-limits"}),
    "environment": (whole_environment, {"inherit"}),
    "cgroup": (no_cgroup, {"escape-cgroup"}),
}
AS_ROOT: dict[str, tuple[Callable[[Patch], None], set[str]]] = {
    "user": (one_user, {"read-secret", "same-user"}),
    "capabilities": (keeps_rights, {"gain-rights"}),
}


def canaries_through(confinement: Confinement) -> set[str]:
    return {name for name, outcome in try_sandbox(confinement, TMP).items() if outcome.got}


@functools.cache
def intact_trial(confinement: Confinement) -> TrialResult:
    """Return the trial of a sandbox from which nothing was taken."""
    return examine(confinement, TMP)


@pytest.mark.parametrize("mechanism", [*REMOVED, *AS_ROOT])
def test_a_mechanism_that_is_missing_is_found(mechanism: str, monkeypatch: Patch) -> None:
    if mechanism in AS_ROOT and not ROOT:
        pytest.skip("only root gives each bot a user of its own")
    confinement = BOUNDED if mechanism == "cgroup" else LOCKED
    change, names = (REMOVED | AS_ROOT)[mechanism]
    before = intact_trial(confinement)
    if not before.is_proven:
        pytest.skip(before.why_not)
    assert not names & {name for name, outcome in before.outcomes.items() if outcome.got}
    change(monkeypatch)
    assert names <= canaries_through(confinement)


def test_every_canary_is_shown_to_fail() -> None:
    """Each canary finds a change above, except the count of pipes, which nothing hides."""
    proven_canaries = {name for _, names in (REMOVED | AS_ROOT).values() for name in names}
    assert CANARIES.keys() - proven_canaries == {"number-pipe"}


def test_without_a_sandbox_all_get_through_that_a_plain_process_can() -> None:
    if not ROOT:
        pytest.skip("what a plain user may do depends on the machine")
    assert canaries_through(OFF) == CANARIES.keys() - {CGROUP_ESCAPE, "inherit"}


def test_a_refusal_beside_a_refused_control_proves_nothing(monkeypatch: Patch) -> None:
    """A canary that would be refused everywhere locks nobody in."""
    ask, name = select._outcomes, "read-event"

    def spoil(process: Any, targets: Any) -> dict[str, ProbeResult]:
        outcomes = ask(process, targets)
        is_control = targets["who"] == "control"
        return {**outcomes, name: ProbeResult(False, "EIO")} if is_control else outcomes

    monkeypatch.setattr(select, "_outcomes", spoil)
    locked = examine(LOCKED, TMP)
    if not locked.outcomes:
        pytest.skip(locked.why_not)
    assert locked.outcomes[name].detail.startswith("not tried: the control was refused")
    assert not locked.is_proven
    with pytest.raises(UserError, match="cannot lock bots in"):
        choose_sandbox("require", Limits(), TMP)


def test_a_count_that_comes_late_is_waited_for(monkeypatch: Patch) -> None:
    """The kernel adds up its processors' counts now and then: a busy machine looked unbounded."""
    if not intact_trial(BOUNDED).is_proven:
        pytest.skip(intact_trial(BOUNDED).why_not)
    counts = iter([0.0, 0.0, 0.0])
    monkeypatch.setattr(Cgroup, "cpu_ms", lambda _: next(counts, 1.0))
    assert "escape-cgroup" not in canaries_through(BOUNDED)


def test_a_trial_leaves_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    descriptors = os.listdir("/proc/self/fd")  # noqa: PTH208
    try_sandbox(OFF, tmp_path)
    assert os.listdir("/proc/self/fd") == descriptors  # noqa: PTH208
    assert not list(tmp_path.iterdir())
    assert select.CANARY_VARIABLE not in os.environ
