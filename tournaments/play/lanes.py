"""The number of sittings side by side, and their cores: the user's number, or what the bots' CPU
time allows.
"""

import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf

import trio

from arena.machine import stay_on, usable_cores
from arena.match.bot_pool import BotPool

SPARE = 1
"""Sittings whose bots start while others play: a start takes longer than many games. With two,
short sittings follow each other no faster on a quiet machine, and bots that play beside the starts
are charged more: for the slowest hundredth of answers 6.7 ms instead of 3.9."""
LEAVING = 1
"""Sittings whose bots leave and whose games reach the disk while others play."""
QUICK_A_CORE = 4
"""Sittings for each core if bots are quick: the referee then seldom waits for one of them."""
MOST_A_CORE = QUICK_A_CORE + SPARE + LEAVING
"""Most sittings of quick bots that have bots at one time, on one core."""
QUICK = 3.0
"""The most CPU time of quick bots, for each second of the referee's."""
INSTANT = 1.0
"""The most CPU time of bots that stay on their referee's cores, for each second of the referee's:
one that thinks there for long would make lags, which are given back to it."""
MIN_CPU_S = 0.5
"""The least CPU time in s, of bots and referee together, that tells whether bots are quick: the
kernel counts in steps of 10 ms."""


FILES_A_BOT = 6
"""Files that a locked bot keeps open here: 12 sittings of two had 24 pidfds, 95 pipes, 24 locks."""
OTHER_FILES = 40
"""Files that are open besides those of sittings: 21 were, with room for a report."""


def fit_jobs(jobs: int | None, seats: int, files: int) -> int | None:
    """Return the sittings side by side that a limit of open files leaves of those wished for.

    None, for as many as the bots' CPU time allows, stays None where all of them fit.
    """
    most = (files - OTHER_FILES) // (seats * FILES_A_BOT + 1) - SPARE - LEAVING
    return max(1, most) if (jobs or QUICK_A_CORE * len(usable_cores())) > most else jobs


class Lanes:
    """The sittings that have bots, and those among them that play.

    Instant bots stay on their referee's cores: to wake one on another costs more than its move.
    """

    def __init__(self, jobs: int | None, *, core: int | None = None) -> None:
        """`jobs`: sittings that play side by side; None: it follows from the bots' CPU time.
        `core`: the one core of a referee process; its bots count as quick until they were seen to
        think.
        """
        self._jobs = jobs
        self._kept: Collection[int] = usable_cores()
        self._cores = sorted(usable_cores()) if core is None else [core]
        self._lent = 0
        self._bots_share = inf if core is None else 0.0
        """CPU time of the bots for each second of the referee's, at the last look."""
        self._present = trio.CapacityLimiter(1)
        self._staffed = trio.CapacityLimiter(1)
        self._playing = trio.CapacityLimiter(1)
        self._pools: dict[BotPool, object] = {}
        self._ended_ms = 0.0
        self.changed_at = self._seen_at = time.monotonic()
        """The time of the last change of `width`, in s of the monotonic clock."""
        self._seen_own_s = time.process_time()
        self._seen_bots_s = 0.0
        self._settle()

    @property
    def width(self) -> int:
        """Return the number of sittings that play side by side now, on lent cores too."""
        return int(self._playing.total_tokens) + QUICK_A_CORE * self._lent

    @property
    def can_lend(self) -> bool:
        """Return whether another referee would play more than this one with the same cores."""
        return self._jobs is None and self._bots_share <= QUICK and len(self._cores) > 1

    @contextmanager
    def lend_core(self) -> Iterator[int]:
        """Leave one of the cores to another referee; yield its number.

        What is started in the block may use all cores.
        """
        self.release_cores()
        yield self._cores.pop()
        self._lent += 1
        self._settle()

    def release_cores(self) -> None:
        """Use all cores again: what follows is not a game."""
        self._keep_to(usable_cores())

    async def reserve(self) -> object:
        """Wait for a place for the bots of a sitting; return it for `staffed`."""
        place = object()
        await self._present.acquire_on_behalf_of(place)
        try:
            await self._staffed.acquire_on_behalf_of(place)
        except trio.Cancelled:
            self._present.release_on_behalf_of(place)
            raise
        return place

    @asynccontextmanager
    async def staffed(self, pool: BotPool, place: object = None) -> AsyncIterator[None]:
        """Hold a place for the bots of a sitting, from before they start until it is played."""
        place = place or await self.reserve()
        self._pools[pool] = place
        try:
            yield
        finally:
            self._leave(pool)
            self._present.release_on_behalf_of(place)

    @asynccontextmanager
    async def playing(self, pool: BotPool) -> AsyncIterator[Callable[[], None]]:
        """Hold a table for a sitting that plays, until the yielded function is called or at most
        until the block ends; then learn from its bots' CPU time.
        """
        await self._playing.acquire_on_behalf_of(pool)

        def free_place() -> None:
            if pool in self._pools:
                self._playing.release_on_behalf_of(pool)
                self._adapt()
                self._ended_ms += pool.cpu_ms()
                self._leave(pool)

        # A sitting that fails keeps its table: the run stops, and no other sitting may begin.
        yield free_place
        free_place()

    def _leave(self, pool: BotPool) -> None:
        """Let the bots of another sitting start, unless this one's place is free already."""
        if place := self._pools.pop(pool, None):
            self._staffed.release_on_behalf_of(place)

    def _adapt(self) -> None:
        """Let more sittings play if all bots were quick since the last look, else one a core."""
        if len(self._cores) * (time.monotonic() - self._seen_at) < MIN_CPU_S:
            return
        own_s = time.process_time()
        bots_s = (self._ended_ms + sum(pool.cpu_ms() for pool in self._pools)) / 1000
        referee_s, bots = own_s - self._seen_own_s, bots_s - self._seen_bots_s
        if referee_s + bots >= MIN_CPU_S:
            self._seen_at = time.monotonic()
            self._seen_own_s, self._seen_bots_s = own_s, bots_s
            self._bots_share = bots / referee_s if referee_s else inf
            self._settle()

    def _settle(self) -> None:
        """Open as many tables as the bots' speed allows, and choose their cores."""
        quick = QUICK_A_CORE * len(self._cores)
        # With slow bots one sitting a core, but none for the referee's.
        slow = max(1, len(self._cores) - (not self._lent))
        count = self._jobs or (quick if self._bots_share <= QUICK else slow)
        if count != self._playing.total_tokens:
            self.changed_at = time.monotonic()
        self._playing.total_tokens = count
        self._staffed.total_tokens = count + SPARE
        self._present.total_tokens = count + SPARE + LEAVING
        # Until cores are lent these are all of them: kept to one core (`--jobs 2`), 200 games took
        # 2.3 s, not 2.1 (bots in C: 1.25 s, not 1.35), and another run might keep to the same core.
        instant = self._bots_share <= INSTANT
        self._keep_to(frozenset(self._cores) if instant else usable_cores())

    def _keep_to(self, cores: Collection[int]) -> None:
        if cores != self._kept:
            self._kept = cores
            stay_on(cores)
