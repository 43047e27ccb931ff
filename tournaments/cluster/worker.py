"""The process of `boneyard worker`: it plays sittings for runs on other machines."""

import os
import socket
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from arena.match.poller import Poller
from arena.sandbox.limits import Limits, SandboxMode, level_name
from arena.sandbox.select import choose_level
from arena.sandbox.temporary import temporary_folder
from arena.ui.console import print_note
from tournaments.cluster.address import check_worker_name, parse_cluster_option
from tournaments.cluster.asyncio_thread import Loop
from tournaments.cluster.certificates import read_certificates
from tournaments.cluster.dask_worker import SchedulerConnection
from tournaments.cluster.orders import offered_resources
from tournaments.cluster.worker_runner import OrderRunner
from tournaments.runner.exit import INTERRUPTED, STOPPED, root_cause, stop_on_signal
from tournaments.runner.lanes import Lanes
from tournaments.runner.machine import default_jobs


def own_name() -> str:
    """Return the default name of a worker, made of its machine and process."""
    host = "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "-" for c in _host())
    return f"{host.strip('.-') or 'worker'}-{os.getpid()}"


def _host() -> str:
    return socket.gethostname()[:40]


class WorkerOptions(NamedTuple):
    """The command's options; None where the user gave none."""

    address: str
    """A scheduler's address."""
    jobs: int | None
    """Sittings side by side."""
    name: str | None
    """The worker's name in reports."""
    folder: Path | None
    """The folder to unpack and build bots in; None: a temporary one."""
    patience: int
    """Time to look for the scheduler, in s."""
    sandbox: SandboxMode
    """off: play only events without a sandbox; otherwise find the best level first."""
    tls: Path | None
    """A folder with the certificates."""


def work(options: WorkerOptions) -> int:
    """Play for a scheduler until it lets us go; return the exit code. Raises UserError."""
    name = own_name() if options.name is None else check_worker_name(options.name)
    there = parse_cluster_option(options.address, options.tls)
    jobs = options.jobs or default_jobs()
    with temporary_folder("worker", shared=True) as temporary:
        own = (options.folder or temporary).resolve()
        own.mkdir(parents=True, exist_ok=True)
        sandbox = choose_level(options.sandbox, Limits(), own)
        tell = partial(_tell, name)
        more = "" if options.jobs else ", more if bots are quick"
        tell(f"sandbox {level_name(sandbox.level)}, sittings side by side: {jobs}{more}")
        desk = partial(
            SchedulerConnection,
            there.address,
            name=name,
            jobs=jobs,
            offers=offered_resources(None if options.sandbox == "off" else sandbox.level, jobs),
            folder=temporary,
            security=read_certificates(there.tls),
            patience_s=options.patience,
            tell=tell,
        )
        runner = partial(
            OrderRunner, name=name, folder=own, proven=sandbox, jobs=jobs, lanes=Lanes(options.jobs)
        )
        return trio.run(_serve, desk, name, runner)


async def _serve(
    desk: partial[SchedulerConnection], name: str, runner: partial[OrderRunner]
) -> int:
    code = 0
    poller = Poller()
    hall = runner(poller)
    with trio.CancelScope() as scope:
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(stop_on_signal, scope)
                nursery.start_soon(poller.run)
                await Loop().run(desk(hall=hall).serve)
                nursery.cancel_scope.cancel()
        except* OSError as group:
            _tell(name, f"{root_cause(group)}.")
            code = STOPPED
    return INTERRUPTED if scope.cancelled_caught else code


def _tell(name: str, text: str) -> None:
    print_note(f"Worker {name}: {text}")
