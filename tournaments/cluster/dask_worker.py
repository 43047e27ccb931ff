"""Inside a process of the distributed engine: its task, its plugin and its worker."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import dask
import trio
from distributed import Security, Worker, WorkerPlugin, get_worker
from distributed.comm.addressing import get_address_host, resolve_address
from distributed.utils import get_ip

from tournaments.cluster.worker_runner import OrderRunner

LET_GO = ("scheduler-close", "scheduler-close-worker")
"""The engine's reasons for closing a worker that the scheduler told to leave. After any other
reason the connection was cut, and the worker looks for the scheduler again."""
RETRY_S = 0.5
"""Time before another try to reach the scheduler, in s."""
LOOK_S = 5.0
"""Time between two questions whether the scheduler still answers, in s."""
ANSWER_S = 15.0
"""Time that the scheduler may take to answer, in s; after it the worker connects again."""
CUT = (OSError, TimeoutError, RuntimeError)
"""Errors that the engine raises over a cut connection: RuntimeError while it connects, or if it
noticed the cut before we asked."""
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.daemon": True,
    "distributed.comm.timeouts.connect": "5s",
}
"""Settings of the engine: its profiler would interrupt the worker a hundred times a second."""


def play_order(order: bytes) -> bytes:
    """Pass an order to the order runner, whose thread lives on, and return its answer: the task."""
    worker = get_worker()
    assert isinstance(worker, OrderWorker)
    return trio.from_thread.run(worker.hall.play, order, trio_token=worker.token)


class RunPlugin(WorkerPlugin):
    """A plugin that brings a run with its bots to every worker, also to latecomers."""

    def __init__(self, run: str, data: bytes) -> None:
        self.name = run
        self.data = data

    def setup(self, worker: Worker) -> None:
        """Add the run when a worker joins."""
        if isinstance(worker, OrderWorker):
            worker.hall.add_run(self.name, self.data)

    def teardown(self, worker: Worker) -> None:
        """Remove the run when it is over, or when the worker leaves."""
        if isinstance(worker, OrderWorker):
            worker.hall.remove_run(self.name)


class OrderWorker(Worker):
    """The engine's worker, with an order runner."""

    def __init__(
        self, address: str, *, hall: OrderRunner, token: trio.lowlevel.TrioToken, **settings: Any
    ) -> None:
        self.hall = hall
        self.token = token
        self.why = ""
        super().__init__(address, **settings)

    def start_http_server(self, *_: object, **__: object) -> None:
        """Listen nowhere: the engine's web server has no TLS."""

    async def close(  # type: ignore[override]
        self,
        timeout: float = 30,  # noqa: ASYNC109
        executor_wait: bool = True,
        nanny: bool = True,
        reason: str = "worker-close",
    ) -> str | None:
        """Leave, and cancel all play: nobody waits for its results any more."""
        self.why = self.why or reason
        with suppress(trio.RunFinishedError):
            self.token.run_sync_soon(self.hall.cancel_all)
        return await super().close(timeout, executor_wait, nanny, reason)


class SchedulerConnection:
    """Connection of an order runner to a scheduler; it survives cuts."""

    def __init__(
        self,
        address: str,
        hall: OrderRunner,
        *,
        name: str,
        jobs: int,
        offers: dict[str, float],
        folder: Path,
        security: Security,
        patience_s: float,
        tell: Callable[[str], None],
    ) -> None:
        """`tell` is called in the order runner's thread."""
        self._address = address
        self._hall = hall
        self._token = trio.lowlevel.current_trio_token()
        self._patience_s = patience_s
        self._tell = tell
        self._name = name
        self._settings: dict[str, Any] = {
            "nthreads": jobs,
            "resources": offers,
            "local_directory": str(folder),
            "security": security,
            "memory_limit": 0,
            "dashboard": False,
            "death_timeout": patience_s,
        }
        self._met_at = time.monotonic()

    async def serve(self) -> None:
        """Serve until the scheduler lets us go; OSError if it cannot be reached for too long."""
        silence_logging()
        with dask.config.set(QUIET):
            connected = True
            while connected:
                connected = await self._connected()

    async def _connected(self) -> bool:
        """Serve over one connection; tell whether to look for another one."""
        host = own_host(self._address)
        worker = OrderWorker(
            self._address,
            hall=self._hall,
            token=self._token,
            # The scheduler may not have noticed yet that the last connection is cut.
            name=f"{self._name}@{token_hex(4)}",
            host=host,
            **self._settings,
        )
        try:
            if not await self._met(worker):
                return True
            await self._served(worker)
            self._met_at = time.monotonic()
        finally:
            # Also if we are told to end: the scheduler then gives our orders to others at once.
            await asyncio.shield(worker.close())
        let_go = worker.why in LET_GO
        self._say("the scheduler let it go" if let_go else "the connection is cut")
        return not let_go

    async def _met(self, worker: OrderWorker) -> bool:
        """Say hello to the scheduler; tell whether it answered.

        Raises OSError if it could not be reached for too long.
        """
        try:
            await worker
        except CUT as error:
            # If the connection is cut during the greeting, the engine raises RuntimeError at once.
            waited = time.monotonic() - self._met_at
            if not isinstance(error, RuntimeError) or waited > self._patience_s:
                reason = f"No scheduler at {self._address} for {self._patience_s:.0f} s"
                raise OSError(reason) from error
            await asyncio.sleep(RETRY_S)
            return False
        self._say(f"connected with {self._address}")
        return True

    async def _served(self, worker: OrderWorker) -> None:
        """Serve until the connection ends or the scheduler stops answering."""
        over = asyncio.ensure_future(worker.finished())  # type: ignore[no-untyped-call]
        try:
            while not (await asyncio.wait({over}, timeout=LOOK_S))[0]:
                try:
                    async with asyncio.timeout(ANSWER_S):
                        await worker.scheduler.echo(data=b"")
                except CUT:
                    return
        finally:
            over.cancel()

    def _say(self, text: str) -> None:
        self._token.run_sync_soon(self._tell, text)


def read_certificates(folder: Path) -> Security:
    """Return the certificates of a folder."""
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    return Security(  # type: ignore[no-untyped-call]
        tls_ca_file=ca,
        tls_client_cert=cert,
        tls_client_key=key,
        tls_worker_cert=cert,
        tls_worker_key=key,
        require_encryption=True,
    )


def own_host(address: str) -> str:
    """Return the address of this machine at which the scheduler's machine can reach us."""
    host = get_address_host(resolve_address(address))
    return host if host.startswith("127.") else str(get_ip(host))  # type: ignore[no-untyped-call]


def silence_logging() -> None:
    """Silence the engine's own log: whatever matters we say ourselves."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    for name in ("scheduler", "worker", "core", "http.proxy", "client", "comm"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
