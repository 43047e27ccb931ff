"""Runs with a second referee process play, count and lose the same as with one."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.logs.gamelog import read_games
from arena.machine import usable_cores
from tests.support.events import SMALL, boneyard, logs, outputs, run
from tests.support.tables import alive
from tournaments.plan.schedule import PlannedGame, PlannedSitting
from tournaments.play import lanes, runner
from tournaments.play.sittings import Assignment, RefereeProcess

Play = Callable[[RefereeProcess, PlannedSitting, list[PlannedGame]], None]


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Start a second process after the first sitting, however few cores are here; return the
    sittings that it was ordered to play."""
    monkeypatch.setattr(runner, "PAYS_S", 0.0)
    monkeypatch.setattr(lanes, "MIN_CPU_S", 0.0)
    monkeypatch.setattr(lanes, "QUICK", 1e9)
    # They are looked up once, as in a run, before anything keeps to some of them.
    usable_cores()
    monkeypatch.setattr(lanes, "usable_cores", lambda: frozenset({0, 1}))
    return spy_on_orders(monkeypatch, lambda *_: None)


def spy_on_orders(monkeypatch: pytest.MonkeyPatch, look: Play) -> list[str]:
    """Call a function at each order; return the names of the ordered sittings."""
    real, names = RefereeProcess.play, list[str]()

    async def play(self: RefereeProcess, sitting: PlannedSitting, games: list[PlannedGame]) -> None:
        names.append(sitting.name)
        look(self, sitting, games)
        await real(self, sitting, games)

    monkeypatch.setattr(RefereeProcess, "play", play)
    return names


def test_two_processes_make_the_bytes_of_one(
    ordered: list[str], event: Path, tmp_path: Path
) -> None:
    before = os.sched_getaffinity(0)
    run(tmp_path, *SMALL)
    assert ordered
    assert outputs(tmp_path) == outputs(event)
    assert "OK: " in boneyard("verify", str(tmp_path))
    assert os.sched_getaffinity(0) == before
    assert not alive(f'"folder":"{tmp_path}"')
    machines = {
        game.sitting.machine for log in (tmp_path / "games").iterdir() for game in read_games(log)
    }
    assert len(machines) == 1


def test_a_run_stops_when_a_referee_process_is_killed_and_goes_on(
    ordered: list[str], event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(process: RefereeProcess, *_: object) -> None:
        os.kill(process._process.pid, signal.SIGKILL)

    spy_on_orders(monkeypatch, kill)
    output = run(tmp_path, *SMALL, code=1)
    assert "a referee process ended with exit code -9" in output
    assert ordered
    monkeypatch.undo()
    run(tmp_path, *SMALL)
    assert outputs(tmp_path) == outputs(event)


# Slow: a process that is killed is tested beside it.
@pytest.mark.slow
@pytest.mark.usefixtures("ordered")
def test_a_run_says_why_a_referee_process_cannot_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(folder: str, *rest: object) -> Assignment:
        return Assignment(f"{folder}/nowhere", *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "Assignment", elsewhere)
    output = run(tmp_path, *SMALL, code=1)
    assert "nowhere has no event: event.json is missing" in output, output
    assert "run the same command again" in output
    assert logs(tmp_path)


def test_one_process_plays_games_that_depend_on_others(ordered: list[str], tmp_path: Path) -> None:
    event = tmp_path / "event.toml"
    bots = "".join(f'[[bots]]\nname = "{name}"\n' for name in SMALL[:3])
    event.write_text(
        f'boards = 1\nfouls.lose = "sitting"\nrules = {{ base = "draw", target = 30 }}\n{bots}'
    )
    run(tmp_path / "out", str(event))
    assert not ordered
