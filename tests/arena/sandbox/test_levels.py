"""Each level that this machine has: what gets through, and what does when a measure is missing."""

import functools
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.json import decode, encode

from arena.sandbox import select, users
from arena.sandbox.limits import REQUIRED, Level, Limits
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import LevelResult, choose_level, examine_level
from tests.attacks.runner import Attacks, attack
from tests.support.fast_run import slow_except
from tests.support.library import once
from tests.support.probes import BLOCKED, TRACES
from tournaments.cli.main import main

ROOT = os.geteuid() == 0
SYSTEM_PYTHON = Path("/usr/bin/python3")
COUNTERS = frozenset({
    "load", "processor-counters", "memory-counters", "page-counters", "disk-counters",
    "interrupt-counters", "pressure", "lock-list", "terminal-counter", "open-file-counter",
    "key-counter",
})  # fmt: skip
"""At level C /proc is the machine's."""
SEEN = frozenset({
    "see-referee", "see-other-bot", "list-sockets", "referee-command-line", "read-time",
    "other-bot-command-line", "other-bot-processor-time", "other-bot-processor-clock",
    "other-bot-session", "machine-name",
})  # fmt: skip
"""Landlock hides contents, not that something is there."""
OPEN: dict[Level, frozenset[str]] = {"A": TRACES, "B": TRACES, "C": TRACES | SEEN | COUNTERS}
"""What gets through at each level as root; nothing else may."""
AS_A_USER = frozenset({"referee-descriptor-list", "processes-limit", "outlive-group"})
"""What gets through besides at level C where the bots run as the referee's own user."""


@functools.cache
def finding(level: Level) -> Attacks:
    """Return a level with every attack."""
    folder = Path(tempfile.gettempdir())
    return decode(once(f"attacks-{level}", lambda: encode(attack(level, folder))), type=Attacks)


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below B, root's bots cannot enter a private home: the machine's own Python will do."""
    if SYSTEM_PYTHON.exists():
        monkeypatch.setattr(sys, "executable", str(SYSTEM_PYTHON))
        monkeypatch.setattr(sys, "base_prefix", "/usr")


def got(found: Attacks) -> set[str]:
    """Return the attempts that succeeded; skip the test if the level is not available, with the
    reason."""
    if not found.outcomes:
        pytest.skip(f"no level {found.level} here: {found.why_not}")
    return found.through


@pytest.mark.parametrize("level", OPEN)
@pytest.mark.usefixtures("levels")
def test_only_what_is_written_down_gets_through(level: Level) -> None:
    written = OPEN[level] | (AS_A_USER if level == "C" and not ROOT else frozenset())
    through = got(finding(level)) - written
    assert {name: finding(level).outcomes[name].detail for name in through} == {}
    assert finding(level).confirmed
    assert examine_level(level, Path(tempfile.gettempdir())).confirmed


@pytest.mark.parametrize("level", slow_except(REQUIRED, OPEN))
@pytest.mark.usefixtures("levels")
def test_the_canary_misses_no_guarantee_that_an_attack_breaks(level: Level) -> None:
    got(finding(level))
    broken = {promise.name for promise in examine_level(level, Path(tempfile.gettempdir())).broken}
    assert broken == finding(level).broken


@pytest.mark.parametrize("probe", BLOCKED)
def test_blocked(probe: str) -> None:
    """At the best level that this machine has, one test for each attempt."""
    best = next((level for level in REQUIRED if finding(level).outcomes), None)
    if best is None:
        pytest.skip(" ".join(finding(level).why_not for level in REQUIRED))
    outcome = finding(best).outcomes[probe]
    assert not outcome.got, outcome.detail


# The parts.


def test_two_bots_never_have_the_same_user() -> None:
    living = [users.User() for _ in range(20)]
    assert len({user.number for user in living}) == 20
    first = living[0].number
    for user in living:
        user.release()
    again = users.User()
    assert again.number == first
    again.release()


def test_a_lack_of_free_users_is_the_machines_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Numbers of their own: other tests, and other runs on this machine, take those of bots.
    monkeypatch.setattr(users, "FIRST", users.LAST + 100)
    monkeypatch.setattr(users, "LAST", users.FIRST + 1)
    one = users.User()
    with pytest.raises(users.NoUserLeftError):
        users.User()
    one.release()


# The choice.


def fixed(*confirmed: Level) -> Callable[[Level, Path], LevelResult]:
    def found(level: Level, _: Path) -> LevelResult:
        return LevelResult(level, "" if level in confirmed else f"No {level}.", (), {})

    return found


def test_auto_takes_the_best_that_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "examine_level", fixed("D"))
    monkeypatch.setattr(Sandbox, "_check_parts", lambda _: None)
    assert choose_level("auto", Limits(), tmp_path).level == "D"
    monkeypatch.setattr(select, "examine_level", fixed())
    nothing = choose_level("auto", Limits(), tmp_path)
    assert (nothing.level, nothing.missing) == ("off", (select.OFF,))


def test_require_in_the_command_line_ends_with_2_and_no_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "examine_level", fixed("C", "D"))
    words = ["run", "first", "greedy", "--sandbox", "require", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert re.search(r"cannot lock bots in.* No A\. .*No B\. .*doctor", said)
    assert not (tmp_path / "out" / "games").exists()


# Slow: `doctor` names the level that `auto` takes.
@pytest.mark.slow
def test_doctor_says_what_auto_takes() -> None:
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 0
    assert "--sandbox auto takes level" in done.output
    assert "Attempts that succeeded" in done.output


def test_two_sandboxes_of_one_process_have_places_at_once() -> None:
    """A worker has one for each order, and plays several orders side by side."""
    try:
        places = [Sandbox("A", Limits()).new_process() for _ in range(2)]
    except OSError as error:
        if isinstance(error.__cause__, FileExistsError):
            raise
        pytest.skip("no level A here")
    for place in places:
        place.close()
