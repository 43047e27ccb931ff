"""A self-test that is kept: believed while all that decides it is the same, and never blindly."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from arena.sandbox import select
from arena.sandbox.limits import REQUIRED, Level, Limits
from arena.sandbox.select import LevelResult, choose_level, examine_level, recheck_level
from arena.sandbox.selftest import cache, machine
from arena.sandbox.selftest.cache import load_outcomes, save_outcomes
from arena.sandbox.selftest.guarantees import CHEAP, COSTLY, PROBES
from arena.sandbox.selftest.machine import machine_fingerprint
from arena.sandbox.selftest.processes import CannotProbeError
from arena.sandbox.selftest.runner import UNTRIED, ProbeResult
from protocol.errors import UserError
from tournaments.cli.main import main

ALL = dict.fromkeys(PROBES, ProbeResult(False, "EPERM"))
"""A machine that refuses everything."""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of this test's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "boneyard" / "selftest"


Probed = Callable[..., dict[str, ProbeResult]]


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return a machine that refuses everything; it records the probes of each test."""
    made: list[tuple[str, ...]] = []

    def probed(_level: Level, _folder: Path, names: tuple[str, ...] = ()) -> dict[str, ProbeResult]:
        made.append(names)
        return {name: ALL[name] for name in names or PROBES}

    monkeypatch.setattr(select, "_run_probes", probed)
    # It has the parts of every level too.
    monkeypatch.setattr(select, "Sandbox", lambda level, *_: SimpleNamespace(level=level))
    return made


def outcome(name: str, got: bool, detail: str = "seen") -> dict[str, ProbeResult]:
    return {**ALL, name: ProbeResult(got, detail)}


# What is believed.


def test_after_a_whole_self_test_only_the_cheap_probes_are_made(
    tried: list[tuple[str, ...]], tmp_path: Path
) -> None:
    first, second = recheck_level("A", tmp_path), recheck_level("A", tmp_path)
    assert tried == [(), CHEAP]
    assert first == second
    assert set(CHEAP) | COSTLY == set(PROBES)
    assert len(COSTLY) <= 7


