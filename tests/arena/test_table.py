"""Seats, time and processes: what a table does besides fouls."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from arena.bots import Bot, CannotStartError, Command, clean_environment
from arena.gamelog import read_games
from arena.pump import Pump
from arena.table import Bench
from protocol.records import ChoiceRecord
from tests.arena.tables import children, hostile, play, sample
from tournaments.run import START_TRIES, StoppedError, ready


async def test_an_honest_game_is_logged_with_its_times(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    (result,) = await play([sample("first"), sample("greedy")], log)
    (game,) = read_games(log)
    assert game.result == result
    assert result.why == "target"
    times = [record.ms for record in game.records if isinstance(record, ChoiceRecord)]
    assert times
    assert all(ms >= 0 for ms in times)
    assert not children()


async def test_one_process_serves_a_whole_sitting(tmp_path: Path) -> None:
    results = await play([sample("first"), sample("greedy")], tmp_path / "log.jsonl", games=5)
    assert [result.why for result in results] == ["target"] * 5
    assert [result.game for result in results] == [f"{n}.test" for n in range(1, 6)]


async def test_cancelling_a_game_leaves_no_process(tmp_path: Path) -> None:
    with trio.move_on_after(0.5):
        await play([sample(), hostile("processes/ignores_signals")], tmp_path / "log.jsonl")
    assert not children()


def test_a_command_that_does_not_exist_is_not_the_bots_fault() -> None:
    with pytest.raises(CannotStartError, match="no-such-program"):
        Bot(Command(("no-such-program",), "."), clean_environment())


async def test_the_run_stops_when_the_machine_cannot_start_a_bot(
    autojump_clock: MockClock,
) -> None:
    """No process ever starts here, so the clock may jump."""
    bench = Bench(Pump(), [Command(("no-such-program",), ".")], 1000)
    before = autojump_clock.current_time()
    with pytest.raises(StoppedError, match="no-such-program"):
        await ready(bench)
    assert autojump_clock.current_time() - before == START_TRIES - 1


async def test_a_bot_that_was_started_beside_one_that_could_not_be_is_not_kept() -> None:
    bench = Bench(Pump(), [sample(), Command(("no-such-program",), ".")], 1000)
    with pytest.raises(CannotStartError):
        await bench.ready()
    assert not children()


def test_a_stall_of_the_referee_is_charged_to_nobody() -> None:
    """As after Ctrl-Z and fg, or while a disk hangs."""

    class Waiting:
        deadline = 5.0

        def expired(self) -> None:
            raise AssertionError("charged for the referee's own stall")

        def forgive(self, seconds: float) -> None:
            self.deadline += seconds

    pump, waiting = Pump(), Waiting()
    pump.join(waiting)
    pump._tick(pump._ticked + 7.0)
    assert waiting.deadline == 12.0
    pump._tick(pump._ticked + 0.01)
    assert waiting.deadline == 12.0
    pump._epoll.close()
