"""Other programs of the kind, beside which ours are measured: referees, and rules of dominoes.

fastchess and python-chess referee chess, and their engines play one game by heart (`uci.c`), about
as long as a game of ours. A referee's own CPU time is counted, its engines' is not. OpenSpiel and
the package `dominoes` have rules only.
"""

import asyncio
import importlib
import importlib.util
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.bench.referee import Cost, measured

MOVES = 86
"""Moves of White in a game; the engines know two more."""
PLIES = 2 * MOVES
RULES = {"OpenSpiel": ("pyspiel", "block", 2), "PyPI dominoes": ("dominoes", "partnership", 4)}
"""Other rules of dominoes: the module that has them, the nearest rules of ours, and the seats."""
INSTALL = "pip install '.[bench]' in the clone"


def is_here(module: str) -> bool:
    """Tell whether a module of the extra `bench` is installed."""
    return importlib.util.find_spec(module) is not None


def fastchess_cost(fastchess: Path, engine: str, tables: int, games: int) -> Cost:
    """Return the cost of so many games at each of these tables; the start of engines is in it."""
    sides = [
        word for name in ("one", "two") for word in ("-engine", f"cmd={engine}", f"name={name}")
    ]
    command = (
        str(fastchess.absolute()), *sides, "-each", "tc=60+1", "-maxmoves", str(MOVES),
        "-games", "1", "-rounds", str(tables * games), "-concurrency", str(tables),
        "-force-concurrency",
    )  # fmt: skip
    cpu_s = 0.0

    def play() -> int:
        nonlocal cpu_s
        process = subprocess.Popen(
            command, cwd=Path(engine).parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        cpu_s = own_cpu_s(process.pid)
        if process.wait():
            raise SystemExit(f"fastchess failed: {' '.join(command)}. Run it to see why.")
        return tables * games * PLIES

    return measured(play)._replace(cpu=cpu_s)


def own_cpu_s(pid: int) -> float:
    """Return the CPU time of a process without its children, in s, to about 10 ms."""
    _, fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def python_chess_cost(engine: str, tables: int, games: int) -> Cost:
    """Return the cost of so many games at each of these tables, without the start of engines."""
    return asyncio.run(_python_chess(engine, tables, games))


async def _python_chess(engine: str, tables: int, games: int) -> Cost:
    chess: Any = importlib.import_module("chess")
    uci: Any = importlib.import_module("chess.engine")
    pairs = [[(await uci.popen_uci(engine))[1] for _ in "wb"] for _ in range(tables)]
    limit = uci.Limit(time=1.0)

    async def play(pair: list[Any]) -> None:
        for _ in range(games):
            board = chess.Board()
            for ply in range(PLIES):
                answer = await pair[ply % 2].play(board, limit)
                board.push(answer.move)

    wall, cpu = time.monotonic(), time.process_time()
    await asyncio.gather(*map(play, pairs))
    cost = Cost(tables * games * PLIES, time.process_time() - cpu, time.monotonic() - wall)
    await asyncio.gather(*[player.quit() for pair in pairs for player in pair])
    return cost


def random_rounds(peer: str, count: int, rng: random.Random) -> None:
    """Deal and play rounds at random by other rules of dominoes."""
    if peer == "OpenSpiel":
        importlib.import_module("open_spiel.python.games.block_dominoes")
        load: Any = importlib.import_module("pyspiel")
        begin = load.load_game("python_block_dominoes").new_initial_state
        for _ in range(count):
            state = begin()
            while not state.is_terminal():
                # A chance node deals one of its tiles, all equally likely.
                dealt = state.chance_outcomes() if state.is_chance_node() else ()
                state.apply_action(rng.choice([tile for tile, _ in dealt] or state.legal_actions()))
        return
    new = importlib.import_module("dominoes").Game.new
    for _ in range(count):
        game = new()
        while game.result is None:
            game.make_move(*rng.choice(game.valid_moves))
