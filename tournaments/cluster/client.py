"""The run's side of the distributed engine: sends orders and receives answers, through any cut."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import dask
import trio
from distributed import Client, Security
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from tournaments.cluster.asyncio_thread import Loop
from tournaments.cluster.dask_worker import (
    ANSWER_S,
    RETRY_S,
    RunPlugin,
    play_order,
    silence_logging,
)
from tournaments.cluster.orders import Answer, Unplayed, answered, content_name
from tournaments.runner.exit import RunStoppedError

LOOK_S = 1.0
"""Time between two looks at the list of workers, in s."""
CONNECT_S = 10.0
"""Time limit for one try to reach the scheduler, in s."""
PATIENCE_S = 600.0
"""Time that a run waits for a scheduler that it has lost, in s."""
FAREWELL_S = 5.0
"""Time that the engine may take to disconnect a run, in s."""
GONE = "Lost the connection to the scheduler at {}; reconnecting."
ABSENT = "No scheduler answers at {}. Is a `dask scheduler` running there? Retrying."
AGAIN = "The scheduler is back; open orders are sent again."
"""Messages for a cut connection, for one that never was there, and for one that is back."""
AHEAD = 2
"""Orders that are out for each sitting that the workers can play at once: a worker that finishes
one finds the next one waiting."""


class LostError(Exception):
    """Loss of the connection to the scheduler: all orders that are out must be sent again."""


class Wanted(NamedTuple):
    """An order that waits for its answer."""

    data: bytes
    """The order."""
    reply: trio.MemorySendChannel[Answer]
    """The channel that receives the answer."""
    kept: asyncio.Event
    """Set when the engine may forget the answer."""


async def workers_of(client: Client) -> dict[str, dict[str, Any]]:
    """Return the scheduler's description of its workers, by address.

    Raises TimeoutError if the scheduler does not answer: a cut may go unnoticed otherwise.
    """
    assert client.scheduler
    async with asyncio.timeout(ANSWER_S):
        found = await client.scheduler.identity()
    known: dict[str, dict[str, Any]] = found["workers"]
    return known


class DaskClient:
    """A sender of orders to workers; trio calls its public methods, the loop the others."""

    def __init__(
        self,
        address: str,
        security: Security,
        *,
        run: str,
        data: bytes,
        resource: str,
        tell: Callable[[str], None],
    ) -> None:
        """Prepare a client. `data`: the run, for its workers. `resource`: what they must offer."""
        self.places = trio.CapacityLimiter(1)
        """One place for each order that may be out: more workers, more places."""
        self.workers: int | None = None
        """Workers that can play for this run; None without a connection to the scheduler."""
        self._address = address
        self._security = security
        self._run = run
        self._data = data
        self._resource = resource
        self._tell = tell
        self._token = trio.lowlevel.current_trio_token()
        self._loop = Loop()
        self._wanted: dict[str, Wanted] = {}
        self._news: asyncio.Queue[str] = asyncio.Queue()
        self._leaving: asyncio.Queue[str] = asyncio.Queue()
        self._changed = trio.Event()
        self._connected_at = time.monotonic()
        self._cut = self._met = False

    async def changed(self) -> None:
        """Wait until the number of workers changes."""
        await self._changed.wait()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the connection until cancelled.

        Raises RunStoppedError, in a group, if the scheduler stays away for too long.
        """
        await self._loop.run(self._connections, task_status=task_status)

    @asynccontextmanager
    async def played(self, order: bytes) -> AsyncIterator[Answer]:
        """Have an order played; the engine forgets its answer when the block ends."""
        sender, receiver = trio.open_memory_channel[Answer](1)
        name, kept = content_name(order), asyncio.Event()
        self._loop.call(partial(self._want, name, Wanted(order, sender, kept)))
        try:
            yield await receiver.receive()
        finally:
            self._loop.call(kept.set)
            self._loop.call(partial(self._wanted.pop, name, None))

    def dismiss(self, worker: str) -> None:
        """Make a useless worker leave the cluster."""
        self._loop.call(partial(self._leaving.put_nowait, worker))

    def _want(self, name: str, wanted: Wanted) -> None:
        self._wanted[name] = wanted
        self._news.put_nowait(name)

    async def _connections(self) -> None:
        """Connect again after each cut."""
        silence_logging()
        with dask.config.set({"distributed.comm.timeouts.connect": f"{CONNECT_S} s"}):
            while True:
                try:
                    await self._connection()
                except* (OSError, TimeoutError, LostError) as group:
                    self._lost(group)
                await asyncio.sleep(RETRY_S)

    def _lost(self, group: BaseExceptionGroup[Exception]) -> None:
        waited = time.monotonic() - self._connected_at
        if waited > PATIENCE_S:
            reason = f"no scheduler at {self._address} for {PATIENCE_S:.0f} s"
            raise RunStoppedError(f"The run stopped: {reason}.") from group
        self._soon(partial(self._count, None, 0))
        if not self._cut:
            self._cut = True
            self._say((GONE if self._met else ABSENT).format(self._address))

    async def _connection(self) -> None:
        """Send all orders until the connection is cut."""
        async with self._client() as client:
            await client.register_plugin(RunPlugin(self._run, self._data), self._run)
            if self._cut:
                self._say(AGAIN if self._met else "The scheduler is connected.")
            self._met, self._cut = True, False
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._look(client))
                    group.create_task(self._dismissals(client))
                    await self._orders(client, group)
            finally:
                await self._farewell(client)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        """Connect to the scheduler; raise LostError without a connection."""
        client = Client(  # type: ignore[no-untyped-call]
            self._address,
            asynchronous=True,
            set_as_default=False,
            security=self._security,
            timeout=CONNECT_S,
        )
        try:
            try:
                await client
            except Exception as error:
                # Cut during the TLS handshake, the engine may raise any exception.
                raise LostError from error
            try:
                yield client
            except Exception as error:
                # The engine also raises if it is asked while it closes after a timeout.
                if client.status in ("closing", "closed"):
                    raise LostError from error
                raise
        finally:
            # Any error here was already raised while the engine itself looked for the scheduler.
            with suppress(Exception):
                await client.close()  # type: ignore[no-untyped-call]

    async def _orders(self, client: Client, group: asyncio.TaskGroup) -> None:
        """Send the orders that wait already, then each new one."""
        self._news = asyncio.Queue()
        for name in self._wanted:
            self._news.put_nowait(name)
        while True:
            name = await self._news.get()
            if name in self._wanted:
                group.create_task(self._order(client, name))

    async def _farewell(self, client: Client) -> None:
        """Make the workers forget the run, if there is still a scheduler to tell them."""
        with suppress(Exception):
            leave = client.unregister_worker_plugin(self._run)  # type: ignore[no-untyped-call]
            await asyncio.wait_for(leave, FAREWELL_S)

    async def _order(self, client: Client, name: str) -> None:
        wanted = self._wanted[name]
        future = client.submit(
            play_order, wanted.data, key=name, resources={self._resource: 1}, pure=False
        )
        try:
            answer = answered(await future)
        except FutureCancelledError as error:
            raise LostError from error
        except KilledWorker as error:
            answer = Unplayed("", "left", f"{error.allowed_failures + 1} workers died playing it")
        except (OSError, TimeoutError):
            raise
        except Exception as error:
            # The engine failed in some other way: other workers may try, but not for ever.
            answer = Unplayed("", "left", f"it came back as {error!r}")
        self._soon(partial(self._reply, wanted, answer))
        await wanted.kept.wait()
        future.release()  # type: ignore[no-untyped-call]

    async def _look(self, client: Client) -> None:
        """Count the sittings that the present workers can play at once, again and again."""
        while True:
            known = await workers_of(client)
            offers = [worker["resources"].get(self._resource) for worker in known.values()]
            fit = [int(jobs) for jobs in offers if jobs]
            self._connected_at = time.monotonic()
            self._soon(partial(self._count, len(fit), sum(fit)))
            await asyncio.sleep(LOOK_S)

    async def _dismissals(self, client: Client) -> None:
        while True:
            name = await self._leaving.get()
            known = await workers_of(client)
            await client.retire_workers(
                [
                    address
                    for address, worker in known.items()
                    if str(worker["name"]).partition("@")[0] == name
                ]
            )

    def _count(self, workers: int | None, jobs: int) -> None:
        if workers != self.workers:
            self.workers = workers
            self._changed.set()
            self._changed = trio.Event()
        self.places.total_tokens = max(1, AHEAD * jobs)

    @staticmethod
    def _reply(wanted: Wanted, answer: Answer) -> None:
        with suppress(trio.BrokenResourceError, trio.WouldBlock):
            wanted.reply.send_nowait(answer)

    def _say(self, text: str) -> None:
        self._soon(partial(self._tell, text))

    def _soon(self, work: Callable[[], None]) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(work)
