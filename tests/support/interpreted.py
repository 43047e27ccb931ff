"""The lines that an interpreted bot writes, inside the seal and as a process."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from arena.sealed.module import PYTHON, host_argv, installed_interpreter, pack_files

HELLO = b'{"type":"hello","version":"1"}\n'
GAME = b'{"type":"game","seed":"%s","clock":{"move_ms":1000}}\n' % (b"5a" * 32)
ASK = b'{"type":"ask","id":%d,"game":1,"round":1,"time_ms":1000,"options":[[1,2]]}\n'
LINES = [HELLO, GAME, ASK % 1, ASK % 2]
"""Lines for a bot, which greets and answers each question."""


def output_inside(
    folder: Path,
    lines: Sequence[bytes] = LINES,
    word: str = PYTHON.word,
    file: str = "main.py",
    last: int = 1,
) -> list[str]:
    """Return the lines of a file inside the seal, how it ended, and the last lines of stderr."""
    files = pack_files(f"{folder}", [f"{folder}"])
    argv = host_argv((f"{installed_interpreter(word).code}", file, "word"), 2**28, len(files))
    done = subprocess.run(argv, input=files + b"".join(lines), capture_output=True, timeout=60)
    frames = [frame.split(" ", 2)[2] for frame in done.stdout.decode().splitlines()]
    return _without_hello([frame.removeprefix("=") for frame in frames], done, last)


def output_outside(folder: Path, *argv: str) -> list[str]:
    """Return the lines that a program writes as a process, without its hello."""
    done = subprocess.run(
        (*argv, "word"), cwd=folder, input=b"".join(LINES), capture_output=True, timeout=60
    )
    return _without_hello(done.stdout.decode().splitlines(), done)


def _without_hello(
    lines: list[str], done: "subprocess.CompletedProcess[bytes]", last: int = 1
) -> list[str]:
    """Return the lines after the hello, and the last of stderr."""
    return [line for line in lines if line != "hello"] + done.stderr.decode().splitlines()[-last:]
