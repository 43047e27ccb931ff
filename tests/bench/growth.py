"""The cost of events of many bots and many games: to go on with them, to report and to show them.

    python -m tests.bench.growth [BOTSxGAMES ...] [--folder FOLDER] [--long]

Prints a row of Markdown for each size, such as `5x1000000`: CPU seconds and the peak of resident
memory of each command, a process of its own, and the sizes of what a report holds. The first report
reads every log and writes every game, the next one takes what is kept of both. `--long` adds
`verify` and `replay`, which read every log, to standard error.

The games are played by the engine alone, every seat taking its first option, and are written as a
run writes them: packed logs, ledger, seeds. They are short, one round each, so that a million takes
some ten minutes. A folder that was written before is taken as it is (`--folder`, of one size). The
last games are left for `boneyard run`, which goes on with real bots, where all meet all: not where
the games are fewer than the pairs of bots.

On two cores of an AMD EPYC; memory and page in MB. The row of a million was measured beside other
programs, and its first report copied the games of the run's:

| bots |     games | run on      | a board more | report      | again       | show       | page |
| ---: | --------: | ----------: | -----------: | ----------: | ----------: | ---------: | ---: |
|    5 |     1,020 |  0.9 s,  66 |   1.5 s,  65 |  0.3 s,  57 |  0.3 s,  57 | 0.1 s,  32 |  0.1 |
|    5 |    10,020 |  1.6 s,  79 |   1.8 s,  77 |  0.8 s,  70 |  0.5 s,  70 | 0.2 s,  35 |  0.4 |
|    5 |   100,020 |  8.8 s, 223 |   3.8 s, 203 |  6.3 s, 190 |  2.2 s, 190 | 0.7 s,  67 |  2.5 |
|    5 | 1,000,020 | 89.1 s, 921 |  29.1 s, 864 | 58.9 s, 796 | 19.0 s, 796 | 6.2 s, 376 |  2.5 |
|   50 |    98,000 | 10.2 s, 224 |              |  7.5 s, 195 |  3.2 s, 195 | 0.8 s,  68 |  2.8 |
| 1000 |   100,000 |             |              | 23.9 s, 293 |  9.4 s, 287 | 1.5 s,  97 |  4.1 |

CPU of another report for a thousand games, in ms:

    5 bots,     1,020 games ############################# 290, most of them its start
    5 bots,    10,020 games ##### 50
    5 bots,   100,020 games ## 22
    5 bots, 1,000,020 games ## 19
   50 bots,    98,000 games ### 33
1,000 bots,   100,000 games ######### 94, for each game has a log of its own
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, cycle, islice
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
SIZES = ("5x1000", "5x10000", "5x100000", "5x1000000", "50x100000", "1000x100000")
BOTS = ("first", "greedy", "random", "counting", "random-sh")
SHORT = "target=1"
"""Every game is over after a round."""
LEFT = 7
"""Games that are left for the run."""
CHOICE = b'{"type":"choose","id":%d,"choice":0}'


class Size(NamedTuple):
    """The size of an event in which every bot meets every other on each board, on both seats."""

    bots: int
    games: int

    @property
    def entrants(self) -> list[str]:
        return [*islice(cycle(BOTS), self.bots)]

    @property
    def games_a_board(self) -> int:
        return self.bots * (self.bots - 1)

    @property
    def boards(self) -> int:
        """Boards of the plan; the only one is not over if it has more games."""
        return max(1, self.games // self.games_a_board)

    @property
    def is_whole(self) -> bool:
        """True if only the last few games of the plan are left."""
        return self.games_a_board <= self.games

    def run(self, out: Path, boards: int) -> tuple[str, ...]:
        """Return the command that plays so many boards."""
        options = ("--boards", f"{boards}", "--sandbox", "off", "--seed", "1", "--out", f"{out}")
        return ("run", *self.entrants, "--set", SHORT, *options)


class Spent(NamedTuple):
    """The time and memory that a command took."""

    wall_s: float
    cpu_s: float
    peak_mib: float

    def __str__(self) -> str:
        return f"{self.cpu_s:.1f} s, {self.peak_mib:.0f} MB"


def spent(*words: str) -> Spent:
    """Run boneyard and wait for it; print its last line."""
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
    took = Spent(
        time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6
    )
    print(f"{words[0]}: {took.wall_s:.1f} s, {took}", *lines[-1:], file=sys.stderr)
    return took


def write(folder: Folder, size: Size) -> None:
    """Write an event of this size, without the last few games, as a run writes it."""
    folder.path.mkdir(parents=True, exist_ok=True)
    fields = {"boards": size.boards, "sandbox": "off"}
    draft = read_plan(size.entrants, fields, choices=(SHORT,), predictable=True)
    book, _ = open_event(folder, draft.build(folder.build), 1)
    event, ledger = book.event, Ledger(book)
    seed_of = partial(board_seed, secret_of(folder), event.name)
    left = (ledger.planned - LEFT) if size.is_whole else size.games
    for plan in ledger.stage:
        if left <= 0:
            break
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


MOST_GAMES = 100
"""Most games that real bots play for a row: what is measured is not the play."""
COLUMNS = (
    *("bots", "games", "run on", "a board more", "report", "again", "show"),
    *("report.html", "results.json"),
)


def measure(folder: Folder, size: Size, *, long: bool) -> str:
    """Run every command in turn; return the row of what they took."""
    name, boards = f"{folder.path}", load_event(folder).boards
    runs = ["", ""]
    if size.is_whole:
        counts = range(boards, boards + 1 + (size.games_a_board <= MOST_GAMES))
        runs[: len(counts)] = [f"{spent(*size.run(folder.path, count))}" for count in counts]
    for kept in (folder.facts, folder.pieces):
        kept.unlink(missing_ok=True)
    took = [spent("report", name), spent("report", name), spent("show", name)]
    sizes = (path.stat().st_size / 1e6 for path in (folder.page, folder.results))
    if long:
        game = nth(load_event(folder), size.games * 7 // 9)
        for words in (("verify", name), ("replay", name, game), ("replay", name)):
            spent(*words)
    games = f"{len(Book(folder).results):,}"
    cells = (f"{size.bots:,}", games, *runs, *map(str, took))
    return row(*cells, *(f"{megabytes:.1f} MB" for megabytes in sizes))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", default=SIZES, metavar="BOTSxGAMES")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--long", action="store_true")
    wanted = parser.parse_args()
    print(row(*COLUMNS), row(*["---:"] * len(COLUMNS)), sep="\n", flush=True)
    for words in wanted.sizes:
        size = Size(*map(int, words.split("x")))
        with tempfile.TemporaryDirectory() as name:
            folder = Folder((wanted.folder or Path(name) / "event").resolve())
            if not folder.event.exists():
                # In a process that ends: a command begins with the memory of whoever starts it.
                writer = multiprocessing.Process(target=write, args=(folder, size))
                writer.start()
                writer.join()
            print(measure(folder, size, long=wanted.long), flush=True)


if __name__ == "__main__":
    main()
