"""Bot processes: the bots that a poller serves, with the faults that end their games."""

import select

import trio
from msgspec.structs import replace

from arena.match.piped_process import (
    READ,
    REAP_S,
    SHUT_DOWN_S,
    STDERR_A_GAME,
    PipedProcess,
    Pipes,
    exit_reason,
)
from arena.match.player import Evidence, Listener
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.usage import ResourceUsage
from arena.sealed.frames import FrameReader
from protocol.codec import Fault, printable
from protocol.messages import MAX_LINE

DEATH_MS = 30
"""The time in ms that a process has to end after a line that is not a message: often a crash wrote
it. Its game is lost, so the wait comes once; a process to replace it takes longer."""
STDOUT_KEPT = 2_048
"""The first bytes that are kept of what such a process wrote to stdout."""
OUTBOX = 2**20
"""The most bytes that may wait for a bot that does not read."""


class BotProcess(PipedProcess):
    """A bot's process in a game. It never blocks, and never raises for what the bot does."""

    def __init__(
        self, command: Command, sandbox: Sandbox, code: bytes = b"", *, keeps_stderr: bool = False
    ) -> None:
        """Start the process. `code`: see `compile_module`. Raises CannotStartError."""
        super().__init__(command, sandbox, code=code)
        self.keeps_stderr = keeps_stderr
        self._stderr_taken = 0
        self.fault: Fault | None = None
        self.cpu_seen_ms = 0.0
        """The last value of `cpu_ms`: a question must not wait until the kernel counts again."""
        self.is_unavailable = False
        """True if its first line was an excuse in place of a hello."""
        self.voids = 0
        """Starts before this one that did not count, until a game has taken them up."""
        self._listener: Listener | None = None
        self._effort_ms = 0.0

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def has_written(self) -> bool:
        """True if the bot has written anything to its stdout."""
        return self.read_at > 0

    @property
    def has_input(self) -> bool:
        """True if a line, or a part of one, or a fault waits to be taken."""
        return bool(self._inbox) or self.fault is not None

    def listen(self, pipes: Pipes, listener: Listener) -> None:
        """Tell this listener from now on whenever the bot has written or is gone."""
        self.set_listener(listener)
        self._register(pipes)

    def set_listener(self, listener: Listener | None) -> None:
        """Tell this listener from now on, for another game, whose stderr is counted from 0."""
        self._listener = listener
        self.stderr_bytes = self._stderr_taken = 0

    def _hold(self, rest: bytes) -> None:
        # A host reads on at the latest when its bot has used up its instructions.
        if len(self._outbox) > OUTBOX and not self.frames:
            self._set_fault(Fault("late", f"It does not read: over {OUTBOX} bytes wait for it."))
        else:
            super()._hold(rest)

    def take_in(self) -> None:
        """Read all that the bot has written up to now."""
        while self.fault is None and not self._closed and self._read_more():
            pass

    def put_back(self, line: bytes) -> None:
        """Keep a line for `next_line`: the bot sent it before it was asked."""
        self._inbox += line + b"\n"

    def next_line(self) -> bytes | None:
        """Return the next whole line without its newline, or None. An endless line is a fault."""
        if not self._inbox:
            return None
        if self.frames:
            return self._next_framed(self.frames)
        line = self._take_line()
        if line is None and len(self._inbox) >= MAX_LINE:
            self._set_overlong()
        return line

    def _next_framed(self, frames: FrameReader) -> bytes | None:
        """Return the next line of a sealed bot in this game, as its host passes it on."""
        while (line := self._take_line()) is not None:
            if frame := frames.read(line):
                self._effort_ms = frame.effort_ms
                if frame.fault:
                    self._set_fault(frame.fault)
                return frame.line
        return None

    def take_lines(self, most: int) -> list[bytes]:
        """Return at most so many whole lines at once, as `next_line` does one by one."""
        *lines, rest = bytes(self._inbox).split(b"\n", most)
        self._inbox[:] = rest
        if len(lines) < most and len(rest) >= MAX_LINE:
            self._set_overlong()
        return [self._censor.clean(line) for line in lines] if self._censor else lines

    def _set_overlong(self) -> None:
        self._set_fault(Fault("overlong", f"A line may have {MAX_LINE} bytes."))

    def disqualify(self, fault: Fault) -> None:
        """Stop the bot for a foul: nothing that it wrote counts any more; it must be replaced."""
        self._inbox.clear()
        self._set_fault(fault)

    def evidence(self) -> Evidence:
        """Return the evidence of this process."""
        return Evidence(
            self.keeps_stderr,
            self.new_stderr,
            self.stderr_tail,
            self._take_voids,
            self.cpu_ms,
            lambda: self.cpu_seen_ms,
            self.last_words,
            lambda: self._effort_ms,
        )

    def _take_voids(self) -> int:
        voids, self.voids = self.voids, 0
        return voids

    def cpu_ms(self) -> float:
        """Return the CPU time of the bot and of all that it started, in ms, to about 10 ms."""
        return self._usage().cpu_ms

    def _usage(self) -> ResourceUsage:
        spent = self._slot.usage()
        # The kernel drops the time of a process that ended and was not waited for. The bot used it.
        self.cpu_seen_ms = max(self.cpu_seen_ms, spent.cpu_ms)
        return replace(spent, cpu_ms=self.cpu_seen_ms)

    def check_limits(self) -> None:
        """Fault the bot for too much memory or CPU, or a closed stdout; called now and then."""
        if self._closed and self.fault is None:
            self._set_fault(Fault("gone", "It closed its stdout."))
            self._notify()
        fault = self._find_excess(self._usage())
        if fault and self.fault is None:
            self._set_fault(fault)
            self._notify()

    def _find_excess(self, spent: ResourceUsage) -> Fault | None:
        limits = self.limits
        if spent.memory > limits.memory:
            return Fault("memory", f"More than {limits.memory_mib} MiB of memory.")
        # Only a cgroup counts what a bot cannot hide.
        if limits.cpu_s and self._slot.counts_cpu and spent.cpu_ms > limits.cpu_s * 1000:
            return Fault("late", f"More than {limits.cpu_s} s of CPU time in a sitting.")
        return None

    def new_stderr(self) -> str:
        """Return the end of its stderr since the last call in this game, safe to show."""
        self._read_stderr()
        fresh, self._stderr_taken = self.stderr_bytes - self._stderr_taken, self.stderr_bytes
        kept = bytes(self.stderr[-fresh:]) if fresh else b""
        return printable(kept.lstrip(b"\n"), 4 * self.stderr_kept)

    def stderr_tail(self) -> str:
        """Return the end of the bot's stderr, safe to show."""
        self._read_stderr()
        return printable(bytes(self.stderr.lstrip(b"\n")), 4 * self.stderr_kept)

    def last_words(self) -> tuple[str, bytes]:
        """Return how the process ended, if it does so at once, and what else it wrote.

        Return nothing while it lives. A sealed bot has a host, which tells of its end.
        """
        end = select.poll()
        end.register(self._pidfd, select.POLLIN)
        if self.frames or self.fault or not end.poll(DEATH_MS):
            return "", b""
        self.take_in()
        return exit_reason(self._pidfd), bytes(self._inbox[:STDOUT_KEPT])

    async def shut_down(self, goodbye: bytes) -> None:
        """Say goodbye, wait a little, kill the whole group, reap, close. Cannot be cancelled."""
        with trio.CancelScope(shield=True):
            self._unregister()
            self.send(goodbye)
            self.close_stdin()
            if self.fault is None:
                await self._wait_for_exit(SHUT_DOWN_S)
            self._kill()
            if self._process.poll() is None:
                await self._wait_for_exit(REAP_S)
                self._process.poll()
            self._close()

    async def _wait_for_exit(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await trio.lowlevel.wait_readable(self._pidfd)

    def on_readable(self) -> None:
        """Read what the bot has written, and tell its game; a lone line takes no buffer."""
        listener = self._listener
        if self._inbox or listener is None or self._censor or self.frames:
            self._read_more()
            return self._notify()
        data = self._read_stdout()
        if data and data.find(b"\n") == len(data) - 1:
            return listener.hear_line(self, data[:-1])
        self._inbox += data
        return listener.hear()

    def _read_more(self) -> bool:
        """Read once; return True if data came. Too much unread data is a fault."""
        if len(self._inbox) > 4 * READ:
            self._set_fault(Fault("flooding", f"More than {4 * READ} bytes that nobody asked for."))
            return False
        # Mostly the process is about to end when it closes its stdout; soon `on_exit` knows how.
        data = self._read_stdout()
        self._inbox += data
        return bool(data)

    def _notify(self) -> None:
        if self._listener:
            self._listener.hear()

    def on_stderr(self) -> None:
        """Read the bot's stderr; too much of it in one game is a fault."""
        self._read_stderr()
        # What a host passes on late is of an earlier game, and it counts itself.
        if self.stderr_bytes > STDERR_A_GAME and not self.frames:
            detail = f"More than {STDERR_A_GAME} bytes of stderr in one game."
            self._set_fault(Fault("flooding", detail))
            self._notify()

    def on_exit(self) -> None:
        """Fault the bot because its process has ended."""
        self._stop_reading(self._pidfd)
        if self.fault is None and not self._closed:
            self._read_more()
        self._set_fault(Fault("gone", f"It {exit_reason(self._pidfd)}."))
        self._notify()

    def _set_fault(self, fault: Fault) -> None:
        """Set the bot's first fault and read nothing more: its output must cost nobody time."""
        if self.fault is None:
            self.fault = fault
            # No question will come again: until its game is over it would only burn CPU.
            self._kill()
            self._stop_reading(self._stdout)
            self._stop_reading(self._stderr)
