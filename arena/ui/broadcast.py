"""Broadcast channel of one sender and many subscribers; slow subscribers skip messages."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Broadcast:
    """A channel that keeps the last messages for each subscriber."""

    def __init__(self, keep: int = 1) -> None:
        """Start without a message; at most `keep` messages wait for a subscriber."""
        self._keep = keep
        self._newest: list[str] = []
        self._subscribers: set[Subscriber] = set()
        self._changed = trio.Event()

    @property
    def has_subscribers(self) -> bool:
        """True if anybody is subscribed now."""
        return bool(self._subscribers)

    def publish(self, text: str) -> None:
        """Publish a message to all subscribers."""
        self._newest = [text]
        for one in self._subscribers:
            one.waiting.append(text)
        self.notify()

    @contextmanager
    def subscriber(self) -> Iterator["Subscriber"]:
        """Subscribe while the block runs, beginning with the newest message."""
        one = Subscriber(self, deque(self._newest, self._keep))
        self._subscribers.add(one)
        self.notify()
        try:
            yield one
        finally:
            self._subscribers.remove(one)
            self.notify()

    async def first_subscriber(self) -> None:
        """Wait until somebody subscribes."""
        while not self._subscribers:
            await self.wait()

    async def drained(self) -> None:
        """Wait until every subscriber has handled the newest message."""
        while any(one.waiting or one.is_busy for one in self._subscribers):
            await self.wait()

    async def wait(self) -> None:
        """Wait for a change."""
        await self._changed.wait()

    def notify(self) -> None:
        """Wake all tasks that wait for a change."""
        self._changed.set()
        self._changed = trio.Event()


class Subscriber:
    """The messages of one subscriber."""

    def __init__(self, broadcast: Broadcast, waiting: deque[str]) -> None:
        self.waiting = waiting
        """Its next messages; the oldest gives way to one too many."""
        self.is_busy = False
        """True while it handles a message."""
        self._broadcast = broadcast

    async def next(self) -> str:
        """Return the next message, and count the one before as handled."""
        self.is_busy = False
        self._broadcast.notify()
        while not self.waiting:
            await self._broadcast.wait()
        self.is_busy = True
        return self.waiting.popleft()
