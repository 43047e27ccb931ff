"""Processes of a scene: their start, questions to them, their end. Every wait has a limit."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from protocol.codec import DamagedRecordError, decode_json

PATIENCE_S = 10.0
"""Most seconds of any one wait on a crowded machine; all of them together take about 0.3 s."""
LONGEST_LINE = 2**20
"""Most bytes of one answer."""

Popen: TypeAlias = "subprocess.Popen[bytes]"
Start = Callable[[tuple[str, ...], tuple[str, ...]], Popen]
"""A function that starts a command with three pipes, as a bot is at the level that is tried. The
first argument is the command, the second the files and folders that it must be able to read. It is
called twice: for another bot first, then for the bot that probes, each in a process of its own."""
End = Callable[[Popen], None]
"""A function that kills and reaps a process, as a bot at that level is."""


class CannotProbeError(Exception):
    """The stand-ins or the probes could not be started at this level: nothing is known of it."""


def ask_process(process: Popen, line: bytes) -> dict[str, Any]:
    """Send a line and return the one-line answer, a JSON object. Raises CannotProbeError."""
    assert process.stdin
    assert process.stdout
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line + b"\n")
        process.stdin.flush()
    deadline, heard = time.monotonic() + PATIENCE_S, b""
    while not heard.endswith(b"\n") and len(heard) < LONGEST_LINE:
        wait = max(0.0, deadline - time.monotonic())
        if not select.select([process.stdout], [], [], wait)[0]:
            raise CannotProbeError(f"A test process gave no answer in {PATIENCE_S:g} s.")
        more = os.read(process.stdout.fileno(), 65_536)
        if not more:
            raise CannotProbeError(f"A test process ended: {_last_words(process)}")
        heard += more
    try:
        return decode_json(heard, dict[str, Any])
    except DamagedRecordError as no:
        raise CannotProbeError(f"A test process answered in no way known: {no}.") from None


def _last_words(process: Popen) -> str:
    assert process.stderr
    words = b""
    while select.select([process.stderr], [], [], 0.1)[0] and len(words) < 65_536:
        more = os.read(process.stderr.fileno(), 4096)
        if not more:
            break
        words += more
    return words.decode(errors="replace").strip().rpartition("\n")[2][:200] or "it said nothing."


def dismiss(process: Popen) -> None:
    """Let a stand-in remove what it made, if it still can."""
    with contextlib.suppress(CannotProbeError, OSError, ValueError):
        ask_process(process, b"end")


def close_pipes(process: Popen) -> None:
    """Close the pipes."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            if pipe:
                pipe.close()


def kill_group(process: Popen) -> None:
    """Kill the process group of what `started` started, reap it, close its pipes."""
    if process.returncode is None:  # Else its number may be another's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_S)
    close_pipes(process)
