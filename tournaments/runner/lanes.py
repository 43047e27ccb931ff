"""The number of sittings side by side: the user's, or as many as the bots' CPU time allows."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from arena.match.bot_pool import BotPool
from tournaments.runner.machine import cores, default_jobs

SPARE = 1
"""Sittings whose bots start while others play: a start takes longer than many games. With two,
short sittings follow each other no faster on a quiet machine, and bots that play beside the starts
are charged more: for the slowest hundredth of answers 6.7 ms instead of 3.9."""
LEAVING = 1
"""Sittings whose bots leave and whose games reach the disk while others play."""
QUICK_A_CORE = 4
"""Sittings for each core if bots are quick: the referee then seldom waits for one of them."""
QUICK = 3.0
"""The most CPU time of quick bots, for each second of the referee's."""
LOOK_S = 0.5
"""The least CPU time in s, of bots and referee together, that tells whether bots are quick: the
kernel counts in steps of 10 ms."""


class Lanes:
    """The sittings that have bots, and those among them that play."""

    def __init__(self, jobs: int | None, begin: trio.Event | None = None) -> None:
        """`jobs`: sittings that play side by side; None: it follows from the bots' CPU time.
        `begin`: no game begins before it; None: games begin at once.
        """
        self.begin = trio.Event() if begin is None else begin
        """The event that lets games begin."""
        if begin is None:
            self.begin.set()
        self._adapts = jobs is None
        self._widest = jobs or max(default_jobs(), QUICK_A_CORE * cores())
        self.most = self._widest + SPARE + LEAVING
        """The most sittings that have bots at one time."""
        self._staffed = trio.CapacityLimiter(1)
        self._playing = trio.CapacityLimiter(1)
        self._pools: set[BotPool] = set()
        self._ended_ms = 0.0
        self.changed_at = self._seen_at = time.monotonic()
        """The time of the last change of `width`, in s of the monotonic clock."""
        self._seen_own_s = time.process_time()
        self._seen_bots_s = 0.0
        self._open(jobs or default_jobs())

    @property
    def width(self) -> int:
        """Return the number of sittings that play side by side now."""
        return int(self._playing.total_tokens)

    @asynccontextmanager
    async def staffed(self, pool: BotPool) -> AsyncIterator[None]:
        """Hold a place for the bots of a sitting, from before they start until it is played."""
        await self._staffed.acquire_on_behalf_of(pool)
        self._pools.add(pool)
        try:
            yield
        finally:
            self._leave(pool)

    @asynccontextmanager
    async def playing(self, pool: BotPool) -> AsyncIterator[Callable[[], None]]:
        """Hold a table for a sitting that plays, until the yielded function is called or at most
        until the block ends; then learn from its bots' CPU time.
        """
        await self.begin.wait()
        await self._playing.acquire_on_behalf_of(pool)

        def rise() -> None:
            if pool in self._pools:
                self._playing.release_on_behalf_of(pool)
                if self._adapts:
                    self._adapt()
                self._ended_ms += pool.cpu_ms()
                self._leave(pool)

        # A sitting that fails keeps its table: the run stops, and no other sitting may begin.
        yield rise
        rise()

    def _leave(self, pool: BotPool) -> None:
        """Let the bots of another sitting start, unless this one's place is free already."""
        if pool in self._pools:
            self._pools.discard(pool)
            self._staffed.release_on_behalf_of(pool)

    def _adapt(self) -> None:
        """Let more sittings play if all bots were quick since the last look, else one a core."""
        # To ask the kernel for every bot's CPU time costs as much as some moves.
        if cores() * (time.monotonic() - self._seen_at) < LOOK_S:
            return
        own_s = time.process_time()
        bots_s = (self._ended_ms + sum(pool.cpu_ms() for pool in self._pools)) / 1000
        own, bots = own_s - self._seen_own_s, bots_s - self._seen_bots_s
        if own + bots >= LOOK_S:
            self._seen_at = time.monotonic()
            self._seen_own_s, self._seen_bots_s = own_s, bots_s
            self._open(self._widest if bots <= QUICK * own else default_jobs())

    def _open(self, count: int) -> None:
        if count != self.width:
            self.changed_at = time.monotonic()
        self._playing.total_tokens = count
        self._staffed.total_tokens = count + SPARE
