"""The build of a bot: hostile code, which runs in the sandbox on a copy of the bot's files."""

import os
import selectors
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

from arena.sandbox.command import Command
from arena.sandbox.limits import MIB, Limits
from arena.sandbox.process import SandboxedProcess
from arena.sandbox.sandbox import Sandbox
from protocol.codec import printable_lines
from tournaments.league.registry.archive import archive_bound, read_archive
from tournaments.league.registry.file_tree import (
    RefusedPushError,
    TreeBounds,
    remove_tree,
    write_tree,
)
from tournaments.league.registry.version_command import resolve_words
from tournaments.plan.bot_catalog import BotFile

LIMITS = Limits(memory_mib=1024, processes=256, open_files=1024, file_mib=256, cores=2.0)
"""The limits of a build: compilers take more than bots."""
SCRIPT = """\
cp -R "$1/." "$2/" && cd "$2" || exit 125
# The files are the build's to change; the folder itself is, whoever made it.
chmod -R u+w . 2>/dev/null
shift 2
HOME=/tmp
PATH=$PATH:${1%/*}
export HOME PATH
"$@" </dev/null >&2 || exit
exec tar --format=ustar -cf - .
"""
"""The work inside: a copy of the files, the build in it, and all that is there then on stdout."""
SHOWN = 2_000
"""Characters of a build's output that its author is shown: the last ones."""
MOST_OUTPUT = 16 * MIB
"""Bytes of it that are read."""
READ = 65_536
LOOK_EVERY_S = 0.2
"""Time between two looks at the memory of a build, in s."""
END_S = 10.0
"""Time that the kernel has to end the build's processes, in s."""


def build_bot(
    bot: BotFile, source: Path, target: Path, sandbox: Sandbox, bounds: TreeBounds, seconds: float
) -> None:
    """Run a bot's build command on a copy of its files; write all that is there then to a folder.

    `source`: the bot's files. `target`: the folder to write, which {build} means. `sandbox`: how
    a build is confined, with limits for builds. Raises RefusedPushError, and OSError for the
    machine's own failures.
    """
    if sandbox.why_off:
        raise RefusedPushError(
            "The league's machine cannot lock a build in: push a bot that needs none, or ask the "
            "organiser for bubblewrap."
        )
    argv, reads = resolve_words("build", bot.build, source, target)
    if Path(argv[0]).is_relative_to(source):
        argv = (str(target / Path(argv[0]).relative_to(source)), *argv[1:])
    words = ("/bin/sh", "-c", SCRIPT, "build", str(source), str(target), *argv)
    command = Command(words, str(source), (*reads, str(source)), (str(source),))
    most = TreeBounds(2 * bounds.files, 2 * bounds.size)
    if not sandbox.is_locked:
        target.mkdir()
    try:
        archive = _run(command, str(target), Sandbox(sandbox.confinement, LIMITS), most, seconds)
    finally:
        remove_tree(target)
    write_tree(read_archive(archive, "build:", most), target)


def _run(
    command: Command, workshop: str, sandbox: Sandbox, bounds: TreeBounds, seconds: float
) -> bytes:
    with closing(sandbox.new_process()) as slot:
        process = slot.start(command, workshop)
        try:
            return _watch(process, slot, bounds, seconds)
        finally:
            slot.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            for pipe in (process.stdin, process.stdout, process.stderr):
                assert pipe
                with suppress(OSError):
                    pipe.close()


def _watch(
    process: subprocess.Popen[bytes],
    slot: SandboxedProcess,
    bounds: TreeBounds,
    seconds: float,
) -> bytes:
    """Return the archive that a build leaves. Raises RefusedPushError for its faults."""
    assert process.stdout
    assert process.stderr
    archive, printed = bytearray(), bytearray()
    fault = ""
    ends = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, archive)
        selector.register(process.stderr, selectors.EVENT_READ, printed)
        while selector.get_map() and not fault:
            left = max(0.0, ends - time.monotonic())
            for key, _ in selector.select(min(left, LOOK_EVERY_S)):
                data = os.read(key.fd, READ)
                key.data.extend(data)
                if not data:
                    selector.unregister(key.fileobj)
            if time.monotonic() > ends:
                fault = f"it takes longer than {seconds:.0f} s."
            elif len(archive) > archive_bound(bounds):
                fault = f"it leaves more than {bounds.size // MIB:,} MiB, its sources included."
            elif len(printed) > MOST_OUTPUT:
                fault = f"it prints more than {MOST_OUTPUT // MIB} MiB."
            elif slot.usage().memory > LIMITS.memory:
                fault = f"it takes more than {LIMITS.memory_mib} MiB of memory."
    if not fault:
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        status = process.returncode
        if slot.never_ran():
            raise OSError(f"The sandbox did not start a build: {_tail(printed)}")
        fault = "" if status == 0 else f"it failed with exit status {status}."
    if fault:
        tail = _tail(printed)
        output = f"It printed:\n{tail}" if tail else "It printed nothing."
        raise RefusedPushError(f"build: {fault} {output}")
    return bytes(archive)


def _tail(data: bytearray) -> str:
    # The first line is empty: see PARENT_CHECK in arena/sandbox/command.py.
    text = printable_lines(data[-8 * SHOWN :].decode(errors="replace").strip())
    return text if len(text) <= SHOWN else f"…{text[-SHOWN:]}"
