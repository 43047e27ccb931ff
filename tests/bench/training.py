"""The cost of training: environments against each other, OpenSpiel and PyPI, and batched inference.

    python -m tests.bench.training [--rounds 5] [--moves 4000]

Block dominoes, one round an episode, moves at random, in one process and one run. OpenSpiel's
Python block dominoes (two seats) is played with its observation and mask at every step, and bare;
ours as the environment of PettingZoo, as an `Episode` without vectors, and as the bare engine. Ours
does not stop where there is no choice, so rounds a second say more than steps a second. PyPI
`dominoes` plays four hands of seven without observations; beside it our engine plays four. Ratios
are rounds a second, ours to theirs. `pip install open_spiel dominoes` for the comparisons: what is
not installed is left out.

Then the environment of one seat is stepped against `greedy` in `draw`, alone and as so many rows of
the vectorised one; only its own steps are timed. At last the sample bot `batched` is asked recorded
questions through its pipes, so many at a time.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sample_bots
from arena import engine
from arena.engine.shuffle import board_seed
from arena.rules.variants import find_variant
from arena.training import boneyard_v0
from arena.training.episode import Episode
from arena.training.single_seat import SingleSeatEnv
from arena.training.vector_env import RoundsVectorEnv
from protocol.ruleset import Ruleset, derive
from tests.bench.referee import questions

BLOCK = derive(find_variant("block"), "block", {"rounds": 1})
FOUR = derive(BLOCK, "block of four", {"hand": 7})
BATCHED = (sys.executable, "-I", str(Path(sample_bots.__file__).with_name("batched.py")))
AT_ONCE = (1, 8, 64)
"""How many questions are asked at a time."""
ROWS_TOGETHER = (1024, 16384)
"""Rows of the vectorised environment."""
SETTLING, TIMED = 15, 30
"""Steps until episodes of some length are at all stages, and those that are timed."""


class Played(NamedTuple):
    """What was played."""

    steps: int
    rounds: int


Play = Callable[[int, random.Random], Played]
"""Plays rounds until they have at least so many steps."""


class Row(NamedTuple):
    """A line of the table."""

    what: str
    play: Play
    package: str = ""
    """What must be installed for it."""
    against: str = ""
    """The line that its rounds a second are compared with."""


def environment(moves: int, rng: random.Random) -> Played:
    """PettingZoo's loop: a vector and a mask at every step."""
    env, steps, rounds = boneyard_v0.raw_env(BLOCK, 2), 0, 0
    while steps < moves:
        env.reset(seed=rounds)
        rounds += 1
        for _ in env.agent_iter():
            seen, _reward, over, cut, _info = env.last()
            if over or cut:
                break
            env.step(rng.choice(seen["action_mask"].nonzero()[0]))
            steps += 1
    return Played(steps, rounds)


def episodes(moves: int, rng: random.Random) -> Played:
    """Questions as a bot gets them, without vectors."""
    steps = rounds = 0
    while steps < moves:
        rounds += 1
        episode = Episode(BLOCK, 2, board_seed(b"bench", "episode", rounds), "points")
        while episode.options:
            ask = episode.question(episode.seat)
            episode.act(rng.choice(ask.options))
            steps += 1
    return Played(steps, rounds)


def bare(rules: Ruleset, seats: int) -> Play:
    """Return a player of the engine and nothing else."""

    def play(moves: int, rng: random.Random) -> Played:
        steps, rounds, new = 0, 0, engine.new_game(rules, seats)
        while steps < moves:
            rounds += 1
            seed = board_seed(b"bench", "bare", rounds)
            game = new.copy()
            engine.begin(game, engine.chance_decides(game, seed))
            while options := engine.legal(game):
                engine.act_unchecked(game, rng.choice(options))
                steps += 1
        return Played(steps, rounds)

    return play


def open_spiel(*, seen: bool) -> Play:
    """OpenSpiel's game, with its observation and mask at every step or without."""

    def play(moves: int, rng: random.Random) -> Played:
        import_module("open_spiel.python.games")
        game = import_module("pyspiel").load_game("python_block_dominoes")
        observer = import_module("open_spiel.python.observation").make_observation(game)
        steps = rounds = 0
        while steps < moves:
            rounds += 1
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    tiles, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(tiles, chances)[0])
                    continue
                if seen:
                    observer.set_from(state, state.current_player())
                    state.legal_actions_mask()
                state.apply_action(rng.choice(state.legal_actions()))
                steps += 1
        return Played(steps, rounds)

    return play


def pypi_dominoes(moves: int, rng: random.Random) -> Played:
    """PyPI `dominoes`: four seats; it passes by itself."""
    package = import_module("dominoes")
    steps = rounds = 0
    while steps < moves:
        rounds += 1
        game = package.Game.new()
        while game.result is None:
            game.make_move(*rng.choice(game.valid_moves))
            steps += 1
    return Played(steps, rounds)


ROWS = (
    Row("OpenSpiel, observed", open_spiel(seen=True), "pyspiel"),
    Row("OpenSpiel, bare", open_spiel(seen=False), "pyspiel"),
    Row("PettingZoo environment", environment, "pettingzoo", "OpenSpiel, observed"),
    Row("Episode", episodes, "", "OpenSpiel, bare"),
    Row("engine, two seats", bare(BLOCK, 2), "", "OpenSpiel, bare"),
    Row("PyPI dominoes", pypi_dominoes, "dominoes"),
    Row("engine, four seats", bare(FOUR, 4), "", "PyPI dominoes"),
)


