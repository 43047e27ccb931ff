"""The pipes and the end of a bot's process as a poller watches them: by the kernel, or by threads.

Linux has epoll and pidfd: one system call asks for news of every pipe and of every process. Windows
can ask no pipe of a child whether it has news, and macOS has no pidfd, so there a thread for each
pipe waits in a blocking call and puts what came into a mailbox. The poller above does not know the
difference: both sources report whatever is ready until it was taken, and a read or a write that
would wait raises BlockingIOError. Polls by select were tried and left: Windows refuses pipes.

A thread that waits in a read cannot be called back, and a descriptor that is closed beneath it may
soon be another file's. So each pipe is closed by its own thread, at the end that a kill brings.
"""

import errno
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Union

import trio

from arena.machine import has_kernel_events
from arena.sandbox.process import Process

CAN_READ, CAN_WRITE = 1, 4
"""Kinds of news, as epoll numbers them."""
PIPE_READ_BYTES = 65_536
"""The most bytes read at once: all that a pipe holds, so that no flood holds up the others."""
CHUNKS_AHEAD = 4
"""Reads of a thread that may wait to be taken: a flood then waits in its pipe."""
DRAIN_S = 0.25
"""The time in s that threads have to read what an ended process left in its pipes. Mostly the pipes
end at once; a child of the process may hold them open."""
SWITCH_S = 0.0005
"""The time in s after which a busy poller lets a thread run: with Python's 5 ms bots pay for it."""
CLOSED_DESCRIPTOR = -1
"""A descriptor to which every write fails."""
Source = Any
"""A key of the watch: a descriptor, or a mailbox of a thread."""
Watch = Union["select.epoll", "ThreadedWatch"]
"""The wait for news of sources, level-triggered."""
Streams = Union["KernelStreams", "ThreadedStreams"]
"""The three pipes of a process and its end; `read` and `write` take one of the first three, and
raise BlockingIOError in place of waiting, or another OSError. An empty read is the pipe's end."""


def new_watch() -> Watch:
    """Return a watch of what `streams_of` returns."""
    return select.epoll() if has_kernel_events() else ThreadedWatch()


async def wait_for_news(watch: Watch) -> None:
    """Wait in trio until a source has news."""
    if isinstance(watch, ThreadedWatch):
        await watch.wait()
    else:
        await trio.lowlevel.wait_readable(watch.fileno())


def streams_of(process: Process, kill: Callable[[], None]) -> Streams:
    """Return the streams of a process that was started with three pipes.

    `kill` ends what the process has left behind. Raises OSError.
    """
    if has_kernel_events():
        return KernelStreams(process)
    return ThreadedStreams(process, kill)


def _pipes(process: Process) -> list[IO[bytes]]:
    return [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe]


def _waiting_bytes(pipe: IO[bytes]) -> int:
    """Return the bytes in a pipe; 0 on Windows, which tells only the pipe's reader."""
    if sys.platform == "win32" or pipe.closed:
        return 0
    import fcntl
    import termios

    waiting = bytearray(4)
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, waiting)
    return int.from_bytes(waiting, sys.byteorder)


# Linux: descriptors, of which the kernel tells.


