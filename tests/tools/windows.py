"""Plays the same events on Linux, on Linux by threads and on Windows under Wine, and compares.

python -m tests.tools.windows /tmp/boneyard-windows [events hostile ...]

`.ci/windows` makes the Windows first. The ledgers must be equal byte for byte, the fouls too, and
no bot may be alive when a referee has ended or was killed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.support.bots import HOSTILE as PROGRAM
from tests.support.tables import alive

SHORT = ("--jobs", "1", "--set", "target=40")
EVENTS = {
    "two seats": "first greedy --boards 3 --seed 1",
    "four seats": "first greedy suit random --seats 4 --boards 1 --seed 2",
    "three of another game": "greedy suit first --rules dutch --seats 3 --boards 1 --seed 3",
    "swiss": "first greedy suit random --format swiss --rounds 2 --boards 2 --seed 4",
    "versus": "greedy first --format versus --boards 20 --seed 5",
    "a ladder": "first random suit greedy --format ladder --boards 1 --seed 6",
    "fouls": "#timing/silent greedy first --move-ms 500 --boards 1 --seed 7",
    "sealed": "first random --sealed --boards 1 --seed 8",
    "sealed module": "random-sealed greedy --sealed --boards 1 --seed 9",
    "killed": "first suit greedy --boards 4 --seed 10",
}
"""The words after `run`; `#` precedes a hostile bot."""
HOSTILE = (
    *("timing/silent", "timing/no_newline", "timing/in_slow_drops"),
    *("plumbing/endless_line", "plumbing/endless_words", "plumbing/closes_stdout"),
    *("plumbing/stderr_flood", "plumbing/heir", "plumbing/stderr_terminal_codes"),
    *("processes/exit_0", "processes/never_leaves"),
)
"""Behaviours of tests/bots/hostile that Windows knows too."""
PATIENCE_S = 300


class Way:
    """A way to call the program, and the folder of its events."""

    def __init__(
        self,
        name: str,
        program: Sequence[str],
        folder: Path,
        python: str = sys.executable,
        drive: str = "",
    ) -> None:
        self.name, self.folder = name, folder
        self._program, self._python, self._drive = program, python, drive
        folder.mkdir()

    def place(self, path: Path) -> str:
        """Return a path as this program reads it."""
        return f"{self._drive}{path}"

    def start(self, *words: str) -> subprocess.Popen[str]:
        threads = {"BONEYARD_POLLER": "threads"} if self.name == "threads" else {}
        return subprocess.Popen(
            (*self._program, *words),
            cwd=self.folder,
            env=os.environ | threads,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def call(self, *words: str) -> str:
        output, _ = self.start(*words).communicate(timeout=PATIENCE_S)
        return output

    def run(self, name: str, line: str) -> list[str]:
        """Return the words that play an event."""
        bot = f"{self._python} -I -S {self.place(PROGRAM)}"
        words = [
            f"{bot} {word[1:]} {self.folder}/tag" if word.startswith("#") else word
            for word in line.split()
        ]
        sandbox = () if "--sealed" in words else ("--sandbox", "off")
        return ["run", *words, *SHORT, *sandbox, "--out", name]


def ledger(way: Way, name: str) -> bytes:
    path = way.folder / name / "ledger.jsonl"
    return path.read_bytes() if path.exists() else b""


def play_events(ways: list[Way]) -> Iterator[str]:
    for title, line in EVENTS.items():
        name, ledgers = title.replace(" ", "-"), []
        for way in ways:
            words = way.run(name, line)
            if title == "killed":
                kill_in_the_middle(way, name, words)
            output = way.call(*words)
            ledgers.append(ledger(way, name))
            if not ledgers[-1]:
                yield f"{title}, {way.name}: {output}"
        games = ledgers[0].count(b"\n")
        if len({*ledgers}) > 1:
            yield f"{title}: the ledgers differ"
        print(f"{title}: {games} games, {len(ways)} ledgers, {len({*ledgers})} kind", flush=True)


def kill_in_the_middle(way: Way, name: str, words: Sequence[str]) -> None:
    process = way.start(*words)
    until(lambda: ledger(way, name).count(b"\n") >= 1)
    kill(process, way)


def kill(process: subprocess.Popen[str], way: Way) -> None:
    """Kill a referee; under Wine its shell's child too, by the folder that it names."""
    descendants = [process.pid]
    for pid in descendants:
        descendants += children(pid)
    names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in descendants}
    for pid, line in names.items():
        if b"start.py" in line or way.name != "wine":
            subprocess.run(("kill", "-9", f"{pid}"), stderr=subprocess.DEVNULL, check=False)
            if way.name != "wine":
                break
    process.communicate()


