"""The cost of the whole referee for a move: games side by side, and many tables in a process.

Also what a run costs a result, with fakes of referee processes that answer at once. The baselines
are an epoll loop in C (`loop.c`), which has no rules, no log and no JSON, and a blocking ping-pong
in Python, with the same bots and bytes.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import trio

from arena.engine.shuffle import board_seed
from arena.logs.gamelog import GameLog
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess
from arena.match.poller import Poller
from arena.match.referee import GameSetup, Referee
from arena.match.table import Table
from arena.rules.variants import find_variant
from arena.sandbox.command import OFF, Command, Limits
from arena.sandbox.process import Sandbox
from protocol.messages import Clock
from protocol.records import Result
from tests.support.tables import sitting
from tournaments.commands.run import PlayGames, play_to_end
from tournaments.event.book import Ledger
from tournaments.event.folder import Folder, lock_for_writing
from tournaments.event.grow import open_event
from tournaments.plan.read_plan import read_plan
from tournaments.plan.schedule import PlannedGame, PlannedSitting
from tournaments.play import lanes, runner, sittings
from tournaments.play.sittings import LoggedSittings

RULES = find_variant("draw")
CLOCK = Clock()
NAMES = ("one", "two")


class Cost(NamedTuple):
    """The time that a number of moves took."""

    moves: int
    cpu: float
    wall: float

    @property
    def cpu_us(self) -> float:
        """Own CPU a move, in µs."""
        return self.cpu / self.moves * 1e6

    @property
    def wall_us(self) -> float:
        """Wall time a move, in µs."""
        return self.wall / self.moves * 1e6


def measured(play: Callable[[], int]) -> Cost:
    """Return the cost of playing; `play` returns the number of moves."""
    wall, cpu = time.monotonic(), time.process_time()
    moves = play()
    return Cost(moves, time.process_time() - cpu, time.monotonic() - wall)


def questions(games: int) -> list[tuple[int, bytes]]:
    """Return every question of some games against the instant bots: seat and bytes."""
    outgoing = (line for number in range(1, games + 1) for line in played(number).take_outgoing())
    return [entry for entry in outgoing if b'"type":"ask"' in entry[1]]


def played(number: int) -> Referee:
    """Return a game against the instant bots, with the lines that were sent and will be logged."""
    referee = new_referee(number)
    while question := referee.awaiting:
        line = b'{"type":"choose","id":%d,"choice":0}' % question.id
        referee.receive(question.seat, line, 0.1)
    return referee


def new_referee(number: int) -> Referee:
    seating = GameSetup(f"{number}.bench", number, number, NAMES, RULES, CLOCK)
    return Referee(seating, board_seed(b"bench", "bench", number))


def ping_pong(program: str, questions: list[tuple[int, bytes]]) -> int:
    """Write a question, block until the answer is there, and nothing else."""
    bots = [
        subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for _ in NAMES
    ]
    pipes = [(bot.stdin.fileno(), bot.stdout.fileno()) for bot in bots if bot.stdin and bot.stdout]
    for seat, line in questions:
        to_bot, from_bot = pipes[seat]
        os.write(to_bot, line)
        os.read(from_bot, 65_536)
    for bot in bots:
        bot.kill()
        bot.communicate()
    return len(questions)


def epoll_loop(program: str, size: int, tables: int, moves: int) -> Cost:
    """Return the cost of the same moves by the loop in C, without starting bots."""
    share = max(1, moves // tables)
    loop = [str(Path(program).with_name("loop")), program, *map(str, (tables, share, size))]
    cpu, wall = subprocess.run(loop, check=True, capture_output=True, text=True).stdout.split()
    return Cost(share * tables, float(cpu), float(wall))


class Seated(NamedTuple):
    """A sitting that is about to be played: its bots have greeted."""

    bench: BotPool
    bots: list[BotProcess | None]
    log: GameLog
    numbers: range


async def _seated(poller: Poller, argv: tuple[str, ...], numbers: range, folder: Path) -> Seated:
    command = Command(argv, str(folder))
    record = sitting(NAMES, tuple(numbers), RULES, CLOCK, event="bench")
    log = GameLog(folder / f"{numbers.start}.jsonl", record)
    bench = BotPool(poller, [command, command], CLOCK.start_ms, Sandbox(OFF, Limits()))
    return Seated(bench, await bench.start_missing(), log, numbers)


async def _sit(poller: Poller, sitting: Seated) -> None:
    for number in sitting.numbers:
        await Table(poller, new_referee(number), sitting.bots, sitting.log).play()


async def _play(program: str, tables: int, games: int, folder: Path) -> Cost:
    """Return the cost of playing alone: bots are started before it and leave after it."""
    moves = len(questions(tables * games))
    async with trio.open_nursery() as nursery:
        poller = Poller()
        nursery.start_soon(poller.run)
        numbers = [range(1 + table * games, 1 + (table + 1) * games) for table in range(tables)]
        sittings = [await _seated(poller, (program,), span, folder) for span in numbers]
        wall, cpu = time.monotonic(), time.process_time()
        async with trio.open_nursery() as players:
            for sitting in sittings:
                players.start_soon(_sit, poller, sitting)
        cost = Cost(moves, time.process_time() - cpu, time.monotonic() - wall)
        for sitting in sittings:
            await sitting.bench.close()
            sitting.log.close()
        nursery.cancel_scope.cancel()
    return cost


def referee_cost(program: str, tables: int, games: int) -> Cost:
    """Return the cost of the whole referee: rules, clocks, log."""
    with tempfile.TemporaryDirectory() as folder:
        return trio.run(_play, program, tables, games, Path(folder))


FAKE = """
import json, sys
for line in sys.stdin:
    order = json.loads(line)
    for game in order["games"]:
        result = {"type": "result", "game": game["name"], "board": game["board"]}
        result |= {"seats": game["name"].split(".")[1:], "scores": [10, 0], "places": [1, 2]}
        print(json.dumps({"result": result | {"rounds": 5, "why": "target"}}))
    print(json.dumps({"over": order["sitting"]["name"]}), flush=True)
