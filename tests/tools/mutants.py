"""Mutants of the engine: breaks it in many ways, and counts the ways that the tests notice.

python -m tests.tools.mutants [--only TEXT] [TESTS…]     all clause tests unless tests are named

Each mutant is an edit that changes a rule, tried in a copy of the tree. The edits stand in
 `mutants.toml`.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CLAUSES = (
    "tests/arena/engine/test_clause_scenes.py",
    "tests/arena/engine/test_clauses_abde.py",
    "tests/arena/engine/test_clauses_c_first.py",
    "tests/arena/engine/test_ambiguities.py",
)
GOAL = 0.95
"""The share of the mutants that the clause tests should catch."""
WORKERS = 2
LONGEST_S = 300
"""The time for the tests of one mutant: a mutant that never ends is caught."""


class Mutant(NamedTuple):
    """An edit of the engine that breaks a rule."""

    module: str
    rule: str
    old: str
    new: str

    def path(self, tree: Path) -> Path:
        """Return the path of the module in a copy of the tree."""
        return tree / "arena/engine" / f"{self.module}.py"


def read_mutants() -> list[Mutant]:
    """Return the mutants of the table beside this file."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    return [
        Mutant(module, rule, *edit)
        for module, edits in table.items()
        for rule, edit in edits.items()
    ]


def copy_tree(folder: Path) -> Path:
    """Copy what the tests need, so that each mutant breaks only a copy."""
    patterns = shutil.ignore_patterns("__pycache__", "*.zst", "pictures")
    for name in ("arena", "protocol", "tournaments", "sample_bots", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=patterns)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def is_caught(mutant: Mutant, tree: Path, tests: list[str]) -> bool:
    """Return True if a test fails on this copy of the tree with the mutant's edit."""
    path = mutant.path(tree)
    source = path.read_text()
    command = [sys.executable, "-m", "pytest", "-qxp", "no:cacheprovider", "-n", "0"]
    path.write_text(source.replace(mutant.old, mutant.new))
    try:
        done = subprocess.run(
            [*command, "-m", "not slow", *tests], cwd=tree, capture_output=True, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(source)
    if done.returncode > 1:
        raise SystemExit(f"{mutant.rule}: the tests could not run.\n{done.stdout.decode()}")
    return done.returncode == 1


def main() -> None:
    """Try the mutants, and print those that live. Exit code 1 if too many do."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="mutants with this text in module or rule")
    parser.add_argument("tests", nargs="*", default=CLAUSES)
    args = parser.parse_args()
    mutants = [
        mutant for mutant in read_mutants() if args.only in f"{mutant.module}: {mutant.rule}"
    ]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(WORKERS):
            trees.put(copy_tree(Path(folder, f"{number}")))

        def try_one(mutant: Mutant) -> bool:
            tree = trees.get()
            is_noticed = is_caught(mutant, tree, [*args.tests])
            trees.put(tree)
            return is_noticed

        catches = list(pool.map(try_one, mutants))
    for mutant, is_caught_by_tests in zip(mutants, catches, strict=True):
        if not is_caught_by_tests:
            print(f"lives: {mutant.module}: {mutant.rule}")
    print(f"{sum(catches)} of {len(mutants)} mutants caught; the goal is {GOAL:.0%}")
    sys.exit(sum(catches) < GOAL * len(mutants))


if __name__ == "__main__":
    main()
