"""Lives through a month of a league: pushes, bad pushes, kills, a full disk; then verifies it.

    python -m tests.tools.league_month FOLDER [--days 30] [--seed 1] [--boards 700] [--robin 5]

Each simulated day, authors push into FOLDER/league/bots, and `boneyard league --once` does the
rest, with real processes in the sandbox. The same command goes on after the last whole day. What
happened is in FOLDER/days.jsonl, the site after days 1, 7 and 30 in FOLDER/site-*; faults are
listed at the end, with exit code 1.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from tests.support.events import BONEYARD
from tests.support.league_bots import PORT, write_bad, write_bot
from tests.support.league_calendar import (
    BAD,
    BOTS,
    FIRST_DAY,
    FULL_DISK,
    KILLED,
    PICTURES,
    RETURNED,
    SETTINGS,
    WITHDRAWN,
)
from tests.support.tables import alive
from tournaments.formats.base import first_version
from tournaments.league.folder import LeagueFolder
from tournaments.league.ratings.standings import rate_division
from tournaments.league.read import LeagueData, read_league, read_register
from tournaments.league.records import Admitted, AnyEntry
from tournaments.rating.ratings import fit
from tournaments.storage.ledger import read_ledger

PATIENCE_S = 3600
"""Time that a process of the league may take for a day, in s."""
SPARE = 2**20
"""Bytes that are left on the disk that gets full."""


class Watcher(threading.Thread):
    """Notes when each new version stands in the table of the site."""

    def __init__(self, league: LeagueFolder) -> None:
        super().__init__(daemon=True)
        self.rated: dict[str, float] = {}
        """Time of the first look at which a version was there, in s since the epoch."""
        self.touched = 0
        """Connections to the port that no bot may reach."""
        self._league = league
        self._done = threading.Event()
        self._port = socket.create_server(("127.0.0.1", PORT))
        self._port.settimeout(0.5)

    def run(self) -> None:
        """Look, wait, look."""
        while not self._done.is_set():
            self._look()
            try:
                self._port.accept()[0].close()
                self.touched += 1
            except TimeoutError:
                continue

    def stop(self) -> None:
        """Look no more."""
        self._done.set()
        self.join()
        self._look()
        self._port.close()

    def _look(self) -> None:
        for version in rated_versions(self._league.site):
            self.rated.setdefault(version, time.time())


def rated_versions(site: Path) -> set[str]:
    """Return the versions that have a rating or a bound on the site."""
    try:
        table = json.loads((site / "league.json").read_bytes())
    except FileNotFoundError:
        return set()
    rows = [row for division in table["divisions"] for row in division["standings"]]
    return {row["version"] for row in rows if row["elo"] is not None}


class Kept:
    """The bytes of all files that may only grow, to see that nothing in them is lost."""

    def __init__(self, league: LeagueFolder) -> None:
        paths = [path for path in [*ledgers(league), league.register] if path.exists()]
        self._files = {path: whole_lines(path) for path in paths}

    def lost(self) -> list[str]:
        """Return the files that no longer begin with what they had."""
        return [
            f"{path} lost lines"
            for path, had in self._files.items()
            if not path.is_file() or not path.read_bytes().startswith(had)
        ]


def ledgers(league: LeagueFolder) -> list[Path]:
    """Return the ledgers of all rounds."""
    return sorted(league.rounds.glob("*/*/ledger.jsonl"))


def whole_lines(path: Path) -> bytes:
    """Return a file up to its last newline."""
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def played_twice(league: LeagueFolder) -> list[str]:
    """Return the games that have two results."""
    found = []
    for ledger in ledgers(league):
        games = Counter(result.game for result in read_ledger(ledger))
        found += [f"{ledger}: {game} {count} times" for game, count in games.items() if count > 1]
    return found


class Month:
    """A league that is lived through."""

    def __init__(self, folder: Path, seed: int, boards: int) -> None:
        self._folder = folder
        self._seed = seed
        self._league = LeagueFolder(folder / "league")
        self._history = folder / "days.jsonl"
        self._said = folder / "said.txt"
        self._league.bots.mkdir(parents=True, exist_ok=True)
        self._league.settings.write_text(SETTINGS.replace("BOARDS", str(boards)))

    @property
    def days(self) -> list[dict[str, Any]]:
        """The events of each day that was lived through."""
        if not self._history.exists():
            return []
        return [json.loads(line) for line in self._history.read_text().splitlines()]

    def live(self, days: int) -> None:
        """Live through all days that are left."""
        for day in range(len(self.days) + 1, days + 1):
            happened = self._day(day)
            with self._history.open("a") as file:
                file.write(json.dumps(happened) + "\n")
            print(json.dumps(happened), flush=True)

    def _day(self, day: int) -> dict[str, Any]:
        """Push, let the league play, and see what became of it."""
        rng = random.Random(f"{self._seed} {day}")
        before, begun = len(self._register()), time.time()
        pushes = self._push(day)
        watcher = Watcher(self._league)
        watcher.start()
        runs: list[dict[str, Any]] = []
        faults: list[str] = []
        if day == FULL_DISK and os.geteuid() == 0:
            runs.append(self._checked(faults, self._on_a_full_disk, day))
        while not runs or runs[-1]["end"] != 0:
            kill = rng.expovariate(1 / 25) if rng.random() < KILLED and len(runs) < 6 else None
            runs.append(self._checked(faults, self._turn, day, kill))
            if runs[-1]["end"] > 0 and len(runs) > 8:
                faults.append(f"exit code {runs[-1]['end']}")
                break
        watcher.stop()
        faults += played_twice(self._league)
        if watcher.touched:
            faults.append(f"a bot reached the port {watcher.touched} times")
        faults += [f"{path} was written" for path in self._league.path.rglob("pried")]
        new = self._register()[before:]
        if day in PICTURES:
            shutil.copytree(self._league.site, self._folder / f"site-{day}", dirs_exist_ok=True)
        return {
            "day": day,
            "pushes": pushes,
            "runs": runs,
            "register": [short(entry) for entry in new],
            "rated_after_s": {
                entry.version: round(watcher.rated[entry.version] - begun, 1)
                for entry in new
                if isinstance(entry, Admitted) and entry.version in watcher.rated
            },
            "games": sum(one.read_bytes().count(b"\n") for one in ledgers(self._league)),
            "site": size(self._league.site),
            "faults": faults,
        }

    def _push(self, day: int) -> list[str]:
        done = []
        for bot, (language, versions) in BOTS.items():
            if day in versions:
                write_bot(self._league.bots / bot, language, versions[day])
                done.append(f"{bot}: {language} {versions[day]}".strip())
        for bot, kind in BAD.get(day, ()):
            write_bad(self._league.bots / bot, kind)
            done.append(f"{bot}: {kind}")
        for bot in WITHDRAWN.get(day, ()):
            shutil.move(self._league.bots / bot, self._folder / f"gone-{bot}")
            done.append(f"{bot}: withdrawn")
        for bot in RETURNED.get(day, ()):
            shutil.move(self._folder / f"gone-{bot}", self._league.bots / bot)
            done.append(f"{bot}: returned")
        return done

    def _checked(
        self, faults: list[str], run: Callable[..., dict[str, Any]], *words: object
    ) -> dict[str, Any]:
        """Let a process play; note what it lost, and which bots it left behind."""
        kept = Kept(self._league)
        done = run(*words)
        patience = time.monotonic() + 60
        while left := alive(f"{self._league.versions}"):
            if time.monotonic() > patience:
                faults.append(f"bots are left: {left}")
                break
            time.sleep(0.05)
        faults += kept.lost()
        return done

    def _words(self, day: int) -> list[str]:
        now = (FIRST_DAY + timedelta(days=day - 1)).strftime("%Y-%m-%dT%H:%M")
        return [*BONEYARD, "league", str(self._league.path), "--once", "--now", now]

    def _turn(self, day: int, kill: float | None) -> dict[str, Any]:
        """Run the league once; kill it after so many seconds."""
        begun, used = time.monotonic(), used_cpu()
        with self._said.open("a") as said:
            process = subprocess.Popen(self._words(day), stdout=said, stderr=said)
        try:
            process.wait(PATIENCE_S if kill is None else kill)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        # The process of a run that was killed does not count its bots.
        end = process.wait()
        took, cpu = time.monotonic() - begun, used_cpu() - used
        return {"end": end, "s": round(took, 1), "cpu_s": round(cpu, 1)}

    def _on_a_full_disk(self, day: int) -> dict[str, Any]:
        """Run the league once on a small disk of its own, which nobody else sees."""
        league, disk = self._league.path, self._folder / "disk"
        disk.mkdir(exist_ok=True)
        script = """set -e
            mount -t tmpfs -o size="$1" tmpfs "$3" && cp -a "$2/." "$3"
            dd if=/dev/zero of="$3/ballast" bs=4096 2>/dev/null || true
            truncate -s -"$4" "$3/ballast"
            mount --bind "$3" "$2"
            code=0; (shift 4; "$@") || code=$?
            df --output=avail "$2" | tail -1
            umount "$2"; rm "$3/ballast"
            mv "$2" "$2-full" && cp -a "$3" "$2" && rm -r "$2-full"
            exit $code"""
        room = str(size(league)["bytes"] * 3 + 64 * 2**20)
        words = [
            "unshare",
            "-m",
            "sh",
            "-c",
            script,
            "sh",
            room,
            str(league),
            str(disk),
            str(SPARE),
        ]
        done = subprocess.run([*words, *self._words(day)], capture_output=True, text=True)
        return {"end": done.returncode, "full": True, "said": (done.stdout + done.stderr)[-2000:]}

    def _register(self) -> list[AnyEntry]:
        return list(read_register(self._league.register)) if self._league.register.exists() else []


def used_cpu() -> float:
    """Return the CPU time of all processes that have ended and were waited for, in s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def short(entry: AnyEntry) -> dict[str, Any]:
    """Return what a line of the register tells an author."""
    kept = msgspec.to_builtins(entry)
    check = kept.pop("check", None) or {"steps": []}
    kept["failed"] = [step for step in check.pop("steps") if step["verdict"] == "failed"]
    return {**kept, **check}