"""
"""A referee process that has every game played at once."""
FAKE_BOTS = 20
GAMES_A_BOARD = FAKE_BOTS * (FAKE_BOTS - 1)


async def _play_at_once(
    sittings: Any,
    plan: PlannedSitting,
    games: Collection[PlannedGame],
    all_lanes: lanes.Lanes,
    place: object = None,
) -> None:
    """Count a sitting's games, in the place of `LoggedSittings.play`."""
    pool: Any = BotPool(sittings._poller, [], 0, sittings._sandbox)
    async with all_lanes.staffed(pool, place), all_lanes.playing(pool):
        for game in games:
            seats = tuple(plan.names.split("."))
            await sittings._count(
                Result(game.name, game.board, seats, (10, 0), (1, 2), 5, "target")
            )


def result_cost(referees: int, results: int) -> Cost:
    """Return what a run costs a result, with so many referee processes that answer at once."""
    chances: dict[str, Any] = {"PAYS_S": 0.0, "MOST_PROCESSES": referees}
    settings: dict[str, Any] = {"MIN_CPU_S": 0.0, "QUICK": 1e9, "stay_on": lambda _: None}
    settings["usable_cores"] = lambda: frozenset(range(referees + 1))
    with (
        tempfile.TemporaryDirectory() as name,
        patch.object(sittings, "REFEREE_ARGV", (sys.executable, "-S", "-c", FAKE)),
        patch.object(LoggedSittings, "play", _play_at_once),
        patch.multiple(runner, **chances),
        patch.multiple(lanes, **settings),
    ):
        folder = Folder(Path(name, "event"))
        folder.path.mkdir()
        fields = {"boards": results // GAMES_A_BOARD, "sandbox": "off"}
        plan = read_plan(tuple(["first"] * FAKE_BOTS), fields, predictable=True)
        book, _ = open_event(folder, plan.build(folder.build), 1)
        ledger = Ledger(book)

        @asynccontextmanager
        async def ready() -> AsyncIterator[PlayGames]:
            async def play(finished: trio.MemorySendChannel[Result]) -> None:
                run = runner.Runner(ledger, Sandbox(OFF, Limits()), finished)
                await run.play(lanes.Lanes(None))

            yield play

        def count() -> int:
            with lock_for_writing(folder):
                trio.run(play_to_end, ledger, ready())
            assert ledger.complete
            return ledger.planned

        return measured(count)
