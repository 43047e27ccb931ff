"""Fingerprints of seeded events: proof that a change of the code changes no byte of a result.

    python -m tests.tools.fingerprints before.json    # plays the events, writes SHA-256 sums
    python -m tests.tools.fingerprints after.json --against before.json

It uses nothing but the command line, so that the same file measures any two commits.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BONEYARD = (sys.executable, "-c", "from tournaments.cli.main import main; main()")
SEEDED = ("--seed", "1", "--sandbox", "off")

CHEAT = """
import json, sys
asked = 0
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "hello":
        print('{"type": "hello", "name": "cheat", "version": "1"}', flush=True)
    elif said["type"] == "ask":
        asked += 1
        choice = 99 if asked % 40 == 0 else 0
        print(json.dumps({"type": "choose", "id": said["id"], "choice": choice}), flush=True)
"""
"""A bot that chooses what is not on the list at each fortieth question."""

TEAMS = """
name = "teams"
rules = "partnership"
boards = 2
teams = [["first", "greedy"], ["random", "suit"], ["counting", "counting"]]
bots = ["first", "greedy", "random", "suit", "counting"]
[format]
type = "knockout"
tie_boards = 2
"""
"""An event file: fixed partners in a knockout."""

FOUR = ("first", "greedy", "random", "suit")
EVENTS: dict[str, tuple[str, ...]] = {
    "two seats": ("first", "greedy", "random", "--boards", "6"),
    "three seats": (*FOUR, "--rules", "draw", "--seats", "3", "--boards", "2"),
    "four seats": (*FOUR, "--rules", "dutch", "--seats", "4", "--boards", "4"),
    "partners": (*FOUR, "--rules", "partnership", "--boards", "4"),
    "auction": ("first", "greedy", "--rules", "auction-draw", "--boards", "4"),
    "double draw": ("first", "suit", "--rules", "double-draw", "--boards", "4"),
    "swiss": (*FOUR, "counting", "--format", "swiss", "--rounds", "3", "--boards", "3"),
    "knockout": (*FOUR, "--format", "knockout", "--boards", "3"),
    "gauntlet": (*FOUR, "--format", "gauntlet", "--boards", "2"),
    "ladder": (*FOUR, "--format", "ladder", "--boards", "2"),
    "versus": ("counting", "first", "--format", "versus", "--boards", "60", "--h1", "100"),
    "fouls": ("cheat.py", "greedy", "first", "--boards", "6"),
    "forced": ("first", "greedy", "--ask-forced", "--boards", "4"),
    "jobs": (*FOUR, "--boards", "4", "--jobs", "3"),
    "tables": (str(ROOT / "sample_bots/batched.py"), "batched", "--boards", "30"),
    "teams": ("teams.toml",),
}
GROWN = ("first", "greedy", "random", "suit", "--boards", "5")
KILLED = ("first", "greedy", "random", "--boards", "30", "--rules", "dutch", "--jobs", "2")
DERIVED = (
    "ledger.jsonl",
    "seeds.jsonl",
    "commitments.jsonl",
    "report.md",
    "results.json",
    "games.csv",
    "ratings.csv",
    "crosstable.csv",
    "results.pgn",
)
TIMED = {
    "crc",
    "ms",
    "cpu_ms",
    "worst_ms",
    "given_back_ms",
    "lag_ms",
    "machine",
    "boneyard",
    "stderr",
}
"""Fields of a log that depend on the moment or the machine."""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def boneyard(folder: Path, *words: str) -> bytes:
    """Run a command to its end and return what it printed."""
    done = subprocess.run(
        (*BONEYARD, *words), cwd=folder, env=environment(), capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(
            f"boneyard {' '.join(words)} ended with {done.returncode}:\n{done.stderr.decode()}"
        )
    return done.stdout


def without_times(line: str) -> Any:
    """Decode a line of a log without what depends on the moment or the machine."""
    record = json.loads(line)
    if record.get("type") == "spent":
        return [record["type"], record["questions"]]
    return {name: value for name, value in record.items() if name not in TIMED}


def log_text(folder: Path) -> bytes:
    """Return all logs of an event, game by game in order of their names."""
    games: dict[str, list[Any]] = {}
    for path in sorted((folder / "games").iterdir()):
        text = subprocess.run(["zstdcat", "-f", path], capture_output=True, check=True).stdout
        name = ""
        for line in text.decode().splitlines():
            record = without_times(line)
            if isinstance(record, dict) and record.get("type") in ("sitting", "sitting_over"):
                # Where a run goes on depends on the moment at which it was stopped, and so does
                # the number of records that the end of a sitting gives.
                continue
            if isinstance(record, dict) and record.get("type") == "game":
                name = record["game"]
                games[name] = []
            if name:
                games[name].append(record)
    return json.dumps(games, sort_keys=True).encode()


def fingerprint(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of an event that does not tell of times."""
    made = {name: sha256((folder / name).read_bytes()) for name in DERIVED}
    return {**made, "games": sha256(log_text(folder))}


def play_killed(folder: Path) -> None:
    """Play an event that is killed three times on its way."""
    words = (*BONEYARD, "run", *KILLED, *SEEDED, "--out", "killed")
    for _ in range(3):
        process = subprocess.Popen(words, cwd=folder, env=environment(), stderr=subprocess.DEVNULL)
        time.sleep(3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    boneyard(folder, "run", *KILLED, *SEEDED, "--out", "killed")


def measure(folder: Path) -> dict[str, dict[str, str]]:
    """Play every event and take the fingerprints of all of it."""
    (folder / "cheat.py").write_text(CHEAT)
    (folder / "teams.toml").write_text(TEAMS)
    found = {}
    for name, words in EVENTS.items():
        print(name, file=sys.stderr)
        out = name.replace(" ", "-")
        boneyard(folder, "run", *words, *SEEDED, "--out", out)
        found[name] = fingerprint(folder / out)
    boneyard(folder, "run", "first", "greedy", "--boards", "2", *SEEDED, "--out", "grown")
    boneyard(folder, "run", *GROWN, *SEEDED, "--out", "grown")
    found["grown"] = fingerprint(folder / "grown")
    play_killed(folder)
    found["killed"] = fingerprint(folder / "killed")
    vectors = sorted((ROOT / "protocol/vectors").glob("*.jsonl"))
    found["vectors"] = {path.name: sha256(path.read_bytes()) for path in vectors}
    found["schema"] = {"protocol": sha256(boneyard(folder, "help", "schema"))}
    found["schema"]["results"] = sha256(boneyard(folder, "help", "schema", "results"))
    return found


def differences(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    """Name every fingerprint that is not the same in both."""
    names = {(event, file) for one in (before, after) for event in one for file in one[event]}
    return [
        f"{event}: {file}"
        for event, file in sorted(names)
        if before.get(event, {}).get(file) != after.get(event, {}).get(file)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--keep", type=Path, help="folder in which the events are played and stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = measure(folder)
    given.out.write_text(json.dumps(found, indent=1))
    if given.against:
        changed = differences(json.loads(given.against.read_text()), found)
        sys.exit("\n".join(changed) if changed else 0)


if __name__ == "__main__":
    main()
