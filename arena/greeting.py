"""Waits for one bot's hello, and says whether it came, and came in time."""

import time

import trio

from arena import referee as rulings
from arena.bots import Bot, nobody
from arena.clock import Wait
from arena.pump import Pump
from protocol.codec import Fault, printable
from protocol.messages import BotHello

WROTE = 60
"""Characters that are shown of a line that is no hello."""


class Greeting:
    """Waits for a bot's hello."""

    def __init__(self, pump: Pump, bot: Bot, start_ms: int, *, final: bool) -> None:
        self.disputed = False
        self._final = final
        self._bot = bot
        self._done = trio.Event()
        self._pump = pump
        self._wait = Wait(self._expired)
        self._wait.begin(time.monotonic(), start_ms)

    async def wait(self) -> None:
        """Wait until the bot has greeted, or has its `fault` set, or nobody can say: `disputed`."""
        self._bot.listen(self._pump, self._heard)
        self._pump.join(self._wait)
        try:
            self._bot.say(rulings.hello())
            await self._done.wait()
        finally:
            self._pump.part(self._wait)
            self._bot.tell(nobody)

    def _expired(self) -> None:
        now = time.monotonic()
        if not self._wait.held_open(self._wait.charged(now)):
            self._late(now)

    def _heard(self) -> None:
        line = self._bot.next_line()
        if line is not None and self._wait.charged(self._bot.read_at) > self._wait.limit_ms:
            self._late(self._bot.read_at)
        elif line is not None:
            self._greeted(rulings.greeted(line), line)
        elif self._bot.fault:
            self._end(self._bot.fault)

    def _greeted(self, said: BotHello | Fault, line: bytes) -> None:
        if isinstance(said, Fault):
            wrote = f"It wrote: {printable(line, WROTE)}"
            return self._end(said._replace(detail=f"{said.detail} {wrote}"))
        self._bot.tables = said.tables
        return self._end(None)

    def _late(self, moment: float) -> None:
        wait = self._wait
        wait.stalled(self._pump.late_at(moment), moment)
        self.disputed = not self._final and wait.disputed(wait.charged(moment))
        late = f"No hello within {wait.limit_ms} ms; the referee was late by {wait.referee_ms:.0f}."
        self._end(None if self.disputed else Fault("no_hello", late))

    def _end(self, fault: Fault | None) -> None:
        if fault:
            self._bot.condemn(fault)
        self._wait.end()
        # What its start took is charged to no game.
        self._bot.cpu_ms()
        self._bot.tell(nobody)
        self._done.set()
