"""The CPU time that short commands take before they answer, as ratios to a bare Python.

    python -m tests.bench.commands [--rounds 5] [--tree OTHER_CHECKOUT]

Each command is a process of its own; its CPU time counts all that it waited for, so bots too, but
not what a sandbox ends. With `--tree` each round measures another checkout beside this one.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[2]
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from tournaments.cli.main import main
main()
"""
RUN = ("run", "first", "greedy", "--boards", "1", "--seed", "1", "--out", "OUT")
COMMANDS = {
    "--version": ("--version",),
    "check --list": ("check", "--list"),
    "show": ("show", "EVENT"),
    "replay, a game": ("replay", "EVENT", "1.first.greedy"),
    "verify, 2 games": ("verify", "EVENT"),
    "run, sandbox off": (*RUN, "--sandbox", "off"),
    "run, sandbox auto": (*RUN, "--sandbox", "auto"),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tree", type=Path, action="append", default=[])
    wanted = parser.parse_args()
    trees = [HERE, *(tree.resolve() for tree in wanted.tree)]
    with tempfile.TemporaryDirectory() as name:
        found: dict[tuple[Path, str], list[float]] = {
            (tree, command): [] for command in COMMANDS for tree in trees
        }
        bare = []
        for number in range(wanted.rounds):
            bare.append(spent((sys.executable, "-c", "pass"), HERE))
            for tree in trees:
                folder = Path(name, f"{number}-{trees.index(tree)}")
                spent(words((*RUN, "--sandbox", "off"), tree, folder / "event"), tree)
                for command, line in COMMANDS.items():
                    argv = words(line, tree, folder / command.replace(" ", "-"), folder / "event")
                    found[tree, command].append(spent(argv, tree))
    base = statistics.median(bare)
    print(f"python -c pass: {1000 * base:.0f} ms of CPU")
    for (tree, command), column in found.items():
        middle = statistics.median(column)
        print(f"{command:<20}{1000 * middle:>7.0f} ms{middle / base:>8.1f}  {tree}")


def words(line: tuple[str, ...], tree: Path, out: Path, event: Path | None = None) -> list[str]:
    """Return the command line of a command of a checkout."""
    places = {"OUT": f"{out}", "EVENT": f"{event or out}"}
    return [sys.executable, "-c", PROGRAM, f"{tree}", *(places.get(word, word) for word in line)]


def spent(argv: list[str] | tuple[str, ...], tree: Path) -> float:
    """Return the CPU seconds of a process and of all that it waited for."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, stdout=quiet, stderr=quiet, cwd=tree)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{argv} failed")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
