"""Bot processes: the only place that starts, watches, kills and reaps them, with their group."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import trio
from msgspec.structs import replace

from arena.sandbox.command import Command
from arena.sandbox.dependencies import as_named
from arena.sandbox.process import SHORTAGES, Process, SandboxedProcess
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.usage import ResourceUsage
from protocol.codec import Fault, printable
from protocol.messages import MAX_LINE

READ = 65_536
"""The most bytes read at once, so that one bot's flood does not hold up the others."""
OUTBOX = 2**20
"""The most bytes that may wait for a bot that does not read."""
CLOSED = -1
"""A descriptor to which every write fails."""
STDERR_KEPT = 2_048
"""The last bytes of a bot's stderr that are kept as evidence."""
STDERR_A_GAME = 2**20
"""Bytes of stderr that a bot may write in one game: reading them costs the other tables time."""
SHUT_DOWN_S = 1.0
"""The time in s that a bot has to exit after its stdin was closed."""
SHELL_SIGNALS = 128
"""The number that bubblewrap, like a shell, adds to the signal that killed its program."""
REAP_S = 10.0
"""The time in s that the kernel has to end a killed process."""


class Pipes(Protocol):
    """The reader and writer of a bot's pipes: the poller."""

    looked_at: float
    """The time of its last look at all pipes, in s of the monotonic clock."""

    def register_reader(self, descriptor: int, reader: Callable[[], None] | None) -> None:
        """Call the reader whenever the descriptor has data to read; None ends that."""

    def register_writer(self, bot: "BotProcess") -> None:
        """Flush the bot whenever its pipe takes more, until no line waits for it."""


class CannotStartError(Exception):
    """The failure of a bot's process to start; its text says why.

    The machine or the command is to blame, not the bot: it is never a foul.
    """

    def __init__(self, text: str, error: OSError | None = None) -> None:
        super().__init__(text)
        self.shortage = error is not None and error.errno in SHORTAGES
        """True if the machine was short of a resource, so that trying again may help."""


