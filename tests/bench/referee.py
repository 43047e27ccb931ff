"""What the whole referee costs a move, against an epoll loop in C with the same bots and bytes.

    python -m tests.bench.referee [--rounds 5] [--games 1 8 32 128] [--profile]

The loop (`loop.c`) has no rules, no log and no JSON; a blocking ping-pong in Python stands beside
it. Own CPU and wall time a move are ratios to the loop with as many games in the same round
(machines are shared and noisy: trust the ratios), the median of the rounds and their spread. Needs
a C compiler.
"""

import argparse
import cProfile
import os
import pstats
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import trio

from arena.bots import Bot
from arena.engine.chance import board_seed
from arena.gamelog import GameLog
from arena.pump import Pump
from arena.referee import Referee, Seating
from arena.sandbox.limits import Limits
from arena.sandbox.profile import Command
from arena.sandbox.sandbox import Sandbox
from arena.table import Bench, Table
from arena.variants import named
from protocol.messages import Clock
from tests.arena.tables import sitting

RULES = named("draw")
CLOCK = Clock()
NAMES = ("one", "two")
RATIO = f"{'ratio':>8}{'spread':>14}"


class Cost(NamedTuple):
    """What a number of moves took."""

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
    """The cost of playing; `play` returns the number of moves."""
    wall, cpu = time.monotonic(), time.process_time()
    moves = play()
    return Cost(moves, time.process_time() - cpu, time.monotonic() - wall)


def questions(games: int) -> list[tuple[int, bytes]]:
    """Every question of some games against the instant bots: seat and bytes."""
    asked: list[tuple[int, bytes]] = []
    for number in range(1, games + 1):
        referee = new_referee(number)
        while referee.awaiting:
            lines = [entry for entry in referee.outgoing() if b'"type":"ask"' in entry[1]]
            asked += lines
            question = referee.awaiting
            line = b'{"type":"choose","id":%d,"choice":0}' % question.id
            referee.received(question.seat, line, 0.1)
    return asked


def new_referee(number: int) -> Referee:
    """A game of the benchmark."""
    seating = Seating(f"{number}.bench", number, number, NAMES, RULES, CLOCK)
    return Referee(seating, board_seed(b"bench", "bench", number))


def ping_pong(program: str, asked: list[tuple[int, bytes]]) -> int:
    """Write a question, block until the answer is there, and nothing else."""
    bots = [
        subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for _ in NAMES
    ]
    pipes = [(bot.stdin.fileno(), bot.stdout.fileno()) for bot in bots if bot.stdin and bot.stdout]
    for seat, line in asked:
        to_bot, from_bot = pipes[seat]
        os.write(to_bot, line)
        os.read(from_bot, 65_536)
    for bot in bots:
        bot.kill()
        bot.communicate()
    return len(asked)


