"""The poller that reads and writes every bot's pipes, its pulse, and the wait for a line."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import trio

from arena.match.clock import MIN_LAG_S, Deadline, LagError, Timer
from arena.match.player import Player
from arena.match.sources import CAN_READ, CAN_WRITE, Source, new_watch, wait_for_news
from protocol.codec import Fault
from protocol.messages import FromBot

# The pulse of our process: it tells a stop of the whole program from a lag of the referee.
#
# SIGSTOP, a debugger, a frozen container and a machine that sleeps stop all threads at once: none
# runs, and none waits to run. Nothing that a locked bot can do looks like that:
#
# - A flood, or work of ours, keeps the poller busy: then the other thread beats, or asks every 5 ms
#   for the interpreter's lock, and the kernel counts each time that it ran.
# - Bots that take the processors make our threads wait for one: the kernel counts that time.
# - Bots that make the disk slow block the poller in a write: the other thread beats on.
# - Bots that fill the memory make our threads wait for pages: the kernel counts each such fault.
#
# So a gap is a stop only if the kernel counted none of these; else, and where the kernel counts
# nothing, it is a lag. (The monotonic clock itself stands still while a machine is suspended.)


BEAT_S = 0.1
"""The time in s between two beats: ten a second cost 0.1 % of a core."""
LEAST_STOP_S = 1.0
"""The length in s up to which a stop counts as a lag; even ten times that is given back."""
RUNS_A_SECOND = 8
"""The most runs of the beating thread in each second of a stop: a stop of 5 s was measured with 7
runs in all, and a poller that kept the interpreter's lock with 35 a second."""
WAITING_SHARE = 0.5
"""The most of a gap that our threads may wait for a processor if it is a stop; they do before and
after the stop. Starved threads wait for all of a gap but a beat."""


class Vitals(NamedTuple):
    """The kernel's counts of our process at a moment."""

    moment: float
    """The moment, in s of the clock."""
    runs: int
    """The times that the beating thread got a processor."""
    waited_s: float
    """The time in s for which the poller and the beating thread waited for a processor."""
    faults: int
    """The times that a thread waited for a page of memory from a disk."""


class Pulse:
    """A thread that beats while the program runs, and the end of the program's last stop."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._stopped_until = -math.inf
        self._last: Vitals | None = None
        self._threads: tuple[Path, ...] = ()
        self._lock = threading.Lock()
        self._over = threading.Event()

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat in a thread, beside the poller in the present thread, until the block ends."""
        self._over.clear()
        thread = threading.Thread(target=self._beat_on, args=(threading.get_native_id(),))
        thread.daemon = True
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def has_stopped_since(self, moment: float) -> bool:
        """Return whether the program was stopped, and went on after that moment of the clock."""
        self.beat()
        return self._stopped_until > moment

    def beat(self) -> None:
        """Note a stop that has just ended; both threads call this, for either may run first."""
        with self._lock:
            vitals = self.read_vitals()
            if self._last and vitals and is_stop(self._last, vitals):
                self._stopped_until = vitals.moment
            self._last = vitals

    def read_vitals(self) -> Vitals | None:
        """Return the kernel's counts now; None where it does not count them."""
        with suppress(OSError, ValueError):
            counts = [list(map(int, path.read_bytes().split())) for path in self._threads]
            (_, _, runs), *_ = counts
            waited_s = sum(waited_ns for _, waited_ns, _ in counts) / 1e9
            import resource  # Windows has none, and counts none of these.

            faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
            return Vitals(self._now(), runs, waited_s, faults)
        return None

    def _beat_on(self, poller: int) -> None:
        threads = threading.get_native_id(), poller
        self._threads = tuple(Path(f"/proc/self/task/{thread}/schedstat") for thread in threads)
        self.beat()
        while self._last and not self._over.wait(BEAT_S):
            self.beat()


def is_stop(before: Vitals, after: Vitals) -> bool:
    """Return whether the program was stopped between two beats: not busy, starved or blocked."""
    gap_s = after.moment - before.moment
    return (
        gap_s > LEAST_STOP_S
        and after.runs - before.runs <= RUNS_A_SECOND * gap_s
        and after.waited_s - before.waited_s <= WAITING_SHARE * gap_s
        and after.faults == before.faults
    )


