"""Processes of a trial: their start, questions to them, their end. Every wait has a limit."""

import contextlib
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any, TypeAlias

from arena.sandbox.command import Command
from arena.sandbox.limits import Confinement, Limits
from arena.sandbox.process import SandboxedProcess
from arena.sandbox.sandbox import Sandbox
from protocol.codec import DamagedRecordError, decode_json

PATIENCE_S = 60.0
"""Most seconds of any one wait on a crowded machine; all of them together take about 0.05 s."""
LONGEST_LINE = 2**20
"""Most bytes of one answer."""

Popen: TypeAlias = "subprocess.Popen[bytes]"


class CannotProbeError(Exception):
    """A process could not be started or asked: nothing is known of the sandbox."""


class NoAnswerError(CannotProbeError):
    """A process gave no answer in time: it says nothing, except that the machine is busy."""


def ask_process(process: Popen, line: bytes) -> dict[str, Any]:
    """Send a line and return the one-line answer, a JSON object. Raises CannotProbeError."""
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line + b"\n")
        process.stdin.flush()
    if not (answer := read_line(process)):
        raise CannotProbeError(f"A test process ended: {_last_words(process)}")
    try:
        return decode_json(answer, dict[str, Any])
    except DamagedRecordError as no:
        raise CannotProbeError(f"A test process answered in no way known: {no}.") from None


def read_line(process: Popen) -> bytes:
    """Return the next line; empty if nobody is left to write one. Raises CannotProbeError."""
    assert process.stdout
    deadline, answer = time.monotonic() + PATIENCE_S, b""
    while not answer.endswith(b"\n") and len(answer) < LONGEST_LINE:
        wait = max(0.0, deadline - time.monotonic())
        if not select.select([process.stdout], [], [], wait)[0]:
            raise NoAnswerError(f"A test process gave no answer in {PATIENCE_S:g} s.")
        more = os.read(process.stdout.fileno(), 65_536)
        if not more:
            return b""
        answer += more
    return answer


def _last_words(process: Popen) -> str:
    assert process.stderr
    words, pipe = b"", process.stderr.fileno()
    while len(words) < 65_536 and select.select([pipe], [], [], 0.1)[0]:
        if not (more := os.read(pipe, 4096)):
            break
        words += more
    return words.decode(errors="replace").strip().rpartition("\n")[2][:200] or "it said nothing."


def close_pipes(process: Popen) -> None:
    """Close the pipes."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            if pipe:
                pipe.close()


class Starter:
    """Starts and ends processes as bots are started and ended."""

    def __init__(self, confinement: Confinement, limits: Limits) -> None:
        self._sandbox = Sandbox(confinement, limits)
        self._slots: dict[int, SandboxedProcess] = {}

    def start(self, argv: tuple[str, ...], reads: tuple[str, ...]) -> Popen:
        """Start the words of a command, whose last one is its program. Raises OSError."""
        return self.start_command(Command(argv, str(Path(argv[-1]).parent), reads))

    def start_command(self, command: Command) -> Popen:
        """Start a command as a bot. Raises OSError."""
        slot = self._sandbox.new_process()
        try:
            process = slot.start(command)
        except OSError:
            slot.close()
            raise
        self._slots[process.pid] = slot
        return process

    def slot(self, process: Popen) -> SandboxedProcess:
        """Return the place of a process that has not ended."""
        return self._slots[process.pid]

    def end(self, process: Popen) -> None:
        """Kill a process and what it started, unless that was done; its pipes stay open.

        Raises CannotProbeError.
        """
        slot = self._slots.pop(process.pid, None)
        if slot:
            slot.kill()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired as error:
                raise CannotProbeError("A test process could not be ended.") from error
            slot.close()
