"""One bot in the sandbox: its user, its network, its start, its use of resources, its end."""

import ctypes
import errno
import os
import re
import select
import signal
import stat
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from arena.sandbox.cgroups import Cgroup, Parents, parents
from arena.sandbox.command import (
    NICE,
    WRITABLE,
    Command,
    Confinement,
    Limits,
    SandboxState,
    Tools,
    can_read,
    find_tools,
    walls,
    wrap_command,
)
from arena.sandbox.proxy import PORT
from arena.sandbox.syscalls import filter_program

if sys.platform != "win32":
    import fcntl

# Separate users: root gives every bot its own user for the life of the bot.


FIRST_USER, USERS_END = 60_600, 61_100
"""User numbers that systems leave free; below 65,536, so that containers map them."""
CLAIMS = Path("/run/boneyard-users")
"""The folder of claims, root's alone: whoever could claim all numbers would stop every run. Not
names of sockets or a folder in /tmp, which anybody may take first."""


class NoUserLeftError(OSError):
    """Every user number belongs to a living bot: a shortage that passes."""

    def __init__(self) -> None:
        super().__init__(
            errno.EAGAIN, f"All users from {FIRST_USER} to {USERS_END - 1} are in use by bots"
        )


class User:
    """A user number that no other bot on this machine has, in this run or another."""

    def __init__(self) -> None:
        """Claim a number. Raises NoUserLeftError, and OSError if claims cannot be made here."""
        with _claims() as folder:
            for number in sorted(set(range(FIRST_USER, USERS_END)) - _users_in_use()):
                if (claim := _claim(number, folder)) is not None:
                    self.number, self._claim = number, claim
                    return
        raise NoUserLeftError

    def release(self) -> None:
        """Give the number back; nothing of the bot is left."""
        os.close(self._claim)


