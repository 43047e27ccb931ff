"""Finished events that tests read or copy: each is played once in a whole run of the tests.

Nobody may change what `finished` returns: the end of the run compares it with what was played.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from tests.support.events import BOTS, FOUR, SHORT, SMALL, boneyard, contents, partners, run

HOME = "BONEYARD_TESTS_LIBRARY"
"""Variable of the environment with the folder that all processes of a run share."""
ALONE = (
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
    "knockout": (*BOTS, *SHORT, "--boards", "2", "--format", "knockout"),
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
    changed = [
        path.stem
        for path in home.glob("*.sha256")
        if path.read_bytes() != _fingerprint(home / path.stem)
    ]
    shutil.rmtree(home, ignore_errors=True)
    return changed


def finished(name: str) -> Path:
    """Return a finished event, to be read only."""

    def play(home: Path) -> bytes:
        _play(name, home)
        return _fingerprint(home / name)

    return _once(f"{name}.sha256", play).with_suffix("")


def once(name: str, make: Callable[[], bytes]) -> bytes:
    """Return what `make` gives the one time that it is called in a whole run of the tests."""
    return _once(name, lambda _: make()).read_bytes()


def _once(name: str, make: Callable[[Path], bytes]) -> Path:
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
    for file, text in (("alone.toml", ALONE), ("fouls.toml", FOULS), ("rude.py", RUDE)):
        (files / file).write_text(text)
    if name == "reviewed":
        copy_of("round-robin", home / name)
        boneyard("explain", "--review", str(home / name), "--deals", "2")
        boneyard("report", str(home / name), "--luck")
        return
    words = (f"{files / word}" if word.endswith(".toml") else word for word in EVENTS[name])
    run(home / name, *words)


def _fingerprint(folder: Path) -> bytes:
    found = sorted((str(path), data) for path, data in contents(folder).items())
    return sha256(repr(found).encode()).digest()
