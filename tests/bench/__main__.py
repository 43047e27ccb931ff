"""All benchmarks with one command: ratios to baselines of the same round.

    python -m tests.bench [referee results peers engine playouts] [--rounds 5]
                          [--moves 20000] [--fastchess PATH]

Machines are shared and noisy: trust the ratios, and their spread. Needs a C compiler. `peers`
compares with fastchess, where its program is given (it is in no registry), with python-chess, and
`engine` with OpenSpiel and the package `dominoes`, where they are installed
(`pip install '.[bench]'`); a row says what is not here. Others are
commands of their own: `tests.bench.ratings` (100,000 results), `tests.bench.growth` (events of up
to a million games), `tests.bench.commands` (until a command answers).
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from arena.valuation.policy import play_out
from protocol.codec import encode_json
from tests.bench import engine, peers, playouts, referee
from tests.bench.figures import Figure, absent, figure, show
from tests.bench.referee import Cost

FOLDER = Path(__file__).parent
GAMES_AT_ONCE = (1, 8, 32, 128)
CPU_GOAL, WALL_GOAL = 5.0, 3.0
"""Ratios to the loop in C."""
REFEREES = (8, 64)
"""Referee processes of a run."""
PEER_GAMES = (1, 8)
PEER_GOALS = {"fastchess": (0.7, 1.0), "python-chess": (0.15, None)}
PLAYOUT_GOAL = 0.05
"""The share of the engine's time that a playout in arrays may take."""
ROUNDS = 300
GAMES = 40
"""Games of the referee without pipes and log."""

T = TypeVar("T")
Timed = Callable[[], object]
Part = Callable[[str, int, int], Iterator[Figure]]
"""A part of the benchmarks: it takes the instant bot's program, the rounds and the moves."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", default=[*PARTS], help=f"of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--moves", type=int, default=20_000, help="about, in each measurement")
    parser.add_argument("--fastchess", type=Path, help="the program of fastchess, for `peers`")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = compile_programs(Path(folder))
        parts = PARTS | {"peers": partial(by_peer, wanted.fastchess)}
        parts_measured = [parts[name](program, wanted.rounds, wanted.moves) for name in wanted.what]
        figures = [row for part in parts_measured for row in part]
    show(figures)


def compile_programs(folder: Path) -> str:
    """Return the instant bot, and the loop beside it."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("This benchmark needs a C compiler (cc).")
    for name in ("instant", "loop", "uci"):
        subprocess.run([compiler, "-O2", "-o", folder / name, FOLDER / f"{name}.c"], check=True)
    return f"{folder}/instant"


def size_of_questions() -> tuple[int, float]:
    """Return the mean size of a question in bytes, and how many a game has."""
    questions = referee.questions(20)
    return round(statistics.mean(len(line) for _, line in questions)), len(questions) / 20


