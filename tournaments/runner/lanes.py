"""The number of sittings side by side: the user's, or as many as the bots' CPU time allows."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from arena.match.bot_pool import BotPool
from tournaments.runner.machine import cores, default_jobs

SPARE = 1
"""Sittings whose bots start while others play: a start takes longer than many games."""
QUICK_A_CORE = 4
"""Sittings for each core if bots are quick: the referee then seldom waits for one of them."""
QUICK = 3.0
"""The most CPU time of quick bots, for each second of the referee's."""
LOOK_S = 0.5
"""The least CPU time in s, of bots and referee together, that tells whether bots are quick: the
kernel counts in steps of 10 ms."""


class Lanes:
    """The sittings that have bots, and those among them that play."""

    def __init__(self, jobs: int | None) -> None:
        """`jobs`: sittings that play side by side; None: it follows from the bots' CPU time."""
        self._adapts = jobs is None
        self.most = (jobs or max(default_jobs(), QUICK_A_CORE * cores())) + SPARE
        """The most sittings that have bots at one time."""
        self._staffed = trio.CapacityLimiter(1)
        self._playing = trio.CapacityLimiter(1)
        self._pools: set[BotPool] = set()
        self._ended_ms = 0.0
        self._seen_own_s = time.process_time()
        self._seen_bots_s = 0.0
        self._open(jobs or default_jobs())

    @asynccontextmanager
    async def staffed(self, pool: BotPool) -> AsyncIterator[None]:
        """Hold a place for the bots of a sitting, from before they start until they have ended."""
        async with self._staffed:
            self._pools.add(pool)
            try:
                yield
            finally:
                self._pools.discard(pool)

    @asynccontextmanager
    async def playing(self, pool: BotPool) -> AsyncIterator[None]:
        """Hold a table for a sitting that plays; after it, learn from its bots' CPU time."""
        await self._playing.acquire()
        # A sitting that fails keeps its table: the run stops, and no other sitting may begin.
        yield
        self._playing.release()
        if self._adapts:
            self._adapt()
        self._ended_ms += pool.cpu_ms()
        self._pools.discard(pool)

    def _adapt(self) -> None:
        """Let more sittings play if all bots were quick since the last look, else one a core."""
        own_s = time.process_time()
        bots_s = (self._ended_ms + sum(pool.cpu_ms() for pool in self._pools)) / 1000
        own, bots = own_s - self._seen_own_s, bots_s - self._seen_bots_s
        if own + bots >= LOOK_S:
            self._seen_own_s, self._seen_bots_s = own_s, bots_s
            self._open(self.most - SPARE if bots <= QUICK * own else default_jobs())

    def _open(self, count: int) -> None:
        self._playing.total_tokens = count
        self._staffed.total_tokens = count + SPARE
