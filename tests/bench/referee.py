"""What the referee costs a move, against a blocking ping-pong with the same bots and bytes.

    python -m tests.bench.referee [--rounds 5] [--games 1 8 32] [--profile]

Prints own CPU and wall time a move as ratios to the ping-pong of the same round (machines are
shared and noisy: trust the ratios), the median of the rounds and their spread. Needs a C compiler.
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


async def _sit(pump: Pump, program: str, numbers: range, folder: Path) -> None:
    command = Command((program,), str(folder))
    record = sitting(NAMES, tuple(numbers), RULES, CLOCK, event="bench")
    log = GameLog(folder / f"{numbers.start}.jsonl", record)
    bench = Bench(pump, [command, command], CLOCK.start_ms, Sandbox("off", Limits()))
    try:
        for number in numbers:
            await Table(pump, new_referee(number), await bench.ready(), log).play()
    finally:
        await bench.close()
        log.close()


async def _play(program: str, tables: int, games: int, folder: Path) -> None:
    async with trio.open_nursery() as nursery:
        pump = Pump()
        nursery.start_soon(pump.run)
        async with trio.open_nursery() as sittings:
            for table in range(tables):
                numbers = range(1 + table * games, 1 + (table + 1) * games)
                sittings.start_soon(_sit, pump, program, numbers, folder)
        nursery.cancel_scope.cancel()


def referee_cost(program: str, tables: int, games: int) -> Cost:
    """The cost of the whole referee, without counting its moves."""
    moves = len(questions(tables * games))
    with tempfile.TemporaryDirectory() as folder:
        cost = measured(lambda: _run(program, tables, games, Path(folder)))
    return Cost(moves, cost.cpu, cost.wall)


def _run(program: str, tables: int, games: int, folder: Path) -> int:
    trio.run(_play, program, tables, games, folder)
    return 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--moves", type=int, default=20_000, help="about, in each measurement")
    parser.add_argument("--profile", action="store_true", help="where one table's time goes")
    wanted = parser.parse_args()
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("This benchmark needs a C compiler (cc).")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/instant"
        source = Path(__file__).with_name("instant.c")
        subprocess.run([compiler, "-O2", "-o", program, source], check=True)
        if wanted.profile:
            _profile(program)
        else:
            _table(program, wanted.rounds, wanted.games, wanted.moves)


def _table(program: str, rounds: int, tables: list[int], moves: int) -> None:
    asked = questions(20)
    a_game = len(asked) / 20
    pings = asked * max(1, moves // len(asked))
    print(f"a question has {statistics.mean(len(line) for _, line in asked):.0f} bytes")
    base: list[Cost] = []
    costs: dict[int, list[Cost]] = {count: [] for count in tables}
    for _ in range(rounds):
        base.append(measured(lambda: ping_pong(program, pings)))
        for count in tables:
            games = max(1, round(moves / a_game / count))
            costs[count].append(referee_cost(program, count, games))
    print(f"{'':>22}{'CPU µs':>8}{'ratio':>8}{'spread':>14}{'wall µs':>10}{'ratio':>8}")
    _row("blocking ping-pong", base, base)
    for count in tables:
        _row(f"referee, {count} games", costs[count], base)


def _row(what: str, costs: list[Cost], base: list[Cost]) -> None:
    cpu = [one.cpu_us / other.cpu_us for one, other in zip(costs, base, strict=True)]
    wall = [one.wall_us / other.wall_us for one, other in zip(costs, base, strict=True)]
    print(
        f"{what:>22}{statistics.median(one.cpu_us for one in costs):>8.1f}"
        f"{statistics.median(cpu):>8.2f}{f'{min(cpu):.2f}-{max(cpu):.2f}':>14}"
        f"{statistics.median(one.wall_us for one in costs):>10.1f}{statistics.median(wall):>8.2f}"
    )


def _profile(program: str) -> None:
    with tempfile.TemporaryDirectory() as folder, cProfile.Profile() as profile:
        _run(program, 1, 200, Path(folder))
    pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
