"""Bot processes: their start, pipes without blocking, and the faults that end a bot's games."""

import hashlib
import signal
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from arena.files import DamagedFileError, open_file
from arena.match.player import Evidence, Listener
from arena.match.poller import Poller
from arena.match.sources import PIPE_READ_BYTES, Source, Streams, streams_of
from arena.sandbox.command import Command, as_named, program_paths
from arena.sandbox.process import (
    SHORTAGES,
    AccessError,
    Censor,
    Process,
    ResourceUsage,
    Sandbox,
    SandboxedProcess,
)
from arena.sealed import module
from arena.sealed.module import FrameReader, installed_interpreter, pack_files
from protocol.codec import Fault, printable
from protocol.errors import UserError
from protocol.messages import MAX_LINE

# The start of a bot's process: its slot of the sandbox, its streams, and what a host is sent first.


SHELL_SIGNALS = 128
"""The number that bubblewrap, like a shell, adds to the signal that killed its program."""
STDERR_A_GAME = 2**20
"""Bytes of stderr that a bot may write in one game: reading them costs the other tables time."""
KEPT_STDERR_BYTES = 2_048
"""The last bytes of stderr that are kept of a bot in a game."""
SHUT_DOWN_S = 1.0
"""The time in s that a bot has to exit after its stdin was closed."""
REAP_S = 10.0
"""The time in s that the kernel has to end a killed process."""


class CannotStartError(Exception):
    """The failure of a bot's process to start; its text says why.

    The machine or the command is to blame, not the bot: it is never a foul.
    """

    def __init__(self, text: str, error: OSError | None = None) -> None:
        super().__init__(text)
        self.shortage = error is not None and error.errno in SHORTAGES
        """True if the machine was short of a resource, so that trying again may help."""


def attach_streams(slot: SandboxedProcess, process: Process) -> Streams:
    """Return the streams of a process.

    Raises CannotStartError if the machine cannot watch one more, and leaves no process.
    """
    try:
        return streams_of(process, slot.kill)
    except OSError as error:
        slot.kill()
        with process:
            slot.close()
        raise CannotStartError(f"it cannot be watched: {error.strerror}", error) from error


async def read_first(command: Command, sandbox: Sandbox) -> bytes:
    """Return what a sealed bot's host is sent first: its compiled module, or the bot's files.

    It is empty for other bots. Raises CannotStartError.
    """
    if not module.is_module(command.argv):
        return b""
    path, memory = command.argv[0], sandbox.limits.memory
    if not module.is_interpreted(command.argv):
        return await compile_once(path, memory, lambda: spawn(*hosted(command, sandbox, "only")))
    try:
        paths = await trio.to_thread.run_sync(installed_interpreter, path)
        if not paths.code.exists():  # Its user has emptied the cache.
            installed_interpreter.cache_clear()
            await trio.to_thread.run_sync(installed_interpreter, path)
        return await trio.to_thread.run_sync(pack_files, command.folder, command.reads)
    except UserError as error:
        raise CannotStartError(f"{error}") from error


def hosted(command: Command, sandbox: Sandbox, first: int | str) -> tuple[Command, Sandbox]:
    """Return the command of a sealed bot's host, and its sandbox. Raises CannotStartError.

    `first`: see `host_argv`.
    """
    # The host reads no file but the module: a stranger's event may list others for it.
    code, *words = command.argv
    files: tuple[str, ...] = (code,)
    folder = command.folder
    if module.is_interpreted(command.argv):
        # The bot's own files come by stdin.
        files = tuple(map(str, installed_interpreter(code)))
        code, folder = files[0], f"{Path(files[0]).parent}"
    reads = (*program_paths(Path(sys.executable)), *module.host_files(), *files)
    argv = module.host_argv((code, *words), sandbox.limits.memory, first)
    return Command(argv, folder, reads), sandbox.for_hosts(module.SPARE_MIB)


def spawn(command: Command, sandbox: Sandbox) -> tuple[SandboxedProcess, Process]:
    """Start a bot's process in a slot of its own.

    Raises CannotStartError: a missing file, or a machine that refuses, is not a bot's foul.
    """
    for path in (command.folder, command.argv[0], *command.reads):
        if Path(path).is_absolute() and not Path(path).exists():
            raise CannotStartError(f"{path} does not exist")
    for path in command.reads:
        # The folder that was checked before the first game must still be the one opened now.
        if as_named(Path(path)) != Path(path):
            raise CannotStartError(f"a folder above {path} has become a link")
    try:
        slot = sandbox.new_slot()
    except OSError as error:
        raise CannotStartError(f"the sandbox has no place for a bot: {error}", error) from error
    try:
        return slot, slot.start(command)
    except AccessError as error:
        slot.close()
        raise CannotStartError(str(error)) from error
    except OSError as error:
        slot.close()
        text = f"{command.argv[0]} cannot be started: {error.strerror}"
        raise CannotStartError(text, error) from error


