"""The processes of `boneyard worker`: they play sittings for runs on other machines.

As in a run, a process keeps to one core, with its bots while they are quick. One core stays free.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import trio
from msgspec import Struct

from arena.match.poller import Poller
from arena.sandbox.limits import Confinement, Limits, SandboxMode
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.sandbox.temporary import temporary_folder
from arena.signals import INTERRUPTED, cancelled_by_signals, obey_signals, run_async
from arena.ui.console import print_note, writing_beside
from protocol.codec import decode_json, encode_json
from tournaments.cluster.address import check_worker_name, parse_cluster_option
from tournaments.cluster.asyncio_thread import Loop
from tournaments.cluster.dask_worker import SchedulerConnection, read_certificates
from tournaments.cluster.orders import offered_resources
from tournaments.cluster.worker_runner import OrderRunner
from tournaments.runner.exit import STOPPED, root_cause
from tournaments.runner.lanes import Lanes
from tournaments.runner.machine import default_jobs, end_with_parent, usable_cores

PROGRAM = "from tournaments.cluster.worker import play_part; play_part()"


def own_name() -> str:
    """Return the default name of a worker, made of its machine and process."""
    host = re.sub("[^a-zA-Z0-9-]", "-", socket.gethostname()[:40]).strip("-")
    return f"{host or 'worker'}-{os.getpid()}"


class WorkerProcess(Struct, frozen=True):
    """The argument of one of a worker's processes."""

    address: str
    tls: str
    name: str
    folder: str
    """The folder to unpack and build bots in, which the processes share."""
    temporary: str
    patience: int
    sandbox: SandboxMode
    confinement: Confinement
    jobs: int | None
    """Sittings side by side; None: it follows from the bots' CPU time."""
    core: int
    """The core to which it keeps with bots that are quick."""


def work(
    address: str,
    *,
    jobs: int | None,
    name: str | None,
    folder: Path | None,
    patience: int,
    sandbox: SandboxMode,
    tls: Path | None,
) -> int:
    """Play for a scheduler until it lets us go; return the exit code. Raises UserError.

    The arguments are those of the command. `folder`: None for a temporary one.
    """
    name = own_name() if name is None else check_worker_name(name)
    there = parse_cluster_option(address, tls)
    places = jobs or default_jobs()
    with temporary_folder("worker", shared=True) as temporary:
        own = (folder or temporary).resolve()
        own.mkdir(parents=True, exist_ok=True)
        proven = choose_sandbox(sandbox, Limits(), own)
        more = "" if jobs else ", more if bots are quick"
        state = proven.confinement.description
        _tell(name, f"sandbox {state}, sittings side by side: {places}{more}")
        used = sorted(usable_cores())[:places]
        parts = [
            WorkerProcess(
                address=there.address,
                tls=str(there.tls),
                name=check_worker_name(f"{name}.{number}") if len(used) > 1 else name,
                folder=str(own),
                temporary=str(temporary),
                patience=patience,
                sandbox=sandbox,
                confinement=proven.confinement,
                jobs=jobs and len(range(number, jobs + 1, len(used))),
                core=core,
            )
            for number, core in enumerate(used, 1)
        ]
        if len(parts) == 1:
            with writing_beside():
                return run_async(_play, parts[0])
        words = [(sys.executable, "-P", "-c", PROGRAM, encode_json(one).decode()) for one in parts]
        return run_async(_wait_for, [subprocess.Popen(one) for one in words])


async def _wait_for(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until all leave, or a signal asks to end; return the exit code.

    The kernel asks them to leave if this process is killed.
    """
    with cancelled_by_signals() as scope:
        for process in processes:
            await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    for process in processes:
        process.terminate()
    codes = [process.wait() for process in processes]
    return INTERRUPTED if scope.cancelled_caught else STOPPED if any(codes) else 0


def play_part() -> None:
    """Be one of several processes of a worker; the argument says which."""
    end_with_parent(signal.SIGTERM)
    obey_signals()
    with writing_beside():
        code = run_async(_play, decode_json(sys.argv[1], WorkerProcess))
    sys.exit(code)


async def _play(own: WorkerProcess) -> int:
    """Play until the scheduler lets this process go; return the exit code."""
    code = 0
    poller = Poller()
    proven = Sandbox(own.confinement, Limits())
    lanes = Lanes(own.jobs, core=own.core)
    runner = OrderRunner(poller, own.name, Path(own.folder), proven, lanes)
    connection = SchedulerConnection(
        own.address,
        runner,
        name=own.name,
        jobs=own.jobs or 1,
        offers=offered_resources(own.sandbox, own.confinement, own.jobs or 1),
        folder=Path(own.temporary),
        security=read_certificates(Path(own.tls)),
        patience_s=own.patience,
        tell=partial(_tell, own.name),
    )
    with cancelled_by_signals() as scope:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(poller.run)
                await Loop().run(connection.serve)
                nursery.cancel_scope.cancel()
        except* OSError as group:
            _tell(own.name, f"{root_cause(group)}.")
            code = STOPPED
    return INTERRUPTED if scope.cancelled_caught else code


def _tell(name: str, text: str) -> None:
    print_note(f"Worker {name}: {text}")
