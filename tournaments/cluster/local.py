"""A cluster on this machine: a scheduler in this process, workers as processes tied to it."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio
from distributed import Scheduler

from tournaments.cluster.loops import Loop
from tournaments.sitting import StoppedError

HOME = "127.0.0.1"
"""Nobody but this machine's users can reach it: the engine asks nobody who he is."""
WORKER = (sys.executable, "-P", "-c", "from tournaments.cli.main import main; main()", "worker")
TTL = "30 s"
"""How long the scheduler waits for a sign of life of a worker whose connection is not cut."""
LEAVE_S = 10.0
"""How long a worker may take to leave."""


@asynccontextmanager
async def local_cluster(workers: int, jobs: int, folder: Path) -> AsyncIterator[str]:
    """So many workers, with so many sittings each; the scheduler's address.

    Bots are unpacked below the folder. When the block ends nothing is left, and when this process
    is killed the workers end by themselves. Raises StoppedError, in a group, when none is left.
    """
    sender, receiver = trio.open_memory_channel[str](1)
    token = trio.lowlevel.current_trio_token()

    def tell(address: str) -> None:
        token.run_sync_soon(sender.send_nowait, address)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Loop().run, partial(_schedule, tell))
        address = await receiver.receive()
        started = [_started(address, number, jobs, folder) for number in range(1, workers + 1)]
        try:
            nursery.start_soon(_until_all_have_ended, started)
            yield address
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_ended, started)
            nursery.cancel_scope.cancel()


async def _schedule(tell: Callable[[str], None]) -> None:
    """The scheduler, until cancelled."""
    async with Scheduler(
        host=HOME, port=0, dashboard=False, dashboard_address=f"{HOME}:0", worker_ttl=TTL
    ) as scheduler:
        tell(scheduler.address)
        await asyncio.Event().wait()


def _started(address: str, number: int, jobs: int, folder: Path) -> "subprocess.Popen[bytes]":
    words = ("--name", f"local-{number}", "--jobs", f"{jobs}", "--folder", str(folder), "--tied")
    return subprocess.Popen(
        (*WORKER, address, *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # Ctrl-C in a terminal is ours to answer: the workers leave when we let go of them.
        start_new_session=True,
    )


async def _until_all_have_ended(workers: "list[subprocess.Popen[bytes]]") -> None:
    while any(worker.poll() is None for worker in workers):
        await trio.sleep(0.5)
    raise StoppedError("The run stopped: every worker on this machine has ended.")


def _ended(workers: "list[subprocess.Popen[bytes]]") -> None:
    """Let go of them all, then wait for each."""
    for worker in workers:
        assert worker.stdin
        worker.stdin.close()
    for worker in workers:
        try:
            worker.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
