"""Many games of wild bots through the real runner; then nothing may be lost, left or grown.

    python -m tests.tools.soak 10000 [--jobs 4] [--seed 1] [--sandbox off] [--out FOLDER]

Two honest and two wild bots play a round robin. Every process of a wild bot draws one behaviour
of the battery and the question at which it happens, from the seed and from how many processes
came before it. Exit code 1 and a line for each thing that is not as it should be.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.limits import SandboxMode
from protocol.records import Result
from tests.support.hostile_behaviours import HOSTILE, ROWS
from tests.support.tables import SAMPLES, alive, children, descriptors
from tournaments.commands.run import run_event
from tournaments.runner.lanes import LEAVING, SPARE
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import read_ledger
from tournaments.verification.event_check import verify_folder

HONEST = ("first", "greedy")
WILD = ("wild-1", "wild-2")
GAMES_A_BOARD = 12
"""Six pairings, each in two rotations."""
CLOCK = {"start_ms": 2_000, "move_ms": 500, "bank_ms": 500}
MEMORY_MIB = 64
SAMPLE_S = 0.25
"""How often our own memory and descriptors are looked at."""
MOMENTS = (0.1, 0.25, 0.5, 0.75, 0.95)
"""Parts of the run after which memory is told; the report is made after the last one."""
GROWTH = 32 * 2**20
"""Bytes by which our memory may grow after that: results, and what Python keeps."""
A_GAME = 1_024
"""Bytes that a game's result may keep."""
A_JOB = 16
"""Descriptors of a sitting that has bots: two bots with three pipes and a pidfd each, and a log."""
A_RUN = 16
"""Descriptors of a run: the ledger, signals, trio."""
ENDED_S = 60
"""How long the kernel may take to end what was killed."""
PAGE = 4_096


class Sample(NamedTuple):
    """What this process held at a moment."""

    memory: int
    """Resident bytes."""
    files: int
    """Open descriptors."""


class Watcher(threading.Thread):
    """Looks at this process now and then, until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.samples = [held()]
        self._done = threading.Event()

    def run(self) -> None:
        """Look, wait, look."""
        while not self._done.wait(SAMPLE_S):
            self.samples.append(held())

    def stop(self) -> None:
        """No more."""
        self._done.set()
        self.join()
        self.samples.append(held())


def held() -> Sample:
    """Return the resources that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Sample(pages * PAGE, descriptors())


def menu() -> list[str]:
    """Return the behaviours that can be repeated in one folder and leave nothing that we cannot
    end."""
    return [how for how, row in ROWS.items() if not (row.needs or row.survives or row.slow)]


def event_file(folder: Path, games: int, seed: int) -> Path:
    """Return the event, and a folder for each wild bot."""
    lines = [f'name = "soak"\nrules = "dutch"\nboards = {-(-games // GAMES_A_BOARD)}\n']
    lines += [f"[limits]\nmemory_mib = {MEMORY_MIB}\n[clock]\n"]
    lines += [f"{limit} = {ms}\n" for limit, ms in CLOCK.items()]
    for name in HONEST:
        lines.append(_bot(name, SAMPLES, f"{name}.py", str(folder)))
    for name in WILD:
        home = folder / name
        shutil.copytree(HOSTILE, home, ignore=shutil.ignore_patterns("__pycache__"))
        (home / "menu").write_text("\n".join(menu()))
        lines.append(_bot(name, home, str(home), "wild", str(folder), f"{seed}.{name}"))
    path = folder / "soak.toml"
    path.write_text("".join(lines))
    return path


def _bot(name: str, folder: Path, *words: str) -> str:
    run = json.dumps(["{python}", "-I", "-S", *words])
    return f'[[bots]]\nname = "{name}"\nrun = {run}\nfolder = "{folder}"\n'


def soaked(
    folder: Path, games: int, jobs: int, seed: int, sandbox: SandboxMode
) -> tuple[list[Result], list[str]]:
    """Play; the results, and everything that is not as it should be."""
    before, watcher = descriptors(), Watcher()
    watcher.start()
    words, given = (str(event_file(folder, games, seed)),), {"sandbox": sandbox}
    code = run_event(words, given, out=folder / "out", jobs=jobs, seed=seed)
    watcher.stop()
    out = Folder(folder / "out")
    results = list(read_ledger(out.ledger))
    faults = [f"the run ended with code {code}"] if code else []
    faults += _lost(out, results, games)
    faults += _left(str(folder), before)
    faults += _grown(watcher.samples, before, jobs, len(results))
    return results, faults


def _lost(out: Folder, results: list[Result], games: int) -> Iterator[str]:
    """Yield the games that were not played, and mismatches."""
    if out.crash.exists():
        yield f"there is a {out.crash}"
    if len(results) < games:
        yield f"{len(results)} of {games} games have a result"
    for result in results:
        for foul in result.fouls:
            # A busy machine may make anybody late.
            if result.seats[foul.seat] in HONEST and foul.foul not in ("late", "no_hello"):
                yield f"game {result.game}: an honest bot is said to be {foul.foul}"
    yield from verify_folder(out)


def _left(tag: str, before: int) -> Iterator[str]:
    """Yield processes and descriptors that outlive the run."""
    end = time.monotonic() + ENDED_S
    while _others(tag) and time.monotonic() < end:
        time.sleep(0.01)
    if left := _others(tag):
        yield f"still alive: {left}"
    if children():
        yield f"children are left: {children()}"
    if descriptors() != before:
        yield f"{descriptors()} descriptors, {before} before"


def _others(tag: str) -> set[int]:
    """Return processes with the tag; this one has it too if it was given the folder."""
    return {*alive(tag)} - {os.getpid()}


def _grown(samples: list[Sample], before: int, jobs: int, games: int) -> Iterator[str]:
    """Yield the resources that grew with the games although they should not; all are printed."""
    moments = [samples[int(len(samples) * part)].memory for part in MOMENTS]
    most = max(one.memory for one in samples)
    files = max(one.files for one in samples)
    told = ", ".join(f"{memory / 2**20:.1f}" for memory in moments)
    print(f"MiB of memory after {MOMENTS} of the run: {told}; {most / 2**20:.1f} at most")
    print(f"descriptors: {before} before, {files} at most")
    if most - moments[0] > GROWTH + games * A_GAME:
        yield f"memory grew from {moments[0]} to {most} bytes"
    if files > before + (jobs + SPARE + LEAVING) * A_JOB + A_RUN:
        yield f"{files} descriptors at {jobs} jobs"


def fouls(results: list[Result]) -> Counter[tuple[str, str]]:
    """Return how often each bot committed each foul."""
    return Counter(
        (result.seats[foul.seat], foul.foul) for result in results for foul in result.fouls
    )


def main() -> int:
    """Soak, print, and say whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", type=int)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sandbox", choices=("auto", "require", "off"), default="auto")
    parser.add_argument("--out", type=Path, help="keep everything in this new folder")
    wanted = parser.parse_args()
    if wanted.out:
        wanted.out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (wanted.out or Path(scratch)).resolve()
        began = time.monotonic()
        results, faults = soaked(folder, wanted.games, wanted.jobs, wanted.seed, wanted.sandbox)
        print(f"{len(results)} games in {time.monotonic() - began:.0f} s")
    for (name, foul), count in sorted(fouls(results).items()):
        print(f"{name:>8} {foul:<10} {count}")
    print(*faults or ["nothing lost, nothing left, nothing grown"], sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