# The poller: the one task that reads and writes every bot's pipes, and calls the games.
#
# A trio task or a cancel scope for each move would cost more than the move (10 µs against 2 µs), so
# one task owns a watch of every pipe, works for at most a slice, and then lets trio run. A
# question only notes its deadline; the poller looks at the clock between reads. It knows when it
# planned to look and when it did, and gives the difference, a lag, back to every open deadline. A
# stop of the whole program is no lag: every open question begins anew.


SLICE_S = 0.002
"""The time in s that the poller may work before other tasks run."""
LINGER_S = 0.001
"""The wait in s for instant bots, in the middle of a slice.

A wait in trio costs 11 µs, more than the whole move.
"""
NAP_S = 0.01
"""The longest other wait, in s; if our process stops in it, so much of the stop looks planned."""
POLLER_TURN_S = 0.02
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
        self._watch = new_watch()
        self._readers: dict[Source, Callable[[], None]] = {}
        self._timers: set[Timer] = set()
        self._soon: list[Callable[[], None]] = []
        self._blocked: dict[Source, Callable[[], bool]] = {}
        self._nap = trio.CancelScope()
        self._nap_ends = -math.inf
        self.soonest = math.inf
        """A moment at or before that of the first timer, in s of the clock."""
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
            self._watch.close()

    async def _poll_on(self) -> None:
        while True:
            if not self._slice() or self._soon:
                await trio.lowlevel.checkpoint()
            elif not self._wait_in_watch():
                await self._rest()

    def register_reader(self, source: Source, reader: Callable[[], None] | None) -> None:
        """Call the reader whenever the source is readable or hung up; None ends that."""
        if reader is None:
            if self._readers.pop(source, None):
                self._unregister(source)
        else:
            self._readers[source] = reader
            self._register(source, CAN_READ)

    def register_writer(self, source: Source, flush: Callable[[], bool]) -> None:
        """Call `flush` whenever the pipe takes more, until it returns that nothing is left."""
        if source not in self._blocked:
            self._blocked[source] = flush
            self._register(source, CAN_WRITE)

    def unregister_writer(self, source: Source) -> None:
        """Call its function no more."""
        if source in self._blocked:
            self._unblock(source)

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
        poll, readers = self._watch.poll, self._readers
        while True:
            linger = 0.0
            # Linger only if the last answer came soon: bots mostly take as long as before.
            if self._last_wait_s < LINGER_S and self._timers and not self._soon:
                linger = LINGER_S
            self._planned += linger
            ready = poll(linger)
            now = self.now()
            lag = now - self.looked_at - self._planned
            self.looked_at, self._planned = now, 0.0
            if lag > MIN_LAG_S:
                self._give_back(lag, now)
            for source, _ in ready:
                reader = readers.get(source)
                if reader:
                    reader()
                elif (flush := self._blocked.get(source)) and flush():
                    self._unblock(source)
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
        """Move every timer by the time by which a look at the pipes came too late."""
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

    def _unblock(self, source: Source) -> None:
        del self._blocked[source]
        self._unregister(source)

    def _register(self, source: Source, events: int) -> None:
        # When a run is cancelled, a task may take its first step, and start a bot, after its poller
        # has ended: the task is cancelled at its first wait.
        if not self._watch.closed:
            self._watch.register(source, events)

    def _unregister(self, source: Source) -> None:
        # A bot may leave after that too.
        if not self._watch.closed:
            with suppress(OSError):
                self._watch.unregister(source)

    def _call_due_timers(self) -> None:
        """Call the timers that were due at the last look at the pipes.

        All that this look found has been read, so no bot is late for an answer that lay in a pipe.
        """
        looked_at = self.looked_at
        for timer in [timer for timer in self._timers if timer.at <= looked_at]:
            # What was due before it may have begun its deadline anew, or ended it.
            if timer.at <= looked_at:
                timer.due()
        self.soonest = min((timer.at for timer in self._timers), default=math.inf)

    def _wait_in_watch(self) -> bool:
        """Wait here for bots that answer within a nap; return False if trio must have its turn.

        For a bot that thinks 5 ms this saves a fifth of the CPU time of a move.
        """
        began = self.now()
        if (
            self._last_wait_s >= NAP_S
            or began - self._rested_at > POLLER_TURN_S
            or not self._timers
        ):
            return False
        others = trio.lowlevel.current_statistics()
        delay = min(NAP_S, self.soonest - began, others.seconds_to_next_deadline)
        if others.tasks_runnable or delay <= 0:
            return False
        ready = self._watch.poll(delay)
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
            await wait_for_news(self._watch)
        self._nap_ends = -math.inf
        self._rested_at = self.now()
        self._last_wait_s = self._rested_at - began
        self._planned = min(delay, self._last_wait_s)