@contextmanager
def _claims() -> Iterator[int]:
    """Open the folder of claims. Raises PermissionError if others can enter it, and OSError."""
    with suppress(FileExistsError):
        CLAIMS.mkdir(0o700)
    folder = os.open(CLAIMS, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(folder)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(errno.EPERM, "Others can enter this folder", str(CLAIMS))
        yield folder
    finally:
        os.close(folder)


def _claim(number: int, folder: int) -> int | None:
    """Return a descriptor that holds a user number until it is closed; None: another holds it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    claim = os.open(f"{number}", flags, 0o600, dir_fd=folder)
    try:
        # The kernel releases the lock however its holder dies.
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(claim)
        if error.errno != errno.EWOULDBLOCK:
            raise
        return None
    return claim


@cache
def _users_in_use() -> frozenset[int]:
    """Return the users who had processes when this run began: bots of others or of a dead referee.

    Such a bot must not meet one that it could read. This looks once; later the claims tell.
    """
    users: set[int] = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            numbers = status.read_text(errors="replace").partition("\nUid:")[2].partition("\n")[0]
            users.update(map(int, numbers.split()))
    return frozenset(users)


# The resources used by a process and its descendants, read from /proc. Ends and starts nothing.


class ResourceUsage(Struct, frozen=True):
    """A bot's use of resources."""

    cpu_ms: float
    """CPU time of all its processes since it was started, in ms."""
    memory: int
    """Memory that its processes keep resident now, in bytes."""


def usage_of(pid: int, most: int) -> ResourceUsage:
    """Return the use of a process and its descendants; consider no more than `most` of them."""
    cpu_ms, memory = 0.0, 0
    page, tick_ms = os.sysconf("SC_PAGE_SIZE"), 1000 / os.sysconf("SC_CLK_TCK")
    for _, process in zip(range(most), process_tree(pid), strict=False):
        with suppress(OSError, IndexError, ValueError):
            # The name may hold anything; the figures follow its closing bracket.
            fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
            cpu_ms += sum(map(int, fields[11:15])) * tick_ms
            memory += int(fields[21]) * page
    return ResourceUsage(cpu_ms, memory)


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, parents first."""
    waiting = deque([pid])
    while waiting:
        process = waiting.popleft()
        yield process
        waiting += children(process)


def children(pid: int) -> list[int]:
    """Return the processes that the threads of a process started and that still are its own."""
    processes: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - as in `_read`
            processes += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return processes


def kill_descendants(spared: int | None) -> None:
    """Kill all but one that this process and its children started, as far as they can be named."""
    _, *pids = process_tree(os.getpid())
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            if pid != spared:
                os.kill(pid, signal.SIGKILL)


def files_in(pid: int, folder: str) -> int:
    """Return the entries in a folder of a process that has a file system of its own there."""
    path, on_machine = Path(f"/proc/{pid}/root{folder}"), Path(folder)
    with suppress(OSError):
        # Until bubblewrap has changed its root, that is the machine's disk, with all its files.
        if not on_machine.exists() or path.stat().st_dev != on_machine.stat().st_dev:
            entries = os.statvfs(path)
            return entries.f_files - entries.f_ffree
    return 0


def _read(path: str) -> bytes:
    """Return a file of the kernel. Raises OSError.

    Not by pathlib, which takes twice as long: each bot is measured ten times a second.
    """
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see above
        return file.readall()


# Access of one bot to more than its files: addresses on the network, and variables.


PROXY = Path(__file__).parent / "proxy.py"
READY_S = 10.0
"""Seconds that bubblewrap has to name its process, and the proxy to listen."""
ADDRESS = f"http://127.0.0.1:{PORT}"
VARIABLES = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), ADDRESS),
    "NODE_USE_ENV_PROXY": "1",
}
"""The variables by which ordinary HTTP clients find the proxy."""
MIN_VALUE_LENGTH, MAX_VALUE_LENGTH = 8, 1024
"""Characters of a variable's value: a shorter one could not be told from other text."""


class AccessError(OSError):
    """A bot cannot have what its event opens to it; the text says why."""


def own_variables(command: Command, *, is_locked: bool) -> dict[str, str]:
    """Return the variables that a bot has besides everybody's.

    Raises AccessError if one is not set here, or if bots are not locked in, so that others could
    use them, or the network.
    """
    if (command.network or command.environment) and not is_locked:
        field = "network" if command.network else "environment"
        raise AccessError(
            f"`{field}` needs a locked sandbox, and it is off: other bots could use it too. "
            "`boneyard doctor` tells how to get one"
        )
    variables = VARIABLES if command.network else {}
    return variables | {name: _value(name) for name in command.environment}


def _value(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise AccessError(f"its variable {name} is not set in the environment of Boneyard")
    if not MIN_VALUE_LENGTH <= len(value) <= MAX_VALUE_LENGTH or not (
        value.isascii() and value.isprintable()
    ):
        raise AccessError(
            f"the value of {name} is not {MIN_VALUE_LENGTH} to {MAX_VALUE_LENGTH} printable ASCII "
            "characters"
        )
    return value


class Censor:
    """The removal of the values of a bot's variables from all that it writes."""

    def __init__(self, names: Sequence[str]) -> None:
        self.patterns = [
            (re.compile(b"".join(map(_spellings, value.encode()))), f"[{name}]".encode())
            for name in names
            if (value := os.environ.get(name))
        ]
        """A pattern for each value, and what replaces it; empty if nothing is to be removed."""

    def clean(self, text: bytes) -> bytes:
        """Return the text with the name of each variable in place of its value."""
        for pattern, name in self.patterns:
            text = pattern.sub(name, text)
        return text


def _spellings(character: int) -> bytes:
    """Return a pattern of the spellings that JSON has for a character: as it is, \\/, \\u002f."""
    plain = re.escape(bytes([character]))
    escape = rb"\\?" if character in b'"\\/' else b""
    return rb"(?:%b%b|\\u00(?i:%02x))" % (escape, plain, character)


class Proxy:
    """The proxy process of one bot that has been started and waits."""

    def __init__(self, report_pipe: int, addresses: Sequence[str]) -> None:
        """Start it for the bot that bubblewrap reports on this pipe. Raises AccessError."""
        pid = _child(report_pipe)
        self._process = subprocess.Popen(
            (sys.executable, "-I", "-S", str(PROXY), f"{pid}", *addresses),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            start_new_session=True,
        )
        assert self._process.stdout
        if not _readable(self._process.stdout.fileno()) or not self._process.stdout.readline():
            self._process.kill()
            why = self._process.communicate()[1].decode(errors="replace").strip()[-200:]
            raise AccessError(f"its proxy cannot listen: {why}")

    def close(self) -> None:
        """End it, and with it all its connections."""
        self._process.kill()
        self._process.communicate()


def _child(report_pipe: int) -> int:
    """Return the id of the process in the sandbox. Raises AccessError if there is none."""
    report = b""
    while b"," not in report and b"}" not in report:
        data = b""
        if _readable(report_pipe):
            with suppress(BlockingIOError):
                data = os.read(report_pipe, 1)
        if not data:
            raise AccessError("bubblewrap did not start")
        report += data
    return int(bytes(byte for byte in report if chr(byte).isdigit()))


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], READY_S)[0])


