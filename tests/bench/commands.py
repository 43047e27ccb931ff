"""The time that short commands take before they answer, as ratios to a bare Python.

    python -m tests.bench.commands [--rounds 5] [--long | --cores | --after] [--tree OTHER_CHECKOUT]

Each command is a process of its own, with compiled modules as an installation has them. Its own CPU
time comes first, and then that of the processes that it waited for, such as bots, without those
that a sandbox ends. `--long` adds whole runs: 600 games of instant bots, in C and in Python, and
sittings of one game in one lane. `--cores` compares only runs on one
core with runs on all, in wall time, and says how much of a core other programs used meanwhile, for
rounds beside them tell little. `--after` plays 300 games and compares the CPU of what follows,
workers included, with that of the games and their bots. With `--tree` each round measures another
checkout beside this one.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from tests.bench.__main__ import compile_programs

ROOT = Path(__file__).parents[2]
PROGRAM = """
import resource, sys
sys.path.insert(0, sys.argv.pop(1))
try:
    if sys.argv[1:]:
        from tournaments.cli.main import main
        main()
finally:
    if server := sys.modules.get("multiprocessing.forkserver"):
        server._forkserver._stop()  # Else nobody waits for it, and its workers' time is lost.
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
OPTIONS = ("--seed", "1", "--sandbox", "off", "--out", "OUT")
LONG = {
    "600 games, bots in C": ("run", "INSTANT", "INSTANT", "INSTANT", "--boards", "100", *OPTIONS),
    "600 games, in Python": ("run", "first", "first", "first", "--boards", "100", *OPTIONS),
    "56 sittings, in C": ("run", *["INSTANT"] * 8, "--boards", "1", "--jobs", "1", *OPTIONS),
    "56 sittings, Python": ("run", *["first"] * 8, "--boards", "1", "--jobs", "1", *OPTIONS),
}

AFTER = {
    "play": ("run", "greedy", "suit", "counting", "--boards", "50", *OPTIONS),
    "verify": ("verify", "OUT"),
    "luck": ("report", "OUT", "--luck"),
    "review": ("explain", "OUT", "--review"),
}
"""Goals: luck 1.5 and a review 3 times the CPU of the games, `verify` 2 ms a game."""
SHORT = ("--set", "target=1")
ON_CORES = {
    "600 games": ("run", "first", "greedy", "--boards", "300", *OPTIONS),
    "1,800 games": ("run", "first", "greedy", "--boards", "900", *OPTIONS),
    "1,800 short games": ("run", "first", "greedy", "--boards", "900", *SHORT, *OPTIONS),
    "6,000 short games": ("run", "first", "greedy", "--boards", "3000", *SHORT, *OPTIONS),
}
ON_ONE_CORE = "import os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])"
NO_REPLAYS = "import tournaments.cli.run; tournaments.cli.run.MOST_REPLAYS = 0"
"""The replays follow the result, on all cores already."""


class Spent(NamedTuple):
    """The seconds that a command took."""

    process: float
    others: float
    wall: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--cores", action="store_true")
    parser.add_argument("--after", action="store_true")
    parser.add_argument("--tree", type=Path, action="append", default=[])
    wanted = parser.parse_args()
    trees = [ROOT, *(tree.resolve() for tree in wanted.tree)]
    commands = COMMANDS | (LONG if wanted.long else {})
    samples: dict[tuple[str, Path], list[Spent]] = {
        (command, tree): [] for command in commands for tree in trees
    }
    with tempfile.TemporaryDirectory() as name:
        os.environ["PYTHONPYCACHEPREFIX"] = f"{name}/compiled"
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        if wanted.cores:
            compare_cores(trees, wanted.rounds, Path(name))
            return
        if wanted.after:
            compare_with_play(trees, wanted.rounds, Path(name))
            return
        program = compile_programs(Path(name)) if wanted.long else ""
        # The first round compiles the modules, and does not count.
        for number in range(wanted.rounds + 1):
            for tree in trees:
                folder = Path(name, f"{number}-{trees.index(tree)}")
                spent(words((*RUN, "--sandbox", "off"), tree, folder / "event"), tree)
                for command, line in commands.items():
                    out = folder / command.replace(" ", "-")
                    took = spent(words(line, tree, out, folder / "event", program), tree)
                    samples[command, tree] += [took] if number else []
    middles = {
        row: Spent(*(statistics.median(column) for column in zip(*rounds, strict=True)))
        for row, rounds in samples.items()
    }
    base = middles["python -c pass", ROOT].process
    print(f"{'':<20}{'own':>7}{'ratio':>8}{'others':>8}{'wall':>8}  (ms)")
    for (command, tree), (process, others, wall) in middles.items():
        ms = f"{1000 * process:>7.0f}{process / base:>8.1f}{1000 * others:>8.0f}{1000 * wall:>8.0f}"
        print(f"{command:<20}{ms}  {tree}")


