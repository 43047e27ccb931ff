"""Bots as processes: started here and nowhere else, watched, killed and reaped with their group."""

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

from protocol.codec import Fault, printable
from protocol.messages import MAX_LINE

READ = 65_536
"""Bytes read at once."""
OUTBOX = 2**20
"""Bytes that may wait for a bot that does not read."""
STDERR_KEPT = 2_048
"""Bytes of a bot's last stderr that are kept as evidence."""
STDERR_A_GAME = 2**20
"""Bytes of stderr that a bot may write in one game: reading them costs the other tables time."""
LEAVE_S = 1.0
"""How long a bot may take to leave after its stdin closed."""
MIB = 2**20
PAGE = os.sysconf("SC_PAGE_SIZE")
REAP_S = 10.0
"""How long the kernel may take to end a killed process."""

Watch = Callable[[int, Callable[[], None] | None], None]
"""Call the function whenever the descriptor has something to read; None ends that."""


class Command(Struct, frozen=True):
    """How a bot is started."""

    argv: tuple[str, ...]
    """Program and arguments."""
    folder: str
    """Working directory."""
    memory_mib: int = 512
    """Memory that the process may keep resident, in MiB; more is a foul."""


class CannotStartError(Exception):
    """The machine or the command, not the bot, kept a process from starting: never a foul."""


