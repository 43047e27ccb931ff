"""The time that short commands take before they answer, as ratios to a bare Python.

    python -m tests.bench.commands [--rounds 5] [--long] [--tree OTHER_CHECKOUT]

Each command is a process of its own, with compiled modules as an installation has them. Its own CPU
time comes first, and then that of the processes that it waited for, such as bots, without those
that a sandbox ends. `--long` adds whole runs: 600 games of instant bots, in C and in Python, and
sittings of one game in one lane. With `--tree` each round measures another checkout beside this
one.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench.__main__ import compiled

HERE = Path(__file__).parents[2]
PROGRAM = """
import resource, sys
sys.path.insert(0, sys.argv.pop(1))
try:
    if sys.argv[1:]:
        from tournaments.cli.main import main
        main()
finally:
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print("", *(one.ru_utime + one.ru_stime for one in (own, others)), sep="\\n", file=sys.stderr)
"""
RUN = ("run", "first", "greedy", "--boards", "1", "--seed", "1", "--out", "OUT")
COMMANDS = {
    "python -c pass": (),
    "--version": ("--version",),
    "check --list": ("check", "--list"),
    "schema": ("help", "schema"),
    "show": ("show", "EVENT"),
    "replay, a game": ("replay", "EVENT", "1.first.greedy"),
    "verify, 2 games": ("verify", "EVENT"),
    "run, sandbox off": (*RUN, "--sandbox", "off"),
    "run, sandbox auto": (*RUN, "--sandbox", "auto"),
}
WHOLE = ("--seed", "1", "--sandbox", "off", "--out", "OUT")
LONG = {
    "600 games, bots in C": ("run", "INSTANT", "INSTANT", "INSTANT", "--boards", "100", *WHOLE),
    "600 games, in Python": ("run", "first", "first", "first", "--boards", "100", *WHOLE),
    "56 sittings, in C": ("run", *["INSTANT"] * 8, "--boards", "1", "--jobs", "1", *WHOLE),
    "56 sittings, Python": ("run", *["first"] * 8, "--boards", "1", "--jobs", "1", *WHOLE),
}


class Spent(NamedTuple):
    """The seconds that a command took."""

    own: float
    others: float
    wall: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--tree", type=Path, action="append", default=[])
    wanted = parser.parse_args()
    trees = [HERE, *(tree.resolve() for tree in wanted.tree)]
    commands = COMMANDS | (LONG if wanted.long else {})
    found: dict[tuple[str, Path], list[Spent]] = {
        (command, tree): [] for command in commands for tree in trees
    }
    with tempfile.TemporaryDirectory() as name:
        os.environ["PYTHONPYCACHEPREFIX"] = f"{name}/compiled"
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        program = compiled(Path(name)) if wanted.long else ""
        # The first round compiles the modules, and does not count.
        for number in range(wanted.rounds + 1):
            for tree in trees:
                folder = Path(name, f"{number}-{trees.index(tree)}")
                spent(words((*RUN, "--sandbox", "off"), tree, folder / "event"), tree)
                for command, line in commands.items():
                    out = folder / command.replace(" ", "-")
                    took = spent(words(line, tree, out, folder / "event", program), tree)
                    found[command, tree] += [took] if number else []
    middles = {
        row: Spent(*(statistics.median(column) for column in zip(*rounds, strict=True)))
        for row, rounds in found.items()
    }
    base = middles["python -c pass", HERE].own
    print(f"{'':<20}{'own':>7}{'ratio':>8}{'others':>8}{'wall':>8}  (ms)")
    for (command, tree), (own, others, wall) in middles.items():
        ms = f"{1000 * own:>7.0f}{own / base:>8.1f}{1000 * others:>8.0f}{1000 * wall:>8.0f}"
        print(f"{command:<20}{ms}  {tree}")


def words(
    line: tuple[str, ...], tree: Path, out: Path, event: Path | None = None, instant: str = ""
) -> list[str]:
    """Return the command line of a command of a checkout; `instant`: the bot in C."""
    places = {"OUT": f"{out}", "EVENT": f"{event or out}", "INSTANT": instant}
    return [sys.executable, "-c", PROGRAM, f"{tree}", *(places.get(word, word) for word in line)]


def spent(argv: list[str], tree: Path) -> Spent:
    """Return the time that a command took."""
    began = time.monotonic()
    done = subprocess.run(argv, cwd=tree, capture_output=True, text=True, check=False)
    wall = time.monotonic() - began
    if done.returncode:
        raise SystemExit(f"{argv} failed: {done.stderr}")
    *_, own, others = done.stderr.splitlines()
    return Spent(float(own), float(others), wall)


if __name__ == "__main__":
    main()
