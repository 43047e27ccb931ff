"""Whole events as a user plays them, and finished events that tests read or copy."""

import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from click.testing import CliRunner

from arena.logs.checksummed import decompress, read_lines
from arena.logs.gamelog import LoggedGame, read_games
from arena.sandbox.command import SandboxMode
from protocol.records import Result
from tests.support.tables import answering
from tournaments.cli.main import main
from tournaments.event.book import read_ledger
from tournaments.event.folder import Folder

# Whole events as a user plays them, for the tests: run, copied, started and killed.


BONEYARD = (sys.executable, "-c", "from tournaments.cli.entry import main; main()")
DERIVED = ("report.md", "results.json", "games.csv", "ratings.csv", "crosstable.csv", "results.pgn")
REPORTED = (*DERIVED, "report.html", "times.json")
"""All files of a report: the last two also have what only the logs know, such as times."""
OUTPUTS = (*DERIVED, "ledger.jsonl", "seeds.jsonl", "commitments.jsonl")
PLAIN = ("--seed", "1", "--sandbox", "off")
"""Options for deals that are known, and bots that start at once."""


def boneyard(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    return done.output


def run(out: Path, *words: str, code: int = 0) -> str:
    return boneyard("run", *words, *PLAIN, "--out", str(out), code=code)


def write_deals(place: Path, *lines: object) -> Path:
    path = place / "deals.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


PEEKS = answering("print(oct(stat.S_IMODE(os.stat(GAMES).st_mode)), file=open(SEEN, 'a'))")


def peeking_bot(folder: Path, out: Path) -> tuple[Path, Path]:
    """Write a bot that looks at the mode of an event's logs; return it, and the file of notes."""
    bot, notes = folder / "peeks.py", folder / "seen"
    code = PEEKS.replace("GAMES", repr(str(out / "games"))).replace("SEEN", repr(str(notes)))
    bot.write_text(code)
    return bot, notes


def league(bot: Path, *others: str) -> str:
    """Write an event file beside a bot's source, in which this bot meets listed bots."""
    path = bot.with_suffix(".toml")
    bots = "".join(f'[[bots]]\nname = "{name}"\n' for name in others)
    run = f'run = ["{{python}}", "{bot.name}"]'
    path.write_text(f'[[bots]]\nname = "{bot.stem}"\n{run}\n{bots}')
    return str(path)


def partners(path: Path, *others: str) -> str:
    """Write an event file of two teams: with mixed partners a board has three times the games.

    `others`: further lines of the file, such as another fourth bot than counting.
    """
    names = ("first", "greedy", "random", *(() if others else ("counting",)))
    bots = "".join(f'[[bots]]\nname = "{name}"\n' for name in names)
    fourth = "odd" if others else "counting"
    path.write_text(
        'rules = { base = "partnership", target = 30 }\nboards = 1\n'
        f'teams = [["first", "{fourth}"], ["greedy", "random"]]\n' + bots + "\n".join(others)
    )
    return str(path)


BOTS = ("first", "greedy", "random")
SMALL = (*BOTS, "--boards", "2", "--set", "target=12")
"""Three bots, two boards: twelve short games in six logs."""


def outputs(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def copied(event: Path, to: Path) -> Path:
    for path in event.rglob("*"):
        if path.is_file():
            (to / path.relative_to(event)).parent.mkdir(parents=True, exist_ok=True)
            (to / path.relative_to(event)).write_bytes(path.read_bytes())
    return to


def copy_part(event: Path, to: Path, part: float = 0.6) -> Path:
    """Return an earlier state of the event: a part of each log, the last line torn."""
    folder = copied(event, to)
    for log in (folder / "games").iterdir():
        os.truncate(log, int(part * log.stat().st_size))
    return folder


def go_on(event: Path, folder: Path) -> None:
    """Write the rest of each log."""
    for log in (event / "games").iterdir():
        with (folder / "games" / log.name).open("ab") as file:
            file.write(log.read_bytes()[file.tell() :])


def start_run(
    out: Path,
    *bots: str,
    jobs: int | None = 1,
    stderr: IO[bytes] | int = subprocess.DEVNULL,
    sandbox: SandboxMode = "off",
    program: Sequence[str] = BONEYARD,
) -> "subprocess.Popen[bytes]":
    """Start a run in its own process: three sample bots and four boards, unless others are
    given."""
    names = bots or BOTS
    boards = () if "--boards" in names else ("--boards", "4")
    words = [*names, *boards, "--seed", "1", "--sandbox", sandbox, "--out", str(out)]
    return subprocess.Popen(
        (*program, "run", *words, *(("--jobs", f"{jobs}") if jobs else ())),
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )


@contextmanager
def untouched(folder: Path) -> Iterator[Path]:
    """Lend a folder to many tests; none of them may change anything in it."""
    before = contents(folder)
    yield folder
    after = contents(folder)
    changes = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert not changes, f"a test has changed what others share: {sorted(map(str, changes))}"


def contents(folder: Path) -> dict[Path, bytes]:
    """Return every file below a folder, but those that only save time."""
    kept = {Folder(folder).facts.name, Folder(folder).pieces.name}
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in kept)
    return {path: path.read_bytes() for path in files}


def laid_open(folder: Path) -> Path:
    """Return the event with all its logs unpacked, for tests that spoil them."""
    for path in Folder(folder).logs():
        decompress(path)
    return folder


def logs(folder: Path) -> list[bytes]:
    """Return the content of an event's game logs, compressed or not."""
    return [b"".join(line.data for line in read_lines(path)) for path in Folder(folder).logs()]


def wait_for_games(folder: Path, games: int) -> None:
    """Wait until the logs hold so many results; two minutes are the bound, not the expectation."""
    _wait_until(lambda: sum(log.count(b'"type":"result"') for log in logs(folder)) >= games)


def wait_for_ledger(folder: Path) -> None:
    """Wait until a result counts: the disk has its game, and the ledger has its line."""
    path = folder / "ledger.jsonl"
    _wait_until(lambda: path.exists() and path.stat().st_size > 0)


def _wait_until(done: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("no games were played")


def run_file(path: Path, out: Path, code: int = 0) -> str:
    return boneyard("run", str(path), *PLAIN, "--out", str(out), code=code)


def ledger(out: Path) -> list[Result]:
    return list(read_ledger(out / "ledger.jsonl"))


def games_of(out: Path) -> list[LoggedGame]:
    return [game for path in sorted((out / "games").iterdir()) for game in read_games(path)]


def records_of(out: Path, kind: type) -> list[Any]:
    return [record for game in games_of(out) for record in game.records if isinstance(record, kind)]


@contextmanager
def served(*words: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Yield the program, and the address that it prints."""
    process = subprocess.Popen(
        (*BONEYARD, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:"), address
        yield process, address
    finally:
        process.terminate()
        process.wait(120)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


SHORT = ("--set", "target=12")


FOUR = ("first", "greedy", "random", "counting")


def report(out: Path) -> str:
    return (out / "report.md").read_text()


def summary(out: Path) -> dict[str, int]:
    results = json.loads((out / "results.json").read_text())
    return {"played": results["played"], "planned": results["planned"]}


def fits(out: Path) -> bool:
    return "OK: " in boneyard("verify", str(out))


# Finished events that tests read or copy: each is played once in a whole run of the tests.
#
# Nobody may change what `finished` returns: the end of the run compares it with what was played.


HOME = "BONEYARD_TESTS_LIBRARY"
"""Variable of the environment with the folder that all processes of a run share."""
SELF_PARTNERS = (
    'rules = { base = "partnership", target = 30 }\nboards = 3\n'
    'teams = [["first", "first"], ["greedy", "greedy"]]\nbots = ["first", "greedy"]\n'
    'format = { type = "versus", sprt = { min_boards = 2 } }\n'
)
"""Two bots that partner themselves: a table turned twice is the same, so a board has two games."""
FOULS = (
    'boards = 1\nrules = { base = "draw", target = 30 }\n[[bots]]\nname = "first"\n'
    '[[bots]]\nname = "greedy"\n[[bots]]\nname = "rude"\nrun = ["{python}", "rude.py"]\n'
)
RUDE = 'import sys\nprint(\'{"type":"hello","name":"rude","version":"1"}\', flush=True)\n' + (
    "for line in sys.stdin:\n"
    "    if '\"ask\"' in line:\n        print('I <b>object</b>', flush=True)\n"
)
"""A bot that answers its first question with a line that is no message."""
EVENTS: dict[str, tuple[str, ...]] = {
    "round-robin": SMALL,
    "block": ("first", "greedy", *SHORT, "--rules", "block", "--boards", "3"),
    "swiss": (*FOUR, *SHORT, "--boards", "1", "--format", "swiss", "--rounds", "2"),
    "bye": (*FOUR, *SHORT, "--boards", "1", "--format", "swiss", "--rounds", "2", "--seats", "3"),
    "knockout": (*BOTS, "--set", "target=30", "--boards", "2", "--format", "knockout"),
    "versus": ("first", "greedy", *SHORT, "--format", "versus", "--boards", "20"),
    "partners": ("partners.toml",),
    "alone": ("alone.toml",),
    "fouls": ("fouls.toml",),
    "reviewed": SMALL,
}
"""The words of `run` that play each event."""


def open_library() -> None:
    """Choose the folder of the run, unless this process is one of its workers."""
    name = f"boneyard-library-{secrets.token_hex(8)}"
    os.environ.setdefault(HOME, f"{Path(tempfile.gettempdir(), name)}")


def close_library() -> list[str]:
    """Remove the folder; return the events that a test has changed."""
    home = Path(os.environ.pop(HOME))
    names = [
        path.stem
        for path in home.glob("*.sha256")
        if path.read_bytes() != _fingerprint(home / path.stem)
    ]
    shutil.rmtree(home, ignore_errors=True)
    return names


def finished(name: str) -> Path:
    """Return a finished event, to be read only."""

    def play(home: Path) -> bytes:
        _play(name, home)
        return _fingerprint(home / name)

    return _make_once(f"{name}.sha256", play).with_suffix("")


def compute_once(name: str, make: Callable[[], bytes]) -> bytes:
    """Return what `make` gives; it is called only once in a whole run of the tests."""
    return _make_once(name, lambda _: make()).read_bytes()


def _make_once(name: str, make: Callable[[Path], bytes]) -> Path:
    """Return a file of the library, made by the first process that asks for it."""
    home = Path(os.environ[HOME])
    home.mkdir(mode=0o700, exist_ok=True)
    path = home / name
    with (home / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_bytes(make(home))
    return path


def copy_of(name: str, folder: Path) -> Path:
    """Return a copy of a finished event in this folder."""
    shutil.copytree(finished(name), folder, dirs_exist_ok=True)
    return folder


def _play(name: str, home: Path) -> None:
    files = home / f"{name}.files"
    files.mkdir()
    partners(files / "partners.toml")
    for file, text in (("alone.toml", SELF_PARTNERS), ("fouls.toml", FOULS), ("rude.py", RUDE)):
        (files / file).write_text(text)
    if name == "reviewed":
        copy_of("round-robin", home / name)
        boneyard("explain", "--review", str(home / name), "--deals", "2")
        boneyard("report", str(home / name), "--luck")
        return
    words = (f"{files / word}" if word.endswith(".toml") else word for word in EVENTS[name])
    run(home / name, *words)


def _fingerprint(folder: Path) -> bytes:
    files = sorted((str(path), data) for path, data in contents(folder).items())
    return sha256(repr(files).encode()).digest()
