"""Modules compiled once in a run: to compile one takes longer than to start its host.

A host that runs no bot compiles the bytes that it is sent, in the sandbox of a bot. What comes back
is machine code for hosts of the same bytes only; no bot can write it, for none has begun.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from typing import Any

import trio

from arena.files import DamagedFileError, open_file

COMPILE_S, MOST_COMPILED = 120, 32
"""The most s to compile a module, five times what the largest takes; the most modules kept."""
MAX_MODULE_BYTES, COMPLETE_MARK, REFUSED_MARK = 8 * 2**20, b"complete", b"refused"
"""As in `host.py`, which imports nothing of ours."""
Start = Callable[[], tuple[Any, Popen[bytes]]]
_COMPILED: dict[tuple[bytes, int], bytes] = {}
_LOCKS: defaultdict[tuple[bytes, int], trio.Lock] = defaultdict(trio.Lock)


async def compile_once(path: str, memory: int, start: Start) -> bytes:
    """Return the compiled module, or `REFUSED`; empty if its host is to say why.

    `start` starts the host that compiles, in a slot of the sandbox with `memory` bytes.
    """
    # In a thread that Ctrl-C leaves alone: a stranger's event may name a file on any disk.
    data = await trio.to_thread.run_sync(_read, Path(path), abandon_on_cancel=True)
    key = hashlib.sha256(data).digest(), memory
    async with _LOCKS[key]:
        if data and key not in _COMPILED:
            if len(_COMPILED) >= MOST_COMPILED:
                del _COMPILED[next(iter(_COMPILED))]
            _COMPILED[key] = await _compile(data, *start())
        return _COMPILED.get(key, b"")


def _read(path: Path) -> bytes:
    with suppress(OSError, DamagedFileError), open_file(path.resolve(), MAX_MODULE_BYTES) as file:
        return file.read(MAX_MODULE_BYTES)
    return b""


async def _compile(data: bytes, slot: Any, process: Popen[bytes]) -> bytes:
    async def end_in_time() -> None:
        try:
            await trio.sleep(COMPILE_S)
        finally:
            slot.kill()

    # It leaves the process unreaped: until then its id is not reused.
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(end_in_time)
            output = await trio.to_thread.run_sync(_exchange, data, process)
            nursery.cancel_scope.cancel()
    finally:
        with process:
            ran = not slot.never_ran()
        slot.close()
    if output.endswith(COMPLETE_MARK):
        return output.removesuffix(COMPLETE_MARK)
    return REFUSED_MARK if ran and not output else b""


def _exchange(data: bytes, process: Popen[bytes]) -> bytes:
    stdin, stdout = process.stdin, process.stdout
    assert stdin and stdout  # noqa: PT018 - both are pipes, or neither is
    with suppress(BrokenPipeError), stdin:
        stdin.write(data)
    return stdout.read()