# Modules compiled once in a run: to compile one takes longer than to start its host.
#
# A host that runs no bot compiles the bytes that it is sent, in the sandbox of a bot. What comes
# back is machine code for hosts of the same bytes only; no bot can write it, for none has begun.


MODULE_COMPILE_S, MOST_COMPILED = 120, 32
"""The most s to compile a module, five times what the largest takes; the most modules kept."""
MAX_MODULE_BYTES, COMPLETE_MARK, REFUSED_MARK = 8 * 2**20, b"complete", b"refused"
"""As in `host.py`, which imports nothing of ours."""
Start = Callable[[], tuple[SandboxedProcess, Process]]
_COMPILED: dict[tuple[bytes, int], bytes] = {}
_LOCKS: defaultdict[tuple[bytes, int], trio.Lock] = defaultdict(trio.Lock)


async def compile_once(path: str, memory: int, start: Start) -> bytes:
    """Return the compiled module, or `REFUSED`; empty if its host is to say why.

    `start` starts the host that compiles, in a slot of the sandbox with `memory` bytes.
    """
    # In a thread that Ctrl-C leaves alone: a stranger's event may name a file on any disk.
    data = await trio.to_thread.run_sync(_read, Path(path), abandon_on_cancel=True)
    key = hashlib.sha256(data).digest(), memory
    async with _LOCKS[key]:
        if data and key not in _COMPILED:
            if len(_COMPILED) >= MOST_COMPILED:
                del _COMPILED[next(iter(_COMPILED))]
            _COMPILED[key] = await _compile(data, *start())
        return _COMPILED.get(key, b"")


def _read(path: Path) -> bytes:
    with suppress(OSError, DamagedFileError), open_file(path.resolve(), MAX_MODULE_BYTES) as file:
        return file.read(MAX_MODULE_BYTES)
    return b""


async def _compile(data: bytes, slot: SandboxedProcess, process: Process) -> bytes:
    async def end_in_time() -> None:
        try:
            await trio.sleep(MODULE_COMPILE_S)
        finally:
            slot.kill()

    # It leaves the process unreaped: until then its id is not reused.
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(end_in_time)
            output = await trio.to_thread.run_sync(_exchange, data, process)
            nursery.cancel_scope.cancel()
    finally:
        with process:
            ran = not slot.never_ran()
        slot.close()
    if output.endswith(COMPLETE_MARK):
        return output.removesuffix(COMPLETE_MARK)
    return REFUSED_MARK if ran and not output else b""


def _exchange(data: bytes, process: Process) -> bytes:
    stdin, stdout = process.stdin, process.stdout
    assert stdin and stdout  # noqa: PT018 - both are pipes, or neither is
    with suppress(BrokenPipeError), stdin:
        stdin.write(data)
    return stdout.read()


# Bot processes: three pipes without blocking, which a poller serves, and faults that end games.


DEATH_MS = 30
"""The time in ms that a process has to end after it wrote a line that is not a message: often a
crash wrote it. The game is lost, so this wait comes once; to start a new process takes longer."""
STDOUT_KEPT = 2_048
"""The first bytes that are kept of what such a process wrote to stdout."""
OUTBOX = 2**20
"""The most bytes that may wait for a bot that does not read."""


