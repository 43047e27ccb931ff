"""A cluster on this machine: a scheduler in this process, and worker processes tied to it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import dask
import trio
from distributed import Scheduler

from arena.sandbox.limits import SandboxMode
from tournaments.cluster.asyncio_thread import Loop
from tournaments.cluster.dask_worker import silence_logging
from tournaments.runner.exit import RunStoppedError

HOME = "127.0.0.1"
"""Only users of this machine can reach it: the engine asks nobody for a password."""
WORKER = (sys.executable, "-P", "-c", "from tournaments.cli.main import main; main()", "worker")
TTL_S = 30.0
"""Time without a sign of life after which the scheduler drops a connected worker, in s."""
LEAVE_S = 10.0
"""Time that a worker may take to leave, in s."""


@asynccontextmanager
async def local_cluster(
    workers: int, jobs: int, folder: Path, wish: SandboxMode
) -> AsyncIterator[str]:
    """Start workers with `jobs` sittings each; yield their scheduler's address.

    Bots are unpacked below the folder. When the block ends nothing is left, and if this process is
    killed the workers end by themselves. Raises RunStoppedError, in a group, if no worker is left.
    """
    sender, receiver = trio.open_memory_channel[str](1)
    token = trio.lowlevel.current_trio_token()

    def tell(address: str) -> None:
        token.run_sync_soon(sender.send_nowait, address)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Loop().run, partial(_schedule, tell))
        address = await receiver.receive()
        started = [
            _started(address, f"local-{n}", jobs, folder, wish) for n in range(1, workers + 1)
        ]
        try:
            async with trio.open_nursery() as watching:
                watching.start_soon(_until_all_have_ended, started)
                yield address
                watching.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_ended, started)
            nursery.cancel_scope.cancel()


async def _schedule(tell: Callable[[str], None]) -> None:
    """Run the scheduler until cancelled."""
    silence_logging()
    with dask.config.set({"distributed.scheduler.http.routes": []}):
        scheduler = Scheduler(
            host=HOME, port=0, dashboard=False, dashboard_address=f"{HOME}:0", worker_ttl=TTL_S
        )
    async with scheduler:
        tell(scheduler.address)
        await asyncio.Event().wait()


def _started(
    address: str, name: str, jobs: int, folder: Path, wish: SandboxMode
) -> "subprocess.Popen[bytes]":
    words = (address, "--name", name, "--jobs", f"{jobs}", "--folder", str(folder), "--tied")
    # Workers need not try a sandbox that nobody asked for.
    return subprocess.Popen(
        (*WORKER, *words, "--sandbox", "off" if wish == "off" else "auto"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # Ctrl-C in a terminal is ours to answer: the workers leave when we let them go.
        start_new_session=True,
    )


async def _until_all_have_ended(workers: "list[subprocess.Popen[bytes]]") -> None:
    for worker in workers:
        watched = os.pidfd_open(worker.pid)
        try:
            await trio.lowlevel.wait_readable(watched)
        finally:
            os.close(watched)
    raise RunStoppedError("The run stopped: every worker on this machine has ended.")


def _ended(workers: "list[subprocess.Popen[bytes]]") -> None:
    """Tell all workers to leave, then wait for each."""
    for worker in workers:
        assert worker.stdin
        worker.stdin.close()
    for worker in workers:
        try:
            worker.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
