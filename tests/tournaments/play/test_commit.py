"""A result counts when the disk has its game, and not before; nobody waits for a slow disk."""

import errno
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
import trio
import trio.testing

from protocol.records import Result
from tests.support.events import SMALL, run
from tests.support.made_up import game
from tournaments.event.book import Ledger
from tournaments.event.folder import Folder, SeedOf, reveal_more
from tournaments.play.sittings import commit_results

PATIENCE_S = 120
FIRST, SECOND, THIRD = (game(board, ("ada", "bob"), (1, 0)) for board in (1, 2, 3))


class Disk:
    """Slow until it is let go on; knows in which order things happened."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.happened: list[str] = []

    def sync(self) -> None:
        assert self.goes_on.wait(PATIENCE_S)
        self.happened.append("safe")

    async def count(self, result: Result) -> None:
        self.happened.append(f"{result.board} counts")


async def test_games_are_played_while_the_disk_is_slow() -> None:
    disk = Disk()
    with trio.fail_after(PATIENCE_S):
        async with commit_results(disk.sync, disk.count, at_once=False) as report_result:
            await report_result(FIRST)
            await trio.testing.wait_all_tasks_blocked()
            await report_result(SECOND)
            await report_result(THIRD)
            assert disk.happened == []
            disk.goes_on.set()
    assert disk.happened == ["safe", "1 counts", "safe", "2 counts", "3 counts"]


async def test_a_result_that_the_next_game_depends_on_counts_at_once() -> None:
    disk = Disk()
    disk.goes_on.set()
    async with commit_results(disk.sync, disk.count, at_once=True) as report_result:
        await report_result(FIRST)
        assert disk.happened == ["safe", "1 counts"]


async def test_a_full_disk_ends_the_sitting_and_the_game_does_not_count() -> None:
    disk = Disk()

    def full() -> None:
        raise OSError(errno.ENOSPC, "full")

    with trio.fail_after(PATIENCE_S), pytest.RaisesGroup(OSError):
        async with commit_results(full, disk.count, at_once=False) as report_result:
            await report_result(FIRST)
            await trio.sleep_forever()
    assert disk.happened == []


def test_games_go_on_while_a_slow_disk_reveals_a_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, real_add = threading.Event(), Ledger.add

    def add(ledger: Ledger, result: Result) -> None:
        real_add(ledger, result)
        if ledger.complete:
            is_over.set()

    def reveal_slowly(folder: Folder, seed_of: SeedOf, boards: Iterable[int]) -> None:
        assert is_over.wait(PATIENCE_S)
        reveal_more(folder, seed_of, boards)

    monkeypatch.setattr(Ledger, "add", add)
    monkeypatch.setattr("tournaments.commands.run.reveal_more", reveal_slowly)
    run(tmp_path, *SMALL)
    assert is_over.is_set()
