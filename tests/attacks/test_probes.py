"""The probes: all get through where nothing stops them, few where something does."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from arena.sandbox import select
from arena.sandbox.select import GUARANTEES, CannotProbeError, Popen
from tests.attacks.fixtures import End, Start, kill_group
from tests.attacks.probes import GROUPS, PROBES
from tests.attacks.runner import run_probes, run_until_tried
from tests.support.probes import LACKING, lacks

FOLDER = Path(__file__).parent
PYTHON = os.path.realpath(sys.executable)


# Controls: a start that forgets everything that can be forgotten.


def start_piped(command: tuple[str, ...], **options: Any) -> Popen:
    pipe = subprocess.PIPE
    process: Popen = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **options)
    return process


def start_plain(command: tuple[str, ...], reads: tuple[str, ...]) -> Popen:
    """Start a plain process in a session of its own, with a minimal environment: no sandbox."""
    del reads
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}
    return start_piped(command, env=environment, start_new_session=True)


def careless_start(ring: str, *words: str) -> Start:
    def start(command: tuple[str, ...], _: tuple[str, ...]) -> Popen:
        prefix = (PYTHON, "-I", "-S", f"{FOLDER}/careless.py", ring, *words, "--")
        return start_piped((*prefix, *command), close_fds=False)

    return start


def kill_itself(process: Popen) -> None:
    process.kill()
    process.wait(10)


class Control(Struct, frozen=True):
    start: Start
    end: End
    refused: frozenset[str]
    """All others get through, unless this machine lacks them."""


NOT_HANDED_DOWN = frozenset(
    {"environment", "descriptors", "session-keyring", "outlive-child", "outlive-stubborn"}
)
TERMINAL = frozenset({"terminal-open", "terminal-push"})
RING = f"boneyard-{secrets.token_hex(6)}"
CONTROLS = {
    # With a session keyring of their own two processes do not possess their user's.
    "careless": Control(careless_start(RING), kill_itself, TERMINAL | {"user-keyring"}),
    "off": Control(start_plain, kill_group, NOT_HANDED_DOWN | TERMINAL),
}
OF_THE_LOGIN = {"off": {"session-keyring"}}
"""Attempts that a level refuses for some users only: some logins begin a session keyring, which
their processes inherit."""


@pytest.mark.slow
def test_a_refusal_means_something_because_a_control_refuses_only_what_it_must() -> None:
    # What this machine lacks: there the control cannot show that the probe works.
    lacking = {name for name in LACKING if lacks(name)}
    through: set[str] = set()
    for level, control in CONTROLS.items():
        results = run_until_tried(control.start, control.end, Path(tempfile.gettempdir()))
        undecided = OF_THE_LOGIN.get(level, set()) | lacking
        refused_names = {name for name, outcome in results.items() if not outcome.got}
        assert refused_names - undecided == control.refused - undecided
        tried = {name for name, outcome in results.items() if "not tried" not in outcome.detail}
        through |= tried - refused_names
    assert PROBES.keys() - TERMINAL - lacking <= through


def test_a_terminal_is_reached_where_there_is_one() -> None:
    if reason := lacks("terminal-push"):
        pytest.skip(reason)
    names = tuple(TERMINAL)
    folder = Path(tempfile.gettempdir())
    results = run_probes(careless_start(RING, "terminal"), kill_itself, folder, names)
    assert {name for name in names if results[name].got} == TERMINAL


# The table.


def test_each_probe_belongs_to_one_promise_and_none_is_forgotten() -> None:
    assert [promise.name for promise in GUARANTEES] == list(GROUPS)
    probes = [probe for group in GROUPS.values() for probe in group]
    assert probes == list(PROBES)
    assert len(probes) == sum(map(len, GROUPS.values())) >= 175


# What was seen outranks what was said.


def lying_start(claims: dict[str, bool]) -> Start:
    """Return the start of an honest decoy and of a bot that states these claims."""
    outcomes = {name: {"got": claim, "detail": "I say so"} for name, claim in claims.items()}
    tell = f"import sys; sys.stdin.readline(); print({json.dumps(outcomes)!r}, flush=True)"

    def start(command: tuple[str, ...], reads: tuple[str, ...]) -> Popen:
        if command[3].endswith("standin.py"):
            return start_plain(command, reads)
        return start_plain((PYTHON, "-I", "-S", "-c", tell), reads)

    return start


OBSERVED_PROBES = (
    *("udp-referee", "write-game-log", "write-other-bots-folder", "write-times"),
    *("referee-signal", "referee-renice", "referee-limit", "other-bot-signal", "outlive-daemon"),
)
"""Attempts whose effect the referee sees."""


def test_a_claim_without_an_effect_does_not_count() -> None:
    claims = dict.fromkeys((*OBSERVED_PROBES, "load"), True)
    results = run_probes(lying_start(claims), kill_group, Path(tempfile.gettempdir()))
    assert [name for name in claims if results[name].got] == ["load"]


@pytest.mark.parametrize(
    ("program", "patience_s", "why"),
    [
        ("import time; time.sleep(9)", 0.3, "gave no answer"),
        ("raise SystemExit('no such luck')", 120, "no such luck"),
        ("print('well', flush=True)", 120, "in no way known"),
    ],
)
def test_a_bot_that_does_not_answer_proves_nothing(
    program: str, patience_s: float, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def start(_: tuple[str, ...], reads: tuple[str, ...]) -> Popen:
        monkeypatch.setattr(select, "MAX_WAIT_S", patience_s)
        return start_plain((PYTHON, "-I", "-S", "-c", program), reads)

    with pytest.raises(CannotProbeError, match=why):
        run_probes(start, kill_group, tmp_path)
    assert not list(tmp_path.iterdir())