def compare_cores(trees: list[Path], rounds: int, folder: Path) -> None:
    """Print the wall time of runs on one core and on all cores, and the ratio of the two."""
    print(f"{'':<20}{'one':>7}{'all':>7}{'ratio':>7}{'others':>14}  (s)")
    for tree in trees:
        spent(words(RUN, tree, folder / f"{trees.index(tree)}"), tree)
    for number, (run, line), tree in product(range(rounds), ON_CORES.items(), trees):
        walls, others = list[float](), list[float]()
        for place in (ON_ONE_CORE, "pass"):
            out = folder / f"{number} {run} {trees.index(tree)} {len(walls)}"
            argv = words(line, tree, out)
            argv[2] = PROGRAM.replace("try:", f"{place}; {NO_REPLAYS}\ntry:")
            before = busy_s()
            took = spent(argv, tree)
            walls.append(took.wall)
            others.append((busy_s() - before - took.process - took.others) / took.wall)
        columns = "".join(f"{second:>7.2f}" for second in (*walls, walls[0] / walls[1], *others))
        print(f"{run:<20}{columns}  {tree}", flush=True)


def compare_with_play(trees: list[Path], rounds: int, folder: Path) -> None:
    """Print the CPU that each command of `AFTER` takes for a game, and its ratio to playing it."""
    print(f"{'':<20}{'ms a game':>10}{'to play':>9}")
    for number, tree in product(range(rounds), trees):
        out, play_s = folder / f"{number} {trees.index(tree)}", 0.0
        for command, line in AFTER.items():
            took = spent(words(line, tree, out), tree)
            if command == "play":
                rmtree(out / "replays")
            cpu_s = took.process + took.others
            play_s = play_s or cpu_s
            print(
                f"{command:<20}{1000 * cpu_s / 300:>10.1f}{cpu_s / play_s:>9.2f}  {tree}",
                flush=True,
            )


def busy_s() -> float:
    """Return the seconds that all cores have worked since the machine started."""
    columns = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    ticks = [int(column) for column in columns]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def words(
    line: tuple[str, ...], tree: Path, out: Path, event: Path | None = None, instant: str = ""
) -> list[str]:
    """Return the command line of a command of a checkout; `instant`: the bot in C."""
    places = {"OUT": f"{out}", "EVENT": f"{event or out}", "INSTANT": instant}
    return [sys.executable, "-c", PROGRAM, f"{tree}", *(places.get(word, word) for word in line)]


def spent(argv: list[str], tree: Path) -> Spent:
    """Return the time that a command took."""
    began = time.monotonic()
    # Its own processes would else take the modules of the checkout that is installed.
    environment = {**os.environ, "PYTHONPATH": f"{tree}"}
    done = subprocess.run(
        argv, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    wall = time.monotonic() - began
    if done.returncode:
        raise SystemExit(f"{argv} failed: {done.stderr}")
    *_, process, others = done.stderr.splitlines()
    return Spent(float(process), float(others), wall)


if __name__ == "__main__":
    main()
