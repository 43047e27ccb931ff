"""A conversation with one bot process, bounded in every wait and buffer."""

import fcntl
import struct
import termios
from collections import deque
from collections.abc import Callable
from typing import Self

import trio

from arena.conformance.language_hints import language
from arena.match import referee
from arena.match.bot_process import BotProcess
from arena.match.piped_process import exit_reason
from arena.match.poller import Poller
from arena.match.reply import ReplyWaiter
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.usage import ResourceUsage
from protocol.codec import Fault

SENT_KEPT = 3
STDERR_KEPT = 8_192
"""The last bytes of stderr that are kept of a bot that is checked."""


TakeLine = Callable[[bytes, float], int | None]
"""A judge of a line that took this many ms; it returns the ms for the next one, None to end."""


class Exchange(ReplyWaiter):
    """The wait for one line after another, under the clock of a table; `take` judges them."""

    def __init__(self, poller: Poller, connection: "Connection", take: TakeLine) -> None:
        super().__init__(poller)
        self.is_silent = False
        """True if a line did not come: the bot is late, or gone."""
        self._connection = connection
        self._take = take

    def on_line(self, line: bytes, ms: float, *_: object) -> None:
        """Judge a line; wait for another if that is wanted."""
        if self._connection.frames:
            ms = self._connection.evidence().effort_ms()
        limit_ms = self._take(line, ms)
        if limit_ms is None:
            self.finish()
        else:
            self.expect(self._connection, limit_ms, self._connection.sent_at)

    def on_fault(self, *_: object) -> None:
        """End the wait without a line."""
        self.is_silent = True
        self.finish()

    def finish(self) -> None:
        """End the wait; the poller must not linger for a bot that has answered."""
        super().finish()
        self._poller.remove_timer(self._deadline)


class Connection(BotProcess):
    """One process, asked one question at a time; it reports more of what it saw than a bot's."""

    def __init__(
        self,
        poller: Poller,
        command: Command,
        sandbox: Sandbox,
        hello: bytes | None = None,
        code: bytes = b"",
    ) -> None:
        """Start the process and send it a hello, if not another one then ours.

        `code`: see `compile_module`. Raises CannotStartError.
        """
        self.language = language(command)
        self.now = poller.now
        self.began = self.sent_at = poller.now()
        """The times of its start and of the last line to it, in s of the monotonic clock."""
        self.sent: deque[bytes] = deque(maxlen=SENT_KEPT)
        self._poller = poller
        self._over = trio.Event()
        super().__init__(command, sandbox, code)
        self.stderr_kept = STDERR_KEPT
        self.read_at = self.began
        self._register(poller)
        self.send(hello or referee.hello())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the process and all that it started."""
        # A bot with a fault is not waited for.
        self.disqualify(Fault("gone", "The check is over."))
        await self.shut_down(b"")

    # --- sending ---

    def send(self, *lines: bytes) -> None:
        """Send lines in one write; what the pipe does not take follows during the next wait."""
        self.sent.extend(lines)
        self.sent_at = self.now()
        super().send(b"".join(lines))

    def probe_with(self, data: bytes) -> None:
        """Send data that only a diagnosis uses: reports do not show it among the lines sent."""
        super().send(data)

    def unread(self) -> int:
        """Return the number of bytes sent that the process has not read yet."""
        waiting = bytearray(4)
        fcntl.ioctl(self._stdin, termios.FIONREAD, waiting)
        (unread,) = struct.unpack("i", waiting)
        return int(unread) + len(self._outbox)

    # --- receiving ---

    async def converse(self, take: TakeLine, limit_ms: int, since: float) -> bool:
        """Give `take` its lines; return False if one did not come within its limit.

        `since`: the moment at which the time of the first began; that of others begins with the
        last line to it. Raises LagError, and what `take` raises.
        """
        exchange = Exchange(self._poller, self, take)
        self._listener = exchange
        exchange.expect(self, limit_ms, since)
        try:
            # It may have written before it was asked.
            exchange.hear()
            await exchange.wait()
        finally:
            self._listener = None
        if exchange.error:
            raise exchange.error
        return not exchange.is_silent

    async def read_line(self, limit_ms: int, since: float) -> bytes | None:
        """Return its next line; None if none came within the limit. Raises LagError."""
        lines: list[bytes] = []
        await self.converse(lambda line, _: lines.append(line), limit_ms, since)
        return lines[0] if lines else None

    async def read_for(self, seconds: float) -> bytes:
        """Return and forget all that it writes in this many seconds."""
        await self._wait(seconds)
        self.take_in()
        return self.rest()

    def rest(self) -> bytes:
        """Return and forget all output that was not taken yet, perhaps half a line."""
        said = self.partial_line
        self._inbox.clear()
        return said

    @property
    def partial_line(self) -> bytes:
        """Return the output that is not a whole line yet."""
        return self._censor.clean(bytes(self._inbox))

    @property
    def exit_reason(self) -> str:
        """Return the way it ended by itself, as the end of a sentence; empty while it runs."""
        return exit_reason(self._pidfd) if self.fault and self.fault.foul == "gone" else ""

    @property
    def stderr_text(self) -> str:
        """Return what is kept of its stderr."""
        self._read_stderr()
        return bytes(self.stderr).decode(errors="replace")

    def usage(self) -> ResourceUsage:
        """Return the resources that it has used so far."""
        return self._usage()

    async def exits_within(self, seconds: float, goodbye: bytes = b"") -> float | None:
        """Say goodbye and close its stdin; return the ms until it left, None if it has not."""
        if goodbye:
            self.send(goodbye)
        began = self.now()
        self.close_stdin()
        await self._wait(seconds)
        return (self.now() - began) * 1000 if self.exit_reason else None

    async def _wait(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._over.wait()

    def _set_fault(self, fault: Fault) -> None:
        super()._set_fault(fault)
        self._over.set()

    def on_stderr(self) -> None:
        """Read its stderr; a step judges how much it is."""
        self._read_stderr()
