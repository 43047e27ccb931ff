"""The pulse of our process: it tells a stop of the whole program from a lag of the referee.

SIGSTOP, a debugger, a frozen container and a machine that sleeps stop all threads at once: none
runs, and none waits to run. Nothing that a locked bot can do looks like that:

- A flood, or work of ours, keeps the poller busy: then the other thread beats, or asks every 5 ms
  for the interpreter's lock, and the kernel counts each time that it ran.
- Bots that take the processors make our threads wait for one: the kernel counts that time.
- Bots that make the disk slow block the poller in a write: the other thread beats on.
- Bots that fill the memory make our threads wait for pages: the kernel counts each such fault.

So a gap is a stop only if the kernel counted none of these; else, and where the kernel counts
nothing, it is a lag. (The monotonic clock itself stands still while a machine is suspended.)
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

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