def epoll_loop(program: str, size: int, tables: int, moves: int) -> Cost:
    """The same number of moves by the loop in C, whose own CPU does not count starting bots."""
    each = max(1, moves // tables)
    loop = [str(Path(program).with_name("loop")), program, *map(str, (tables, each, size))]
    cpu, wall = subprocess.run(loop, check=True, capture_output=True, text=True).stdout.split()
    return Cost(each * tables, float(cpu), float(wall))


class Seated(NamedTuple):
    """A sitting that is about to be played: its bots have greeted."""

    bench: Bench
    bots: list[Bot | None]
    log: GameLog
    numbers: range


async def _seated(pump: Pump, program: str, numbers: range, folder: Path) -> Seated:
    command = Command((program,), str(folder))
    record = sitting(NAMES, tuple(numbers), RULES, CLOCK, event="bench")
    log = GameLog(folder / f"{numbers.start}.jsonl", record)
    bench = Bench(pump, [command, command], CLOCK.start_ms, Sandbox("off", Limits()))
    return Seated(bench, await bench.ready(), log, numbers)


async def _sit(pump: Pump, seated: Seated) -> None:
    for number in seated.numbers:
        await Table(pump, new_referee(number), seated.bots, seated.log).play()


async def _play(program: str, tables: int, games: int, folder: Path) -> Cost:
    """The cost of playing alone: bots are started before it and leave after it."""
    moves = len(questions(tables * games))
    async with trio.open_nursery() as nursery:
        pump = Pump()
        nursery.start_soon(pump.run)
        numbers = [range(1 + table * games, 1 + (table + 1) * games) for table in range(tables)]
        sittings = [await _seated(pump, program, one, folder) for one in numbers]
        wall, cpu = time.monotonic(), time.process_time()
        async with trio.open_nursery() as players:
            for one in sittings:
                players.start_soon(_sit, pump, one)
        cost = Cost(moves, time.process_time() - cpu, time.monotonic() - wall)
        for one in sittings:
            await one.bench.close()
            one.log.close()
        nursery.cancel_scope.cancel()
    return cost


def referee_cost(program: str, tables: int, games: int) -> Cost:
    """The cost of the whole referee: rules, clocks, log."""
    with tempfile.TemporaryDirectory() as folder:
        return trio.run(_play, program, tables, games, Path(folder))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, nargs="+", default=[1, 8, 32, 128])
    parser.add_argument("--moves", type=int, default=20_000, help="about, in each measurement")
    parser.add_argument("--profile", action="store_true", help="where one table's time goes")
    wanted = parser.parse_args()
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("This benchmark needs a C compiler (cc).")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/instant"
        for name in ("instant", "loop"):
            source = Path(__file__).with_name(f"{name}.c")
            subprocess.run([compiler, "-O2", "-o", f"{folder}/{name}", source], check=True)
        if wanted.profile:
            _profile(program)
        else:
            _table(program, wanted.rounds, wanted.games, wanted.moves)


def _table(program: str, rounds: int, tables: list[int], moves: int) -> None:
    asked = questions(20)
    a_game, size = len(asked) / 20, round(statistics.mean(len(line) for _, line in asked))
    pings = asked * max(1, moves // len(asked))
    print(f"a question has {size} bytes; ratios are to the loop in C with as many games")
    base: dict[int, list[Cost]] = {count: [] for count in tables}
    costs: dict[int, list[Cost]] = {count: [] for count in tables}
    ping: list[Cost] = []
    for _ in range(rounds):
        ping.append(measured(lambda: ping_pong(program, pings)))
        for count in tables:
            base[count].append(epoll_loop(program, size, count, moves))
            games = max(1, round(moves / a_game / count))
            costs[count].append(referee_cost(program, count, games))
    print(
        f"{'':>22}{'CPU µs':>8}{'ratio':>8}{'spread':>14}{'wall µs':>10}{'ratio':>8}{'spread':>14}"
    )
    _row("blocking ping-pong", ping, base[min(tables)])
    for count in tables:
        _row(f"loop in C, {count} games", base[count], base[count])
        _row(f"referee, {count} games", costs[count], base[count])


def _row(what: str, costs: list[Cost], base: list[Cost]) -> None:
    cpu = [one.cpu_us / other.cpu_us for one, other in zip(costs, base, strict=True)]
    wall = [one.wall_us / other.wall_us for one, other in zip(costs, base, strict=True)]
    own = (statistics.median(one.cpu_us for one in costs), statistics.median(cpu))
    all_in_all = (statistics.median(one.wall_us for one in costs), statistics.median(wall))
    print(
        f"{what:>22}{own[0]:>8.1f}{own[1]:>8.2f}{f'{min(cpu):.2f}-{max(cpu):.2f}':>14}"
        f"{all_in_all[0]:>10.1f}{all_in_all[1]:>8.2f}{f'{min(wall):.2f}-{max(wall):.2f}':>14}"
    )


def _profile(program: str) -> None:
    with cProfile.Profile() as profile:
        referee_cost(program, 1, 200)
    pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