class KernelStreams:
    """Streams without blocking, and a descriptor for the process itself."""

    def __init__(self, process: Process) -> None:
        """Watch a process. Raises OSError if the machine has no descriptor left."""
        self.read: Callable[..., bytes] = os.read
        self.write: Callable[..., int] = os.write
        self._pipes = _pipes(process)
        self.end = os.pidfd_open(process.pid)
        self.stdin: Source
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)

    def close_stdin(self) -> None:
        """Close stdin: its descriptor may soon be another file's."""
        self._pipes[0].close()
        self.stdin = CLOSED_DESCRIPTOR

    def unread(self) -> int:
        """Return the bytes written that the process has not read."""
        return _waiting_bytes(self._pipes[0])

    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal, without reaping: until its group is killed
        the id of the process must stay taken. None: it runs.
        """
        status = os.waitid(os.P_PIDFD, self.end, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def has_ended(self, ms: int) -> bool:
        """Return whether the process ends within so many ms."""
        end = select.poll()
        end.register(self.end, select.POLLIN)
        return bool(end.poll(ms))

    async def wait_for_end(self) -> None:
        """Wait in trio for the end."""
        await trio.lowlevel.wait_readable(self.end)

    def close(self) -> None:
        """Close all descriptors."""
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        os.close(self.end)


# Other systems: mailboxes, which threads fill and empty.


class ThreadedWatch:
    """A watch of mailboxes that reports, as epoll does, each with news until that was taken."""

    def __init__(self) -> None:
        self.closed = False
        self._change = threading.Condition()
        self._ready: dict[Mailbox, None] = {}
        self._wake: Callable[[], object] | None = None
        sys.setswitchinterval(SWITCH_S)

    def register(self, source: Source, _kind: int = CAN_READ, /) -> None:
        """Report this mailbox from now on."""
        source.watch = self
        # Whatever came before is seen here, and later news by its thread.
        if source.has_news():
            self.note(source)

    def unregister(self, source: Source, /) -> None:
        """Report this mailbox no more."""
        source.watch = None

    def note(self, source: "Mailbox") -> None:
        """Note that a mailbox has news; its thread calls this."""
        with self._change:
            self._ready[source] = None
            self._change.notify()
            if self._wake:
                self._wake()
                self._wake = None

    def poll(self, seconds: float, /) -> list[tuple[Source, int]]:
        """Return the mailboxes with news, after at most so many s."""
        with self._change:
            if not self._prune() and seconds > 0:
                self._change.wait(seconds)
            return [(source, CAN_READ) for source in self._prune()]

    def _prune(self) -> dict["Mailbox", None]:
        """Drop and return: those whose news was taken, and the others."""
        for source in tuple(self._ready):
            if source.watch is not self or not source.has_news():
                del self._ready[source]
        return self._ready

    async def wait(self) -> None:
        """Wait in trio for the next news."""
        token, news = trio.lowlevel.current_trio_token(), trio.Event()
        with self._change:
            if self._prune():
                news.set()
            self._wake = lambda: token.run_sync_soon(news.set)
        try:
            await news.wait()
        finally:
            with self._change:
                self._wake = None

    def close(self) -> None:
        """Report nothing more."""
        self.closed = True


class Mailbox:
    """A source that a thread of its own serves; the thread ends by itself, with its pipe."""

    watch: ThreadedWatch | None = None

    def has_news(self) -> bool:
        """Tell whether there is anything to take."""
        raise NotImplementedError

    def _start(self, work: Callable[[], None]) -> None:
        self.thread = threading.Thread(target=work, daemon=True)
        try:
            self.thread.start()
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, f"{error}") from error

    def _note(self) -> None:
        if watch := self.watch:
            watch.note(self)


class ReadMailbox(Mailbox):
    """The bytes that a thread has read from a pipe; it waits while nobody takes them."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._chunks: deque[bytes] = deque()
        self._room = threading.Semaphore(CHUNKS_AHEAD)
        self._is_closed = False
        self._start(self._read_on)

    def has_news(self) -> bool:
        """Tell whether something came, or the end."""
        return bool(self._chunks)

    def read(self, _most: int = PIPE_READ_BYTES) -> bytes:
        """Return all that came, nothing at the end. Raises BlockingIOError."""
        if not self._chunks:
            raise BlockingIOError
        data = bytearray()
        while self._chunks and self._chunks[0]:
            data += self._chunks.popleft()
            self._room.release()
        return bytes(data)

    def close(self) -> None:
        """Take nothing more."""
        self._is_closed = True
        self._room.release()

    def _read_on(self) -> None:
        descriptor, data = self._pipe.fileno(), b"more"
        while data:
            self._room.acquire()
            try:
                data = os.read(descriptor, PIPE_READ_BYTES)
            except OSError:  # So Windows ends a pipe.
                data = b""
            if self._is_closed:
                self._room.release()
            else:
                self._chunks.append(data)
                self._note()
        self._pipe.close()