def children(pid: int) -> list[int]:
    try:
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    except OSError:
        return []


def until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > ends:
            raise SystemExit("It took too long.")
        time.sleep(0.02)


def play_hostile(ways: list[Way]) -> Iterator[str]:
    for act in HOSTILE:
        fouls = []
        for way in ways:
            words = way.run(
                act.replace("/", "-"), f"#{act} greedy --boards 1 --seed 3 --move-ms 800"
            )
            output = way.call(*words)
            lines = ledger(way, act.replace("/", "-")).splitlines()
            fouls.append([foul for line in lines for foul in json.loads(line)["fouls"]])
            if not lines:
                yield f"{act}, {way.name}: {output}"
            if left := alive(f"{way.folder}/tag"):
                yield f"{act}, {way.name}: alive: {left}"
        if any(foul != fouls[0] for foul in fouls):
            yield f"{act}: {fouls}"
        print(f"{act}: {[foul['foul'] for foul in fouls[0]]}", flush=True)


def kill_referee(ways: list[Way]) -> Iterator[str]:
    """Kill a referee whose bot ignores its end; on Linux only a locked sandbox ends such a bot."""
    way = ways[-1]
    words = way.run("orphans", "#processes/never_leaves greedy --boards 400 --seed 3")
    process = way.start(*words)
    until(lambda: bool(ledger(way, "orphans")) and len(alive(f"{way.folder}/tag")) >= 4)
    kill(process, way)
    time.sleep(3)
    left = alive(f"{way.folder}/tag")
    print(f"referee killed, {way.name}: {len(left)} processes left", flush=True)
    if left:
        yield f"{way.name}: a killed referee leaves {left}"


def check_bots(ways: list[Way]) -> Iterator[str]:
    for name in ("first", "greedy", "counting"):
        for way in ways:
            output = way.call("check", name, "--sandbox", "off")
            print(f"check {name}, {way.name}: {output.splitlines()[-1]}", flush=True)
            if " passed: " not in output:
                yield output


def play_demo(ways: list[Way]) -> Iterator[str]:
    for way in ways[-1:]:
        output = way.call("demo", "--boards", "4", "--out", "demo")
        print("\n".join(output.splitlines()[-12:]), flush=True)
        if "report: demo" not in output:
            yield output


def verify_across(ways: list[Way]) -> Iterator[str]:
    windows, linux = ways[-1], ways[0]
    for reader, writer in ((linux, windows), (windows, linux)):
        for name in ("two-seats", "sealed"):
            output = reader.call("verify", reader.place(writer.folder / name))
            print(f"{reader.name} verifies {name} of {writer.name}: {output.splitlines()[-1]}")
            if "OK: " not in output:
                yield output


PARTS = {
    "events": play_events,
    "verify": verify_across,
    "hostile": play_hostile,
    "killed": kill_referee,
    "check": check_bots,
    "demo": play_demo,
}


def main() -> None:
    windows, *names = sys.argv[1:]
    program = (sys.executable, "-m", "tournaments.cli.entry")
    with tempfile.TemporaryDirectory(prefix="windows-") as folder:
        base = Path(folder)
        ways = [
            Way("linux", program, base / "linux"),
            Way("threads", program, base / "threads"),
            Way(
                "wine",
                (f"{windows}/bone",),
                base / "wine",
                f"Z:{windows}/py/cp313/python.exe",
                "Z:",
            ),
        ]
        faults = [fault for name in names or PARTS for fault in PARTS[name](ways)]
        if faults:
            shutil.copytree(base, Path(windows, "faults"), dirs_exist_ok=True)
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
