"""The handshake: greet a bot and wait for its hello under a deadline."""

from arena.match import referee
from arena.match.bot_process import BotProcess
from arena.match.poller import Poller
from arena.match.reply import ReplyWaiter
from protocol.codec import Fault, printable
from protocol.messages import Unavailable

SHOWN = 60
"""The most characters shown of a line that is not a hello."""


class Handshake(ReplyWaiter):
    """The wait for one bot's hello."""

    def __init__(self, poller: Poller, bot: BotProcess, start_ms: int) -> None:
        super().__init__(poller)
        self._bot = bot
        self._start_ms = start_ms

    async def greet(self) -> Exception | None:
        """Wait until the bot has greeted, or has its `fault` set.

        Returns a LagError if nobody knows whether it was late, or a bug of ours.
        """
        self._bot.listen(self._poller, self)
        self.expect(self._bot, self._start_ms, self._poller.now())
        try:
            self._bot.send(referee.hello())
            await self.wait()
        finally:
            self._bot.set_listener(None)
        # Take up the CPU time of the start, so that no game is charged for it.
        self._bot.cpu_ms()
        return self.error

    def late(self) -> Fault:
        """Return the fault of a bot that did not greet in time."""
        return Fault("no_hello", f"No hello within {self._start_ms} ms.")

    def on_line(self, line: bytes, *_: object) -> None:
        """Judge the bot's first line."""
        hello = referee.parse_hello(line)
        if isinstance(hello, Fault):
            detail = f"{hello.detail} It wrote: {printable(line, SHOWN)}"
            self._bot.disqualify(hello._replace(detail=detail))
        elif isinstance(hello, Unavailable):
            self._bot.is_unavailable = True
            detail = f"It said that it is unavailable: {printable(hello.why)}"
            self._bot.disqualify(Fault("no_hello", detail))
        else:
            self._bot.tables = hello.tables
        self.finish()

    def on_fault(self, fault: Fault, _: float) -> None:
        """Stop a bot that did not greet."""
        self._bot.disqualify(fault)
        self.finish()
