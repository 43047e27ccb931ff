"""The poller: the one task that reads and writes every bot's pipes, and calls the games.

A trio task or a cancel scope for each move would cost more than the move (10 µs against 2 µs), so
one task owns an epoll with every pipe, works for at most a slice, and then lets trio run. A
question only notes its deadline; the poller looks at the clock between reads. It knows when it
planned to look and when it did, and gives the difference, a lag, back to every open deadline. A
stop of the whole program is no lag: every open question begins anew.
"""

import math
import select
import time
from collections.abc import Callable
from contextlib import suppress

import trio

from arena.match.clock import MIN_LAG_S, Deadline, LagError, Timer
from arena.match.piped_process import PipedProcess
from arena.match.pulse import LEAST_STOP_S, Pulse

SLICE_S = 0.002
"""The time in s that the poller may work before other tasks run."""
LINGER_S = 0.001
"""The wait in s for instant bots, in the middle of a slice.

A wait in trio costs 11 µs, more than the whole move.
"""
NAP_S = 0.01
"""The longest other wait, in s: of a stop of our process that begins in it, as much is hidden."""
TURN_S = 0.02
"""The time in s after which other tasks have a turn while the poller waits for bots that think.

With cold caches a turn costs 60 µs, a fifth of such a move.
"""


class Poller:
    """The reads, writes and deadlines of all bots and all tables of a run."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Poll by this clock; tables and deadlines take their moments from it too."""
        self.now = now
        """The clock, in s; it never goes back."""
        self._pulse = Pulse(now)
        self._epoll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._timers: set[Timer] = set()
        self._soon: list[Callable[[], None]] = []
        self._blocked: dict[int, PipedProcess] = {}
        self._nap = trio.CancelScope()
        self._nap_ends = -math.inf
        self.soonest = math.inf
        """The moment of the first timer, or an earlier one, in s of the clock."""
        self._last_wait_s = 0.0
        self._rested_at = -math.inf
        self._planned = 0.0
        self.looked_at = self.now()
        """The time of its last look at all pipes, in s of the clock."""

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            with self._pulse.beating():
                await self._poll_on()
        finally:
            self._epoll.close()

    async def _poll_on(self) -> None:
        while True:
            if not self._slice() or self._soon:
                await trio.lowlevel.checkpoint()
            elif not self._wait_in_epoll():
                await self._rest()

    def register_reader(self, descriptor: int, reader: Callable[[], None] | None) -> None:
        """Call the reader whenever the descriptor is readable or hung up; None ends that."""
        if reader is None:
            if self._readers.pop(descriptor, None):
                self._unregister(descriptor)
        else:
            self._readers[descriptor] = reader
            self._epoll.register(descriptor, select.EPOLLIN)

    def register_writer(self, process: PipedProcess) -> None:
        """Flush the process whenever its pipe takes more, until no line waits for it."""
        if process.stdin is not None and process.stdin not in self._blocked:
            self._blocked[process.stdin] = process
            self._epoll.register(process.stdin, select.EPOLLOUT)

    def unregister_writer(self, process: PipedProcess) -> None:
        """Flush the process no more."""
        if process.stdin in self._blocked:
            self._unblock(process.stdin)

    def deadline(self, due: Callable[[], None], stop: Callable[[LagError], None]) -> Deadline:
        """Return a new deadline for `add_timer`; this poller's lags will move it."""
        return Deadline(due, stop)

    def add_timer(self, timer: Timer) -> None:
        """Look at this timer from now on."""
        self._timers.add(timer)
        self.wake_by(timer.at)

    def remove_timer(self, timer: Timer) -> None:
        """Stop looking at this timer."""
        self._timers.discard(timer)
        # A nap without timers has no end: the next timer must end it, however late it is.
        if not self._timers:
            self.soonest = math.inf

    def wake_by(self, moment: float) -> None:
        """Look at the timers at that moment at the latest: end a nap that would miss it."""
        if moment < self.soonest:
            self.soonest = moment
            if moment < self._nap_ends:
                self._nap.cancel()

    def call_soon(self, work: Callable[[], None]) -> None:
        """Call this once the other bots have had their turn."""
        self._soon.append(work)
        if self._nap_ends > -math.inf:
            self._nap.cancel()

    def _slice(self) -> bool:
        """Work for a slice of time; return True if no data came for a while."""
        end = self.now() + SLICE_S
        poll, readers = self._epoll.poll, self._readers
        while True:
            linger = 0.0
            # Bots mostly answer as soon, or as late, as they did before.
            if self._last_wait_s < LINGER_S and self._timers and not self._soon:
                linger = LINGER_S
            self._planned += linger
            ready = poll(linger)
            now = self.now()
            lag = now - self.looked_at - self._planned
            self.looked_at, self._planned = now, 0.0
            if lag > MIN_LAG_S:
                self._give_back(lag, now)
            for descriptor, _ in ready:
                reader = readers.get(descriptor)
                if reader:
                    reader()
                elif process := self._blocked.get(descriptor):
                    process.flush()
                    if process.stdin is None:
                        self._unblock(descriptor)
            idle = not ready and not self._soon
            if idle and linger:
                self._last_wait_s = linger
            if self._soon:
                self._run_later_work()
            if now >= self.soonest:
                self._call_due_timers()
            if idle:
                return True
            if self.now() > end:
                return False

    def _give_back(self, lag: float, now: float) -> None:
        """Give a look at the pipes that came too late back to every timer."""
        stopped = lag > LEAST_STOP_S and self._pulse.has_stopped_since(now - lag)
        for timer in self._timers:
            if stopped:
                timer.begin_anew(lag, now)
            else:
                timer.add_lag(lag, now)

    def _run_later_work(self) -> None:
        works, self._soon = self._soon, []
        for work in works:
            work()

    def _unblock(self, descriptor: int) -> None:
        del self._blocked[descriptor]
        self._unregister(descriptor)

    def _unregister(self, descriptor: int) -> None:
        # When a run is cancelled, bots leave after their poller has ended.
        if not self._epoll.closed:
            with suppress(OSError):
                self._epoll.unregister(descriptor)

    def _call_due_timers(self) -> None:
        """Call the timers that were due at the last look at the pipes.

        All that this look found has been read, so no bot is late for an answer that lay in a pipe.
        """
        looked_at = self.looked_at
        for timer in [one for one in self._timers if one.at <= looked_at]:
            # What was due before it may have begun its deadline anew, or ended it.
            if timer.at <= looked_at:
                timer.due()
        self.soonest = min((one.at for one in self._timers), default=math.inf)

    def _wait_in_epoll(self) -> bool:
        """Wait here for bots that answer within a nap; return False if trio must have its turn.

        For a bot that thinks 5 ms this saves a fifth of the CPU time of a move.
        """
        began = self.now()
        if self._last_wait_s >= NAP_S or began - self._rested_at > TURN_S or not self._timers:
            return False
        others = trio.lowlevel.current_statistics()
        delay = min(NAP_S, self.soonest - began, others.seconds_to_next_deadline)
        if others.tasks_runnable or delay <= 0:
            return False
        ready = self._epoll.poll(delay)
        waited_s = self.now() - began
        self._planned = min(delay, waited_s)
        self._last_wait_s = waited_s if ready else NAP_S
        return True

    async def _rest(self) -> None:
        """Wait in trio for the next byte or the next timer; without timers, for the next byte."""
        began = self.now()
        delay = min(NAP_S, max(0.0, self.soonest - began)) if self._timers else math.inf
        self._nap_ends = began + delay
        with trio.move_on_after(delay) as self._nap:
            await trio.lowlevel.wait_readable(self._epoll.fileno())
        self._nap_ends = -math.inf
        self._rested_at = self.now()
        self._last_wait_s = self._rested_at - began
        self._planned = min(delay, self._last_wait_s)
