"""What several listeners are told, each as fast as it listens: nothing piles up for slow ones."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import trio


class Broadcast:
    """The last messages."""

    def __init__(self, keep: int = 1) -> None:
        """Nothing was told yet; of what is told the last `keep` messages can still be heard."""
        self._kept: deque[str] = deque(maxlen=keep)
        self._told = 0
        self._listeners: set[Subscriber] = set()
        self._moved = trio.Event()

    def publish(self, text: str) -> None:
        """There is something newer."""
        self._kept.append(text)
        self._told += 1
        self.notify()

    @property
    def listened(self) -> bool:
        """Whether anybody listens just now."""
        return bool(self._listeners)

    @contextmanager
    def subscriber(self) -> Iterator["Subscriber"]:
        """Somebody who listens while the block runs, first to the newest message."""
        one = Subscriber(self)
        self._listeners.add(one)
        self.notify()
        try:
            yield one
        finally:
            self._listeners.remove(one)
            self.notify()

    async def first_subscriber(self) -> None:
        """Wait until somebody listens."""
        while not self._listeners:
            await self._moved.wait()

    async def drained(self) -> None:
        """Wait until everybody who listens has done with the newest message."""
        while any(one.done < self._told for one in self._listeners):
            await self._moved.wait()

    async def after(self, number: int) -> tuple[int, str]:
        """The next message after this one that is kept, and its number; after 0 the newest."""
        while self._told <= number:
            await self._moved.wait()
        first = self._told - len(self._kept) + 1
        due = max(first, number + 1) if number else self._told
        return due, self._kept[due - first]

    def notify(self) -> None:
        """Something has changed for whoever waits."""
        self._moved.set()
        self._moved = trio.Event()


class Subscriber:
    """How far one listener is."""

    def __init__(self, news: Broadcast) -> None:
        """Nothing was heard yet."""
        self.done = 0
        """The number of the last message that it has done with."""
        self._news = news
        self._hearing = 0

    async def next(self) -> str:
        """The next message; the one before is done with."""
        self.done = self._hearing
        self._news.notify()
        self._hearing, text = await self._news.after(self._hearing)
        return text
