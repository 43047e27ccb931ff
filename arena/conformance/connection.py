"""A conversation with one bot process, bounded in every wait and buffer."""

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from arena.match.bot_process import READ, REAP_S, exit_reason, open_pidfd, spawn
from arena.match.poller import FELT_S
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.usage import ResourceUsage
from protocol.messages import MAX_LINE

HEARD = 4 * READ
"""Bytes of a bot's output that are kept; more is a flood."""
STDERR_KEPT = 8_192
"""Bytes of its last stderr that are kept."""
SENT_KEPT = 3
"""Lines to it that are kept for reports."""


class Connection:
    """One process and its pipes.

    Unlike `BotProcess` it is asked one question at a time, and reports more of what it saw. Nothing
    else goes on meanwhile, so it waits by itself and not in a poller.
    """

    def __init__(self, command: Command, sandbox: Sandbox) -> None:
        """Start the process.

        Raises CannotStartError.
        """
        self.began = time.monotonic()
        """The time of its start, in s of the monotonic clock."""
        self.said_at = self.began
        """The time of the last line to it."""
        self.heard_at = self.began
        """The time of its last output."""
        self.sent: deque[bytes] = deque(maxlen=SENT_KEPT)
        """The last lines that were sent to it."""
        self.ended = ""
        """The way it ended, as the end of a sentence; empty while it runs."""
        self.complained = 0
        """Bytes that it has written to stderr."""
        self.stderr = bytearray()
        """The last bytes of its stderr."""
        self.tables = 1
        """The number of games at once that its hello offers."""
        self.limits = sandbox.limits
        """The limits of its resources."""
        self._inbox, self._outbox = bytearray(), bytearray()
        self._slot, self._process = spawn(command, sandbox)
        self._pidfd = open_pidfd(self._slot, self._process)
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}
        self._open()

    def _open(self) -> None:
        process = self._process
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._stdin = process.stdin.fileno()
        self._stdout, self._stderr = process.stdout.fileno(), process.stderr.fileno()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._watch(self._stdout, self._hear)
        self._watch(self._stderr, self._overhear)
        self._watch(self._pidfd, self._end)

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
        self.said_at = time.monotonic()
        self._outbox += b"".join(lines)
        self._flush()

    def probe_with(self, data: bytes) -> None:
        """Send data that only a diagnosis uses: reports do not show it among the lines sent."""
        self._outbox += data
        self._flush()

    def close_stdin(self) -> None:
        """Close the process's stdin."""
        self._outbox.clear()
        self._unwatch(self._stdin)
        assert self._process.stdin
        self._process.stdin.close()

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
            line = self._taken()
            if line is not None or self.over:
                return line
            left = max(0.0, deadline - now)
            self._wait(left)
            if left == 0:
                return self._taken()
            before, now = now, time.monotonic()
            lag = now - before - left
            if lag > FELT_S:
                deadline += lag

    def read_for(self, seconds: float) -> bytes:
        """Return and forget all that it writes in this many seconds."""
        deadline = time.monotonic() + seconds
        while not self.over and (left := deadline - time.monotonic()) > 0:
            self._wait(left)
        self._wait(0)
        return self.rest()

    def rest(self) -> bytes:
        """Return and forget all output that was not taken yet, perhaps half a line."""
        said = bytes(self._inbox)
        self._inbox.clear()
        return said

    @property
    def partial_line(self) -> bytes:
        """Return the output that is not a whole line yet."""
        return bytes(self._inbox)

    @property
    def flooded(self) -> bool:
        """Tell whether it has written more than a line may hold, or more than is kept."""
        return len(self._inbox) >= (HEARD if b"\n" in self._inbox else MAX_LINE)

    @property
    def over(self) -> bool:
        """Tell whether nothing more can come."""
        return bool(self.ended) or self.flooded

    @property
    def never_ran(self) -> bool:
        """Tell whether the sandbox failed before the bot began."""
        return self._slot.never_ran()

    def spent(self) -> ResourceUsage:
        """Return the resources that it has used so far."""
        return self._slot.usage()

    def exits_within(self, seconds: float, goodbye: Sequence[bytes] = ()) -> float | None:
        """Say goodbye and close its stdin; return the ms until it left, None if it has not."""
        if goodbye:
            self.send(*goodbye)
        began = time.monotonic()
        self.close_stdin()
        deadline = began + seconds
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            self._wait(left)
        return (time.monotonic() - began) * 1000 if self.ended else None

    def close(self) -> None:
        """End the process and all that it started."""
        self._slot.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(REAP_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe
            with suppress(OSError):
                pipe.close()
        os.close(self._pidfd)
        self._slot.close()

    # --- pipes ---

    def _taken(self) -> bytes | None:
        end = self._inbox.find(b"\n")
        if end < 0:
            return None
        line = bytes(self._inbox[:end])
        del self._inbox[: end + 1]
        return line

    def _wait(self, seconds: float) -> None:
        for descriptor, _ in self._poll.poll(max(0.0, seconds) * 1000):
            ready = self._ready.get(descriptor)
            if ready:
                ready()

    def _watch(
        self, descriptor: int, ready: Callable[[], None], events: int = select.POLLIN
    ) -> None:
        self._ready[descriptor] = ready
        self._poll.register(descriptor, events)

    def _unwatch(self, descriptor: int) -> None:
        if self._ready.pop(descriptor, None):
            self._poll.unregister(descriptor)

    def _flush(self) -> None:
        try:
            del self._outbox[: os.write(self._stdin, self._outbox)]
        except BlockingIOError:
            pass
        except OSError:
            # The process closed its stdin, or has ended: that shows soon enough.
            self._outbox.clear()
        if not self._outbox:
            self._unwatch(self._stdin)
        elif self._stdin not in self._ready:
            self._watch(self._stdin, self._flush, select.POLLOUT)

    def _hear(self) -> None:
        if self._read(self._stdout, self._inbox) and self.flooded:
            self._unwatch(self._stdout)
        self.heard_at = time.monotonic()

    def _overhear(self) -> None:
        before = len(self.stderr)
        self._read(self._stderr, self.stderr)
        self.complained += len(self.stderr) - before
        del self.stderr[:-STDERR_KEPT]

    def _read(self, descriptor: int, into: bytearray) -> bool:
        """Tell whether something came; stop watching a pipe that was closed."""
        try:
            data = os.read(descriptor, READ)
        except BlockingIOError:
            return False
        if not data:
            self._unwatch(descriptor)
        into += data
        return bool(data)

    def _end(self) -> None:
        self._unwatch(self._pidfd)
        for _ in range(HEARD // READ):
            if self._stdout in self._ready:
                self._hear()
            if self._stderr in self._ready:
                self._overhear()
        self.ended = exit_reason(self._pidfd)
