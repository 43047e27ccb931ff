"""The number of sittings side by side follows from the CPU time of bots and referee."""

import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import cast

import pytest
import trio
import trio.testing

from arena.match.bot_pool import BotPool
from tournaments.play.lanes import SPARE, Lanes, fit_jobs


class Cpu:
    """The CPU time of our process, as the test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 10.0
        for clock in ("process_time", "monotonic"):
            monkeypatch.setattr(f"tournaments.play.lanes.time.{clock}", lambda: self.seconds)
        monkeypatch.setattr("tournaments.play.lanes.usable_cores", lambda: frozenset({0, 1}))
        monkeypatch.setattr("tournaments.play.lanes.stay_on", self._stay_on)
        self.cores: Collection[int] = {0, 1}
        """The cores on which the process and its bots stay."""

    def _stay_on(self, cores: Collection[int]) -> None:
        self.cores = cores


class Bots:
    """A pool of bots that have used some CPU time."""

    def __init__(self, ms: float) -> None:
        self._ms = ms

    def cpu_ms(self) -> float:
        return self._ms


def pool(ms: float) -> BotPool:
    return cast(BotPool, Bots(ms))


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Cpu:
    return Cpu(monkeypatch)


@asynccontextmanager
async def take_place(lanes: Lanes, bots: BotPool) -> AsyncIterator[None]:
    async with lanes.staffed(bots), lanes.playing(bots):
        yield


async def play(lanes: Lanes, bots: BotPool) -> None:
    async with take_place(lanes, bots):
        pass


async def stay(lanes: Lanes, bots: BotPool) -> None:
    async with lanes.staffed(bots):
        await trio.sleep_forever()


async def count_inside(place: Callable[[BotPool], AbstractAsyncContextManager[None]]) -> int:
    """Return how many of many sittings have a place before any of them ends."""
    count = 0

    async def hold() -> None:
        nonlocal count
        async with place(pool(0)):
            count += 1
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(hold)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return count


async def count_side_by_side(lanes: Lanes) -> int:
    """Return how many sittings play before any of them ends."""
    return await count_inside(partial(take_place, lanes))


@pytest.mark.parametrize(
    ("bots_ms", "expected"), [(3_000, 8), (3_001, 1)], ids=["quick bots", "slow bots"]
)
async def test_only_quick_bots_share_cores(cpu: Cpu, bots_ms: float, expected: int) -> None:
    assert await count_side_by_side(Lanes(None)) == 1
    lanes = Lanes(None)
    cpu.seconds += 1
    await play(lanes, pool(bots_ms))
    assert await count_side_by_side(lanes) == expected


async def test_quick_bots_stay_on_cores_of_which_another_referee_gets_one(cpu: Cpu) -> None:
    lanes = Lanes(None)
    could = [lanes.can_lend]
    cpu.seconds += 1
    await play(lanes, pool(100))
    could.append(lanes.can_lend)
    with lanes.lend_core() as core:
        loans = [(core, cpu.cores)]
    could.append(lanes.can_lend)
    assert could == [False, True, False]
    assert [*loans, (0, cpu.cores)] == [(1, {0, 1}), (0, {0})]
    assert await count_side_by_side(lanes) == 4
    assert lanes.width == 8
    lanes.release_cores()
    assert cpu.cores == {0, 1}


async def test_the_next_sitting_plays_and_another_starts_while_bots_leave() -> None:
    lanes, bots = Lanes(1), pool(0)
    async with lanes.staffed(bots), lanes.playing(bots) as rise:
        assert await count_inside(lanes.staffed) == SPARE
        rise()
        assert await count_inside(lanes.staffed) == 1 + SPARE
        assert await count_side_by_side(lanes) == 1


@pytest.mark.parametrize(
    ("jobs", "seats", "files", "fitting"),
    [(60, 2, 256, 14), (60, 2, 1024, 60), (60, 4, 1024, 37), (None, 2, 65536, None), (5, 8, 40, 1)],
)
def test_sittings_side_by_side_fit_into_the_limit_of_open_files(
    jobs: int | None, seats: int, files: int, fitting: int | None
) -> None:
    assert fit_jobs(jobs, seats, files) == fitting


def test_a_run_may_open_as_many_files_as_the_system_allows_it() -> None:
    code = "from arena.machine import raise_file_limit; print(raise_file_limit())"
    command = ("sh", "-c", 'ulimit -S -n 64 && exec "$@"', "sh", sys.executable, "-c", code)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) == resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 64