def by_referee(program: str, rounds: int, moves: int) -> Iterator[Figure]:
    """Games side by side, each with processes of its own."""
    size, a_game = size_of_questions()
    questions = referee.questions(20)
    pings = questions * max(1, moves // len(questions))
    base: dict[int, list[Cost]] = {count: [] for count in GAMES_AT_ONCE}
    columns: dict[int, list[Cost]] = {count: [] for count in GAMES_AT_ONCE}
    ping: list[Cost] = []
    for _ in range(rounds):
        ping.append(referee.measured(lambda: referee.ping_pong(program, pings)))
        for count in GAMES_AT_ONCE:
            base[count].append(referee.epoll_loop(program, size, count, moves))
            games = max(1, round(moves / a_game / count))
            columns[count].append(referee.referee_cost(program, count, games))
    yield from costs("blocking ping-pong", ping, base[1], "loop in C", (None, None))
    for count in GAMES_AT_ONCE:
        reference, goals = f"loop in C, {count}", (CPU_GOAL, WALL_GOAL)
        yield from costs(f"referee, {count} games", columns[count], base[count], reference, goals)
        rate = [1e6 / cost.wall_us / a_game for cost in columns[count]]
        least = [1e6 / cost.wall_us / a_game for cost in base[count]]
        yield figure(f"referee, {count} games", "games/s", rate, least, reference)


def by_results(_program: str, rounds: int, moves: int) -> Iterator[Figure]:
    """Results that a run takes from referee processes that answer at once."""
    line = encode_json(referee.played(1).result)
    base: dict[int, list[Cost]] = {count: [] for count in REFEREES}
    columns: dict[int, list[Cost]] = {count: [] for count in REFEREES}
    for _ in range(rounds):
        for count in REFEREES:
            cost = referee.result_cost(count, moves)
            columns[count].append(cost)
            base[count].append(
                referee.measured(lambda: len([json.loads(line) for _ in range(moves)]))
            )
    for count in REFEREES:
        name, reference = f"a result of {count} referees", "json.loads of it"
        yield from costs(name, columns[count], base[count], reference, (None, None))


def by_peer(fastchess: Path | None, program: str, rounds: int, moves: int) -> Iterator[Figure]:
    """Games side by side beside other referees, whose engines are as instant as our bots."""
    has_python_chess = peers.is_here("chess")
    if fastchess is None:
        yield absent("referee", "fastchess", "--fastchess PATH")
    if not has_python_chess:
        yield absent("referee", "python-chess", peers.INSTALL)
    engine = str(Path(program).with_name("uci"))
    columns: dict[int, list[Cost]] = {count: [] for count in PEER_GAMES}
    base: dict[tuple[str, int], list[Cost]] = {}
    for _ in range(rounds):
        for count in PEER_GAMES:
            games = max(1, round(moves / peers.PLIES / count))
            columns[count].append(referee.referee_cost(program, count, games))
            if fastchess:
                cost = peers.fastchess_cost(fastchess, engine, count, games)
                base.setdefault(("fastchess", count), []).append(cost)
            if has_python_chess:
                cost = peers.python_chess_cost(engine, count, games)
                base.setdefault(("python-chess", count), []).append(cost)
    for (peer, count), column in base.items():
        name = f"referee, {count} games, beside {peer}"
        yield from costs(name, columns[count], column, peer, PEER_GOALS[peer])


def costs(
    name: str,
    column: list[Cost],
    base: list[Cost],
    reference: str,
    goals: tuple[float | None, float | None],
) -> Iterator[Figure]:
    """Own CPU and wall time a move."""
    cpu = [cost.cpu_us for cost in column], [cost.cpu_us for cost in base]
    wall = [cost.wall_us for cost in column], [cost.wall_us for cost in base]
    yield figure(f"{name}, CPU", "µs a move", *cpu, reference, goals[0])
    yield figure(f"{name}, wall", "µs a move", *wall, reference, goals[1])


def by_engine(_program: str, rounds: int, _moves: int) -> Iterator[Figure]:
    """Random rounds of the rules alone, and questions without pipes and log."""
    questions = referee.questions(GAMES)
    lines = [line for _, line in questions]
    column, base = list[float](), list[float]()
    for _ in range(rounds):
        seconds = cpu_s(lambda: [referee.played(number) for number in range(1, GAMES + 1)])
        column.append(1e6 * seconds / len(questions))
        base.append(1e6 * cpu_s(lambda: [json.loads(line) for line in lines]) / len(questions))
    yield figure("referee alone, a question", "µs CPU", column, base, "json.loads of it")
    for peer, (module, rules, seats) in peers.RULES.items():
        rng, name = random.Random(1), f"random round of {rules}, with its deal"
        by_us = partial(engine.random_rounds, rules, seats, ROUNDS, rng)
        by_peer = partial(peers.random_rounds, peer, ROUNDS, rng)
        column, base = [], []
        for _ in range(rounds if peers.is_here(module) else 0):
            column.append(1e6 * cpu_s(by_us) / ROUNDS)
            base.append(1e6 * cpu_s(by_peer) / ROUNDS)
        if base:
            yield figure(name, "µs CPU", column, base, peer)
        else:
            yield absent(name, peer, peers.INSTALL)


def by_playouts(_program: str, rounds: int, _moves: int) -> Iterator[Figure]:
    """Yield what a playout costs in arrays."""
    for name, seats in playouts.TABLES:
        batch, games = playouts.batch(name, seats)
        column, base = list[float](), list[float]()
        for _ in range(rounds):
            column.append(1e6 * cpu_s(partial(play_out, batch)) / len(batch))
            base.append(1e6 * cpu_s(partial(playouts.play_by_engine, games)) / len(games))
        yield figure(f"playout, {name} at {seats}", "µs CPU", column, base, "engine", PLAYOUT_GOAL)


def cpu_s(work: Timed) -> float:
    """Return the CPU seconds of our own process."""
    began = time.process_time()
    work()
    return time.process_time() - began


PARTS: dict[str, Part] = {
    "referee": by_referee,
    "results": by_results,
    "peers": partial(by_peer, None),
    "engine": by_engine,
    "playouts": by_playouts,
}

if __name__ == "__main__":
    main()