class BotProcess:
    """One process and its three pipes. It never blocks, and never raises for what the bot does."""

    def __init__(self, command: Command, sandbox: Sandbox) -> None:
        """Start the process in this thread, in a slot of the sandbox and a group of its own.

        `trio.lowlevel.open_process` would fork in a worker thread, which trio retires after 10 s
        without work; then the kernel kills each process that asked to die with its parent.
        Raises CannotStartError.
        """
        self.fault: Fault | None = None
        self.read_at = 0.0
        self.silent = True
        """True until the bot writes to its stdout."""
        self.tables = 1
        """The games that the bot can play at once, from its hello."""
        self.cpu_seen_ms = 0.0
        """The last value of `cpu_ms`: a question must not wait until the kernel counts again."""
        self._heard: Callable[[], None] = ignore
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._stderr = bytearray()
        self._stderr_read = 0
        self._closed = False
        self._limits = sandbox.limits
        self._pipes: Pipes | None = None
        self._slot, self._process = spawn(command, sandbox)
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._pidfd = open_pidfd(self._slot, self._process)
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._stderr_fd = self._process.stderr.fileno()
        for descriptor in (self._stdin, self._stdout, self._stderr_fd):
            os.set_blocking(descriptor, False)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def never_ran(self) -> bool:
        """True if the sandbox ended before the bot began: the machine's fault, not the bot's."""
        return self._slot.never_ran()

    @property
    def stdin(self) -> int | None:
        """The descriptor that must become writable before the rest can be sent; None: no rest."""
        return self._stdin if self._outbox else None

    def listen(self, pipes: Pipes, heard: Callable[[], None]) -> None:
        """Call `heard` from now on whenever the bot has written or is gone."""
        self._pipes = pipes
        self.on_input(heard)
        pipes.register_reader(self._stdout, self._readable)
        pipes.register_reader(self._stderr_fd, self._complains)
        pipes.register_reader(self._pidfd, self._exited)

    def on_input(self, heard: Callable[[], None]) -> None:
        """Call `heard` from now on, for another game, in which stderr is counted from 0 again."""
        self._heard = heard
        self._stderr_read = 0

    def send(self, line: bytes) -> None:
        """Write a line, or as much as the pipe takes; the rest waits for `flush`."""
        if self._outbox:
            if len(self._outbox) > OUTBOX:
                self._faulted(Fault("late", f"It does not read: over {OUTBOX} bytes wait for it."))
            else:
                self._outbox += line
            return
        written = self._write(line)
        if written < len(line):
            self._outbox += line[written:]
            if self._pipes:
                self._pipes.register_writer(self)

    def take_in(self) -> None:
        """Read all that the bot has written up to now."""
        while self.fault is None and not self._closed and self._read_stdout():
            pass

    def flush(self) -> None:
        """Write the rest, or as much of it as the pipe takes."""
        del self._outbox[: self._write(self._outbox)]

    def next_line(self) -> bytes | None:
        """Return the next whole line without its newline, or None. An endless line is a fault."""
        inbox = self._inbox
        if not inbox:
            return None
        end = inbox.find(b"\n")
        if end < 0:
            if len(inbox) >= MAX_LINE:
                self._faulted(Fault("overlong", f"A line may have {MAX_LINE} bytes."))
            return None
        line = bytes(inbox[:end])
        del inbox[: end + 1]
        return line

    def disqualify(self, fault: Fault) -> None:
        """Stop the bot for a foul: nothing that it wrote counts any more; it must be replaced."""
        self._inbox.clear()
        self._faulted(fault)

    def cpu_ms(self) -> float:
        """Return the CPU time of the bot and of all that it started, in ms, to about 10 ms."""
        return self._spent().cpu_ms

    def _spent(self) -> ResourceUsage:
        spent = self._slot.usage()
        # The kernel drops the time of a process that ended and was not waited for. The bot used it.
        self.cpu_seen_ms = max(self.cpu_seen_ms, spent.cpu_ms)
        return replace(spent, cpu_ms=self.cpu_seen_ms)

    def check_limits(self) -> None:
        """Fault the bot for too much memory or CPU, or a closed stdout; called now and then."""
        if self._closed and self.fault is None:
            self._faulted(Fault("gone", "It closed its stdout."))
            self._heard()
        fault = self._overspent(self._spent())
        if fault and self.fault is None:
            self._faulted(fault)
            self._heard()

    def _overspent(self, spent: ResourceUsage) -> Fault | None:
        limits = self._limits
        if spent.memory > limits.memory:
            return Fault("memory", f"More than {limits.memory_mib} MiB of memory.")
        # Only a cgroup counts what a bot cannot hide.
        if limits.cpu_s and self._slot.counts_cpu and spent.cpu_ms > limits.cpu_s * 1000:
            return Fault("late", f"More than {limits.cpu_s} s of CPU time in a sitting.")
        return None

    def stderr_tail(self) -> str:
        """Return the end of the bot's stderr, safe to show."""
        self._drain_stderr()
        return printable(bytes(self._stderr.lstrip(b"\n")), 4 * STDERR_KEPT)

    async def shut_down(self, goodbye: bytes) -> None:
        """Say goodbye, wait a little, kill the whole group, reap, close. Cannot be cancelled."""
        with trio.CancelScope(shield=True):
            self._unwatch()
            self.send(goodbye)
            self._close_stdin()
            if self.fault is None:
                await self._ended_within(SHUT_DOWN_S)
            await self._killed()

    def _close_stdin(self) -> None:
        """Close stdin; later lines go nowhere, for its descriptor may soon be another file's."""
        assert self._process.stdin
        self._process.stdin.close()
        self._stdin = CLOSED

    async def _killed(self) -> None:
        self._kill()
        await self._ended_within(REAP_S)
        self._process.poll()
        assert self._process.stdout
        assert self._process.stderr
        self._process.stdout.close()
        self._process.stderr.close()
        os.close(self._pidfd)
        self._slot.close()

    def _kill(self) -> None:
        # Kill the whole group before reaping the first process: until then its id is not reused.
        if self._process.returncode is None:
            self._slot.kill()

    async def _ended_within(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await trio.lowlevel.wait_readable(self._pidfd)

    def _write(self, line: bytes | bytearray) -> int:
        try:
            return os.write(self._stdin, line)
        except BlockingIOError:
            return 0
        except OSError:
            # The bot closed its stdin: it will be late, or it is gone already.
            return len(line)

    def _readable(self) -> None:
        self._read_stdout()
        self._heard()

    def _read_stdout(self) -> bool:
        """Read once; return True if data came."""
        assert self._pipes
        if len(self._inbox) > 4 * READ:
            self._faulted(Fault("flooding", f"More than {4 * READ} bytes that nobody asked for."))
            return False
        try:
            data = os.read(self._stdout, READ)
        except BlockingIOError:
            return False
        # The data was there when the poller looked: the bot does not pay for reads of other bots.
        self.read_at = self._pipes.looked_at
        self._inbox += data
        self.silent = self.silent and not data
        if not data:
            # Mostly the process is about to end; a moment later `_exited` knows how.
            self._closed = True
            self._pipes.register_reader(self._stdout, None)
        return bool(data)

    def _exited(self) -> None:
        """Fault the bot because its process has ended; a child of it may hold its stdout open."""
        assert self._pipes
        self._pipes.register_reader(self._pidfd, None)
        if self.fault is None and not self._closed:
            self._read_stdout()
        self._faulted(Fault("gone", f"It {exit_reason(self._pidfd)}."))
        self._heard()

    def _faulted(self, fault: Fault) -> None:
        """Set the bot's first fault and read nothing more: its output must cost nobody time."""
        if self.fault is None:
            self.fault = fault
            # No question will come again: until its game is over it would only burn CPU.
            self._kill()
            if self._pipes:
                self._pipes.register_reader(self._stdout, None)
                self._pipes.register_reader(self._stderr_fd, None)

    def _complains(self) -> None:
        self._drain_stderr()
        if self._stderr_read > STDERR_A_GAME:
            detail = f"More than {STDERR_A_GAME} bytes of stderr in one game."
            self._faulted(Fault("flooding", detail))
            self._heard()

    def _drain_stderr(self) -> None:
        try:
            data = os.read(self._stderr_fd, READ)
        except BlockingIOError:
            return
        if not data and self._pipes:
            self._pipes.register_reader(self._stderr_fd, None)
        self._stderr_read += len(data)
        self._stderr += data
        del self._stderr[:-STDERR_KEPT]

    def _unwatch(self) -> None:
        if self._pipes:
            for descriptor in (self._stdout, self._stderr_fd, self._pidfd):
                self._pipes.register_reader(descriptor, None)
            self._pipes = None


def exit_reason(pidfd: int) -> str:
    """Return how a process ended, as the end of a sentence about it; do not reap it."""
    # The process id must stay taken until the group is killed.
    ended = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return "left"
    names = {known.value: known.name for known in signal.Signals}
    status, by_itself = ended.si_status, ended.si_code == os.CLD_EXITED
    killer = status - SHELL_SIGNALS if by_itself else status
    # Higher statuses than those of signals come from the bot itself: Perl's `die` has 255.
    if by_itself and not 0 < killer <= signal.SIGRTMAX:
        return f"exited with status {status}"
    return f"was killed by {names.get(killer, f'signal {killer}')}"


def open_pidfd(slot: SandboxedProcess, process: Process) -> int:
    """Return a descriptor that becomes readable when the process has ended.

    Raises CannotStartError if the machine has none left, and leaves no process.
    """
    try:
        return os.pidfd_open(process.pid)
    except OSError as error:
        slot.kill()
        with process:
            slot.close()
        raise CannotStartError(f"it cannot be watched: {error.strerror}", error) from error


def spawn(command: Command, sandbox: Sandbox) -> tuple[SandboxedProcess, Process]:
    """Start a bot's process in a slot of its own.

    Raises CannotStartError: a missing file, or a machine that refuses, is not a bot's foul.
    """
    for path in (command.folder, command.argv[0], *command.reads):
        if path.startswith("/") and not Path(path).exists():
            raise CannotStartError(f"{path} does not exist")
    for path in command.reads:
        # The folder that was checked before the first game must still be the one opened now.
        if as_named(Path(path)) != Path(path):
            raise CannotStartError(f"a folder above {path} has become a link")
    try:
        slot = sandbox.new_process()
    except OSError as error:
        raise CannotStartError(f"the sandbox has no place for a bot: {error}", error) from error
    try:
        return slot, slot.start(command)
    except OSError as error:
        slot.close()
        text = f"{command.argv[0]} cannot be started: {error.strerror}"
        raise CannotStartError(text, error) from error


def ignore() -> None:
    """Do nothing: no game listens to the bot yet."""
