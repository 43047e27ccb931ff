"""Prints the oldest and the newest Python here that pyproject.toml promises, except our own.

python -m tests.tools.pythons: one path a line; nothing where there are no others.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = (3, 11)
"""The version that `requires-python` promises."""
NEWEST_MINOR = 30
"""The last minor version whose name is tried on the PATH."""
PLACES = (".pyenv/versions", ".local/share/uv/python")
"""Folders below the home with one interpreter in each folder."""
ASK = "import sys; print(*sys.version_info[:3]); import venv, ensurepip"
ASKED_S = 20


def candidates() -> Iterator[str]:
    """Yield the paths of what may be interpreters."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], NEWEST_MINOR)]
    yield from filter(None, map(shutil.which, names))
    yield "/usr/bin/python3"
    for place in PLACES:
        yield from map(str, (Path.home() / place).glob("*/bin/python3"))


def version(path: str) -> tuple[int, ...] | None:
    """Return an interpreter's version; None if it does not run or cannot make environments."""
    try:
        done = subprocess.run((path, "-c", ASK), capture_output=True, text=True, timeout=ASKED_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def others() -> list[str]:
    """Return the oldest and the newest promised interpreter, without those of our own version."""
    found = {number: path for path in candidates() if (number := version(path))}
    promised = sorted(number for number in found if number >= OLDEST)
    ends = dict.fromkeys((*promised[:1], *promised[-1:]))
    return [found[number] for number in ends if number != sys.version_info[:3]]


if __name__ == "__main__":
    print(*others(), sep="\n")
