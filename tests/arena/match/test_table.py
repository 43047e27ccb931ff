"""Seats, time and processes: what a table does besides fouls."""

import errno
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec import UNSET
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.analysis.timeline import mismatches
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import read_games
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess, CannotStartError
from arena.match.clock import LagError
from arena.match.player import Player
from arena.match.poller import LINES_A_WAIT, Poller
from arena.match.referee import GameSetup, Referee
from arena.match.table import Table
from arena.sandbox.command import OFF, Command, Limits
from arena.sandbox.process import Sandbox
from protocol.codec import Fault
from protocol.messages import Clock
from protocol.records import FoulRecord, SpentRecord
from tests.support.tables import (
    LaggingPoller,
    answering,
    children,
    descriptors,
    hostile,
    play,
    sample,
)
from tournaments.play.sittings import START_TRIES, RunStoppedError, start_bots

UNLOCKED = Sandbox(OFF, Limits())


async def test_cancelling_a_game_leaves_no_process(tmp_path: Path) -> None:
    with trio.move_on_after(0.5):
        await play([sample(), hostile("processes/ignores_signals")], tmp_path / "log.jsonl")
    assert not children()


async def test_a_bot_that_starts_after_its_poller_has_ended_is_no_bug() -> None:
    """A cancelled run may end the poller before the task that starts a bot takes its first step."""
    poller = Poller()
    pool = BotPool(poller, [sample()], 1000, UNLOCKED)
    for task in (poller.run, pool.start_missing):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(task)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
    await pool.close()
    assert not children()