class WriteMailbox(Mailbox):
    """The bytes that a thread has still to write into a pipe; news: it takes more."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._waiting = b""
        self._is_closed = False
        self._lock = threading.Lock()
        self._work = threading.Semaphore(0)
        self._start(self._write_on)

    def has_news(self) -> bool:
        """Tell whether it takes more: as much waits at most as in a pipe of Linux."""
        return len(self._waiting) < PIPE_READ_BYTES

    def write(self, data: bytes | bytearray) -> int:
        """Take all of the data. Raises BlockingIOError if too much waits, BrokenPipeError."""
        if self._is_closed:
            raise BrokenPipeError
        if not self.has_news():
            raise BlockingIOError
        with self._lock:
            self._waiting += data
        self._work.release()
        return len(data)

    def unread(self) -> int:
        """Return the bytes that wait here and, where the system tells it, in the pipe."""
        return len(self._waiting) + _waiting_bytes(self._pipe)

    def close(self) -> None:
        """Take nothing more; close the pipe behind what waits."""
        self._is_closed = True
        self._work.release()

    def _write_on(self) -> None:
        descriptor = self._pipe.fileno()
        # The process closed its stdin, or has ended: that shows soon enough.
        with suppress(OSError):
            while self._work.acquire() and (self._waiting or not self._is_closed):
                with self._lock:
                    view, self._waiting = memoryview(self._waiting), b""
                while view:
                    view = view[os.write(descriptor, view) :]
                self._note()
        self._is_closed, self._waiting = True, b""
        self._note()
        with suppress(OSError):
            self._pipe.close()


class EndMailbox(Mailbox):
    """The end of a process: news when it has come and all that the process wrote was read."""

    def __init__(
        self, process: Process, kill: Callable[[], None], readers: tuple[ReadMailbox, ...]
    ) -> None:
        self.code: int | None = None
        self.over = threading.Event()
        self._process = process
        self._kill = kill
        self._readers = readers
        self._start(self._wait)

    def has_news(self) -> bool:
        """Tell whether the process has ended."""
        return self.over.is_set()

    def _wait(self) -> None:
        code = self._process.wait()
        # At once: the id of a group without its first process is free when the group is empty.
        self._kill()
        until = time.monotonic() + DRAIN_S
        for reader in self._readers:
            reader.thread.join(max(0.0, until - time.monotonic()))
        self.code = code
        self.over.set()
        self._note()


class ThreadedStreams:
    """Streams behind a thread for each pipe, and one for the end of the process."""

    def __init__(self, process: Process, kill: Callable[[], None]) -> None:
        """Serve the pipes of a process. Raises OSError if the system has no thread left."""
        stdin, stdout, stderr = _pipes(process)
        self.read: Callable[..., bytes] = ReadMailbox.read
        self.write: Callable[..., int] = WriteMailbox.write
        self.stdout, self.stderr = ReadMailbox(stdout), ReadMailbox(stderr)
        self.stdin = WriteMailbox(stdin)
        self.end = EndMailbox(process, kill, (self.stdout, self.stderr))

    def close_stdin(self) -> None:
        """Close stdin once its last piece is written."""
        self.stdin.close()

    def unread(self) -> int:
        """Return the bytes written that the process has not read, as far as the system tells."""
        return self.stdin.unread()

    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None: it runs."""
        return self.end.code

    def has_ended(self, ms: int) -> bool:
        """Return whether the process ends within so many ms."""
        return self.end.over.wait(ms / 1000)

    async def wait_for_end(self) -> None:
        """Wait in trio for the end."""
        watch = ThreadedWatch()
        watch.register(self.end)
        await watch.wait()

    def close(self) -> None:
        """Let the threads end, each with its pipe."""
        for mailbox in (self.stdin, self.stdout, self.stderr):
            mailbox.close()
