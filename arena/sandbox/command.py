"""The words before a bot's command that put it into a level of the sandbox. Starts nothing."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from shutil import which

from msgspec import Struct

from arena.sandbox.limits import Level, Limits

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Where the machine keeps programs and libraries: every bot may read them."""
SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/java*",
    "/etc/ssl/openssl.cnf",
)
"""The settings without which programs of the machine do not start."""
STEADY = frozenset(
    [
        "acpi",
        "cmdline",
        "config.gz",
        "consoles",
        "cpuinfo",
        "devices",
        "dma",
        "driver",
        "execdomains",
        "fb",
        "filesystems",
        "iomem",
        "ioports",
        "kallsyms",
        "misc",
        "modules",
        "partitions",
        "version",
    ]
)
"""What bots may see of /proc besides their own processes: nobody can make it change."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""All devices that bots have."""
SIGNALS = 256
"""Signals and timers that a bot may keep waiting: few, because all bots of one user draw on one
stock, and notice its end."""
NOBODY = "1000"
"""The user that a bot believes to be, where it is in a user namespace of its own."""
COMPILED = "__pycache__"
"""Where Python keeps what it compiled."""
GATE = ("/bin/sh", "-c", 'echo >&2 && exec "$@"', "gate")
"""The last words before a bot's own. Whoever asks to die with its parent does not, when the parent
died before it asked: a referee that is killed while it starts bots would leave them. Once all have
asked, an empty line on stderr finds out whether there still is a referee to read it."""


class Command(Struct, frozen=True, forbid_unknown_fields=True):
    """How a bot is started."""

    argv: tuple[str, ...]
    """Program and arguments."""
    folder: str
    """Working directory, absolute."""
    reads: tuple[str, ...] = ()
    """Files and folders that it may read besides the machine's, absolute."""
    own: tuple[str, ...] = ()
    """Those of them that its fingerprint covers."""


class Tools(Struct, frozen=True):
    """The programs that a profile is made of; None where the machine has none."""

    bwrap: str | None
    """bubblewrap."""
    setpriv: str | None
    """Of util-linux."""
    prlimit: str | None
    """Of util-linux."""


def find_tools() -> Tools:
    """The tools on our PATH."""
    return Tools(which("bwrap"), which("setpriv"), which("prlimit"))


def wrap_command(
    level: Level,
    command: Command,
    limits: Limits,
    tools: Tools,
    user: int | None,
    passed: tuple[int, ...],
) -> tuple[str, ...]:
    """The whole command line at a level.

    `user`: the number of the bot's own user, where we are root. `passed`: the descriptors for
    bubblewrap: its news, and the seccomp filter. Level A's cgroup comes before all this.
    """
    match level:
        case "off":
            return command.argv
        case "C" | "D":
            return (
                *_setpriv(tools, user),
                "--",
                *_prlimit(tools, limits, user is not None),
                *GATE,
                *command.argv,
            )
        case "A" | "B":
            dropped = (*_setpriv(tools, user), "--") if user is not None else ()
            walls = _bwrap(tools, command, limits, user is None, passed)
            return (*walls, "--", *dropped, *_prlimit(tools, limits, True), *GATE, *command.argv)


