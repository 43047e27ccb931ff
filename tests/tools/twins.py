"""A bot that answers a moment too late against its twin, while the referee is often stopped.

    python -m tests.tools.twins [--boards 48] [--stop-ms 20] [--out FOLDER]

The late bot (tests/bots/twins) gains nothing by it: no game is played again, and both are within
each other's interval. Exit code 1 if that is not so.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from protocol.records import ChoiceRecord, FoulRecord
from tests.support.events import BONEYARD, games_of, ledger

BOTS = Path(__file__).parents[1] / "bots" / "twins"
EVERY_MS = 150
ENDS_S = 1_800


class Twins(NamedTuple):
    """The outcome of the event."""

    games: int
    starts: int
    """Games that were begun: more, if any was played again."""
    elo: tuple[float, float]
    half_width: tuple[float, float]
    """Half widths of their 95 % intervals, in Elo."""
    late: int
    """Answers after the limit, by the bot's own clock: taken, or lost by `late`."""
    stops: int

    @property
    def is_fair(self) -> bool:
        """True if no game was played again, and each is within the other's interval."""
        difference = abs(self.elo[0] - self.elo[1])
        return self.starts == self.games and difference <= min(self.half_width)


def event_file(folder: Path, boards: int) -> Path:
    """Return the event: the late bot and its twin."""
    text = f'name = "twins"\nboards = {boards}\nrules = "draw"\n[clock]\nbank_ms = 500\n'
    for name in ("late", "twin"):
        run = json.dumps(["{python}", "-I", "-S", "late.py", name])
        text += f'[[bots]]\nname = "{name}"\nrun = {run}\nfolder = "{BOTS}"\n'
    path = folder / "twins.toml"
    path.write_text(text)
    return path


def play(folder: Path, boards: int, stop_ms: int) -> Twins:
    """Play the event in a process of its own, and stop that process now and then."""
    out = folder / "out"
    words = ("run", str(event_file(folder, boards)), "--out", str(out), "--jobs", "2")
    process = subprocess.Popen(
        (*BONEYARD, *words, "--seed", "1", "--sandbox", "off"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stops, end = 0, time.monotonic() + ENDS_S
    try:
        while process.poll() is None and time.monotonic() < end:
            process.send_signal(signal.SIGSTOP)
            time.sleep(stop_ms / 1000)
            process.send_signal(signal.SIGCONT)
            stops += 1
            time.sleep((EVERY_MS - stop_ms) / 1000)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, f"the run ended with {process.returncode}"
    games = games_of(out)
    answers = [answer for game in games for answer in game.choices()]
    (pool,) = json.loads((out / "results.json").read_text())["ratings"]["pools"]
    ratings = {rating["name"]: rating for rating in pool["entrants"]}
    pair = ratings["late"], ratings["twin"]
    return Twins(
        games=len(ledger(out)),
        starts=len(games),
        elo=(pair[0]["elo"], pair[1]["elo"]),
        half_width=(pair[0]["half_width"], pair[1]["half_width"]),
        late=sum(
            (isinstance(answer, ChoiceRecord) and answer.note == "late")
            or (isinstance(answer, FoulRecord) and answer.foul == "late")
            for answer in answers
        ),
        stops=stops,
    )


def main() -> int:
    """Play, print, and say whether it was fair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=48)
    parser.add_argument("--stop-ms", type=int, default=20)
    parser.add_argument("--out", type=Path, help="keep everything in this new folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        came = play(folder, options.boards, options.stop_ms)
    print(*(f"{name}: {value}" for name, value in came._asdict().items()), sep="\n")
    print("fair" if came.is_fair else "NOT FAIR")
    return 0 if came.is_fair else 1


if __name__ == "__main__":
    sys.exit(main())