# The wait for a player's line under a clock: tables, handshakes and reasks wait this way.


LINES_A_WAIT = 32
"""The most lines that one wait takes before others have their turn: a bot that writes answers in
advance must not keep the poller for itself."""


class ReplyWaiter:
    """The wait for one reply after another; a subclass judges what comes.

    A line found at the first look after the deadline counts; without one the player is late.
    """

    def __init__(self, poller: Poller) -> None:
        self.error: Exception | None = None
        """The lag, or the bug of ours, that ended the wait; it voids this wait and no other."""
        self._poller = poller
        self._player: Player | None = None
        self._deadline = poller.deadline(self._on_deadline, self.fail)
        self._over = trio.Event()

    def on_line(self, line: bytes, ms: float, message: FromBot | None = None) -> None:
        """Judge a line for which the player is charged this time.

        `message`: the message in the line, if it was decoded before.
        """
        raise NotImplementedError

    def on_fault(self, fault: Fault, ms: float) -> None:
        """Judge a player that is gone or late, charged this time; nothing more comes from it."""
        raise NotImplementedError

    def late(self) -> Fault:
        """Return the fault of a player that did not reply in time."""
        return Fault("late", f"No answer within {self._deadline.limit_ms} ms.")

    def expect(self, player: Player, limit_ms: int, now: float) -> None:
        """Wait for this player from now on."""
        self._player = player
        self._deadline.begin(now, limit_ms)
        if self._deadline.at < self._poller.soonest:
            self._poller.wake_by(self._deadline.at)

    async def wait(self) -> None:
        """Wait until the last reply was judged or `error` is set."""
        self._poller.add_timer(self._deadline)
        try:
            await self._over.wait()
        finally:
            self._poller.remove_timer(self._deadline)

    def finish(self) -> None:
        """End the wait: no further reply is expected."""
        self._player = None
        self._deadline.end()
        self._over.set()

    def fail(self, error: Exception) -> None:
        """End the wait because of a lag or a bug of ours: nobody can judge the player."""
        self.error = error
        self.finish()

    def hear(self) -> None:
        """Take the player's lines until none is left: a player wrote, or is gone."""
        self.guard(self._take_lines)

    def hear_line(self, player: Player, line: bytes, message: FromBot | None = None) -> None:
        """Judge a player's line at once; keep it if another player is asked."""
        if player is not self._player:
            return player.put_back(line)
        try:
            self.on_line(line, self._deadline.charged_ms(player.read_at), message)
            next_player = self._player
            if next_player is not None and next_player.has_input:
                self._take_lines()
        except Exception as bug:
            self.fail(bug)

    def guard(self, work: Callable[[], None]) -> None:
        """Call the work; a bug in it ends this wait and not the poller's other work."""
        try:
            work()
        except Exception as bug:
            self.fail(bug)

    def _take_lines(self) -> None:
        for _ in range(LINES_A_WAIT):
            player = self._player
            if player is None:
                return
            line = player.next_line()
            if line is not None:
                self.on_line(line, self._deadline.charged_ms(player.read_at))
            elif player.fault:
                self.on_fault(player.fault, self._deadline.charged_ms(self._poller.now()))
            else:
                return
        self._poller.call_soon(self.hear)

    def _on_deadline(self) -> None:
        self.guard(self._look_once_more)

    def _look_once_more(self) -> None:
        """Look at the pipe once more after the deadline; a line that is there counts."""
        assert self._player, "A deadline runs while a player is expected."
        due = self._deadline.at
        self._player.take_in()
        self._take_lines()
        # After a reply the deadline is a later one, or none; a stale line leaves it as it was.
        if self._deadline.at == due:
            self.on_fault(self.late(), float(self._deadline.limit_ms))
