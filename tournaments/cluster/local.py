"""A cluster on this machine: a scheduler in this process, and worker processes tied to it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio
from distributed import Scheduler, Security

from arena.sandbox.limits import SandboxMode
from arena.sandbox.temporary import temporary_folder
from tournaments.cluster.asyncio_thread import Loop
from tournaments.cluster.dask_worker import silence_logging
from tournaments.runner.exit import RunStoppedError

HOME = "127.0.0.1"
"""Only users of this machine can reach it, and of these only who can read its certificates."""
WORKER = (sys.executable, "-P", "-c", "from tournaments.cli.main import main; main()", "worker")
TTL_S = 30.0
"""Time without a sign of life after which the scheduler drops a connected worker, in s."""
LEAVE_S = 10.0
"""Time that a worker may take to leave, in s."""


@asynccontextmanager
async def local_cluster(
    workers: int, jobs: int, folder: Path, wish: SandboxMode
) -> AsyncIterator[tuple[str, Path]]:
    """Start workers with `jobs` sittings each; yield their scheduler's address and certificates.

    Bots are unpacked below the folder. When the block ends nothing is left, and if this process is
    killed the workers end by themselves. Raises RunStoppedError, in a group, if no worker is left.
    """
    sender, receiver = trio.open_memory_channel[str](1)
    token = trio.lowlevel.current_trio_token()

    def tell(address: str) -> None:
        token.run_sync_soon(sender.send_nowait, address)

    # Only this user can enter the folder: who has the key may run programs as this user.
    with temporary_folder("cluster", shared=False) as tls:
        write_certificates(tls)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Loop().run, partial(_schedule, read_certificates(tls), tell))
            address = await receiver.receive()
            started = [
                _started(address, tls, f"local-{n}", jobs, folder, wish)
                for n in range(1, workers + 1)
            ]
            try:
                async with trio.open_nursery() as watching:
                    watching.start_soon(_until_all_have_ended, started)
                    yield address, tls
                    watching.cancel_scope.cancel()
            finally:
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(_ended, started)
                nursery.cancel_scope.cancel()


def write_certificates(folder: Path) -> None:
    """Write a new key, and a certificate for it that all who have the key accept."""
    made = Security.temporary()  # type: ignore[no-untyped-call]
    for name, text in (
        ("ca.pem", made.tls_ca_file),
        ("cert.pem", made.tls_client_cert),
        ("key.pem", made.tls_client_key),
    ):
        (folder / name).touch(0o600)
        (folder / name).write_text(text)


def read_certificates(folder: Path) -> Security:
    """Return the certificates of a folder, which every connection must show."""
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    return Security(  # type: ignore[no-untyped-call]
        tls_ca_file=ca,
        tls_client_cert=cert,
        tls_client_key=key,
        tls_scheduler_cert=cert,
        tls_scheduler_key=key,
        tls_worker_cert=cert,
        tls_worker_key=key,
        require_encryption=True,
    )


class PagelessScheduler(Scheduler):
    """The engine's scheduler without its web server, which has no TLS."""

    def start_http_server(self, *_: object, **__: object) -> None:
        """Listen nowhere."""


async def _schedule(security: Security, tell: Callable[[str], None]) -> None:
    """Run the scheduler until cancelled."""
    silence_logging()
    scheduler = PagelessScheduler(
        host=HOME, port=0, protocol="tls", security=security, dashboard=False, worker_ttl=TTL_S
    )
    async with scheduler:
        tell(scheduler.address)
        await asyncio.Event().wait()


def _started(
    address: str, tls: Path, name: str, jobs: int, folder: Path, wish: SandboxMode
) -> "subprocess.Popen[bytes]":
    words = (address, "--tls", str(tls), "--name", name, "--jobs", f"{jobs}")
    # Workers need not try a sandbox that nobody asked for.
    return subprocess.Popen(
        (
            *WORKER,
            *words,
            "--folder",
            str(folder),
            "--tied",
            "--sandbox",
            "off" if wish == "off" else "auto",
        ),
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
