"""The cost of sittings of one game: a Swiss of many entrants, which is verified and reported.

    python -m tests.bench.small_sittings [--entrants 200] [--rounds 8] [--set target=1]

The games are written as `tests.bench.million` writes them. Each command is a process of its own;
its CPU time is printed in ms a game, with that of its processes.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

from arena.engine.shuffle import board_seed
from tests.bench.million import SHORT, spent, write_sitting
from tournaments.plan.from_options import EventOptions, build_event, read_plan
from tournaments.storage.folder import Folder, reveal, secret_of
from tournaments.storage.ledger import Ledger
from tournaments.storage.open_event import open_event


def write(folder: Folder, entrants: int, rounds: int, change: str) -> int:
    """Write an event in which each sitting has one game; return the number of games."""
    text = folder.path.with_suffix(".toml")
    bots = [f'[[bots]]\nname = "bot-{number}"\nrun = ["sh"]\n' for number in range(entrants)]
    form = f'boards = 1\n[format]\ntype = "swiss"\nrounds = {rounds}\n'
    text.write_text(f'name = "swiss"\n{form}{"".join(bots)}')
    folder.path.mkdir()
    options = EventOptions((str(text),), choices=(change,), sandbox="off")
    planned = build_event(read_plan(options, predictable=True), folder.build)
    event, _ = open_event(folder, planned.event, 1)
    ledger = Ledger(folder, event)
    seed_of = partial(board_seed, secret_of(folder), event.name)
    while not ledger.complete:
        for plan in ledger.stage:
            write_sitting(folder, event, ledger, plan, plan.games, seed_of)
    reveal(folder, seed_of, ledger.left)
    return len(ledger.results)


def main() -> None:
    """Write and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entrants", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--set", default=SHORT, help="the length of the games")
    parser.add_argument("--folder", type=Path, help="keep the event here")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Folder((wanted.folder or Path(name) / "event").resolve())
        games = write(folder, wanted.entrants, wanted.rounds, wanted.set)
        print(f"{games} games in {len(folder.logs())} sittings; CPU ms a game")
        for command in ("report", "verify", "verify"):
            took = spent(command, str(folder.path))
            print(f"{command:<10}{1000 * took.cpu_s / games:>8.2f}  {took.said}", flush=True)


if __name__ == "__main__":
    main()
