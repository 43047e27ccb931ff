"""Kills runs at random moments and compares what comes of them.

python -m tests.tools.kill_runs 50 [--seed 1] [--sandbox off] [--tables | --referees]
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.command import SandboxMode
from tests.support.events import BONEYARD, SHORT, boneyard, logs, outputs, start_run
from tests.support.tables import SAMPLES, alive

ONE_TABLE = ("first", "greedy", "random_bot")
MANY_TABLES = ("batched", "batched")
"""Sample bots that play one game after the other, and all games of a sitting at once."""
MANY_REFEREES = (
    sys.executable,
    "-c",
    "from tournaments.play import lanes, runner; "
    "runner.PAYS_S = lanes.MIN_CPU_S = 0; lanes.usable_cores = lambda: frozenset({0, 1}); "
    "from tournaments.cli.entry import main; main()",
)
"""A program that starts a second referee process after the first sitting, on any machine."""
PATIENCE_S = 120
"""Longest time for anything that should take none, in s."""


class Tally(NamedTuple):
    """Counts of what happened."""

    kills: int
    events: int
    """Events that were played to their end and had the bytes of the uninterrupted one."""
    cut: int
    mended: int


class Killer:
    """A killer of runs, which plays one event again and again."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        bots: tuple[str, ...] = ONE_TABLE,
        sandbox: SandboxMode = "off",
        *,
        referees: bool = False,
    ) -> None:
        """`referees`: let a second referee process play too, and kill either."""
        self._referees = referees
        self._sandbox = sandbox
        self._luck = random.Random(seed)
        self._folder = folder
        self._tag = f"kills-{seed}-{time.monotonic_ns()}"
        self._bots = (*map(self._bot, bots), *SHORT)
        self._stderr = folder / "stderr.txt"
        reference = self._finished(folder / "whole")
        self._expected = outputs(reference)
        self._size = logged_bytes(reference)
        self._games = count_games(reference)

    def kill(self, wanted: int) -> Tally:
        """Kill so many runs, in as many events as it takes; each must end as if nothing was."""
        tally = Tally(0, 0, 0, 0)
        while tally.kills < wanted:
            out = self._folder / f"{tally.events}"
            kills = 0
            while tally.kills + kills < wanted and self._killed(out):
                kills += 1
            self._check(self._finished(out))
            tally = tally._replace(
                kills=tally.kills + kills,
                events=tally.events + 1,
                cut=tally.cut + count_games(out) - self._games,
            )
        return tally._replace(mended=self._stderr.read_bytes().count(b"was cut short"))

    def _bot(self, name: str) -> str:
        """Return a sample bot whose processes can be told from all others."""
        path = self._folder / f"{name}-{self._tag}.py"
        shutil.copy(SAMPLES / f"{name}.py", path)
        # Only with its site packages, which take a while, does Python find numpy.
        bare = "" if name in MANY_TABLES else "-S "
        return f"{sys.executable} -I {bare}{path}"

    def _killed(self, out: Path) -> bool:
        """Start a run and kill it at some moment; False if it was over before that."""
        with self._stderr.open("ab") as stderr:
            jobs = None if self._referees else self._luck.choice((1, 2))
            program = MANY_REFEREES if self._referees else BONEYARD
            run = start_run(
                out, *self._bots, jobs=jobs, stderr=stderr, sandbox=self._sandbox, program=program
            )
        if self._luck.random() < 0.2:
            self._wait(run, self._luck.uniform(0, 1.0))  # Before the first game, on most machines.
        else:
            self._wait_for_growth(run, out, self._luck.randrange(self._size // 3))
            self._wait(run, self._luck.uniform(0, 0.02))
        is_over = run.poll() is not None
        if self._luck.random() < 0.5 and (referees := alive(f'"folder":"{out}"')):
            with suppress(ProcessLookupError):
                os.kill(referees[0], signal.SIGKILL)
            assert run.wait(PATIENCE_S) in (0, 1), self._stderr.read_text()
        else:
            run.kill()
            run.wait()
        self._nobody_is_left()
        return not is_over

    def _wait(self, run: "subprocess.Popen[bytes]", seconds: float) -> None:
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    def _wait_for_growth(self, run: "subprocess.Popen[bytes]", out: Path, size: int) -> None:
        """Wait until the logs have grown by so many bytes: so slow runs are killed at work too."""
        wanted, patience = logged_bytes(out) + size, time.monotonic() + PATIENCE_S
        while run.poll() is None and logged_bytes(out) < wanted and time.monotonic() < patience:
            time.sleep(0.002)

    def _finished(self, out: Path) -> Path:
        with self._stderr.open("ab") as stderr:
            run = start_run(out, *self._bots, stderr=stderr, sandbox=self._sandbox)
        assert run.wait(PATIENCE_S * 5) == 0, self._stderr.read_text()
        self._nobody_is_left()
        return out

    def _check(self, out: Path) -> None:
        assert outputs(out) == self._expected
        assert "OK: " in boneyard("verify", str(out))

    def _nobody_is_left(self) -> None:
        patience = time.monotonic() + PATIENCE_S
        while alive(self._tag) or alive(f'"folder":"{self._folder}'):
            assert time.monotonic() < patience, f"bots are left: {alive(self._tag)}"
            time.sleep(0.005)


def logged_bytes(out: Path) -> int:
    """Return how many bytes the logs have."""
    return sum(map(len, logs(out)))


def count_games(out: Path) -> int:
    """Return how many games were begun; one that was cut off and begun again counts twice."""
    return sum(log.count(b'"type":"game"') for log in logs(out))


def main() -> None:
    """Kill as often as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sandbox", choices=("auto", "require", "off"), default="auto")
    parser.add_argument("--tables", action="store_true", help="bots that play many games at once")
    parser.add_argument("--referees", action="store_true", help="kill referee processes too")
    wanted = parser.parse_args()
    bots = MANY_TABLES if wanted.tables else ONE_TABLE
    with tempfile.TemporaryDirectory() as folder:
        tally = Killer(
            Path(folder), wanted.seed, bots, wanted.sandbox, referees=wanted.referees
        ).kill(wanted.kills)
    print(
        f"{tally.kills} kills, {tally.events} events with the uninterrupted one's bytes; "
        f"{tally.cut} games cut off and played again, {tally.mended} torn lines mended"
    )


if __name__ == "__main__":
    main()
