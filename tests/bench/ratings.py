"""The cost of rating, reporting and exporting 100,000 results, beside merely reading them.

    python -m tests.bench.ratings [--results 100000] [--rounds 1]

Each is a process of its own, so that its memory is its own. The baseline, run beside them, parses
every line of the same ledger with `json` and adds up a number. Printed: seconds of CPU, the ratio
to the baseline, and the peak of resident memory in MiB.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.logs import checksummed
from arena.rules.variants import find_variant
from arena.sandbox.command import Command, Limits
from protocol.messages import Clock
from protocol.records import FoulPolicy, Result
from tournaments.event.folder import Folder
from tournaments.event.grow import open_event
from tournaments.formats.base import Entrant
from tournaments.plan.event import Event
from tournaments.plan.schedule import sittings

AT_ONCE = 1000
SPREAD = 100
"""Standard deviation of strengths and of luck, in points of a game."""

READ = "import json, sys; print(sum(json.loads(line)['board'] for line in open(sys.argv[1])))"
IDLE = "import tournaments.commands.report"
ENTRY = "from tournaments.cli.entry import main; main()"
EXPORT = """
import sys
from pathlib import Path
from tournaments.report.report import GAME_FIELDS, csv_lines, game_rows, pgn
from arena.files import write_atomic
from tournaments.event.folder import Folder, load_event
from tournaments.event.book import read_ledger
folder = Folder(Path(sys.argv[1]))
partners = load_event(folder).rules.deal.partners
rows = game_rows(read_ledger(folder.ledger), {}, partners)
write_atomic(folder.games, csv_lines(GAME_FIELDS, rows))
write_atomic(folder.pgn, [pgn("bench", read_ledger(folder.ledger), partners)])
"""


class Case(NamedTuple):
    """An event that is rated."""

    rules: str
    seats: int
    entrants: int


CASES = (
    Case("draw", 2, 50),
    Case("draw", 2, 1_000),
    Case("draw", 4, 16),
    Case("draw", 4, 200),
    Case("partnership", 4, 12),
    Case("partnership", 4, 200),
)


def planned(case: Case, results: int) -> Event:
    """Return an event of at least this many games."""
    entrants = tuple(
        Entrant(f"bot{number:03}", Command(("bot",), "", ()), f"{number:064x}")
        for number in range(case.entrants)
    )
    event = Event(
        name="bench", rules=find_variant(case.rules), seats=case.seats, boards=1,
        boards_a_sitting=25,
        clock=Clock(), fouls=FoulPolicy(), sandbox="off", limits=Limits(), entrants=entrants,
        predictable=True,
    )  # fmt: skip
    games = sum(len(plan.games) for plan in sittings(event, {}))
    return replace(event, boards=-(-results // games))


def tables(event: Event) -> Iterator[tuple[str, int, list[int]]]:
    """Game, board and entrants, by the plan."""
    for plan in sittings(event, {}):
        for game in plan.games:
            yield game.name, game.board, list(plan.seats)


def write_event(folder: Folder, case: Case, results: int) -> None:
    """Write the event's plan and ledger, with results of bots of different strength."""
    rng = random.Random(1)
    event = planned(case, results)
    strength = [rng.gauss(0, SPREAD) for _ in range(case.entrants)]
    open_event(folder, event, seed=1)
    descriptor = os.open(folder.ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    checksum = 0
    games = islice(tables(event), results)
    while few := list(islice(games, AT_ONCE)):
        records = [_result(event, game, board, seats, strength, rng) for game, board, seats in few]
        checksum = checksummed.append_records(descriptor, records, checksum)
    os.close(descriptor)


def _result(
    event: Event, game: str, board: int, seats: list[int], strength: list[float], rng: random.Random
) -> Result:
    scores = [round(200 + strength[entrant] + rng.gauss(0, SPREAD)) for entrant in seats]
    if event.rules.deal.partners:
        scores = [scores[seat] + scores[(seat + 2) % 4] for seat in range(4)]
    ranking = sorted(scores, reverse=True)
    return Result(
        game=game, board=board, seats=tuple(event.entrants[entrant].name for entrant in seats),
        scores=tuple(scores), places=tuple(1 + ranking.index(score) for score in scores),
        rounds=5, why="target",
    )  # fmt: skip


def spent(*words: str) -> tuple[float, float]:
    """CPU seconds and peak memory in MiB of a Python program."""
    process = subprocess.Popen((sys.executable, "-c", *words), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measured(case: Case, results: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(Path(name))
        write_event(folder, case, results)
        print(f"{case.rules}, {case.seats} seats, {case.entrants} entrants, {results} results")
        work = {
            "read": (READ, str(folder.ledger)),
            "start": (IDLE,),
            "rate": (ENTRY, "show", name, "--prior", "1"),
            "show": (ENTRY, "show", name),
            "csv, pgn": (EXPORT, name),
            "report": (ENTRY, "report", name),
        }
        samples = [{title: spent(*words) for title, words in work.items()} for _ in range(rounds)]
        base = statistics.median(sample["read"][0] for sample in samples)
        for title in work:
            seconds = statistics.median(sample[title][0] for sample in samples)
            memory = max(sample[title][1] for sample in samples)
            print(f"  {title:<9} {seconds:6.2f} s  {seconds / base:5.1f}x  {memory:5.0f} MiB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    wanted = parser.parse_args()
    for case in CASES:
        measured(case, wanted.results, wanted.rounds)


if __name__ == "__main__":
    main()
