"""A broadcast to several subscribers, each as fast as it listens."""

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.ui.server import Broadcast


async def test_a_late_subscriber_begins_with_the_newest_message() -> None:
    broadcast = Broadcast(keep=3)
    for text in "abcd":
        broadcast.publish(text)
    with broadcast.subscriber() as subscriber:
        assert await subscriber.next() == "d"


async def test_a_drained_broadcast_has_reached_every_subscriber(autojump_clock: MockClock) -> None:
    broadcast = Broadcast()
    messages: list[tuple[str, str]] = []

    async def listen(name: str, pause: float) -> None:
        with broadcast.subscriber() as subscriber:
            while True:
                text = await subscriber.next()
                await trio.sleep(pause)
                messages.append((name, text))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen, "quick", 1)
        nursery.start_soon(listen, "slow", 10)
        await wait_all_tasks_blocked()
        assert broadcast.has_subscribers
        broadcast.publish("a")
        await broadcast.drained()
        assert sorted(messages) == [("quick", "a"), ("slow", "a")]
        assert autojump_clock.current_time() == 10
        nursery.cancel_scope.cancel()