@pytest.mark.parametrize("code", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE])
async def test_a_shortage_is_waited_out_three_times_and_then_the_run_stops(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """No process ever starts here, so the clock may jump."""
    tried: list[int] = []

    def raise_shortage(*_: object, **__: object) -> None:
        tried.append(code)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("arena.sandbox.process.subprocess.Popen", raise_shortage)
    before = autojump_clock.current_time()
    with pytest.raises(RunStoppedError, match=os.strerror(code)):
        await start_bots(BotPool(Poller(), [sample()], 1000, UNLOCKED))
    assert len(tried) == START_TRIES == 3
    assert autojump_clock.current_time() - before == START_TRIES - 1


def test_a_process_that_cannot_be_watched_is_not_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raise_full(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    before = descriptors()
    monkeypatch.setattr("arena.match.bot_process.streams_of", raise_full)
    with pytest.raises(CannotStartError, match="Too many open files") as caught:
        BotProcess(sample(), UNLOCKED)
    assert caught.value.shortage
    assert not children()
    assert descriptors() == before


async def test_a_late_bot_is_logged_with_the_figures(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    clock = Clock(start_ms=20_000, move_ms=1_000, bank_ms=500)
    began = time.monotonic()
    bots = [sample(), hostile("timing/silent")]
    await play(bots, log, clock, poller=partial(LaggingPoller, 70.0))
    assert time.monotonic() - began >= 1.5 + 0.07, "The time that is given back may be used."
    (game,) = read_games(log)
    (foul,) = [record for record in game.records if isinstance(record, FoulRecord)]
    assert (foul.foul, foul.limit_ms, foul.ms) == ("late", 1_500, 1_500)
    assert foul.given_back_ms >= 70
    assert foul.cpu_ms is not None
    assert 0 <= foul.cpu_ms < foul.ms + foul.given_back_ms
    spent_record = game.records[-2]
    assert isinstance(spent_record, SpentRecord)
    for seat in (0, 1):
        given_back = sum(choice.given_back_ms for choice in game.choices() if choice.seat == seat)
        assert spent_record.given_back_ms[seat] == pytest.approx(given_back, abs=0.01)
        assert given_back >= 70 * spent_record.questions[seat]
    assert spent_record.worst_lag_ms >= 70


ANSWERS = answering("LATE") + '        open(sys.argv[1], "w").close()\n'
LATE = "time.sleep(message['time_ms'] / 1000 + 0.05)"


async def test_an_answer_found_at_the_first_read_after_a_lag_is_in_time(tmp_path: Path) -> None:
    """The referee does not look until the answer, which exceeds its limit, has been written."""
    mark = tmp_path / "answered"

    def stall() -> None:
        while not mark.exists():
            time.sleep(0.001)

    class Stalling(Table):
        def expect(self, player: Player, limit_ms: int, now: float) -> None:
            super().expect(player, limit_ms, now)
            if self._question and self._question.seat == 1 and not mark.exists():
                self._poller.call_soon(stall)

    bot = tmp_path / "bot.py"
    bot.write_text(ANSWERS.replace("LATE", f"if not os.path.exists(sys.argv[1]): {LATE}"))
    command = Command((sys.executable, "-I", "-S", str(bot), str(mark)), str(tmp_path))
    clock = Clock(start_ms=20_000, move_ms=2_000, bank_ms=0)
    (result,) = await play([sample(), command], tmp_path / "log.jsonl", clock, table=Stalling)
    assert result.fouls == ()
    (game,) = read_games(tmp_path / "log.jsonl")
    first = next(choice for choice in game.choices() if choice.seat == 1)
    assert first.given_back_ms > 2_000
    assert first.ms < 1_000


@pytest.mark.parametrize(("went_on", "cpu_ms"), [(True, 1e9), (True, 0.0), (False, 1e9)])
async def test_a_second_stop_is_scored_if_the_asked_bot_held_the_processors(
    went_on: bool, cpu_ms: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a bot that can stop the machine plays no game to its end that it would lose."""
    monkeypatch.setattr(BotProcess, "cpu_ms", lambda _: cpu_ms)

    def resume(setup: GameSetup, seed: bytes) -> Referee:
        referee = Referee(setup, seed)
        referee.went_on = went_on
        return referee

    lagging = partial(LaggingPoller, 10_001.0, after=5)
    bots, log = [sample("first"), sample("greedy")], tmp_path / "log.jsonl"
    clock = Clock(start_ms=20_000)
    if went_on and cpu_ms:
        (result,) = await play(bots, log, clock, poller=lagging, referee=resume)
        (foul,) = result.fouls
        (game,) = read_games(log)
        (evidence,) = (record for record in game.records if isinstance(record, FoulRecord))
        assert foul.foul == evidence.foul == "late"
        assert "kept the referee from its pipe for" in evidence.detail
        assert (evidence.cpu_ms or 0.0) > cpu_ms / 2
    else:
        with pytest.RaisesGroup(LagError):
            await play(bots, log, clock, poller=lagging, referee=resume)


async def test_a_late_hello_is_a_foul_and_its_lag_is_given_back() -> None:
    poller = LaggingPoller(300.0)
    pool = BotPool(
        poller, [Command((sys.executable, "-c", "input(); input()"), "/")], 500, UNLOCKED
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        began = time.monotonic()
        (sits,) = await pool.start_missing()
        assert time.monotonic() - began >= 0.8
        assert sits
        assert sits.fault == Fault("no_hello", "No hello within 500 ms.")
        await pool.close()
        nursery.cancel_scope.cancel()


async def test_a_bot_that_does_not_greet_before_its_turn_has_no_second_try() -> None:
    poller = Poller()
    pool = BotPool(poller, [Command((sys.executable, "-c", "input()"), "/")], 5000, UNLOCKED)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        (early,) = await pool.start_missing(early=True)
        (judged,) = await pool.start_missing()
        assert early
        assert judged is early
        assert early.fault == Fault("gone", "It exited with status 0.")
        # The game after it has a new process, as after any foul.
        (later,) = await pool.start_missing()
        assert later is not early
        await pool.close()
        nursery.cancel_scope.cancel()


async def test_a_machine_that_cannot_keep_time_blames_nobody_for_a_hello() -> None:
    poller = LaggingPoller(10_001.0)
    pool = BotPool(poller, [sample()], 500, UNLOCKED)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        with pytest.raises(LagError, match="cannot keep time"):
            await pool.start_missing()
        await pool.close()
        nursery.cancel_scope.cancel()
    assert not children()


async def test_two_bots_that_write_ahead_do_not_keep_a_third_waiting(tmp_path: Path) -> None:
    """The bots know the numbers of their questions: without a bound one game is one look."""
    at_once = [0]

    class Counted(Table):
        def _take_lines(self) -> None:
            at_once.append(0)
            before = len(at_once)
            super()._take_lines()
            assert len(at_once) == before, "It goes on without a look at the others."

    class Counting(Referee):
        def receive(self, *answer: Any, **more: Any) -> None:
            at_once[-1] += 1
            super().receive(*answer, **more)

    bot = tmp_path / "ahead.py"
    bot.write_text(
        "import sys\n"
        'print(\'{"type":"hello","name":"x","version":"1"}\', flush=True)\n'
        "sys.stdin.readline()\n"
        "sys.stdin.readline()\n"
        'answer = \'{"type":"choose","id":%d,"choice":0}\'\n'
        "ahead = [answer % number for number in range(10**6 + 1, 10**6 + 900)]\n"
        "print(chr(10).join(ahead), flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = Command((sys.executable, "-I", "-S", str(bot)), str(tmp_path))
    log = tmp_path / "log.jsonl"
    (result,) = await play([command, command], log, table=Counted, referee=Counting)
    assert result.why == "target"
    assert max(at_once) == LINES_A_WAIT


@pytest.mark.parametrize(
    ("crash", "ending"),
    [
        ("os.kill(os.getpid(), 11)", "It was killed by SIGSEGV"),
        ("os._exit(3)", "It exited with status 3"),
        ("time.sleep(60)", ""),
    ],
)
@pytest.mark.parametrize("greets", [True, False])
async def test_death_is_reported_where_a_crash_wrote_the_line(
    crash: str, ending: str, greets: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ending:
        # However busy the machine is, its end is seen.
        monkeypatch.setattr("arena.match.bot_process.DEATH_MS", 60_000)
    words = "os.write(2, b'the runtime says why\\n'); os.write(1, b'*** fault ***\\nat 0x7f\\n')"
    bot = tmp_path / "bot.py"
    script = ANSWERS.replace("LATE", f"{words}; {crash}")
    bot.write_text(script if greets else f"import os, time\n{words}; {crash}")
    command = Command((sys.executable, "-I", "-S", str(bot), "x"), str(tmp_path))
    await play([sample(), command], tmp_path / "log.jsonl")
    (game,) = read_games(tmp_path / "log.jsonl")
    (foul,) = [record for record in game.records if isinstance(record, FoulRecord)]
    assert foul.foul == ("malformed" if greets else "no_hello"), "The class depends on no time."
    assert foul.detail.startswith(ending or "Not a message")
    assert "the runtime says why" in foul.stderr
    if ending and greets:
        assert foul.stdout == "*** fault ***\\nat 0x7f\\n"
    elif not ending:
        assert foul.stdout is UNSET
    seed = board_seed(b"test", "test", 1)
    assert [*mismatches(game, seed)] == [], "What only the table knew follows from nothing."
