"""Commit results after fsync while the sitting continues."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

from protocol.records import Result
from tournaments.storage.ledger import Ledger

AHEAD = 64
"""Most games that may end before a slow disk has stored the first of them."""
Over = Callable[[Result], Awaitable[None]]
"""A function that takes the result of a game that is over."""


@asynccontextmanager
async def commit_results(
    sync: Callable[[], None], count: Over, *, at_once: bool
) -> AsyncIterator[Over]:
    """Yield a function that takes a sitting's results; all of them count if the block ends well.

    If it fails or is cancelled, results that the log already has count when the next run reads it.
    `sync`: blocks until the disk has all games that are over. `at_once`: each result counts before
    the next game begins, which depends on it. Raises what `sync` and `count` raise, in a group.
    """
    sender, receiver = trio.open_memory_channel[Result](AHEAD)

    async def counted(*results: Result) -> None:
        await trio.to_thread.run_sync(sync)
        for result in results:
            await count(result)

    async def count_on() -> None:
        async for result in receiver:
            # One wait for the disk is enough for all that have arrived.
            arrived = receiver.statistics().current_buffer_used
            await counted(result, *(receiver.receive_nowait() for _ in range(arrived)))

    async with trio.open_nursery() as nursery, sender:
        nursery.start_soon(count_on)
        yield counted if at_once else sender.send


async def add_to_ledger(ledger: Ledger, result: Result) -> None:
    """Add the result of a game that is over; raises what `Ledger.add` raises."""
    if ledger.has_one_open:
        # The next stage may depend on the luck of this one, which takes seconds. Nobody plays now.
        await trio.to_thread.run_sync(ledger.add, result)
    else:
        ledger.add(result)
