"""What a run costs against the number of its entrants, of sittings side by side, and of its games.

    python -m tests.bench.growth [--games 4000] [--entrants 2 20 60 200] [--jobs 1 8 64]

Instant bots in C play games of one round by `boneyard run`, a process of its own. Printed are CPU a
game (bots and their starts with it: each sitting starts its own), games a second, and the peak of
resident memory. Every pairing plays at least one board, so that two hundred play 39,800 games.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench.__main__ import compiled
from tests.bench.million import SHORT, spent


class Size(NamedTuple):
    """How large an event is."""

    entrants: int
    jobs: int
    boards: int
    """Boards for each pairing."""

    @property
    def pairings(self) -> int:
        """How many pairs meet: one sitting each, while boards are few."""
        return self.entrants * (self.entrants - 1) // 2

    @property
    def games(self) -> int:
        """Each board is played in both rotations."""
        return 2 * self.boards * self.pairings


def size(games: int, entrants: int, jobs: int) -> Size:
    """About so many games."""
    one = Size(entrants, jobs, 1)
    return one._replace(boards=max(1, games // one.games))


def sizes(games: int, entrants: list[int], jobs: list[int]) -> Iterator[Size]:
    """Yield sizes of which one grows at a time."""
    yield from (size(games, some, 1) for some in entrants)
    yield from (size(games, 20, some) for some in jobs)
    # Side by side boards end in any order.
    for some in (1, 4):
        yield from (size(many, 2, some) for many in (games, 4 * games, 16 * games))


def main() -> None:
    """Run every event and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--entrants", type=int, nargs="+", default=[2, 20, 60, 200])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 8, 64])
    wanted = parser.parse_args()
    print("entrants  jobs     games  CPU ms a game  games/s  peak MiB")
    with tempfile.TemporaryDirectory() as name:
        program = compiled(Path(name))
        for number, one in enumerate(sizes(wanted.games, wanted.entrants, wanted.jobs)):
            print(_row(program, one, Path(name) / f"event-{number}"), flush=True)


def _row(program: str, one: Size, folder: Path) -> str:
    plan = ("--boards", f"{one.boards}", "--jobs", f"{one.jobs}", "--set", SHORT)
    took = spent(
        "run", *[program] * one.entrants, *plan, "--sandbox", "off", "--seed", "1",
        "--out", str(folder),
    )  # fmt: skip
    cpu_ms, rate = took.cpu_s / one.games * 1000, one.games / took.wall_s
    size_of = f"{one.entrants:>8}{one.jobs:>6}{one.games:>10,}"
    return f"{size_of}{cpu_ms:>15.2f}{rate:>9.0f}{took.peak_mib:>10.0f}"


if __name__ == "__main__":
    main()
