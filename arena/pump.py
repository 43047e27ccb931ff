"""The one task that reads and writes every bot's pipes. Games are plain objects that it pokes.

A trio task or a cancel scope for each move would cost more than the move (10 µs against 2 µs), so
one task owns an epoll with every pipe, works for at most a slice, and then lets trio run. A
question only notes its deadline; the pump looks at the clock between reads.
"""

import math
import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import trio

from arena.bots import Bot

SLICE_S = 0.002
"""How long the pump may work before other tasks run."""
LINGER_S = 0.001
"""How long it waits inside epoll before it waits in trio: instant bots answer within that."""
LOOK_S = 0.002
"""How often deadlines are looked at."""
NAP_S = 0.1
"""The longest wait in trio, so that a longer gap is known to be the referee's own."""
STALL_S = 0.3
"""A gap in the referee's own work (a stopped process, a slow disk) that is charged to nobody."""


class Listener(Protocol):
    """Something that waits for a bot."""

    deadline: float
    """When it stops waiting, in seconds of `time.monotonic`; infinity when it does not wait."""

    def expired(self) -> None:
        """The deadline has passed."""

    def forgive(self, seconds: float) -> None:
        """The referee itself stood still for so long."""


class Pump:
    """Reads, writes and deadlines for all bots and all tables of a run."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._listeners: set[Listener] = set()
        self._blocked: dict[int, Bot] = {}
        self._nap = trio.CancelScope()
        self._ticked = time.monotonic()

    async def run(self) -> None:
        """Pump until cancelled."""
        try:
            while True:
                if self._slice():
                    await self._rest()
                else:
                    await trio.lowlevel.checkpoint()
        finally:
            self._epoll.close()

    def watch(self, descriptor: int, reader: Callable[[], None] | None) -> None:
        """Call the reader whenever the descriptor is readable or hung up; None ends that."""
        if reader is None:
            if self._readers.pop(descriptor, None):
                self._unregister(descriptor)
        else:
            self._readers[descriptor] = reader
            self._epoll.register(descriptor, select.EPOLLIN)

    def say(self, bot: Bot, line: bytes) -> None:
        """Say a line to a bot; what its pipe does not take is written when it does."""
        bot.say(line)
        if bot.stdin is not None and bot.stdin not in self._blocked:
            self._blocked[bot.stdin] = bot
            self._epoll.register(bot.stdin, select.EPOLLOUT)

    def forget(self, bot: Bot) -> None:
        """The bot leaves; nothing more will be written to it."""
        for descriptor, blocked in list(self._blocked.items()):
            if blocked is bot:
                self._unblock(descriptor)

    def join(self, listener: Listener) -> None:
        """Look at this listener's deadline from now on."""
        self._listeners.add(listener)
        self._nap.cancel()

    def part(self, listener: Listener) -> None:
        """Look no more."""
        self._listeners.discard(listener)

    def _slice(self) -> bool:
        """Work for a slice of time; True when nothing came in for a while."""
        end = time.monotonic() + SLICE_S
        linger = LINGER_S if self._listeners else 0
        poll, readers = self._epoll.poll, self._readers
        while True:
            ready = poll(linger)
            self._tick(time.monotonic())
            for descriptor, _ in ready:
                reader = readers.get(descriptor)
                if reader:
                    reader()
                elif descriptor in self._blocked:
                    self._flush(descriptor)
            now = time.monotonic()
            if not ready or now > end:
                self._look(now)
                return not ready

    def _tick(self, now: float) -> None:
        """Whoever waited while the referee itself stood still is not charged for it."""
        gap = now - self._ticked
        self._ticked = now
        if gap > STALL_S:
            for listener in self._listeners:
                listener.forgive(gap)

    def _flush(self, descriptor: int) -> None:
        bot = self._blocked[descriptor]
        bot.flush()
        if bot.stdin is None:
            self._unblock(descriptor)

    def _unblock(self, descriptor: int) -> None:
        del self._blocked[descriptor]
        self._unregister(descriptor)

    def _unregister(self, descriptor: int) -> None:
        # When a run is cancelled, bots leave after their pump has ended.
        if not self._epoll.closed:
            with suppress(OSError):
                self._epoll.unregister(descriptor)

    def _look(self, now: float) -> None:
        for listener in [one for one in self._listeners if one.deadline <= now]:
            listener.expired()

    async def _rest(self) -> None:
        """Wait in trio for the next byte or the next deadline."""
        soonest = min((one.deadline for one in self._listeners), default=math.inf)
        delay = min(NAP_S, max(LOOK_S, soonest - time.monotonic()))
        with trio.move_on_after(delay) as self._nap:
            await trio.lowlevel.wait_readable(self._epoll.fileno())
