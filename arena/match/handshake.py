"""The handshake: greet a bot and wait for its hello under a deadline."""

import time

import trio

from arena.match import referee as rulings
from arena.match.bot_process import BotProcess, ignore
from arena.match.clock import Deadline, LagError
from arena.match.poller import Poller
from protocol.codec import Fault, printable
from protocol.messages import BotHello

WROTE = 60
"""The most characters shown of a line that is not a hello."""


class Handshake:
    """The wait for one bot's hello."""

    def __init__(self, poller: Poller, bot: BotProcess, start_ms: int) -> None:
        self._bot = bot
        self._done = trio.Event()
        self._poller = poller
        self._lag: LagError | None = None
        self._deadline = Deadline(self._expired, self._stop)
        self._deadline.begin(time.monotonic(), start_ms)

    async def wait(self) -> LagError | None:
        """Wait until the bot has greeted, or has its `fault` set.

        Returns the lag if the machine does not keep time, so that nobody knows whether it was late.
        """
        self._bot.listen(self._poller, self._heard)
        self._poller.add_timer(self._deadline)
        try:
            self._bot.send(rulings.hello())
            await self._done.wait()
        finally:
            self._poller.remove_timer(self._deadline)
            self._bot.on_input(ignore)
        return self._lag

    def _expired(self) -> None:
        self._bot.take_in()
        self._heard()
        if not self._done.is_set():
            self._end(Fault("no_hello", f"No hello within {self._deadline.limit_ms} ms."))

    def _stop(self, lag: LagError) -> None:
        self._lag = lag
        self._end(None)

    def _heard(self) -> None:
        line = self._bot.next_line()
        if line is not None:
            self._greeted(rulings.parse_hello(line), line)
        elif self._bot.fault:
            self._end(self._bot.fault)

    def _greeted(self, said: BotHello | Fault, line: bytes) -> None:
        if isinstance(said, Fault):
            wrote = f"It wrote: {printable(line, WROTE)}"
            return self._end(said._replace(detail=f"{said.detail} {wrote}"))
        self._bot.tables = said.tables
        return self._end(None)

    def _end(self, fault: Fault | None) -> None:
        if fault:
            self._bot.disqualify(fault)
        self._deadline.end()
        # Take up the CPU time of the start, so that no game is charged for it.
        self._bot.cpu_ms()
        self._bot.on_input(ignore)
        self._done.set()
