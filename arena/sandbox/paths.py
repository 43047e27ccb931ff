"""Which files a command needs: where its program is installed, and the files that it names."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which

from arena.sandbox.profile import SYSTEM

MOST_LINKS = 16
"""Links that are followed from a program's name to its file."""
FIRST_LINE = 256
"""Bytes of a script's first line that are looked at for its interpreter."""


def true_path(path: Path) -> Path:
    """The path without links in its folders, but itself perhaps a link.

    Python finds its virtual environment by the link that it was called by.
    """
    return Path(os.path.realpath(path.parent), path.name)


def program_paths(program: Path) -> Iterator[str]:
    """What must be readable for a program to start: each link on the way, and its installation."""
    for hop in _hops(program):
        if not _of_the_machine(hop):
            yield str(_installation(hop))
    interpreter = _interpreter(program)
    if interpreter:
        yield from program_paths(interpreter)


def named_paths(argv: Sequence[str], folder: Path) -> Iterator[str]:
    """The files that a command names, and the folders inside its own folder, but never all of it.

    What else lies in its own folder, the event's secret perhaps, must be opened to it in so many
    words. A part that cannot be a file's name names none.
    """
    for part in argv:
        path = Path(folder, part)
        inside = is_folder(path) and folder in path.resolve().parents
        if inside or (is_file(path) and not _of_the_machine(path)):
            yield from linked_paths(path)


def linked_paths(path: Path) -> Iterator[str]:
    """Each link on the way to a file or folder, in its folders too, and at last itself."""
    there, links, ahead = Path("/"), 0, deque(path.parts[1:])
    while ahead:
        part = ahead.popleft()
        there = there.parent if part == ".." else there / part
        if there.is_symlink() and links < MOST_LINKS:
            yield str(there)
            links += 1
            leads = there.readlink()
            ahead.extendleft(reversed(leads.parts[1:] if leads.is_absolute() else leads.parts))
            there = Path("/") if leads.is_absolute() else there.parent
    yield str(there)


def is_file(path: Path) -> bool:
    """Whether there is such a file.

    Not by pathlib: a word of a command may be no path at all, or too long, and that is no error.
    """
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; see `is_file`."""
    return os.path.isdir(path)  # noqa: PTH112


def _hops(path: Path) -> Iterator[Path]:
    for _ in range(MOST_LINKS):
        path = true_path(path)
        yield path
        if not path.is_symlink():
            return
        path = Path(path.parent, path.readlink())


def _installation(program: Path) -> Path:
    """The folder that a program came with, or the program alone where there is none of its own."""
    prefix = program.parent.parent
    own = program.parent.name == "bin" and (
        (prefix / "lib").is_dir() or (prefix / "lib64").is_dir()
    )
    # What lies in a home is not all an installation's, though it may have a bin and a lib.
    # Not Path.home(): a user without one, as in a container, makes no mistake.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    return prefix if own and prefix not in (Path("/"), home, home / ".local") else program


def _interpreter(program: Path) -> Path | None:
    """The interpreter that a script's first line asks for, unless the machine has it for all."""
    try:
        with program.open("rb") as file:
            first = file.readline(FIRST_LINE)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    found = which(words[0]) if words else None
    return Path(found) if found and not _of_the_machine(Path(found)) else None


def _of_the_machine(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in SYSTEM)
