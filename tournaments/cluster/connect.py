"""Open a cluster for a run and give its workers all that they need."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

import trio

from arena.sealed.module import wasmtime_version
from protocol.records import Result
from tournaments.cluster.address import ClusterAddress
from tournaments.cluster.bundles import Bundle, pack_bot
from tournaments.cluster.client import DaskClient
from tournaments.cluster.dask_worker import read_certificates
from tournaments.cluster.orders import Run, content_name, encoded, resource
from tournaments.cluster.runner import ClusterRunner
from tournaments.plan.event import Event, WrittenBot
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import Ledger

Play = Callable[[trio.MemorySendChannel[Result]], Awaitable[None]]
"""A function that plays what a ledger lacks and sends each result into the channel."""
Source = tuple[WrittenBot, Path]
"""A bot as written, and the folder where its paths start."""
WAIT_S = 10.0
"""Time without any worker after which the run says what it waits for, in s."""


@asynccontextmanager
async def connect(
    place: ClusterAddress,
    folder: Folder,
    event: Event,
    ledger: Ledger,
    sources: Mapping[str, Source],
    tell: Callable[[str], None],
    *,
    keep_stderr: bool = False,
) -> AsyncIterator[Play]:
    """Yield a function that plays the event on this cluster.

    `sources`: the bot of each active entrant, by fingerprint. `keep_stderr`: see `Run`. Raises
    UserError.
    """
    bundles = {name: pack_bot(*source) for name, source in sources.items()}
    bots = tuple(_bundle(event, n, bundles) for n in range(len(event.entrants)))
    data = encoded(Run(event, bots, keep_stderr))
    # The event of another folder, or on another machine, is another run.
    run = content_name(f"{socket.gethostname()} {folder.path} ".encode() + data)
    async with trio.open_nursery() as nursery:
        engine = DaskClient(
            place.address,
            read_certificates(place.tls),
            run=run,
            data=data,
            resource=resource(event.sandbox_here, event.is_sealed(any) * wasmtime_version()),
            tell=tell,
        )
        await nursery.start(engine.run)
        nursery.start_soon(say_if_nobody_comes, engine, place.address, tell)

        async def play(finished: trio.MemorySendChannel[Result]) -> None:
            await ClusterRunner(folder, event, ledger, engine, run, finished, tell).play()

        yield play
        nursery.cancel_scope.cancel()


def _bundle(event: Event, entrant: int, bundles: Mapping[str, Bundle]) -> Bundle | None:
    one = event.entrants[entrant]
    return None if one.retired else bundles[one.fingerprint]


async def say_if_nobody_comes(
    engine: DaskClient, address: str, tell: Callable[[str], None]
) -> None:
    """Say that workers are missing, once, and again whenever all of them have left."""
    while True:
        with trio.move_on_after(WAIT_S if engine.workers == 0 else inf):
            await engine.changed()
            continue
        tell(
            f"Waiting for workers at {address}: none of those connected can play this event. "
            "Start some with this version's `boneyard worker`, and for sealed bots with this "
            "machine's version of wasmtime; --sandbox require needs machines that can lock bots in."
        )
        while engine.workers == 0:
            await engine.changed()
