"""Runs the program as another system would: without the modules and calls that Linux alone has.

python -m tests.support.other_systems win32 "rules draw" "verify demo": what each command says.

Libraries are imported before the system is disguised: that they work there is theirs to promise.
"""

import importlib
import os
import select
import shlex
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

LIBRARIES = (
    *("click", "jinja2", "msgspec", "numpy", "rich.console", "rich.live", "rich.table"),
    *("trio", "wasmtime"),
    *("asyncio", "concurrent.futures.process", "ctypes", "http.server", "multiprocessing"),
    *("random", "shutil", "socket", "subprocess", "tarfile", "tempfile", "webbrowser", "zoneinfo"),
    *(("compression.zstd",) if sys.version_info >= (3, 14) else ("backports.zstd",)),
)
"""Modules that are imported as Linux has them."""
MODULES = {
    # Without the last all is done in one process: Linux cannot start others as Windows does.
    "win32": (
        *("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"),
        "multiprocessing.synchronize",
    ),
    "darwin": (),
}
"""Modules that a system does not have."""
CALLS: dict[str, dict[ModuleType, tuple[str, ...]]] = {
    "darwin": {
        os: (
            *("memfd_create", "pidfd_open", "pipe2", "fdatasync", "sched_getaffinity"),
            *("P_PIDFD", "O_PATH", "eventfd", "sched_setaffinity", "waitid"),
        ),
        select: ("epoll",),
    }
}
CALLS["win32"] = {
    os: (
        *CALLS["darwin"][os],
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "WNOHANG"),
        *("fchmod", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getuid"),
        *("killpg", "set_blocking", "setsid", "statvfs", "sysconf", "uname"),
    ),
    select: ("epoll", "poll"),
    signal: ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGURG", "alarm", "setitimer"),
}
"""Names that its modules do not have."""


class Refusing(MetaPathFinder):
    """A finder that refuses the modules that the system does not have."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ImportError for such a module; leave all others to the usual finders."""
        del path, target
        if fullname in self._names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def disguise(system: str) -> None:
    """Take from this process what the system does not have."""
    for name in LIBRARIES:
        importlib.import_module(name)
    # Only to wait for its own events: on another system it would have another call.
    importlib.import_module("trio._core._io_epoll").select = SimpleNamespace(**vars(select))  # type: ignore[attr-defined]
    for name in MODULES[system]:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Refusing(MODULES[system]))
    for module, names in CALLS[system].items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    if system == "win32":
        msvcrt: Any = ModuleType("msvcrt")
        msvcrt.LK_NBLCK, msvcrt.locking = 2, lambda *_: None
        sys.modules["msvcrt"] = msvcrt
    sys.platform = system


if __name__ == "__main__":
    disguise(sys.argv[1])
    from click.testing import CliRunner

    from tournaments.cli.main import main

    for line in sys.argv[2:]:
        done = CliRunner().invoke(main, shlex.split(line), prog_name="boneyard")
        print(f"{line}: {done.exit_code}", done.output, sep="\n")
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