def _bwrap(
    tools: Tools, command: Command, limits: Limits, as_user: bool, passed: tuple[int, ...]
) -> Iterator[str]:
    assert tools.bwrap
    yield tools.bwrap
    yield from [
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    yield from ["--die-with-parent", "--new-session", "--hostname", "bot", "--cap-drop", "ALL"]
    if as_user:
        yield from ("--unshare-user", "--uid", NOBODY, "--gid", NOBODY)
    else:
        # What setpriv needs to become the bot's user, and gives up with it.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            yield from ("--cap-add", capability)
    # These first: what the bot may read can itself lie in /tmp.
    yield from _kernel()
    for folder in ("/dev/shm", "/tmp"):
        # A bot's own user writes there whoever made it.
        size = str(max(limits.file_bytes, 4096))
        yield from ("--perms", "1777", "--size", size, "--tmpfs", folder)
    yield from ("--remount-ro", "/dev")
    yield from _files(command)
    for path in compiled(command.own):
        yield from ("--tmpfs", path, "--remount-ro", path)
    yield from ("--remount-ro", "/", "--chdir", command.folder)
    for option, descriptor in zip(("--info-fd", "--seccomp"), passed, strict=False):
        yield from (option, str(descriptor))


def _kernel() -> Iterator[str]:
    """What lies in a bot's /proc and /dev.

    /proc keeps the bot's own processes and what never changes. All else there counts the whole
    machine, so that one bot could make a count which another reads: it is covered.
    There are no terminals, whose number is counted for the whole machine too.
    """
    yield from ("--proc", "/proc")
    for entry in sorted(Path("/proc").iterdir()):
        if entry.name.isdigit() or entry.name in STEADY or entry.is_symlink():
            continue
        if not entry.stat().st_mode & stat.S_IROTH:
            continue  # Root's alone, which no bot is.
        if entry.is_dir():
            yield from ("--size", "4096", "--tmpfs", str(entry), "--remount-ro", str(entry))
        else:
            yield from ("--ro-bind", "/dev/null", str(entry))
    yield from ("--tmpfs", "/dev")
    for device in DEVICES:
        yield from ("--dev-bind", device, device)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        yield from ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")
    yield from ("--symlink", "/proc/self/fd", "/dev/fd")


def _files(command: Command) -> Iterator[str]:
    """What lies in the bot's file system: all that it may read, at the same paths as outside."""
    made: set[str] = set()
    there: list[str] = []
    for path in readable_paths(command.reads):
        if _within(path, there):
            continue  # A link in a folder that is there already cannot be made a second time.
        there.append(path)
        where = Path(path)
        yield from _parents(where, made)
        if where.is_symlink():
            yield from ("--symlink", str(where.readlink()), path)
        else:
            yield from ("--ro-bind", path, path)
    if not _within(command.folder, (*SYSTEM, *command.reads)):
        yield from _parents(PurePath(command.folder, "bot"), made)


def compiled(own: Iterable[str]) -> Iterator[str]:
    """Yield the folders below a bot's own in which Python keeps what it compiled.

    No fingerprint covers them, for they come and go: what lies there is not the bot's to read.
    """
    for folder in own:
        for path, below, _ in os.walk(folder):
            if COMPILED in below:
                below.remove(COMPILED)
                if not Path(path, COMPILED).is_symlink():
                    yield str(Path(path, COMPILED))


def _parents(path: PurePath, made: set[str]) -> Iterator[str]:
    """The folders above a path, which only root could enter if bubblewrap made them by itself."""
    for parent in map(str, reversed(path.parents[:-1])):
        if parent not in made and not _within(parent, SYSTEM):
            made.add(parent)
            yield from ("--perms", "0755", "--dir", parent)


def readable_paths(reads: Iterable[str]) -> Iterator[str]:
    """What a bot may read: the machine's programs, libraries and settings, and its own."""
    for path in SYSTEM:
        if Path(path).exists():
            yield path
    for pattern in SETTINGS:
        yield from map(str, sorted(Path("/").glob(pattern.lstrip("/"))))
    yield from reads


def _within(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of the folders or lies in one."""
    return any(PurePath(path).is_relative_to(folder) for folder in folders)


def _setpriv(tools: Tools, user: int | None) -> Iterator[str]:
    assert tools.setpriv
    yield from (tools.setpriv, "--no-new-privs", "--pdeathsig", "KILL")
    if user is not None:
        yield from ("--reuid", str(user), "--regid", str(user), "--clear-groups")
        yield from ("--bounding-set", "-all", "--inh-caps", "-all")


def _prlimit(tools: Tools, limits: Limits, counted: bool) -> Iterator[str]:
    """`counted`: the kernel counts this bot's processes apart from all others of their user."""
    assert tools.prlimit
    yield tools.prlimit
    yield from ("--core=0", "--msgqueue=0", f"--sigpending={SIGNALS}")
    yield f"--fsize={limits.file_bytes}"
    yield f"--nofile={limits.open_files}"
    if counted:
        yield f"--nproc={limits.processes}"
    yield f"--data={limits.wall}"
    yield f"--as={limits.address_space}"
    if limits.cpu_s is not None:
        yield f"--cpu={limits.cpu_s}"
