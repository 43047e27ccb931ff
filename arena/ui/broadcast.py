"""Broadcast channel of one sender and many subscribers; slow subscribers skip messages."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Broadcast:
    """A channel that keeps the last messages for its subscribers."""

    def __init__(self, keep: int = 1) -> None:
        """Start without a message; the last `keep` messages stay available to subscribers."""
        self._kept: deque[str] = deque(maxlen=keep)
        self._told = 0
        self._listeners: set[Subscriber] = set()
        self._moved = trio.Event()

    def publish(self, text: str) -> None:
        """Publish a message to all subscribers."""
        self._kept.append(text)
        self._told += 1
        self.notify()

    @property
    def listened(self) -> bool:
        """Tell whether anybody is subscribed now."""
        return bool(self._listeners)

    @contextmanager
    def subscriber(self) -> Iterator["Subscriber"]:
        """Subscribe while the block runs, beginning with the newest message."""
        one = Subscriber(self)
        self._listeners.add(one)
        self.notify()
        try:
            yield one
        finally:
            self._listeners.remove(one)
            self.notify()

    async def first_subscriber(self) -> None:
        """Wait until somebody subscribes."""
        while not self._listeners:
            await self._moved.wait()

    async def drained(self) -> None:
        """Wait until every subscriber has handled the newest message."""
        while any(one.done < self._told for one in self._listeners):
            await self._moved.wait()

    async def after(self, number: int) -> tuple[int, str]:
        """Return the first kept message after `number`, with its number; after 0 the newest."""
        while self._told <= number:
            await self._moved.wait()
        first = self._told - len(self._kept) + 1
        due = max(first, number + 1) if number else self._told
        return due, self._kept[due - first]

    def notify(self) -> None:
        """Wake everybody who waits for a change."""
        self._moved.set()
        self._moved = trio.Event()


class Subscriber:
    """One subscriber's position in the channel."""

    def __init__(self, news: Broadcast) -> None:
        """Start before the first message."""
        self.done = 0
        """The number of the last message that the subscriber has handled."""
        self._news = news
        self._hearing = 0

    async def next(self) -> str:
        """Return the next message, and count the one before as handled."""
        self.done = self._hearing
        self._news.notify()
        self._hearing, text = await self._news.after(self._hearing)
        return text
