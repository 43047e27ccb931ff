"""Prints the path of the oldest or the newest Python here that pyproject.toml promises.

python -m tests.tools.pythons --oldest
python -m tests.tools.pythons --newest
"""

import argparse
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    end = parser.add_mutually_exclusive_group(required=True)
    end.add_argument("--oldest", dest="choose", action="store_const", const=min)
    end.add_argument("--newest", dest="choose", action="store_const", const=max)
    choose = parser.parse_args().choose
    paths = {number: path for path in candidates() if (number := version(path))}
    versions = [number for number in paths if number >= OLDEST]
    if not versions:
        sys.exit(f"There is no Python {OLDEST[0]}.{OLDEST[1]} or newer here.")
    print(paths[choose(versions)])


if __name__ == "__main__":
    main()