def size(folder: Path) -> dict[str, int]:
    """Return the number of a folder's files and their bytes."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}


# --- the end of the month ---


def closing(folder: Path, robin: int) -> dict[str, Any]:
    """Verify all of the league, then its site alone; compare its order with a round robin's."""
    league = folder / "league"
    alone = folder / "site-alone"
    shutil.rmtree(alone, ignore_errors=True)
    shutil.copytree(league / "site", alone)
    found: dict[str, Any] = {
        "verify": boneyard("verify", str(league)),
        "verify the site alone": boneyard("verify", str(alone)),
        "standings": boneyard("league", str(league), "status"),
    }
    if robin:
        found["round robin"] = compared(folder, robin)
    return found


def boneyard(*words: str) -> dict[str, Any]:
    """Run a command; return its time, exit code and last words."""
    begun = time.monotonic()
    done = subprocess.run([*BONEYARD, *words], capture_output=True, text=True)
    took = round(time.monotonic() - begun, 1)
    return {"s": took, "end": done.returncode, "said": (done.stdout + done.stderr)[-3000:]}


def compared(folder: Path, boards: int) -> dict[str, Any]:
    """Play a round robin of the survivors; compare order and ratings."""
    data = read_league(folder / "league")
    division = data.divisions["draw"]
    rows = [row for row in rate_division(division, data).standings if row.rank]
    lines = [f"rules = {{ base = 'draw', target = 50 }}\nboards = {boards}\n"]
    lines += [event_entry(data, row.version) for row in rows]
    (folder / "robin.toml").write_text("".join(lines))
    done = boneyard("run", str(folder / "robin.toml"), "--out", str(folder / "robin"))
    assert done["end"] == 0, done["said"]
    results = list(read_ledger(folder / "robin" / "ledger.jsonl"))
    pool = fit(results, anchor=data.settings.anchor).pools[0]
    robin = {rating.name: rating for rating in pool.entrants}
    both = [(row, robin[row.bot]) for row in rows if row.bot in robin]
    order = [rating.name for rating in pool.entrants]
    games = sum(1 for _ in division.results())
    return {
        "run": done,
        "order in the league": [row.bot for row, _ in both],
        "order in the round robin": order,
        "rank correlation": statistics.correlation(
            range(len(both)), [order.index(row.bot) for row, _ in both]
        ),
        "elo": {
            row.version: [row.bound, row.elo, row.half_width, one.bound, one.elo, one.half_width]
            for row, one in both
        },
        "games of the league": games,
        "games of the round robin": len(results),
    }


