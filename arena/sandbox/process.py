"""One bot in the sandbox: its start, its use of resources, and its end."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.sandbox.command import (
    NICE,
    Command,
    Tools,
    can_read,
    readable_paths,
    walls,
    wrap_command,
)
from arena.sandbox.kernel.cgroups import Cgroup
from arena.sandbox.kernel.landlock import restrict_this_thread
from arena.sandbox.kernel.seccomp import filter_program
from arena.sandbox.limits import REQUIRED, Level, Limits
from arena.sandbox.network import Proxy, own_variables
from arena.sandbox.pythons import on_a_python_within_reach, runs_as_another
from arena.sandbox.usage import ResourceUsage, children, usage_of
from arena.sandbox.users import KILLER, User, needs_user

Process = subprocess.Popen[bytes]
SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""Errors of a machine that is short of something and may have it a moment later."""
END_ALL = """
import os, sys
killer, bots = map(int, sys.argv[1:])
os.setresuid(killer, bots, 0)
try:
    os.kill(-1, 9)
except OSError:
    pass
"""
"""A program that ends every process of a user. It may signal them by its effective user; they may
not signal it, because its real and its saved user are others: a quicker bot would stop it."""
END_S = 5.0
"""Seconds that this may take; it takes about 20 ms."""


class SandboxedProcess:
    """A bot's user, cgroup and thread, held from its start until nothing of it is left."""

    def __init__(self, level: Level, limits: Limits, tools: Tools, cgroup: Cgroup | None) -> None:
        self._level = level
        self._limits = limits
        self._tools = tools
        self._cgroup = cgroup
        self._user = User() if needs_user(level, os.getuid()) else None
        self._walls: ThreadPoolExecutor | None = None
        self._process: Process | None = None
        self._news: int | None = None
        self._gate: int | None = None
        self._proxy: Proxy | None = None

    def start(self, command: Command, workshop: str = "") -> Process:
        """Start the bot and return it with its three pipes; `workshop`: see `walls`.

        Raises OSError.
        """
        if self._user and runs_as_another(self._level):
            command = on_a_python_within_reach(command)
        own = own_variables(command, self._level)
        with self._descriptors(command, workshop) as passed:
            number = self._user.number if self._user else None
            doors = self._cgroup.doors if self._cgroup else ()
            argv = wrap_command(
                *(self._level, command, self._limits, self._tools, number, passed, doors)
            )

            def started() -> Process:
                return subprocess.Popen(
                    argv,
                    bufsize=0,
                    cwd=command.folder,
                    env=clean_environment(command, self._level) | own,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    # The filter of level C, which the thread has set, lets nobody leave a session.
                    start_new_session=self._level != "C",
                    process_group=0 if self._level == "C" else None,
                    pass_fds=tuple(passed.values()),
                )

            self._process = self._within_walls(command, started)
            if self._level not in REQUIRED:
                _put_last(self._process.pid)
            if command.network:
                self._open_network(self._process, command)
        return self._process

    def never_ran(self) -> bool:
        """Tell whether bubblewrap has ended without a report that it started the bot.

        It reports on a pipe of its own, on which no bot can write.
        """
        # A proxy has read the beginning of the report: there was one.
        if self._news is None or self._proxy:
            return False
        try:
            return not os.read(self._news, 1)
        except BlockingIOError:
            return False

    def usage(self) -> ResourceUsage:
        """Return the resources that the bot and all that it started have used so far."""
        assert self._process
        if self._cgroup:
            return ResourceUsage(self._cgroup.cpu_ms(), self._cgroup.memory())
        return usage_of(self._process.pid, 4 * self._limits.processes)

    @property
    def counts_cpu(self) -> bool:
        """Tell whether the CPU time is beyond the bot's influence, so that a referee may use it."""
        return self._cgroup is not None

    def kill(self) -> None:
        """Kill the bot and what it started, as far as the level reaches; others reap it."""
        assert self._process
        pid = self._process.pid
        if self._cgroup:
            self._cgroup.kill()
        # In a namespace the first process takes all others with it, and bubblewrap leaves only
        # after that.
        inner = children(pid) if self._level in ("A", "B") else []
        for child in inner:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        if not inner:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            self._kill_user()

    def close(self) -> None:
        """Release what was acquired; the bot has been killed and reaped."""
        if self._walls:
            self._walls.shutdown()
        if self._cgroup:
            self._cgroup.remove()
        if self._proxy:
            self._proxy.close()
        for descriptor in (self._news, self._gate):
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
        if self._level not in ("A", "B"):
            yield {}
            return
        self._news, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
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
        assert self._news is not None
        assert self._gate is not None
        try:
            self._proxy = Proxy(self._news, command.network)
            os.write(self._gate, b"1")
        except OSError:
            self.kill()
            with process:
                pass
            raise

    def _within_walls(self, command: Command, start: Callable[[], Process]) -> Process:
        if self._level != "C":
            return start()
        # The thread restricts itself for good, and the bot inherits it. It lives as long as the
        # bot, because a bot dies with the thread that started it.
        self._walls = ThreadPoolExecutor(1)
        # A link would open all that it leads to; its target is listed separately.
        reads = [path for path in command.reads if not Path(path).is_symlink()]
        self._walls.submit(restrict_this_thread, (*readable_paths(reads), "/proc")).result()
        return self._walls.submit(start).result()

    def _kill_user(self) -> None:
        """Kill, without a namespace, all of the bot's user: that includes what left its group."""
        if self._user and self._level in ("C", "D"):
            words = (sys.executable, "-ISc", END_ALL, str(KILLER), str(self._user.number))
            with suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(words, check=False, timeout=END_S, stdin=subprocess.DEVNULL)


def _file_with(data: bytes) -> int:
    descriptor = os.memfd_create("boneyard")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _put_last(pid: int) -> None:
    """Put a bot after the referee at a processor, and before it if the kernel must end something.

    Levels A and B do it before the bot starts.
    """
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_bytes(b"1000")
        os.setpriority(os.PRIO_PGRP, pid, os.getpriority(os.PRIO_PROCESS, 0) + NICE)


def clean_environment(command: Command, level: Level) -> dict[str, str]:
    """Return a bot's environment: UTF-8 as the encoding, and of our folders of programs those that
    it can read, because the others would tell it about their owner.
    """
    folders = os.environ.get("PATH", os.defpath).split(":")
    if level in (*REQUIRED, "C"):
        folders = [folder for folder in folders if can_read(command, folder)]
    return {"PATH": ":".join(folders) or os.defpath, "LANG": "C.UTF-8", "HOME": "/nonexistent"}