# The group of a bot's processes: all of them end by one call, or with our own process.
#
# On Linux bubblewrap ends a locked bot with us, and `off` promises nothing. Elsewhere `off` is all
# that there is, so a referee that was killed must leave no bot: Windows has jobs, and macOS gets a
# shell for each bot, which waits for the end of its stdin.


Process = subprocess.Popen[bytes]

if sys.platform == "win32":
    CREATE_SUSPENDED = 0x4
    KILL_ON_JOB_CLOSE = 0x2000
    ACCOUNTING, LIMITS = 1, 9
    """Kinds of what Windows tells of a job: 6 and 18 numbers of 64 bits."""
    LIMIT_FLAGS, PEAK_JOB_MEMORY = 2, 17
    """Places of two of the 18."""
    GROUP_OPTIONS = {"creationflags": CREATE_SUSPENDED | subprocess.CREATE_NEW_PROCESS_GROUP}

    class ProcessGroup:
        """A job: whatever the bot starts is in it, and the kernel ends it with its last handle."""

        def __init__(self, process: Process) -> None:
            """Put a suspended process into a job, and let it go on. Raises OSError."""
            # A referee that is killed before the assignment leaves a process that never runs.
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
            self._job = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
            limits, handle = (ctypes.c_uint64 * 18)(), ctypes.c_void_p(int(process._handle))
            limits[LIMIT_FLAGS] = KILL_ON_JOB_CLOSE
            size = ctypes.sizeof(limits)
            if not (
                self._kernel.SetInformationJobObject(self._job, LIMITS, limits, size)
                and self._kernel.AssignProcessToJobObject(self._job, handle)
            ):
                raise ctypes.WinError(ctypes.get_last_error())
            ctypes.WinDLL("ntdll").NtResumeProcess(handle)

        def usage(self, _most: int) -> ResourceUsage:
            """Return the use of all its processes, the ended ones too; the most memory so far."""
            times, memory = (ctypes.c_uint64 * 6)(), (ctypes.c_uint64 * 18)()
            for kind, numbers in ((ACCOUNTING, times), (LIMITS, memory)):
                size = ctypes.sizeof(numbers)
                self._kernel.QueryInformationJobObject(self._job, kind, numbers, size, None)
            return ResourceUsage((times[0] + times[1]) / 10_000, memory[PEAK_JOB_MEMORY])

        def kill(self) -> None:
            """End all its processes."""
            self._kernel.TerminateJobObject(self._job, 1)

        def close(self) -> None:
            """Close the job; its processes have ended."""
            self._kernel.CloseHandle(self._job)

else:
    GROUP_OPTIONS: dict[str, Any] = {"start_new_session": True}
    GUARD = 'trap "" HUP INT TERM; read -r line && exit; kill -s KILL -- "-$0"'
    """A line says that the bot has left; the end of stdin without one, that we have ended."""

    class ProcessGroup:
        """A process group; what leaves it by a session of its own is not reached."""

        def __init__(self, process: Process) -> None:
            """Take a process that leads a group. Raises OSError."""
            self._pid = process.pid
            self._guard: Process | None = None
            if not hasattr(os, "pidfd_open"):
                argv = ("/bin/sh", "-c", GUARD, f"{self._pid}")
                self._guard = subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)

        def usage(self, most: int) -> ResourceUsage:
            """Return the use of at most `most` of its processes; without /proc nothing."""
            return usage_of(self._pid, most)

        def kill(self) -> None:
            """End all its processes."""
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

        def close(self) -> None:
            """Let the guard go; its processes have ended."""
            if self._guard:
                self._guard.communicate(b"\n")


# One bot in the sandbox: its start, its use of resources, and its end.


SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""Errors of a machine that is short of something and may have it a moment later."""
WINDOWS_VARIABLES = (
    *("PATH", "PATHEXT", "SYSTEMROOT", "COMSPEC", "TEMP", "TMP"),
    "PROCESSOR_ARCHITECTURE",
)
"""The variables of Windows without which programs do not start, or write nowhere."""
INODE = 1024
"""Bytes of the kernel's memory that a file's entry counts as; an empty file takes 630."""


class SandboxedProcess:
    """A bot's user and cgroup, held from its start until nothing of it is left."""

    def __init__(
        self, confinement: Confinement, limits: Limits, tools: Tools, cgroup: Cgroup | None
    ) -> None:
        """Claim what the bot needs for itself. Raises OSError, NoUserLeftError among them."""
        self._is_locked = confinement.is_locked
        self._limits = limits
        self._tools = tools
        self._cgroup = cgroup
        # Only root can give a bot a user of its own.
        self._user = User() if self._is_locked and os.getuid() == 0 else None
        self._process: Process | None = None
        self._group: ProcessGroup | None = None
        self._report_pipe: int | None = None
        self._gate: int | None = None
        self._proxy: Proxy | None = None

    def start(self, command: Command, workshop: str = "") -> Process:
        """Start the bot and return it with its three pipes; `workshop`: see `walls`.

        Raises OSError.
        """
        with self._descriptors(command, workshop) as passed:
            self._process = subprocess.Popen(
                self._argv(command, passed),
                bufsize=0,
                cwd=command.folder,
                env=self._environment(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=tuple(passed.values()),
                **GROUP_OPTIONS,
            )
            try:
                self._group = ProcessGroup(self._process)
            except OSError:
                self._process.kill()
                raise
            if not self._is_locked:
                _put_last(self._process.pid)
            if command.network:
                self._open_network(self._process, command)
        return self._process

    @property
    def user(self) -> int:
        """Return the number of the user to whom the bot's files belong, as we see them."""
        return self._user.number if self._user else os.getuid()

    def never_ran(self) -> bool:
        """Tell whether bubblewrap has ended without a report that it started the bot.

        It reports on a pipe of its own, on which no bot can write.
        """
        # If there is a proxy, its start has read the report: the bot was started.
        if self._report_pipe is None or self._proxy:
            return False
        try:
            return not os.read(self._report_pipe, 1)
        except BlockingIOError:
            return False

    def usage(self) -> ResourceUsage:
        """Return the resources that the bot and all that it started have used so far."""
        assert self._process
        if self._cgroup:
            return ResourceUsage(self._cgroup.cpu_ms(), self._cgroup.memory())
        assert self._group
        usage = self._group.usage(4 * self._limits.processes)
        return replace(usage, memory=usage.memory + self._memory_of_files(self._process.pid))

    def _memory_of_files(self, pid: int) -> int:
        """Return the kernel's memory for the entries in the bot's folders, in bytes.

        bubblewrap cannot bound their number, and no process is charged for them: without a cgroup
        400,000 empty files held 240 MiB.
        """
        inits = children(pid)[:1] if self._is_locked else []
        return INODE * sum(files_in(init, folder) for init in inits for folder in WRITABLE)

    @property
    def is_counted(self) -> bool:
        """Tell whether a process of the bot is in its cgroup."""
        return self._cgroup is not None and self._cgroup.is_entered()

    @property
    def counts_cpu(self) -> bool:
        """Tell whether the CPU time is beyond the bot's influence, so that a referee may use it."""
        return self._cgroup is not None

    def kill(self) -> None:
        """Kill the bot and, if it is locked in, all that it started; others reap it."""
        assert self._process
        assert self._group
        if self._cgroup:
            self._cgroup.kill()
        # In a namespace the first process takes all others with it, and bubblewrap leaves only
        # after that.
        inner = children(self._process.pid) if self._is_locked else []
        for child in inner:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        if not inner:
            self._group.kill()

    def close(self) -> None:
        """Release what was acquired; the bot has been killed and reaped."""
        if self._cgroup:
            self._cgroup.remove()
        if self._proxy:
            self._proxy.close()
        if self._group:
            self._group.close()
        for descriptor in (self._report_pipe, self._gate):
            if descriptor is not None:
                os.close(descriptor)
        if self._user:
            self._user.release()

    @contextmanager
    def _descriptors(self, command: Command, workshop: str) -> Iterator[Mapping[str, int]]:
        """Yield options of bubblewrap with descriptors: its report pipe, its other options, the
        filter if there is one, and for a bot with a network the gate at which it waits for its
        proxy.
        """
        has_network = bool(command.network)
        if not self._is_locked:
            yield {}
            return
        self._report_pipe, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        passed = {"--info-fd": theirs}
        options = walls(command, self._limits, as_user=self._user is None, workshop=workshop)
        try:
            passed["--args"] = _file_with("\0".join(options).encode())
            if program := filter_program(has_network=has_network, is_build=bool(workshop)):
                passed["--seccomp"] = _file_with(program)
            if has_network:
                passed["--block-fd"], self._gate = os.pipe()
            yield passed
        finally:
            for descriptor in passed.values():
                os.close(descriptor)

    def _open_network(self, process: Process, command: Command) -> None:
        """Start the bot's proxy, then let the bot begin. Raises OSError, and leaves no process."""
        assert self._report_pipe is not None
        assert self._gate is not None
        try:
            self._proxy = Proxy(self._report_pipe, command.network)
            os.write(self._gate, b"1")
        except OSError:
            self.kill()
            with process:
                pass
            raise

    def _argv(self, command: Command, passed: Mapping[str, int]) -> tuple[str, ...]:
        """Return the command line with all that confines it."""
        if not self._is_locked:
            return command.argv
        number = self._user.number if self._user else None
        doors = self._cgroup.doors if self._cgroup else ()
        return wrap_command(command, self._limits, self._tools, number, passed, doors)

    def _environment(self, command: Command) -> dict[str, str]:
        """Return a bot's variables. Raises AccessError."""
        variables = own_variables(command, is_locked=self._is_locked)
        return clean_environment(command, is_locked=self._is_locked) | variables


def _file_with(data: bytes) -> int:
    descriptor = os.memfd_create("boneyard")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _put_last(pid: int) -> None:
    """Put a bot after the referee at a processor, and before it if the kernel must end something.

    `ENTRANCE` does it before a locked bot starts.
    """
    with suppress(OSError, AttributeError):  # Windows has no such call.
        Path(f"/proc/{pid}/oom_score_adj").write_bytes(b"1000")
        os.setpriority(os.PRIO_PGRP, pid, os.getpriority(os.PRIO_PROCESS, 0) + NICE)


def clean_environment(command: Command, *, is_locked: bool) -> dict[str, str]:
    """Return a bot's environment: UTF-8 as the encoding, and of our folders of programs those that
    it can read, because the others would tell it about their owner.
    """
    if sys.platform == "win32":
        kept = {name: os.environ[name] for name in WINDOWS_VARIABLES if name in os.environ}
        return kept | {"PYTHONUTF8": "1"}
    folders = os.environ.get("PATH", os.defpath).split(":")
    if is_locked:
        folders = [folder for folder in folders if can_read(command, folder)]
    return {"PATH": ":".join(folders) or os.defpath, "LANG": "C.UTF-8", "HOME": "/nonexistent"}


# The sandbox of a run: how bots are confined, and a process for every bot.


CGROUP_NUMBERS = count(1)
"""Numbers of cgroups, whose names have our process id: a worker has a sandbox for each order."""


class Sandbox:
    """A source of processes of bots, all confined alike and with the same limits."""

    def __init__(self, confinement: Confinement, limits: Limits, why_off: str = "") -> None:
        """Prepare a sandbox. `why_off`: the reason why bots are not locked in, if nobody wished it.

        Raises OSError (NoCgroupError among them) if its parts are missing.
        """
        self.confinement = confinement
        self.limits = limits
        self.why_off = why_off
        self._tools: Tools = find_tools()
        self._parents: Parents | None = parents() if confinement.is_bounded else None
        for tool in ("bwrap", "setpriv", "prlimit") if self.is_locked else ():
            if getattr(self._tools, tool) is None:
                raise FileNotFoundError(f"The program {tool} is not installed")

    @property
    def state(self) -> SandboxState:
        """Return the word for how bots are confined."""
        return self.confinement.state

    @property
    def is_locked(self) -> bool:
        """Tell whether bots are locked in."""
        return self.confinement.is_locked

    @property
    def brief(self) -> str:
        """Return how bots are confined, in a line; doctor has the rest."""
        if self.is_locked:
            return f"Sandbox: {self.confinement.description}."
        why = self.why_off or "`boneyard doctor` helps."
        return f"Sandbox: off; bots can do all that you can. {why}"

    def for_hosts(self, mib: int) -> "Sandbox":
        """Return the same sandbox with so much more memory, for processes that count their work."""
        other = copy(self)
        other.limits = replace(self.limits, memory_mib=self.limits.memory_mib + mib, cpu_s=None)
        return other

    def new_slot(self) -> SandboxedProcess:
        """Return a slot for one bot, its user and cgroup: it starts nothing. Raises OSError."""
        cgroup = None
        if self._parents is not None:
            cgroup = Cgroup(self._parents, next(CGROUP_NUMBERS), self.limits)
        try:
            return SandboxedProcess(self.confinement, self.limits, self._tools, cgroup)
        except OSError:
            if cgroup:
                cgroup.remove()
            raise
