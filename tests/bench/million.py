"""The cost of an event of very many games: to go on with it, to report, verify and replay it.

    python -m tests.bench.million [--games 1000000] [--folder FOLDER]

The games are played by the engine alone, every seat taking its first option, and are written as a
run writes them: packed logs, ledger, seeds. They are short, one round each, so that a million takes
some ten minutes. A folder that was written before is taken as it is. The last games are left for
`boneyard run`, which goes on with real bots. Each command is a process of its own; printed are its
wall time, its CPU time and the peak of its resident memory.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from arena.engine.shuffle import board_seed
from arena.logs.catalog import compress_finished
from arena.logs.gamelog import GameLog
from arena.match.referee import GameSetup, Referee
from arena.sandbox.command import OFF
from protocol.records import LogRecord, Result, SpentRecord
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder, load_event, secret_of
from tournaments.event.grow import open_event
from tournaments.plan.event import Event
from tournaments.plan.read_plan import read_plan
from tournaments.plan.schedule import (
    PlannedGame,
    PlannedSitting,
    numbers,
    seating,
    sitting,
    sittings,
)

ENTRY = (sys.executable, "-c", "from tournaments.cli.entry import main; main()")
BOTS = ("first", "greedy", "random", "counting", "random-sh")
SHORT = "target=1"
"""Every game is over after a round."""
GAMES_A_BOARD = len(BOTS) * (len(BOTS) - 1)
LEFT = 7
"""Games that are left for the run."""
CHOICE = b'{"type":"choose","id":%d,"choice":0}'


class Spent(NamedTuple):
    """The time and memory that a command took."""

    wall_s: float
    cpu_s: float
    peak_mib: float
    ending: str


def spent(*words: str) -> Spent:
    """Run boneyard and wait for it."""
    began = time.monotonic()
    process = subprocess.Popen(
        (*ENTRY, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout
    lines = process.stdout.read().strip().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words[0]} failed: {lines[-3:]}")
    cpu = usage.ru_utime + usage.ru_stime
    return Spent(time.monotonic() - began, cpu, usage.ru_maxrss / 1024, (lines or [""])[-1])


def write(folder: Folder, games: int) -> None:
    """Write an event of this many games, without the last few, as a run writes it."""
    folder.path.mkdir(parents=True, exist_ok=True)
    boards = games // GAMES_A_BOARD
    fields = {"boards": boards, "sandbox": "off"}
    draft = read_plan(BOTS, fields, choices=(SHORT,), predictable=True)
    event, _ = open_event(folder, draft.build(folder.build), 1)
    ledger = Ledger(Book(folder, event))
    seed_of = partial(board_seed, secret_of(folder), event.name)
    left = ledger.planned - LEFT
    for plan in ledger.stage:
        write_sitting(folder, event, ledger, plan, plan.games[:left], seed_of)
        left -= len(plan.games)


def write_sitting(
    folder: Folder,
    event: Event,
    ledger: Ledger,
    plan: PlannedSitting,
    games: Iterable[PlannedGame],
    seed_of: Callable[[int], bytes],
) -> None:
    """Write the log of a sitting with these games of it, and their results."""
    log = GameLog(folder.log(plan.name), sitting(event, plan, OFF, ""))
    numbered = numbers(plan.names, plan.boards, seed_of)
    for game in games:
        setup = seating(event, plan, game, numbered[game.board], {}, seed_of(game.board))
        records, result = played(setup, seed_of(game.board))
        log.append(records)
        ledger.add(result)
    log.close()
    compress_finished(folder.log(plan.name))


def played(setup: GameSetup, seed: bytes) -> tuple[list[LogRecord], Result]:
    """Return all records of a game in which everybody takes the first option, and its result."""
    referee = Referee(setup, seed)
    counts = [0] * len(setup.seats)
    while question := referee.awaiting:
        counts[question.seat] += 1
        referee.take_outgoing()
        referee.receive(question.seat, CHOICE % question.id, 0.1)
    assert referee.result
    *records, result = referee.take_records()
    time_used = SpentRecord(
        questions=tuple(counts),
        ms=tuple(0.1 * count for count in counts),
        worst_ms=(0.1,) * len(counts),
        given_back_ms=(0.0,) * len(counts),
        cpu_ms=(None,) * len(counts),
        worst_lag_ms=0.0,
    )
    return [*records, time_used, result], referee.result


def nth(event: Event, number: int) -> str:
    """Return the name of a game, by its number from 1 in the ledger."""
    names = chain.from_iterable((game.name for game in plan.games) for plan in sittings(event, {}))
    return next(islice(names, number - 1, None))


def measure(folder: Folder, games: int) -> None:
    """Run every command in turn and print what it took."""
    name = str(folder.path)
    boards = f"{games // GAMES_A_BOARD}"
    run = ("run", *BOTS, "--set", SHORT, "--boards", boards, "--sandbox", "off", "--seed", "1")
    game = nth(load_event(folder), games * 7 // 9)
    commands = {
        "run, some games left": (*run, "--out", name),
        "run, none left": (*run, "--out", name),
        "report": ("report", name),
        "rate": ("show", name, "--prior", "1"),
        "verify": ("verify", name),
        f"replay {game}": ("replay", name, game),
        "replay, no game": ("replay", name),
    }
    print(f"{games} games; wall s, CPU s, MiB")
    for title, line in commands.items():
        took = spent(*line)
        print(
            f"{title:<32}{took.wall_s:>9.2f}{took.cpu_s:>9.2f}{took.peak_mib:>8.0f}  {took.ending}",
            flush=True,
        )


def sizes(folder: Folder) -> str:
    logs = [path.stat().st_size for path in (folder.path / "games").iterdir()]
    ledger = folder.ledger.stat().st_size
    return f"{len(logs)} logs of {sum(logs) / 1e6:.0f} MB, ledger of {ledger / 1e6:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    wanted = parser.parse_args()
    games = wanted.games // GAMES_A_BOARD * GAMES_A_BOARD
    with tempfile.TemporaryDirectory() as name:
        folder = Folder((wanted.folder or Path(name) / "event").resolve())
        if not folder.event.exists():
            began = time.monotonic()
            write(folder, games)
            print(f"written in {time.monotonic() - began:.0f} s: {sizes(folder)}", flush=True)
        measure(folder, games)


if __name__ == "__main__":
    main()