@pytest.mark.parametrize("name", ["read-secret-key", "read-event-file", "own-control-group"])
@pytest.mark.parametrize("got", [True, False])
def test_one_contradiction_brings_the_whole_self_test(
    name: str,
    got: bool,
    tried: list[tuple[str, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save_outcomes(machine_fingerprint("B"), {**ALL, name: ProbeResult(not got, "kept")})
    monkeypatch.setitem(ALL, name, ProbeResult(got, "now"))
    found = recheck_level("B", tmp_path)
    assert found.outcomes[name].got == got
    assert tried == ([CHEAP, ()])
    assert load_outcomes(machine_fingerprint("B")) == found.outcomes


def test_a_check_that_cannot_be_made_brings_the_whole_self_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> dict[str, ProbeResult]:
        raise CannotProbeError("It ended.")

    save_outcomes(machine_fingerprint("B"), ALL)
    monkeypatch.setattr(select, "_run_probes", broken)
    assert recheck_level("B", tmp_path) == LevelResult("B", "It ended.", (), {})


def test_a_costly_probe_that_could_not_be_made_is_made_again_next_time(
    tried: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ALL, "memory-limit", ProbeResult(True, f"{UNTRIED}: no answer"))
    recheck_level("B", tmp_path)
    recheck_level("B", tmp_path)
    assert CHEAP not in tried


def test_require_and_doctor_ignore_the_cache(tried: list[tuple[str, ...]], tmp_path: Path) -> None:
    for level in REQUIRED:
        save_outcomes(machine_fingerprint(level), ALL)
    choose_level("require", Limits(), tmp_path)
    assert CliRunner().invoke(main, ["doctor", "--json"]).exit_code == 0
    assert set(tried) == {()}


# What a forged memory would be worth.


def test_a_lie_about_what_bots_can_read_is_found_by_the_next_check(tmp_path: Path) -> None:
    best = next((one for one in REQUIRED if examine_level(one, tmp_path).outcomes), None)
    if best is None:
        pytest.skip("no namespaces here")
    fingerprint = machine_fingerprint(best)
    save_outcomes(fingerprint, outcome("tcp-referee", got=True))
    truth = recheck_level(best, Path(tempfile.gettempdir()))
    assert not truth.outcomes["tcp-referee"].got
    assert load_outcomes(fingerprint) == truth.outcomes
    assert recheck_level(best, Path(tempfile.gettempdir())).broken == truth.broken


@pytest.mark.skipif(not os.access("/usr/local", os.W_OK), reason="needs a folder of programs")
def test_a_folder_that_bots_can_read_is_found_whatever_is_kept_of_another() -> None:
    """The machine's programs may be read at every level, and so would an event among them."""
    found = examine_level("B", Path(tempfile.gettempdir()))
    if not found.confirmed:
        pytest.skip(found.why_not)
    save_outcomes(machine_fingerprint("B"), found.outcomes)
    with tempfile.TemporaryDirectory(dir="/usr/local") as name:
        Path(name).chmod(0o755)
        assert recheck_level("B", Path(name)).outcomes["read-event-file"].got


# The file.


def test_a_cached_result_is_used_for_a_day(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_outcomes("f") is None
    save_outcomes("f", ALL)
    assert load_outcomes("f") == ALL
    assert load_outcomes("another") is None
    assert kept.stat().st_mode & 0o777 == 0o700
    now = time.time()
    for later, found in ((cache.OLDEST_S - 60, True), (cache.OLDEST_S, False), (-60, False)):
        monkeypatch.setattr(time, "time", lambda later=later: now + later)
        assert (load_outcomes("f") is not None) == found


def test_a_cache_that_others_can_write_is_ignored(kept: Path) -> None:
    save_outcomes("f", ALL)
    path = kept / "f.json"
    for others in (0o602, 0o620):
        path.chmod(others)
        assert load_outcomes("f") is None
    path.chmod(0o600)
    assert load_outcomes("f")
    path.rename(kept / "g.json")
    path.symlink_to(kept / "g.json")
    assert load_outcomes("f") is None
    kept.chmod(0o777)
    assert load_outcomes("g") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_users_file_or_folder_is_not_believed(kept: Path, tmp_path: Path) -> None:
    save_outcomes("f", ALL)
    os.chown(kept / "f.json", 60_000, 60_000)
    assert load_outcomes("f") is None
    os.chown(tmp_path, 60_000, 60_000)
    os.chown(kept, 60_000, 60_000)
    save_outcomes("g", ALL)
    assert not (kept / "g.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"at": 1e9}',
        b'{"at": 1e9, "outcomes": {}, "level": "A"}',
        b" " * 2**19,
    ],
    ids=len,
)
def test_a_torn_file_is_as_none(text: bytes, kept: Path) -> None:
    save_outcomes("f", ALL)
    (kept / "f.json").write_bytes(text)
    assert load_outcomes("f") is None


def test_outcomes_of_other_probes_than_ours_are_not_believed() -> None:
    save_outcomes("f", {"read-secret-key": ALL["read-secret-key"]})
    assert load_outcomes("f") is None


def test_without_a_cache_every_test_is_complete(
    tried: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "boneyard").write_text("a file")
    recheck_level("B", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "not/from/the/root")
    recheck_level("B", tmp_path)
    assert tried == [(), ()]


def test_no_more_files_are_kept_than_a_user_needs(kept: Path) -> None:
    for number in range(cache.MOST_FILES + 3):
        save_outcomes(f"{number}", ALL)
        os.utime(kept / f"{number}.json", (number, number))
    save_outcomes("last", ALL)
    assert len([*kept.iterdir()]) == cache.MOST_FILES
    assert load_outcomes("last")


# What it is kept for.


def test_the_fingerprint_is_the_same_until_something_changes() -> None:
    assert machine_fingerprint("A") == machine_fingerprint("A")
    assert machine_fingerprint("A") != machine_fingerprint("B")


def test_another_bubblewrap_python_setting_or_home_is_another_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [machine_fingerprint("A")]

    def changed() -> None:
        assert machine_fingerprint("A") not in seen
        seen.append(machine_fingerprint("A"))

    tool = tmp_path / "bwrap"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    changed()
    tool.write_text("#!/bin/sh\nexit 1\n")
    changed()
    tool.chmod(0o4755)
    changed()
    setting = tmp_path / "setting"
    monkeypatch.setattr(machine, "SETTINGS", (*machine.SETTINGS, str(setting)))
    changed()
    setting.write_text("1")
    changed()
    monkeypatch.setattr(sys, "executable", str(tool))
    changed()
    monkeypatch.setenv("HOME", str(tmp_path))
    changed()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    changed()


def test_the_code_of_probes_and_filter_is_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "OURS", tmp_path)
    (tmp_path / "probes.py").write_text("1")
    hashes = set()
    for text in ("1", "2"):
        (tmp_path / "probes.py").write_text(text)
        machine._code.cache_clear()
        hashes.add(machine_fingerprint("A"))
    machine._code.cache_clear()
    assert len(hashes) == 2


def test_a_machine_that_cannot_lock_bots_in_is_told_so_each_time(
    tried: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ALL, "read-secret-key", ProbeResult(True, "read the secret"))
    for _ in range(2):
        assert choose_level("auto", Limits(), tmp_path).level == "D"
    assert tried.count(()) == 4
    with pytest.raises(UserError):
        choose_level("require", Limits(), tmp_path)