def event_entry(data: LeagueData, version: str) -> str:
    """Return the lines of an event file for a bot: its present version, as the league keeps it."""
    if data.versions[version].house:
        return f'[[bots]]\nname = "{version}"\n'
    files = data.folder.version(version)
    described = tomllib.loads((files / "bot.toml").read_text())
    lines = {"name": first_version(version), "folder": str(files), "run": described["run"]}
    if "build" in described:
        lines |= {"build": described["build"], "reads": ["{build}"]}
    return "[[bots]]\n" + "".join(f"{key} = {json.dumps(it)}\n" for key, it in lines.items())


def prefer_real_rustc() -> None:
    """Put rustc's own folder before rustup's links, which need their user's home to work."""
    with suppress(OSError, subprocess.CalledProcessError):
        found = subprocess.check_output(["rustup", "which", "rustc"], text=True)
        os.environ["PATH"] = f"{Path(found.strip()).parent}:{os.environ['PATH']}"


def main() -> None:
    """Live through the month, then print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--boards", type=int, default=700, help="a week, in the first division")
    parser.add_argument("--robin", type=int, default=5, help="boards of the round robin; 0: none")
    wanted = parser.parse_args()
    prefer_real_rustc()
    month = Month(wanted.folder.resolve(), wanted.seed, wanted.boards)
    month.live(wanted.days)
    end = closing(wanted.folder.resolve(), wanted.robin)
    (wanted.folder / "end.json").write_text(json.dumps(end, indent=1))
    print(json.dumps(end, indent=1))
    faults = [f"day {day['day']}: {fault}" for day in month.days for fault in day["faults"]]
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
