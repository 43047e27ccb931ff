"""Files that a command needs: its program's installation, and the files that it names."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which

from arena.sandbox.command import SYSTEM, is_within

MOST_LINKS = 16
"""Links that are followed from a program's name to its file."""
MOST_SCRIPTS = 4
"""Scripts whose interpreter is a script in turn; the kernel follows no more."""
FIRST_LINE = 256
"""Bytes of a script's first line that are searched for its interpreter."""
SETTINGS_READ = 4096
"""Characters of a virtual environment's settings that are read."""
PYTHONS = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of a Python, or a virtual environment, in its folder, which may hold a project too."""


def resolve_links(path: Path) -> Path:
    """Return the path without links in its folders; the path itself may be a link.

    Python finds its virtual environment by the link that it was called by.
    """
    return Path(os.path.realpath(path.parent), path.name)


def real_path(path: Path) -> Path:
    """Return the path without links. Unlike `Path.resolve` it accepts links in a circle."""
    return Path(os.path.realpath(path))


def as_named(path: Path) -> Path:
    """Return a named path, which may be a link: without links in its folders and without `..`.

    Unlike `real_path` the result may be compared with folders.
    """
    return resolve_links(path) if path.name not in ("", "..") else real_path(path)


def program_paths(program: Path, folder: Path | None = None) -> Iterator[str]:
    """Yield the paths that must be readable for a program to start.

    These are each link on the way, and its installation; never all of the folder in which it runs.
    """
    for script in _scripts(program):
        for hop in _hops(script):
            if not _of_the_machine(hop):
                yield from map(str, _installation(hop, folder))


def _scripts(program: Path) -> Iterator[Path]:
    """Yield a program, and the interpreter of each script among them."""
    script: Path | None = program
    for _ in range(MOST_SCRIPTS):
        if script is None:
            return
        yield script
        script = interpreter(script)


def named_paths(argv: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield the files that a command names, and folders inside its own folder, but never all of it.

    Other files in its own folder, perhaps the event's secret, are readable only if they are named
    explicitly. A word that cannot be a file's name names none.
    """
    for part in argv:
        path = Path(folder, part)
        is_inside = is_folder(path) and folder in path.resolve().parents
        if is_inside or (is_file(path) and not _of_the_machine(path)):
            yield from linked_paths(path)


def linked_paths(path: Path) -> Iterator[str]:
    """Yield each link on the way to a file or folder, in its folders too, and at last itself."""
    place, links, parts = Path("/"), 0, deque(path.parts[1:])
    while parts:
        part = parts.popleft()
        place = place.parent if part == ".." else place / part
        if place.is_symlink() and links < MOST_LINKS:
            yield str(place)
            links += 1
            leads = place.readlink()
            parts.extendleft(reversed(leads.parts[1:] if leads.is_absolute() else leads.parts))
            place = Path("/") if leads.is_absolute() else place.parent
    yield str(place)


def is_file(path: Path) -> bool:
    """Tell whether there is such a file.

    This avoids pathlib: a word of a command may not be a path, or too long, which is no error.
    """
    return os.path.isfile(path)  # noqa: PTH113 - see above


def is_folder(path: Path) -> bool:
    """Tell whether there is such a folder; see `is_file`."""
    return os.path.isdir(path)  # noqa: PTH112 - as in `is_file`


def _hops(path: Path) -> Iterator[Path]:
    for _ in range(MOST_LINKS):
        path = resolve_links(path)
        yield path
        if not path.is_symlink():
            return
        path = Path(path.parent, path.readlink())


def _installation(program: Path, folder: Path | None) -> Iterator[Path]:
    """Yield a program's installation, or the program alone if it has no folder of its own."""
    prefix = program.parent.parent
    is_apart = program.parent.name == "bin" and (
        (prefix / "lib").is_dir() or (prefix / "lib64").is_dir()
    )
    # A home may have a bin and a lib, but not all of it belongs to an installation.
    # Not Path.home(), which raises for a user without a home, as in a container.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - see above
    if not is_apart or prefix in (Path("/"), home, home / ".local"):
        yield program
    elif is_python(program) or (prefix / "pyvenv.cfg").is_file():
        for folder in (prefix, *_base(prefix / "pyvenv.cfg")):
            yield from (folder / part for part in PYTHONS if os.path.lexists(folder / part))
    else:
        yield program if prefix == folder else prefix


def _base(settings: Path) -> Iterator[Path]:
    """Yield the installation from which a virtual environment's Python was copied.

    Anybody may have written the file, so its target must be a Python.
    """
    try:
        with settings.open(errors="replace") as file:
            words = [line.partition("=") for line in file.read(SETTINGS_READ).splitlines()]
    except OSError:
        return
    for home in [value.strip() for name, _, value in words if name.strip() == "home"]:
        base = real_path(Path(home)) / "python3"
        if is_python(base) and not _of_the_machine(base):
            yield base.parent.parent


def is_python(program: Path) -> bool:
    """Tell whether a file is a Python interpreter with its standard library beside it."""
    prefix = program.parent.parent
    return (
        program.parent.name == "bin"
        and program.name.startswith("python")
        and any(file.is_file() for file in prefix.glob("lib/python3.*/os.py"))
    )


def interpreter(program: Path) -> Path | None:
    """Return the interpreter that a script's first line asks for, unless all have it anyway."""
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
    path = which(words[0]) if words else None
    return Path(path) if path and not _of_the_machine(Path(path)) else None


def _of_the_machine(path: Path) -> bool:
    return is_within(path, SYSTEM)
