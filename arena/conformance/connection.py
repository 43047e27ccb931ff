"""A conversation with one bot process, bounded in every wait and buffer."""

import fcntl
import select
import struct
import subprocess
import termios
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from arena.conformance.language_hints import language
from arena.match import referee
from arena.match.clock import MIN_LAG_S
from arena.match.piped_process import READ, REAP_S, PipedProcess, exit_reason
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.usage import ResourceUsage
from protocol.messages import MAX_LINE

INBOX = 4 * READ
"""Bytes of a bot's output that are kept; more is a flood, as at a table."""
SENT_KEPT = 3
"""Lines to it that are kept for reports."""


class OwnPipes:
    """The pipes of one process, which is waited for alone: no poller runs meanwhile."""

    def __init__(self) -> None:
        self.looked_at = time.monotonic()
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._blocked: dict[int, PipedProcess] = {}

    def register_reader(self, descriptor: int, reader: Callable[[], None] | None) -> None:
        """Call the reader whenever the descriptor has data to read; None ends that."""
        if reader:
            self._readers[descriptor] = reader
            self._poll.register(descriptor, select.POLLIN)
        elif self._readers.pop(descriptor, None):
            self._poll.unregister(descriptor)

    def register_writer(self, process: PipedProcess) -> None:
        """Flush the process whenever its pipe takes more, until no line waits for it."""
        if process.stdin is not None:
            self._blocked[process.stdin] = process
            self._poll.register(process.stdin, select.POLLOUT)

    def unregister_writer(self, process: PipedProcess) -> None:
        """Flush the process no more."""
        if process.stdin in self._blocked:
            self._unblock(process.stdin)

    def wait(self, seconds: float) -> None:
        """Wait at most this long for data or room in a pipe, and serve it."""
        ready = self._poll.poll(max(0.0, seconds) * 1000)
        self.looked_at = time.monotonic()
        for descriptor, _ in ready:
            if reader := self._readers.get(descriptor):
                reader()
            elif process := self._blocked.get(descriptor):
                process.flush()
                if process.stdin is None:
                    self._unblock(descriptor)

    def _unblock(self, descriptor: int) -> None:
        del self._blocked[descriptor]
        self._poll.unregister(descriptor)


STDERR_KEPT = 8_192
"""The last bytes of stderr that are kept of a bot that is checked."""


class Connection(PipedProcess):
    """One process, asked one question at a time; it reports more of what it saw than a bot's."""

    def __init__(self, command: Command, sandbox: Sandbox, hello: bytes | None = None) -> None:
        """Start the process and send it a hello, if not another one then ours.

        Raises CannotStartError.
        """
        self.language = language(command)
        """The bot's language."""
        self.began = time.monotonic()
        """The time of its start, in s of the monotonic clock."""
        self.sent_at = self.began
        """The time of the last line to it."""
        self.sent: deque[bytes] = deque(maxlen=SENT_KEPT)
        """The last lines that were sent to it."""
        self.exit_reason = ""
        """The way it ended, as the end of a sentence; empty while it runs."""
        super().__init__(command, sandbox, STDERR_KEPT)
        self.read_at = self.began
        self._own_pipes = OwnPipes()
        self._register(self._own_pipes)
        self.send(hello or referee.hello())

    def __enter__(self) -> Self:
        """Return the conversation, which ends with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and all that it started."""
        self.close()

    # --- sending ---

    def send(self, *lines: bytes) -> None:
        """Send lines in one write; what the pipe does not take follows during the next wait."""
        self.sent.extend(lines)
        self.sent_at = time.monotonic()
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

    def next_line(self, seconds: float) -> bytes | None:
        """Return its next line without the newline; None if none came, or none may come any more.

        As at a table, a lag of ours moves the deadline by its own length.
        """
        now = time.monotonic()
        deadline = now + seconds
        while True:
            line = self._take_line()
            if line is not None or self.is_over:
                return line
            left = max(0.0, deadline - now)
            self._wait(left)
            if left == 0:
                return self._take_line()
            before, now = now, time.monotonic()
            lag = now - before - left
            if lag > MIN_LAG_S:
                deadline += lag

    def read_for(self, seconds: float) -> bytes:
        """Return and forget all that it writes in this many seconds."""
        deadline = time.monotonic() + seconds
        while not self.is_over and (left := deadline - time.monotonic()) > 0:
            self._wait(left)
        self._wait(0)
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
    def is_flooded(self) -> bool:
        """Tell whether it has written more than a line may hold, or more than is kept."""
        return len(self._inbox) >= (INBOX if b"\n" in self._inbox else MAX_LINE)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more can come."""
        return bool(self.exit_reason) or self.is_flooded

    @property
    def stderr_text(self) -> str:
        """Return what is kept of its stderr."""
        return bytes(self.stderr).decode(errors="replace")

    def usage(self) -> ResourceUsage:
        """Return the resources that it has used so far."""
        return self._slot.usage()

    def exits_within(self, seconds: float, goodbye: Sequence[bytes] = ()) -> float | None:
        """Say goodbye and close its stdin; return the ms until it left, None if it has not."""
        if goodbye:
            self.send(*goodbye)
        began = time.monotonic()
        self.close_stdin()
        deadline = began + seconds
        while not self.exit_reason and (left := deadline - time.monotonic()) > 0:
            self._wait(left)
        return (time.monotonic() - began) * 1000 if self.exit_reason else None

    def close(self) -> None:
        """End the process and all that it started."""
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(REAP_S)
        self._close()

    # --- pipes ---

    def _wait(self, seconds: float) -> None:
        self._own_pipes.wait(seconds)

    def on_readable(self) -> None:
        """Read its output; read no more after a flood."""
        self._inbox += self._read_stdout()
        # Its end, too, is a time at which it was heard.
        self.read_at = self._own_pipes.looked_at
        if self.is_flooded:
            self._stop_reading(self._stdout)

    def on_exit(self) -> None:
        """Read the rest of its output, within bounds, and note how it ended."""
        self._stop_reading(self._pidfd)
        for _ in range(INBOX // READ):
            if not self._closed and not self.is_flooded:
                self.on_readable()
            self._read_stderr()
        self.exit_reason = exit_reason(self._pidfd)
