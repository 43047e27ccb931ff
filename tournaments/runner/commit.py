"""Results count as soon as the disk has their games; meanwhile the sitting plays on."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import trio

from protocol.records import Result

AHEAD = 64
"""Games that may be over before a slow disk has the first of them."""
Over = Callable[[Result], Awaitable[None]]
"""Takes the result of a game that is over."""


@asynccontextmanager
async def commit_results(
    sync: Callable[[], None], count: Over, *, at_once: bool
) -> AsyncIterator[Over]:
    """Who takes the results of a sitting; all of them count when the block ends well.

    If it fails or is cancelled, some that the log has count when the next run finds them there.
    `sync`: blocks until the disk has all games that are over. `at_once`: each counts before the
    next game begins, which depends on it. Raises what `sync` and `count` raise, in a group.
    """
    sender, receiver = trio.open_memory_channel[Result](AHEAD)

    async def counted(*results: Result) -> None:
        await trio.to_thread.run_sync(sync)
        for result in results:
            await count(result)

    async def count_on() -> None:
        async for result in receiver:
            await counted(result, *come(receiver))

    async with trio.open_nursery() as nursery, sender:
        nursery.start_soon(count_on)
        yield counted if at_once else sender.send


def come(receiver: trio.MemoryReceiveChannel[Result]) -> list[Result]:
    """What has come already: one wait for the disk is enough for all of it."""
    results: list[Result] = []
    with suppress(trio.WouldBlock, trio.EndOfChannel):
        while True:
            results.append(receiver.receive_nowait())
    return results
