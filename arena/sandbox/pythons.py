"""Checks whether bots of another user can reach a file, and a Python that they can run.

Without namespaces root gives each bot a user of its own, who cannot enter root's home: neither for
a bot's files nor for a Python that was installed there, as pyenv and uv do.
"""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import which

from msgspec.structs import replace

from arena.sandbox.command import Command
from arena.sandbox.dependencies import linked_paths, program_paths, real_path, resolve_links
from arena.sandbox.limits import Level

LEAST = (3, 11)
"""The oldest Python that the sample bots run on."""
VERSION_S = 20
"""Seconds that a Python may take to report its version."""
FOREIGN: tuple[Level, ...] = ("C", "D")
"""The levels at which root's bots see the machine's own file system, as other users."""


def barrier(path: Path) -> Path | None:
    """Return the first folder on the way to a file that other users may not enter; None: none."""
    for hop in map(Path, linked_paths(path)):
        for folder in reversed(hop.parents):
            if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH:
                return folder
    return None


def runs_as_another(level: Level) -> bool:
    """Tell whether bots at a level are users who see the machine's folders as they are."""
    return level in FOREIGN and os.getuid() == 0


def on_a_python_within_reach(command: Command) -> Command:
    """Return the command with our Python replaced by one that other users can run."""
    python = python_for_others(sys.executable)
    ours = Path(sys.executable)
    names = {str(one) for one in (ours, resolve_links(ours), real_path(ours))}
    if python in names or not names.intersection(command.argv):
        return command
    return replace(
        command,
        argv=tuple(python if word in names else word for word in command.argv),
        reads=tuple(dict.fromkeys((*program_paths(Path(python)), *command.reads))),
    )


@cache
def python_for_others(ours: str) -> str:
    """Return our Python if other users can run it, else the first on the PATH that they can.

    Where there is none, ours again.
    """
    if barrier(Path(ours)) is None:
        return ours
    return next(filter(_runs_for_others, _pythons()), ours)


def _pythons() -> Iterator[str]:
    folders = dict.fromkeys((*os.environ.get("PATH", "").split(":"), "/usr/local/bin", "/usr/bin"))
    for folder in folders:
        # A relative folder is another one for each process.
        if folder.startswith("/") and (found := which("python3", path=folder)):
            yield found


def _runs_for_others(python: str) -> bool:
    if barrier(Path(python)) is not None:
        return False
    words = (python, "-I", "-S", "-c", f"import sys; sys.exit(sys.version_info < {LEAST})")
    try:
        return not subprocess.run(words, capture_output=True, timeout=VERSION_S).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def about_python() -> str:
    """Return a note on the Python that bots run instead of ours; empty if they run ours."""
    python, shut = python_for_others(sys.executable), barrier(Path(sys.executable))
    if python == sys.executable:
        return ""
    return (
        f"Bots named {{python}} run on {python}: each is a user of its own, and only root may "
        f"enter {shut}, where our Python lies ({real_path(Path(sys.executable))}). For bots that "
        f"need our packages install Boneyard with {python}."
    )