def measured(play: Play, moves: int, rng: random.Random) -> tuple[float, float]:
    """Measure steps and rounds in a second of CPU time."""
    began = time.process_time()
    steps, rounds = play(moves, rng)
    seconds = time.process_time() - began
    return steps / seconds, rounds / seconds


def games_table(times: int, moves: int) -> None:
    """Play everything so many times, and print the medians."""
    rows = [row for row in ROWS if not row.package or find_spec(row.package)]
    for row in ROWS:
        if row not in rows:
            print(f"{row.what}: left out, {row.package} is not installed")
    speeds: dict[str, list[tuple[float, float]]] = {row.what: [] for row in rows}
    for number in range(times):
        for row in rows:
            speeds[row.what].append(measured(row.play, moves, random.Random(number)))
    print(f"{'':>24}{'steps/s':>10}{'rounds/s':>10}{'ratio':>8}{'spread':>14}")
    for row in rows:
        steps, rounds = map(statistics.median, zip(*speeds[row.what], strict=True))
        told = ""
        if row.against in speeds:
            pairs = zip(speeds[row.what], speeds[row.against], strict=True)
            ratios = [ours[1] / theirs[1] for ours, theirs in pairs]
            spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
            told = f"{statistics.median(ratios):>8.2f}{spread:>14}"
        print(f"{row.what:>24}{steps:>10,.0f}{rounds:>10,.0f}{told}")


def stepped_alone(steps: int) -> float:
    """Return the steps a second of CPU time of the environment of one seat."""
    env, rng, seconds = SingleSeatEnv("draw", 2, rounds=1), random.Random(1), 0.0
    _, info = env.reset(seed=1)
    for _ in range(steps):
        action = rng.choice(info["action_mask"].nonzero()[0])
        began = time.process_time()
        _, _, over, _, info = env.step(action)
        if over:
            _, info = env.reset()
        seconds += time.process_time() - began
    return steps / seconds


def stepped_together(rows: int) -> float:
    """Return the same of so many rows, once their episodes are at all stages."""
    envs, rng, seconds = RoundsVectorEnv(rows, "draw", 2), np.random.default_rng(1), 0.0
    _, infos = envs.reset(seed=1)
    for step in range(SETTLING + TIMED):
        mask = infos["action_mask"]
        actions = (rng.random(mask.shape, np.float32) * mask).argmax(axis=1)
        began = time.process_time()
        infos = envs.step(actions)[4]
        seconds += (step >= SETTLING) * (time.process_time() - began)
    return TIMED * rows / seconds


def vector_table(times: int, moves: int) -> None:
    """Step one environment and many rows in turn, and print the medians."""
    found: dict[int, list[tuple[float, float]]] = {rows: [] for rows in ROWS_TOGETHER}
    for _ in range(times):
        for rows in ROWS_TOGETHER:
            found[rows].append((stepped_together(rows), stepped_alone(moves)))
    print(f"\n{'one seat, rows':>24}{'steps/s':>10}{'alone':>10}{'ratio':>8}{'spread':>14}")
    for rows, speeds in found.items():
        together, alone = map(statistics.median, zip(*speeds, strict=True))
        ratios = [many / one for many, one in speeds]
        spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
        told = f"{statistics.median(ratios):>8.2f}{spread:>14}"
        print(f"{rows:>24,}{together:>10,.0f}{alone:>10,.0f}{told}")


def asked(lines: list[bytes], at_once: int) -> tuple[float, float]:
    """Questions a second of wall time, and µs of the bot's CPU for each, so many at a time."""
    with subprocess.Popen(BATCHED, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bot:
        assert bot.stdin
        assert bot.stdout
        bot.stdin.write(b'{"type":"hello","protocol":1,"referee":"bench"}\n')
        bot.stdin.flush()
        bot.stdout.readline()
        cpu, began = _cpu(bot.pid), time.monotonic()
        for at in range(0, len(lines), at_once):
            some = lines[at : at + at_once]
            bot.stdin.write(b"".join(some))
            bot.stdin.flush()
            for _ in some:
                bot.stdout.readline()
        wall, cpu = time.monotonic() - began, _cpu(bot.pid) - cpu
    return len(lines) / wall, cpu / len(lines) * 1e6


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    nanoseconds = Path(f"/proc/{pid}/schedstat").read_text().split()[0]
    return int(nanoseconds) / 1e9


def batched_table(times: int, moves: int) -> None:
    """Ask the same questions in batches of several sizes, and print the medians."""
    lines = [line for _, line in questions(max(1, moves // 60))]
    found: dict[int, list[tuple[float, float]]] = {at_once: [] for at_once in AT_ONCE}
    for _ in range(times):
        for at_once in AT_ONCE:
            found[at_once].append(asked(lines, at_once))
    print(f"\n{'batched, questions':>24}{'a second':>10}{'CPU µs':>10}{'faster':>8}")
    for at_once in AT_ONCE:
        speed, cpu = map(statistics.median, zip(*found[at_once], strict=True))
        pairs = zip(found[at_once], found[1], strict=True)
        faster = statistics.median(many[0] / one[0] for many, one in pairs)
        print(f"{f'{at_once} at once':>24}{speed:>10,.0f}{cpu:>10.0f}{faster:>8.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--moves", type=int, default=4000)
    wanted = parser.parse_args()
    games_table(wanted.rounds, wanted.moves)
    vector_table(wanted.rounds, wanted.moves)
    batched_table(wanted.rounds, wanted.moves)


if __name__ == "__main__":
    main()