class Bot:
    """One process and its three pipes. Never blocks, never raises for what the bot does."""

    def __init__(self, command: Command, start_env: Mapping[str, str]) -> None:
        """Start the process in this thread and in a group of its own.

        Not through `trio.lowlevel.open_process`: it forks in a worker thread, and with that
        thread's retirement dies every process that asked to die with its parent.
        Raises CannotStartError.
        """
        self.fault: Fault | None = None
        self.read_at = 0.0
        self._heard: Callable[[], None] = nobody
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._stderr = bytearray()
        self._stderr_read = 0
        self._closed = False
        self._memory_limit = command.memory_mib * MIB
        self._watch: Watch | None = None
        self._process = _started(command, start_env)
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._pidfd = os.pidfd_open(self._process.pid)
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._stderr_fd = self._process.stderr.fileno()
        for descriptor in (self._stdin, self._stdout, self._stderr_fd):
            os.set_blocking(descriptor, False)
        # A wall behind the foul: one burst between two looks must not take the machine's memory.
        _limit(self._process.pid, resource.RLIMIT_DATA, 2 * self._memory_limit)
        _limit(self._process.pid, resource.RLIMIT_CORE, 0)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def stdin(self) -> int | None:
        """The descriptor that must become writable before the rest can be said."""
        return self._stdin if self._outbox else None

    def listen(self, watch: Watch, heard: Callable[[], None]) -> None:
        """From now on `heard` is called whenever the bot has written or is gone."""
        self._watch = watch
        self.tell(heard)
        watch(self._stdout, self._readable)
        watch(self._stderr_fd, self._complains)
        watch(self._pidfd, self._exited)

    def tell(self, heard: Callable[[], None]) -> None:
        """Who is called from now on: another game begins, with all of its stderr to fill."""
        self._heard = heard
        self._stderr_read = 0

    def say(self, line: bytes) -> None:
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

    def flush(self) -> None:
        """Write what is left."""
        del self._outbox[: self._write(self._outbox)]

    def next_line(self) -> bytes | None:
        """The next complete line without its newline, or None. An endless line is a fault."""
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

    def condemn(self, fault: Fault) -> None:
        """The bot has fouled: nothing that it wrote counts any more, and it must be replaced."""
        self._inbox.clear()
        self._faulted(fault)

    def look(self) -> None:
        """Called now and then: too much memory is a fault, and so is a closed stdout."""
        if self._closed and self.fault is None:
            self._faulted(Fault("gone", "It closed its stdout."))
            self._heard()
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_bytes().split()[1])
        except (OSError, IndexError):
            return
        if pages * PAGE > self._memory_limit and self.fault is None:
            self._faulted(Fault("memory", f"More than {self._memory_limit // MIB} MiB of memory."))
            self._heard()

    def last_words(self) -> str:
        """The end of its stderr, safe to show."""
        self._drain_stderr()
        return printable(bytes(self._stderr), 4 * STDERR_KEPT)

    async def leave(self, goodbye: bytes) -> None:
        """Say goodbye, wait a little, kill the whole group, reap, close. Cannot be cancelled."""
        with trio.CancelScope(shield=True):
            self._unwatch()
            self.say(goodbye)
            assert self._process.stdin
            self._process.stdin.close()
            if self.fault is None:
                await self._ended_within(LEAVE_S)
            await self._killed()

    async def _killed(self) -> None:
        # The group is killed before its leader is reaped: until then its number is not reused.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._ended_within(REAP_S)
        self._process.poll()
        assert self._process.stdout
        assert self._process.stderr
        self._process.stdout.close()
        self._process.stderr.close()
        os.close(self._pidfd)

    async def _ended_within(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await trio.lowlevel.wait_readable(self._pidfd)

    def _write(self, line: bytes | bytearray) -> int:
        try:
            return os.write(self._stdin, line)
        except BlockingIOError:
            return 0
        except OSError:
            # It closed its stdin: it will be late, or it is gone already.
            return len(line)

    def _readable(self) -> None:
        self._read_stdout()
        self._heard()

    def _read_stdout(self) -> None:
        if len(self._inbox) > 4 * READ:
            self._faulted(Fault("flooding", f"More than {4 * READ} bytes that nobody asked for."))
            return
        try:
            data = os.read(self._stdout, READ)
        except BlockingIOError:
            return
        self.read_at = time.monotonic()
        self._inbox += data
        if not data:
            # Mostly it is about to end: how it ended is known when it has, a moment later.
            self._closed = True
            if self._watch:
                self._watch(self._stdout, None)

    def _exited(self) -> None:
        """The process has ended, though something that it started may hold its stdout open."""
        assert self._watch
        self._watch(self._pidfd, None)
        if self.fault is None and not self._closed:
            self._read_stdout()
        self._faulted(Fault("gone", f"It {self._how_it_ended()}."))
        self._heard()

    def _how_it_ended(self) -> str:
        # Looked at without reaping: the process number must stay taken until the group is killed.
        ended = os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return "left"
        if ended.si_code == os.CLD_EXITED:
            return f"exited with status {ended.si_status}"
        names = {known.value: known.name for known in signal.Signals}
        return f"was killed by {names.get(ended.si_status, f'signal {ended.si_status}')}"

    def _faulted(self, fault: Fault) -> None:
        """Nothing more is read: what a condemned bot writes costs nobody any time."""
        if self.fault is None:
            self.fault = fault
            if self._watch:
                self._watch(self._stdout, None)
                self._watch(self._stderr_fd, None)

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
        if not data and self._watch:
            self._watch(self._stderr_fd, None)
        self._stderr_read += len(data)
        self._stderr += data
        del self._stderr[:-STDERR_KEPT]

    def _unwatch(self) -> None:
        if self._watch:
            for descriptor in (self._stdout, self._stderr_fd, self._pidfd):
                self._watch(descriptor, None)
            self._watch = None


def _limit(pid: int, which: int, value: int) -> None:
    with suppress(OSError):
        resource.prlimit(pid, which, (value, value))


def clean_environment() -> dict[str, str]:
    """What a bot is told of the machine: where programs are, and that text is UTF-8."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": "/nonexistent"}


def _started(command: Command, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    if not Path(command.folder).is_dir():
        raise CannotStartError(f"{command.folder} is no folder")
    try:
        return subprocess.Popen(
            command.argv,
            bufsize=0,
            cwd=command.folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise CannotStartError(f"{command.argv[0]} cannot be started: {error.strerror}") from error


def nobody() -> None:
    """Nobody listens yet."""