class BotProcess:
    """A bot's process in a game. It never blocks, and never raises for what the bot does."""

    frames: FrameReader | None = None
    """The reader of frames from a sealed bot's host; None for other bots."""

    def __init__(
        self, command: Command, sandbox: Sandbox, code: bytes = b"", *, keeps_stderr: bool = False
    ) -> None:
        """Start the process in this thread, in a group of its own. `code`: see `read_first`.

        `trio.lowlevel.open_process` would fork in a worker thread, which trio retires after 10 s
        without work; then the kernel kills each process that asked to die with its parent.
        Raises CannotStartError.
        """
        if module.is_module(command.argv):
            self.frames = FrameReader()
            command, sandbox = hosted(command, sandbox, len(code))
        self.limits = sandbox.limits
        """The limits of its resources."""
        self.tables = 1
        """The number of games that it may play at once."""
        self.read_at = 0.0
        """The time of its last output, in s of the monotonic clock."""
        self.stderr = bytearray()
        """The last bytes of its stderr."""
        self.stderr_kept = KEPT_STDERR_BYTES
        """The last bytes of stderr that are kept as evidence."""
        self.stderr_bytes = 0
        """The bytes that it has written to stderr in the present game."""
        self.keeps_stderr = keeps_stderr
        self.fault: Fault | None = None
        self.cpu_seen_ms = 0.0
        """The last value of `cpu_ms`: a question must not wait until the kernel counts again."""
        self.is_unavailable = False
        """True if its first line was an excuse in place of a hello."""
        self.voids = 0
        """The number of earlier starts that did not count; 0 again once a game has logged it."""
        self._stderr_taken = 0
        self._listener: Listener | None = None
        self._effort_ms = 0.0
        self._inbox = bytearray()
        self._outbox = bytearray(code)
        self._closed = False
        self._pipes: Poller | None = None
        self._censor = Censor(command.environment)
        self._slot, self._process = spawn(command, sandbox)
        self._streams = attach_streams(self._slot, self._process)
        self._read_from, self._write_to = self._streams.read, self._streams.write

    @property
    def never_ran(self) -> bool:
        """True if the sandbox ended before the bot began: the machine's fault, not the bot's."""
        return self._slot.never_ran()

    @property
    def has_written(self) -> bool:
        """True if the bot has written anything to its stdout."""
        return self.read_at > 0

    @property
    def has_input(self) -> bool:
        """True if a line, or a part of one, or a fault waits to be taken."""
        return bool(self._inbox) or self.fault is not None

    def listen(self, pipes: Poller, listener: Listener) -> None:
        """Tell this listener from now on whenever the bot has written or is gone."""
        self.set_listener(listener)
        self._register(pipes)

    def set_listener(self, listener: Listener | None) -> None:
        """Tell this listener from now on, for another game, whose stderr is counted from 0."""
        self._listener = listener
        self.stderr_bytes = self._stderr_taken = 0

    def take_offer(self, tables: int) -> None:
        """Keep the games at once that its hello offers. A sealed bot's order must not vary: one."""
        self.tables = 1 if self.frames else tables

    # --- sending ---

    def send(self, line: bytes) -> None:
        """Write a line, or as much as the pipe takes; the rest waits for `flush`."""
        if self.frames:
            self.frames.note_sent(line)
        # Every question passes here: the usual write costs one call.
        try:
            size = 0 if self._outbox else self._write_to(self._streams.stdin, line)
        except OSError:
            size = self._write(line)
        if size < len(line):
            self._hold(line[size:])

    def _hold(self, rest: bytes) -> None:
        # A host reads on at the latest when its bot has used up its instructions.
        if len(self._outbox) > OUTBOX and not self.frames:
            self._set_fault(Fault("late", f"It does not read: over {OUTBOX} bytes wait for it."))
            return
        self._outbox += rest
        if self._pipes:
            self._pipes.register_writer(self._streams.stdin, self._flush)

    def _flush(self) -> bool:
        """Write the rest, or as much of it as the pipe takes; return True if nothing is left."""
        del self._outbox[: self._write(self._outbox)]
        return not self._outbox

    def _write(self, line: bytes | bytearray) -> int:
        try:
            return self._write_to(self._streams.stdin, line)
        except BlockingIOError:
            return 0
        except OSError:
            # The process closed its stdin, or has ended: that shows soon enough.
            return len(line)

    def close_stdin(self) -> None:
        """Close stdin; later lines go nowhere."""
        if self._pipes:
            self._pipes.unregister_writer(self._streams.stdin)
        self._outbox.clear()
        self._streams.close_stdin()

    # --- receiving ---

    def _register(self, pipes: Poller) -> None:
        self._pipes = pipes
        pipes.register_reader(self._streams.stdout, self.on_readable)
        pipes.register_reader(self._streams.stderr, self.on_stderr)
        pipes.register_reader(self._streams.end, self.on_exit)
        if self._outbox:
            pipes.register_writer(self._streams.stdin, self._flush)

    def _unregister(self) -> None:
        if self._pipes:
            for source in (self._streams.stdout, self._streams.stderr, self._streams.end):
                self._pipes.register_reader(source, None)
            self._pipes.unregister_writer(self._streams.stdin)
            self._pipes = None

    def _stop_reading(self, source: Source) -> None:
        if self._pipes:
            self._pipes.register_reader(source, None)

    def _read_stdout(self) -> bytes:
        """Read once; return what came, nothing if the process has closed its stdout."""
        assert self._pipes
        try:
            data = self._read_from(self._streams.stdout, PIPE_READ_BYTES)
        except BlockingIOError:
            return b""
        if data:
            # It was there when the poller looked: the bot does not pay for reads of other bots.
            self.read_at = self._pipes.looked_at
        else:
            self._closed = True
            self._stop_reading(self._streams.stdout)
        return data

    def _read_stderr(self) -> None:
        try:
            data = self._read_from(self._streams.stderr, PIPE_READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._stop_reading(self._streams.stderr)
        self.stderr_bytes += len(data)
        self.stderr += data
        if self._censor.patterns:
            # All that is kept: a value may come in two reads.
            self.stderr[:] = self._censor.clean(bytes(self.stderr))
        del self.stderr[: -self.stderr_kept]

    def _take_line(self) -> bytes | None:
        end = self._inbox.find(b"\n")
        if end < 0:
            return None
        line = bytes(self._inbox[:end])
        del self._inbox[: end + 1]
        return self._censor.clean(line)

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
        """Return at most `most` whole lines at once, as `next_line` does one by one."""
        *lines, rest = bytes(self._inbox).split(b"\n", most)
        self._inbox[:] = rest
        if len(lines) < most and len(rest) >= MAX_LINE:
            self._set_overlong()
        return [self._censor.clean(line) for line in lines] if self._censor.patterns else lines

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
        tail = bytes(self.stderr[-fresh:]) if fresh else b""
        return printable(tail.lstrip(b"\n"), 4 * self.stderr_kept)

    def stderr_tail(self) -> str:
        """Return the end of the bot's stderr, safe to show."""
        self._read_stderr()
        return printable(bytes(self.stderr.lstrip(b"\n")), 4 * self.stderr_kept)

    def last_words(self) -> tuple[str, bytes]:
        """Return how the process ended and its other output, if it ends within `DEATH_MS`.

        Return nothing while it lives, or for a sealed bot, whose host reports its end.
        """
        if self.frames or self.fault or not self._streams.has_ended(DEATH_MS):
            return "", b""
        self.take_in()
        return self._exit_reason(), bytes(self._inbox[:STDOUT_KEPT])

    def on_readable(self) -> None:
        """Read what the bot has written, and tell its game; a lone line takes no buffer."""
        listener = self._listener
        if self._inbox or listener is None or self._censor.patterns or self.frames:
            self._read_more()
            return self._notify()
        data = self._read_stdout()
        if data and data.find(b"\n") == len(data) - 1:
            return listener.hear_line(self, data[:-1])
        self._inbox += data
        return listener.hear()

    def _read_more(self) -> bool:
        """Read once; return True if data came. Too much unread data is a fault."""
        if len(self._inbox) > 4 * PIPE_READ_BYTES:
            self._set_fault(
                Fault("flooding", f"More than {4 * PIPE_READ_BYTES} bytes that nobody asked for.")
            )
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
        # A host may pass on an earlier game's stderr late, and it counts a game's stderr itself.
        if self.stderr_bytes > STDERR_A_GAME and not self.frames:
            detail = f"More than {STDERR_A_GAME} bytes of stderr in one game."
            self._set_fault(Fault("flooding", detail))
            self._notify()

    def on_exit(self) -> None:
        """Fault the bot because its process has ended."""
        self._stop_reading(self._streams.end)
        if self.fault is None and not self._closed:
            self._read_more()
        self._set_fault(Fault("gone", f"It {self._exit_reason()}."))
        self._notify()

    def _set_fault(self, fault: Fault) -> None:
        """Set the bot's first fault and read nothing more: its output must cost nobody time."""
        if self.fault is None:
            self.fault = fault
            # No question will come again: until its game is over it would only burn CPU.
            self._kill()
            self._stop_reading(self._streams.stdout)
            self._stop_reading(self._streams.stderr)

    # --- the end ---

    async def shut_down(self, goodbye: bytes) -> None:
        """Say goodbye, wait a little, kill the whole group, reap, close. Cannot be cancelled."""
        with trio.CancelScope(shield=True):
            self._unregister()
            self.send(goodbye)
            self.close_stdin()
            if self.fault is None:
                await self._wait_for_exit(SHUT_DOWN_S)
            self._kill()
            if not self._streams.has_ended(0):
                await self._wait_for_exit(REAP_S)
            self._process.poll()
            self._streams.close()
            self._slot.close()

    async def _wait_for_exit(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._streams.wait_for_end()

    def _kill(self) -> None:
        # Kill the whole group before reaping the first process: until then its id is not reused.
        if self._process.returncode is None:
            self._slot.kill()

    def _exit_reason(self) -> str:
        """Return how the process ended, as the end of a sentence about it; do not reap it."""
        code = self._streams.exit_code()
        if code is None:
            return "left"
        names = {number.value: number.name for number in signal.Signals}
        killer = -code if code < 0 else code - SHELL_SIGNALS
        # Higher statuses than those of signals come from the bot itself: Perl's `die` has 255.
        if code >= 0 and not 0 < killer <= max(names):
            return f"exited with status {code}"
        return f"was killed by {names.get(killer, f'signal {killer}')}"
