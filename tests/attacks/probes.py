"""Attempts of a bot against the referee, another bot and the machine; this file runs as a bot.

One self-contained file, because it must run where a bot runs: `python -I -S probes.py`. One line
of stdin holds the targets (a JSON object, see fixtures.py), one line of stdout the outcomes: for
each probe `{"got": true|false, "detail": …}`, where `got` means that the attempt got through.
An attempt that could not be made counts as got through: only an observed refusal is a refusal.

Bounded: at most MOST_PROCESSES forks of one probe and CRASHES further workers, LARGEST_MIB of
memory or files, SECONDS a probe. Nothing outlasts the script except the `outlive-…` probes, whose
processes end by themselves after 20 s.
"""

import _thread
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

CRASHES = 8
"""Workers that are replaced after a probe ended them."""
MOST_PROCESSES = 20
"""The highest limit on processes that is tried: one more than the limit is started."""
LARGEST_MIB = 128
"""The highest limit on memory or files that is tried."""
BEYOND_MIB = 8
"""Amount by which the probes exceed a limit, in MiB."""
SECONDS = 20.0
"""Most seconds of one probe, which the busiest machine keeps."""
SILENCE_S = 3 * SECONDS
"""Most seconds between two outcomes of a worker."""
WATCH_S = 0.5
"""Seconds a probe watches for what may never come."""
LINGER_S = 5
OUTLIVE_S = 20
OWN_TMP = os.environ.get("TMPDIR", "/tmp")
"""The folder in which a bot may write, if there is one."""
MIB = 2**20
CHUNK = 4 * MIB
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS

MACHINES = ("x86_64", "aarch64")
NUMBERS = {
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "keyctl": (250, 219), "add_key": (248, 217), "kcmp": (312, 272), "readahead": (187, 213),
    "mincore": (27, 232), "move_pages": (279, 239), "io_setup": (206, 0), "io_destroy": (207, 1),
    "membarrier": (324, 283), "futex": (202, 98), "utimensat": (280, 88),
    "set_tid_address": (218, 96),
    # Calls of the last years have the same number on every machine.
    "io_uring_setup": (425, 425), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "clone3": (435, 435), "openat2": (437, 437), "pidfd_getfd": (438, 438),
    "futex_waitv": (449, 449), "cachestat": (451, 451), "futex_wake": (454, 454),
}  # fmt: skip
"""The numbers of system calls, one for each of MACHINES."""
CLONE_NEWUSER = 0x1000_0000
SO_NETNS_COOKIE = 71
TIOCSTI = 0x5412
PTRACE_SEIZE = ctypes.c_long(0x4206)
F_OFD_GETLK, F_SETLEASE, F_NOTIFY, F_GET_RW_HINT = 36, 1024, 1026, 1035
MADV_WILLNEED, MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ = 3, 12, 20, 21, 22
FUTEX_WAKE, FUTEX_REQUEUE, FUTEX2_SIZE_U32 = 1, 3, 2
WAITER_COUNT, ALL_BITS = 1000, 0xFFFF_FFFF
MAP_HUGETLB = 0x4_0000
RESOLVE_CACHED = 0x20
MOST_PIPES = 10_000_000
MOST_EVENTFDS = 32
IN_OPEN = 0x20
KEYCTL_READ, KEYCTL_SEARCH = 11, 10
SESSION, USER, OWN_PROCESS = -3, -4, -2
GETVAL, IPC_NOWAIT = 12, 0o4000
PR_SET_NAME, PR_GET_NO_NEW_PRIVS = 15, 39
NO_WORDS = (ctypes.c_ulong(0),) * 4

Targets = dict[str, Any]
Probe = Callable[[Targets], str]
"""An attempt that returns what it got; it raises Refused or OSError if it was refused."""


class Refused(Exception):  # noqa: N818 - the usual outcome, not an error
    """The refusal of an attempt."""


class Untried(Exception):  # noqa: N818 - neither is this
    """The lack of an attempt: it could not be made, so nothing is known."""


# The kernel, called by name.


def syscall(name: str, *words: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a raw system call. Raises OSError."""
    if os.uname().machine not in MACHINES:
        raise Untried(f"no call numbers for {os.uname().machine}")
    number = NUMBERS[name][MACHINES.index(os.uname().machine)]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    wide = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return check_result(int(libc.syscall(ctypes.c_long(number), *wide)))


def libc_call(name: str, *words: Any) -> int:
    """Call a function of the C library that returns an int. Raises OSError."""
    return check_result(int(getattr(ctypes.CDLL(None, use_errno=True), name)(*words)))


def libc_address(name: str, *words: Any) -> int:
    """Call a function of the C library that returns an address. Raises OSError."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = ctypes.c_void_p
    address = function(*words)
    if address in (None, ctypes.c_void_p(-1).value):
        check_result(-1)
    return int(address)


def check_result(result: int) -> int:
    """Return the result of a call, or raise its error as an OSError."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def room(size: int, data: bytes = b"") -> ctypes.Array[ctypes.c_char]:
    """Return memory of this size for the kernel to write to, with data at its beginning."""
    return ctypes.create_string_buffer(data, size)


def fork() -> int:
    """Fork; nothing else in this file does. A child drops handlers and timers of its parent."""
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return pid


# What the rows of the tables have in common.


def gets(detail: str, *steps: Callable[[Targets], object]) -> Probe:
    """Return a probe that got `detail` if none of its steps raises anything."""

    def probe(targets: Targets) -> str:
        for step in steps:
            step(targets)
        return detail

    return probe


def require(condition: object, otherwise: str) -> None:
    """Raise Refused, with the reason, unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


def permit(code: int, call: Callable[[], object]) -> None:
    """Make a call that may fail with this error: who gets it has passed every check."""
    try:
        call()
    except OSError as error:
        if error.errno != code:
            raise


def would_block(call: Callable[[], object]) -> bool:
    """Make a call; return True if it would have to wait for somebody else."""
    try:
        call()
    except BlockingIOError:
        return True
    return False


def secret(targets: Targets, data: bytes) -> str:
    """Succeed only if the secret is in the bytes."""
    require(targets["token"].encode() in data, "something else was there")
    return "read the secret"


def anything(data: object) -> str:
    require(data, "empty")
    return "read it"


def secret_in(read_from: Callable[[Targets], bytes]) -> Probe:
    """Return a probe that looks for the secret in what it reads."""
    return lambda targets: secret(targets, read_from(targets))


def anything_in(read_from: Callable[[Targets], object]) -> Probe:
    """Return a probe that succeeds if it reads anything."""
    return lambda targets: anything(read_from(targets))


def readable(path: str) -> Probe:
    """Return a probe that reads a file which is the same for all."""
    return lambda _: anything(read(path))


def on_file(
    detail: str,
    path: str | Callable[[Targets], str],
    attempt: Callable[[int, Targets], object],
    flags: int = os.O_RDONLY,
) -> Probe:
    """Return a probe that opens a file and gets this if its attempt there raises nothing."""

    def probe(targets: Targets) -> str:
        descriptor = os.open(path if isinstance(path, str) else path(targets), flags)
        try:
            attempt(descriptor, targets)
        finally:
            os.close(descriptor)
        return detail

    return probe


def read(path: str, size: int = 4096) -> bytes:
    descriptor, data = os.open(path, os.O_RDONLY | os.O_NONBLOCK), b""
    try:
        while len(data) < size and (more := os.read(descriptor, size - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)


def try_open(path: str, flags: int) -> str:
    """Succeed if a path can be opened; read and write nothing."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
    return "opened it"


def make_file(folder: str) -> str:
    """Succeed if a nameless file can be made there; try a named one if the system has none."""
    try:
        return try_open(folder, os.O_TMPFILE | os.O_WRONLY)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR):
            raise
    path = f"{folder}/boneyard-{os.getpid()}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return "made a file"


def append(path: str, data: bytes) -> str:
    """Succeed if something can be added to a file, which is made if missing."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, data)
    os.close(descriptor)
    return "wrote there"


def list_home(targets: Targets) -> str:
    """List the user's home, not an empty folder of its name."""
    status = os.stat(targets["home"])
    require([status.st_dev, status.st_ino] == targets["home_identity"], "another folder")
    return f"{len(os.listdir(targets['home']))} names"


# Other processes. `who` is "referee" or "other".


def namespace(name: str) -> str:
    """Return the identity of one of our own namespaces; empty if it cannot be read."""
    with suppress(OSError):
        return os.readlink(f"/proc/self/ns/{name}")
    return ""


def launcher(targets: Targets) -> int:
    """Return our starter: the first process of our own namespace, else our parent."""
    return 1 if namespace("pid") not in ("", targets["pid_namespace"]) else targets["parent"]


def pid_of(targets: Targets, aim: str) -> int:
    """Return a process id that means the same to us as to the referee."""
    require(namespace("pid") in ("", targets["pid_namespace"]), "process ids of its own")
    return int(targets[aim]["pid"])


def proc(targets: Targets, aim: str, name: str) -> str:
    """Return a path under /proc of another process; in a /proc of ours its number is another's."""
    is_foreign = namespace("pid") not in ("", targets["pid_namespace"])
    require(not is_foreign or os.readlink("/proc/self") != str(os.getpid()), "a /proc of its own")
    return f"/proc/{targets[aim]['pid']}/{name}"


def find_process(aim: str) -> Probe:
    """Return a probe that looks for the other's command line anywhere in /proc."""

    def probe(targets: Targets) -> str:
        argument = targets[aim]["argument"].encode()
        for pid in [name for name in os.listdir("/proc") if name.isdigit()][:5000]:
            with suppress(OSError):
                if argument in read(f"/proc/{pid}/cmdline"):
                    return "found it"
        raise Refused("not there")

    return probe


def read_memory_file(targets: Targets, aim: str) -> bytes:
    descriptor = os.open(proc(targets, aim, "mem"), os.O_RDONLY)
    try:
        return os.pread(descriptor, 64, targets[aim]["address"])
    finally:
        os.close(descriptor)


def read_memory(targets: Targets, aim: str) -> bytes:
    pid, data = pid_of(targets, aim), room(64)
    local_vector = struct.pack("PN", ctypes.addressof(data), 64)
    remote_vector = struct.pack("PN", targets[aim]["address"], 64)
    count, no_flags = ctypes.c_ulong(1), ctypes.c_ulong(0)
    libc_call("process_vm_readv", pid, local_vector, count, remote_vector, count, no_flags)
    return data.raw


def read_descriptor(targets: Targets, aim: str) -> bytes:
    descriptor = os.pidfd_open(pid_of(targets, aim))
    return os.read(syscall("pidfd_getfd", descriptor, targets[aim]["descriptor"], 0), 4096)


def pin(pid: int) -> None:
    os.sched_setaffinity(pid, [min(os.sched_getaffinity(pid))])


def slow_down(pid: int) -> None:
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid) + 1)


def lower_limit(pid: int) -> None:
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft - 1, hard))


def process_probes(aim: str, prefix: str) -> dict[str, Probe]:
    """Return the attempts that are made at the referee and at another bot alike."""
    probes = {
        "command-line": secret_in(lambda t: read(proc(t, aim, "cmdline"))),
        "memory-file": secret_in(lambda t: read_memory_file(t, aim)),
        "memory-call": secret_in(lambda t: read_memory(t, aim)),
        "descriptor-open": secret_in(lambda t: read(proc(t, aim, f"fd/{t[aim]['descriptor']}"))),
        "descriptor-take": secret_in(lambda t: read_descriptor(t, aim)),
        # A harmless signal; the other end shows whether it arrived.
        "signal": gets("sent a signal", lambda t: os.kill(pid_of(t, aim), signal.SIGURG)),
        "renice": gets("slowed it", lambda t: slow_down(pid_of(t, aim))),
        "pin": gets("pinned it", lambda t: pin(pid_of(t, aim))),
        "limit": gets("lowered its limit", lambda t: lower_limit(pid_of(t, aim))),
        # Its old value, but a process that may write it may also write the highest.
        "oom-score": lambda t: append(
            proc(t, aim, "oom_score_adj"), read(proc(t, aim, "oom_score_adj"))
        ),
        # This ends with the worker, and the other never stops.
        "trace": gets(
            "traces it", lambda t: libc_call("ptrace", PTRACE_SEIZE, pid_of(t, aim), *NO_WORDS[2:])
        ),
    }
    return {f"{prefix}-{name}": probe for name, probe in probes.items()}


FILES: dict[str, Probe] = {
    "read-secret-key": secret_in(lambda t: read(t["secret_key"])),
    "read-event-file": secret_in(lambda t: read(t["event_file"])),
    "list-game-logs": anything_in(lambda t: os.listdir(t["logs"])),
    "read-game-log": secret_in(lambda t: read(t["game_log"])),
    "write-game-log": lambda t: append(t["game_log"], b"forged\n"),
    "read-other-bots-program": secret_in(lambda t: read(t["other_program"])),
    "write-other-bots-program": lambda t: try_open(t["other_program"], os.O_WRONLY),
    "write-other-bots-folder": lambda t: append(f"{t['other_folder']}/planted", b"x"),
    "write-own-program": lambda t: try_open(t["own_program"], os.O_WRONLY),
    "write-own-folder": lambda t: make_file(os.path.dirname(t["own_program"])),
    "write-interpreter-folder": lambda _: make_file(os.path.dirname(os.__file__)),
    "list-home": list_home,
    "write-home": lambda t: make_file(t["home"]),
    "read-through-referee-root": secret_in(
        lambda t: read(proc(t, "referee", "root") + t["event_file"])
    ),
    "read-through-referee-folder": secret_in(
        lambda t: read(proc(t, "referee", "cwd/") + os.path.basename(t["event_file"]))
    ),
    "read-through-launcher-root": secret_in(
        lambda t: read(f"/proc/{launcher(t)}/root{t['event_file']}")
    ),
    "read-through-other-bots-root": secret_in(
        lambda t: read(proc(t, "other", "root/") + f"{t['other']['tmp']}/{t['note']}")
    ),
}

PROCESSES: dict[str, Probe] = {
    "see-referee": find_process("referee"),
    "see-other-bot": find_process("other"),
    "list-sockets": anything_in(
        lambda t: t["referee"]["abstract"].encode() in read("/proc/net/unix", MIB)
    ),
    "referee-environment": secret_in(lambda t: read(proc(t, "referee", "environ"))),
    "referee-memory-map": anything_in(lambda t: read(proc(t, "referee", "maps"))),
    "referee-descriptor-list": anything_in(lambda t: os.listdir(proc(t, "referee", "fd"))),
    "referee-hold": gets("holds it", lambda t: os.close(os.pidfd_open(pid_of(t, "referee")))),
    # The kernel tells whether two processes share something.
    "referee-compare": gets(
        "compared", lambda t: syscall("kcmp", os.getpid(), pid_of(t, "referee"), 1, 0, 0)
    ),
    **process_probes("referee", "referee"),
    "other-bot-environment": anything_in(lambda t: read(proc(t, "other", "environ"))),
    "other-bot-processor-time": anything_in(lambda t: read(proc(t, "other", "stat"))),
    "other-bot-processor-clock": (
        lambda t: f"{time.clock_gettime((~pid_of(t, 'other') << 3) | 2):.3f} s"
    ),
    "other-bot-reads-and-writes": anything_in(lambda t: read(proc(t, "other", "io"))),
    "other-bot-system-call": anything_in(lambda t: read(proc(t, "other", "syscall"))),
    "other-bot-session": lambda t: str(os.getsid(pid_of(t, "other"))),
    **process_probes("other", "other-bot"),
}


# What a bot was handed down.


def open_descriptors() -> list[int]:
    """Return the descriptors that were open at the start, beyond the three."""
    descriptors = []
    for descriptor in range(3, 256):
        with suppress(OSError):
            os.fstat(descriptor)
            descriptors.append(descriptor)
    return descriptors


def count_inherited(targets: Targets) -> str:
    require(targets["inherited"], "none")
    return f"{len(targets['inherited'])} descriptors"


INHERITED: dict[str, Probe] = {
    "environment": secret_in(lambda t: os.environ.get(t["variable"], "").encode()),
    "descriptors": count_inherited,
    "terminal-open": lambda _: try_open("/dev/tty", os.O_RDWR),
    # A null pointer fails with EFAULT after every check: nothing is typed.
    "terminal-push": on_file(
        "may type there",
        "/dev/tty",
        lambda tty, _: permit(
            errno.EFAULT, lambda: libc_call("ioctl", tty, ctypes.c_ulong(TIOCSTI), None)
        ),
        os.O_RDWR | os.O_NOCTTY,
    ),
}


# The network.


def network_cookie() -> int:
    """Return the identity of our network; 0 if the kernel does not tell."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        cookie = any_socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
        return int(struct.unpack("Q", cookie)[0])
    return 0


def check_network(targets: Targets) -> None:
    """Succeed if the referee's network is ours."""
    is_same = targets["network"] and network_cookie() == targets["network"]
    require(is_same, "another network")


def on_socket(
    detail: str,
    family: int,
    kind: int,
    attempt: Callable[[socket.socket, Targets], object] = lambda *_: None,
    protocol: int = 0,
) -> Probe:
    """Return a probe that makes a socket and gets this if its attempt there raises nothing."""

    def probe(targets: Targets) -> str:
        with socket.socket(family, kind, protocol) as any_socket:
            any_socket.settimeout(WATCH_S)
            attempt(any_socket, targets)
        return detail

    return probe


def connects(family: int, address: Callable[[Targets], tuple[str, int] | str]) -> Probe:
    return on_socket(
        "connected", family, socket.SOCK_STREAM, lambda stream, t: stream.connect(address(t))
    )


def listen(targets: Targets) -> None:
    """Wait for others on the referee's own network."""
    with socket.create_server(("127.0.0.1", 0)):
        check_network(targets)


NETWORK: dict[str, Probe] = {
    "same-network": gets("the referee's network", check_network),
    "tcp-referee": connects(socket.AF_INET, lambda t: ("127.0.0.1", t["referee"]["tcp"])),
    # The other end shows whether it arrived.
    "udp-referee": on_socket(
        "sent",
        socket.AF_INET,
        socket.SOCK_DGRAM,
        lambda sender, t: sender.sendto(b"probe", ("127.0.0.1", t["referee"]["udp"])),
    ),
    "unix-referee": connects(socket.AF_UNIX, lambda t: t["unix"]),
    "abstract-unix-referee": connects(socket.AF_UNIX, lambda t: "\0" + t["referee"]["abstract"]),
    "tcp-other-bot": connects(socket.AF_INET, lambda t: ("127.0.0.1", t["other"]["tcp"])),
    "abstract-unix-other-bot": connects(socket.AF_UNIX, lambda t: "\0" + t["other"]["abstract"]),
    "tcp-listen": gets("listens", listen),
    # A route to a documentation address; no packet is sent.
    "route-outside": on_socket(
        "has a route",
        socket.AF_INET,
        socket.SOCK_DGRAM,
        lambda sender, _: sender.connect(("192.0.2.1", 9)),
    ),
    "raw-socket": on_socket("made one", socket.AF_INET, socket.SOCK_RAW, protocol=1),
    "packet-socket": on_socket("made one", socket.AF_PACKET, socket.SOCK_RAW),
    "virtual-machine-socket": on_socket("made one", socket.AF_VSOCK, socket.SOCK_STREAM),
}


# Notes that another bot left: in folders, in shared memory, in messages and keys.


def note_in(place: str) -> Probe:
    return secret_in(lambda t: read(f"{place}/{t['note']}"))


def read_segment(targets: Targets) -> bytes:
    identity = libc_call("shmget", targets["key"], 0, 0)
    return ctypes.string_at(libc_address("shmat", identity, None, 0o10000), 64)


def read_semaphore(targets: Targets) -> str:
    identity = libc_call("semget", targets["key"], 1, 0)
    value = libc_call("semctl", identity, 0, GETVAL, 0)
    require(value == targets["semaphore"], "another value")
    return "read it"


def take_message(targets: Targets) -> bytes:
    identity, message = libc_call("msgget", targets["key"], 0), room(256)
    size, any_type = ctypes.c_size_t(128), ctypes.c_long(0)
    libc_call("msgrcv", identity, message, size, any_type, IPC_NOWAIT)
    return message.raw


def take_posix_message(targets: Targets) -> bytes:
    name, message = b"/" + targets["note"].encode(), room(128)
    queue = libc_call("mq_open", name, os.O_RDONLY | os.O_NONBLOCK)
    libc_call("mq_receive", queue, message, ctypes.c_size_t(128), None)
    return message.raw


def key_in(ring: int, name: str) -> Probe:
    """Return a probe that reads a key that the other bot put into a keyring."""

    def read_key(targets: Targets) -> bytes:
        words = (b"user", f"{targets['note']}-{name}".encode())
        key, data = syscall("keyctl", KEYCTL_SEARCH, ring, *words, 0), room(128)
        syscall("keyctl", KEYCTL_READ, key, data, 128)
        return data.raw

    return secret_in(read_key)


NOTES: dict[str, Probe] = {
    "note-in-tmp": note_in("/tmp"),
    "note-in-own-tmp": secret_in(lambda t: read(f"{t['other']['tmp']}/{t['note']}")),
    "note-in-var-tmp": note_in("/var/tmp"),
    "note-in-shared-memory": note_in("/dev/shm"),
    "note-in-run": note_in("/run"),
    "note-in-run-lock": note_in("/run/lock"),
    "system-v-memory": secret_in(read_segment),
    "system-v-semaphore": read_semaphore,
    "system-v-message": secret_in(take_message),
    "system-v-list": anything_in(lambda t: str(t["key"]).encode() in read("/proc/sysvipc/shm")),
    "posix-message": secret_in(take_posix_message),
    "session-keyring": key_in(SESSION, "session"),
    "user-keyring": key_in(USER, "user"),
    "key-list": anything_in(lambda t: t["note"].encode() in read("/proc/keys", MIB)),
}


# A file that every bot reads, as the interpreter's are: its locks, times and pages.


def shared(targets: Targets) -> str:
    return str(targets["shared"])


def change_device_times(_: Targets) -> str:
    """Set the present time on a device that every bot may write to."""
    for _try in range(2):  # Another process may have done the same in this tick of the clock.
        before = os.stat("/dev/null").st_mtime_ns
        syscall("utimensat", -100, b"/dev/null", None, 0)
        if os.stat("/dev/null").st_mtime_ns != before:
            return "changed them"
        time.sleep(0.01)
    raise Refused("said to be changed, and not")


@contextmanager
def shared_page(targets: Targets) -> Iterator[int]:
    """Yield the address of a page of a file that every bot reads."""
    size, start = ctypes.c_size_t(mmap.PAGESIZE), ctypes.c_long(0)
    file = os.open(shared(targets), os.O_RDONLY)
    try:
        page = libc_address("mmap", None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, start)
    finally:
        os.close(file)
    ctypes.string_at(page, 1)
    try:
        yield page
    finally:
        libc_call("munmap", ctypes.c_void_p(page), size)


def on_page(detail: str, attempt: Callable[[int], object]) -> Probe:
    """Return a probe of the address of a page of the file."""

    def probe(targets: Targets) -> None:
        with shared_page(targets) as page:
            attempt(page)

    return gets(detail, probe)


def finds_record_lock(command: int) -> Probe:
    """Return a probe that sees the other bot's lock on a part of a file."""
    ask = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)

    def attempt(file: int, _: Targets) -> None:
        answer = fcntl.fcntl(file, command, ask)
        require(struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK, "no lock seen")

    return on_file("saw its lock", shared, attempt)


def watch_file(targets: Targets) -> None:
    watch = libc_call("inotify_init1", os.O_CLOEXEC)
    try:
        libc_call("inotify_add_watch", watch, shared(targets).encode(), IN_OPEN)
        require(select.select([watch], [], [], WATCH_S)[0], "saw nothing")
    finally:
        os.close(watch)


def read_if_in_memory(targets: Targets) -> str:
    """Read only data in memory, and so learn whether they are there."""
    file = os.open(shared(targets), os.O_RDONLY)
    try:
        is_missing = would_block(lambda: os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT))
    finally:
        os.close(file)
    return "not in memory" if is_missing else "in memory"


def path_in_memory(targets: Targets) -> str:
    """Open a file only if somebody has looked up its path."""
    open_how = struct.pack("QQQ", os.O_RDONLY, 0, RESOLVE_CACHED)
    path = shared(targets).encode()
    unknown = would_block(lambda: os.close(syscall("openat2", -100, path, open_how, len(open_how))))
    return "nobody has" if unknown else "somebody has"


def advises(advice: int) -> Probe:
    """Return a probe that advises the kernel about a page of a file."""
    size = ctypes.c_size_t(mmap.PAGESIZE)
    return on_page(
        "was heard", lambda page: libc_call("madvise", ctypes.c_void_p(page), size, advice)
    )


def finds_waiter(count: Callable[[int], int]) -> Probe:
    """Return a probe that looks for a waiter at a page; it may just be between two waits."""

    def attempt(page: int) -> None:
        end = time.monotonic() + WATCH_S
        while time.monotonic() < end:
            if count(page):
                return
            time.sleep(0.001)
        raise Refused("nobody waits")

    return on_page("somebody waits", attempt)


def requeue(page: int) -> int:
    """Move the other bot's wait from one word of a page to the next, then back again."""
    moved_count = syscall("futex", page, FUTEX_REQUEUE, 0, WAITER_COUNT, page + 4)
    syscall("futex", page + 4, FUTEX_REQUEUE, 0, WAITER_COUNT, page)
    return moved_count


ONE_FILE: dict[str, Probe] = {
    "file-lock": on_file(
        "saw its lock",
        shared,
        lambda file, _: require(
            would_block(lambda: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)), "no lock seen"
        ),
    ),
    "record-lock": finds_record_lock(fcntl.F_GETLK),
    "open-file-lock": finds_record_lock(F_OFD_GETLK),
    # A lease fails while anybody else has the file open, and so reveals it.
    "lease": on_file(
        "saw that it is open",
        shared,
        lambda file, _: require(
            would_block(lambda: fcntl.fcntl(file, F_SETLEASE, fcntl.F_WRLCK)), "nobody else"
        ),
    ),
    # The kernel sends a signal when the other bot reads a file of a folder.
    "folder-notice": on_file(
        "will be told",
        lambda t: os.path.dirname(shared(t)),
        lambda folder, _: fcntl.fcntl(folder, F_NOTIFY, 1),
    ),
    "file-watch": gets("saw it opened", watch_file),
    "read-time": gets(
        "saw that it was read",
        lambda t: require(os.stat(shared(t)).st_atime >= t["shared_read_at"] + 1, "never changed"),
    ),
    # A number in the times of a file, a word in its attributes, that every bot can see.
    "write-times": gets(
        "changed them", lambda t: os.utime(shared(t), (t["shared_read_at"] + 9,) * 2)
    ),
    "write-attribute": gets("wrote one", lambda t: os.setxattr(shared(t), "user.boneyard", b"1")),
    "write-device-times": change_device_times,
    # The other bot left a hint on the file's use with it.
    "write-hint": on_file(
        "read it",
        shared,
        lambda file, t: require(
            struct.unpack("Q", fcntl.fcntl(file, F_GET_RW_HINT, bytes(8)))[0] == t["hint"],
            "another hint",
        ),
    ),
    # The next reader of a file that was dropped from memory waits for the disk.
    "drop-pages": on_file(
        "dropped it", shared, lambda file, _: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    ),
    "read-ahead": on_file(
        "brought it in", shared, lambda file, _: syscall("readahead", file, 0, 4096)
    ),
    "read-if-in-memory": read_if_in_memory,
    "list-pages-in-memory": on_page(
        "knows it", lambda page: syscall("mincore", page, mmap.PAGESIZE, room(1))
    ),
    # The kernel refuses those who may not know.
    "count-pages-in-memory": on_file(
        "counted them", shared, lambda file, _: syscall("cachestat", file, room(16), room(40), 0)
    ),
    # A page that others use cannot be moved, which reveals it.
    "place-of-a-page": on_page(
        "knows it",
        lambda page: syscall("move_pages", 0, 1, struct.pack("P", page), None, room(4), 0),
    ),
    "advise-cold": advises(MADV_COLD),
    "advise-page-out": advises(MADV_PAGEOUT),
    "advise-read-ahead": advises(MADV_WILLNEED),
    "advise-populate": advises(MADV_POPULATE_READ),
    # The page is merged with all that are like it, other bots' too.
    "advise-merge": gets(
        "was heard", lambda _: mmap.mmap(-1, mmap.PAGESIZE, PRIVATE).madvise(MADV_MERGEABLE)
    ),
    "futex-wake": finds_waiter(lambda page: syscall("futex", page, FUTEX_WAKE, WAITER_COUNT)),
    "futex-requeue": finds_waiter(requeue),
    "futex-wake-by-new-call": finds_waiter(
        lambda page: syscall("futex_wake", page, ALL_BITS, WAITER_COUNT, FUTEX2_SIZE_U32)
    ),
    # To wait for nothing at all is a caller's mistake, if the call exists.
    "futex-wait-by-new-call": gets(
        "may wait",
        lambda _: permit(errno.EINVAL, lambda: syscall("futex_waitv", None, 0, 0, None, 0)),
    ),
    "path-in-memory": path_in_memory,
    # It takes as long as others' writes.
    "flush-disk": on_file("flushed", shared, lambda file, _: libc_call("syncfs", file)),
}


# Supplies of the machine: everybody notices who takes the last of them.


def order_reads(_: Targets) -> None:
    """Reserve asynchronous reads, whose number is limited for the whole machine."""
    context = room(8)
    syscall("io_setup", 1, context)
    syscall("io_destroy", struct.unpack("q", context.raw)[0])


def send_descriptor(_: Targets) -> None:
    """Send a descriptor; those on the way are counted for each user."""
    sender, receiver = socket.socketpair()
    with sender, receiver:
        socket.send_fds(sender, [b"x"], [0])


SUPPLIES: dict[str, Probe] = {
    "asynchronous-reads": gets("took one", order_reads),
    # A lack of them is information too.
    "huge-page": gets(
        "asked for one",
        lambda _: permit(errno.ENOMEM, lambda: mmap.mmap(-1, 2 * MIB, PRIVATE | MAP_HUGETLB)),
    ),
    # They are numbered and counted for all.
    "terminal": gets("took one", lambda _: list(map(os.close, os.openpty()))),
    "descriptor-on-its-way": gets("sent one", send_descriptor),
    # The core may be one that another bot runs on.
    "choose-core": gets("chose it", lambda _: os.sched_setaffinity(0, os.sched_getaffinity(0))),
    "interrupt-cores": gets("did it", lambda _: syscall("membarrier", 1, 0, 0)),
}


# The kernel's rarer entrances.


def count_events(_: Targets) -> None:
    attribute = room(112, struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 0x61))
    os.close(syscall("perf_event_open", attribute, 0, -1, -1, 0))


def mount(_: Targets) -> None:
    """Make a mount that is attached nowhere."""
    context = syscall("fsopen", b"tmpfs", 0)
    syscall("fsconfig", context, 6, None, None, 0)
    os.close(syscall("fsmount", context, 0, 0))


def open_by_handle(file: int, targets: Targets) -> None:
    """Open a file by its number instead of its path, which passes every folder's rights."""
    handle, mount_id = room(136, struct.pack("I", 128)), ctypes.c_int()
    path = shared(targets).encode()
    libc_call("name_to_handle_at", -100, path, handle, ctypes.byref(mount_id), 0)
    os.close(libc_call("open_by_handle_at", file, handle, os.O_RDONLY))


def has_capability(_: Targets) -> str:
    """Succeed if we have any capability: a bot needs none."""
    head, answer = struct.pack("Ii", 0x2008_0522, 0), room(24)
    libc_call("capget", head, answer)
    words = struct.unpack("6I", answer.raw)
    return anything(words[0] | words[1] | words[3] | words[4])


def call_old_way(_: Targets) -> None:
    """Call the kernel by the 32-bit door, which a filter may have left open."""
    require(os.uname().machine == "x86_64", "no such door here")
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, getpid; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    require(ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid(), "refused")


def clone_user_namespace(_: Targets) -> None:
    """Make a user namespace by the newer call, whose flags no filter can see."""
    words = struct.pack("11Q", CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    pid = syscall("clone3", words, len(words))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def make_device(_: Targets) -> None:
    path = f"{OWN_TMP}/boneyard-{os.getpid()}"
    os.mknod(path, 0o020600, os.makedev(1, 3))
    os.unlink(path)


def open_own_control_group(_: Targets) -> str:
    """Change the control group that limits us."""
    group = read("/proc/self/cgroup").decode().rpartition("0::")[2].split("\n")[0]
    return try_open(f"/sys/fs/cgroup{group}/cgroup.procs", os.O_WRONLY)


KERNEL: dict[str, Probe] = {
    "user-namespace-by-clone": gets("made one", clone_user_namespace),
    "mount": gets("mounted", mount),
    "change-root": gets("changed it", lambda _: os.chroot("/")),
    "enter-namespace": on_file(
        "entered",
        lambda t: proc(t, "referee", "ns/uts"),
        lambda file, _: libc_call("setns", file, 0),
    ),
    "bpf": gets(
        "made a map",
        lambda _: os.close(syscall("bpf", 0, room(72, struct.pack("IIII", 2, 4, 4, 1)), 72)),
    ),
    "perf-events": gets("made one", count_events),
    "page-faults": anything_in(lambda _: syscall("userfaultfd", 1)),
    "io-uring": anything_in(lambda _: syscall("io_uring_setup", 1, room(120))),
    "own-key": anything_in(
        lambda t: syscall("add_key", b"user", b"own", t["token"].encode(), 8, OWN_PROCESS)
    ),
    "open-by-handle": on_file("opened it", shared, open_by_handle),
    "watch-file-system": anything_in(lambda _: libc_call("fanotify_init", 0x200, os.O_RDONLY)),
    "netlink-socket": on_socket("made one", socket.AF_NETLINK, socket.SOCK_RAW),
    "kernel-log": anything_in(lambda _: libc_call("klogctl", 10, None, 0)),
    "kernel-log-device": lambda _: try_open("/dev/kmsg", os.O_RDONLY),
    "kernel-addresses": anything_in(lambda _: read("/proc/kallsyms")[:16].strip(b"0")),
    "kernel-settings": lambda _: try_open("/proc/sys/kernel/domainname", os.O_WRONLY),
    "capabilities": has_capability,
    # Programs with the set-user-id bit would give their rights.
    "set-user-id": gets(
        "may gain rights",
        lambda _: require(
            not libc_call("prctl", PR_GET_NO_NEW_PRIVS, *NO_WORDS), "no new privileges"
        ),
    ),
    "old-system-calls": gets("called", call_old_way),
    # The name that it has already; a bot may have a machine's name of its own.
    "rename-machine": gets(
        "may rename the machine",
        lambda _: socket.sethostname(socket.gethostname()),
        lambda t: require(namespace("uts") == t["uts_namespace"], "a machine's name of its own"),
    ),
    "make-device": gets("made one", make_device),
    "own-control-group": open_own_control_group,
    # A bot would be root in a user namespace of its own.
    "user-namespace": gets("made one", lambda _: libc_call("unshare", CLONE_NEWUSER)),
}


# Counters that everybody changes and everybody reads.


def machine_load(_: Targets) -> str:
    """Read load and memory by a call, without any file."""
    answer = room(128)
    libc_call("sysinfo", answer)
    return anything(struct.unpack("10L", answer.raw[:80])[1:4])


COUNTERS: dict[str, Probe] = {
    "load": readable("/proc/loadavg"),
    "load-by-call": machine_load,
    "processor-counters": readable("/proc/stat"),
    "memory-counters": readable("/proc/meminfo"),
    "page-counters": readable("/proc/vmstat"),
    "disk-counters": readable("/proc/diskstats"),
    "interrupt-counters": readable("/proc/interrupts"),
    "pressure": readable("/proc/pressure/cpu"),
    "lock-list": readable("/proc/locks"),
    "terminal-counter": readable("/proc/sys/kernel/pty/nr"),
    "open-file-counter": readable("/proc/sys/fs/file-nr"),
    "key-counter": readable("/proc/key-users"),
    "disk-space": anything_in(lambda t: os.statvfs(shared(t)).f_bfree),
    "machine-name": gets(
        "read it", lambda t: require(os.uname().nodename == t["machine_name"], "another name")
    ),
}


# Traces that the kernel leaves of its own accord.


def see_shared_page(targets: Targets) -> None:
    """See in the account of our own memory that the other bot has a page in its memory too."""
    with shared_page(targets):
        account = read("/proc/self/smaps", MIB).decode().partition(shared(targets))[2]
    sizes = [line.split()[1] for line in account.splitlines()[:12] if "Shared_" in line]
    require(set(sizes) - {"0"}, "nobody has it")


THREADS = "/proc/self/task"
THREAD_S = 10


def end_thread(page: int) -> None:
    """End a thread whose end the kernel reports at a page of a file; a waiting process hears it.

    The other end shows whether the other bot did.
    """
    # Nothing may join the thread: the kernel tells its end at the page and not where a join waits.
    count = len(os.listdir(THREADS))
    _thread.start_new_thread(syscall, ("set_tid_address", page))
    last = time.monotonic() + THREAD_S
    while time.monotonic() < last and len(os.listdir(THREADS)) > count:
        time.sleep(0.001)
    time.sleep(0.01)


def number_pipe(targets: Targets) -> None:
    """See in the number of a pipe how many the other bot has made."""
    reader, writer = os.pipe()
    number = os.fstat(reader).st_ino
    os.close(reader)
    os.close(writer)
    require(abs(number - targets["other"]["pipe"]) <= MOST_PIPES, "another count")


def number_eventfds(targets: Targets) -> str:
    """See that the other bot holds an eventfd: of those that we make, none gets its number.

    Each has the lowest number that is free, so that in a set of our own one would get it.
    """
    number_sought, descriptors = targets["other"]["eventfd"], list[int]()
    try:
        while len(descriptors) < MOST_EVENTFDS:
            descriptors.append(libc_call("eventfd", 0, 0))
            account = read(f"/proc/self/fdinfo/{descriptors[-1]}").partition(b"eventfd-id:")[2]
            number = int(account.split()[0])
            require(number != number_sought, "numbers of its own")
            if number > number_sought:
                return "the same numbers"
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    raise Untried(f"its number {number_sought} is too far away")


TRACES: dict[str, Probe] = {
    "page-sharing": gets("somebody has it", see_shared_page),
    "end-of-a-thread": on_page("ended", end_thread),
    "numbers-of-pipes": gets("the same count", number_pipe),
    "numbers-of-eventfds": number_eventfds,
}


# Limits, exceeded a little and no further.


def limit_of(targets: Targets, name: str, largest: int) -> int:
    """Return a limit that can be tried safely."""
    limit = int(targets["limits"][name])
    if limit > largest:
        raise Untried(f"a limit of {limit} is too large to try")
    return limit


def start_many(targets: Targets) -> str:
    """Start more processes than the limit; each waits until all are counted, or its alarm."""
    limit, child_count = limit_of(targets, "processes", MOST_PROCESSES), 0
    reader, writer = os.pipe()
    try:
        while child_count <= limit:
            if fork() == 0:
                os.close(writer)
                signal.alarm(3)
                os.read(reader, 1)
                os._exit(0)
            child_count += 1
    finally:
        os.close(writer)
        os.close(reader)
        for _ in range(child_count):
            os.wait()
    return f"{child_count} at once"


def open_many(targets: Targets) -> str:
    limit, files = limit_of(targets, "open_files", 4096), list[int]()
    try:
        while len(files) <= limit:
            files.append(os.dup(0))
    finally:
        for descriptor in files:
            os.close(descriptor)
    return f"{len(files)} open"


@contextmanager
def nameless_file(folder: str) -> Iterator[int]:
    """Yield a file that is gone with its descriptor."""
    path = f"{folder}/boneyard-{os.getpid()}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_large_file(targets: Targets) -> None:
    limit = limit_of(targets, "file_mib", 2**20) * MIB
    with nameless_file(OWN_TMP) as descriptor:
        os.pwrite(descriptor, b"x", limit)


def take_memory(targets: Targets, flags: int) -> str:
    """Take more memory than the limit, and touch every page of it."""
    limit = limit_of(targets, "memory_mib", LARGEST_MIB) * MIB
    areas: list[mmap.mmap] = []
    while len(areas) * CHUNK < limit + BEYOND_MIB * MIB:
        areas.append(mmap.mmap(-1, CHUNK, flags=flags | mmap.MAP_ANONYMOUS))
        areas[-1][:: mmap.PAGESIZE] = b"x" * (CHUNK // mmap.PAGESIZE)
    return f"{len(areas) * CHUNK // MIB} MiB"


def fill_files(limit: int, make: Callable[[], int]) -> str:
    """Fill more room in files than the limit; it is freed with their descriptors."""
    files: list[int] = []
    try:
        while len(files) * CHUNK < (limit + BEYOND_MIB) * MIB:
            files.append(make())
            os.posix_fallocate(files[-1], 0, CHUNK)
    finally:
        for descriptor in files:
            os.close(descriptor)
    return f"{len(files) * CHUNK // MIB} MiB"


def fill_folder(targets: Targets, folder: str) -> str:
    """Fill more room in a folder than the limit."""

    def make() -> int:
        with nameless_file(folder) as descriptor:
            return os.dup(descriptor)

    return fill_files(limit_of(targets, "file_mib", LARGEST_MIB), make)


def fill_memory_files(targets: Targets) -> str:
    """Take more memory than the limit, in files without a folder."""
    limit = limit_of(targets, "memory_mib", LARGEST_MIB)
    return fill_files(limit, lambda: os.memfd_create("boneyard"))


def make_queue(targets: Targets) -> None:
    """Make a message queue of our own: memory that no limit on memory counts."""
    name = f"/{targets['note']}-own".encode()
    os.close(libc_call("mq_open", name, os.O_CREAT | os.O_RDWR, 0o600, None))
    libc_call("mq_unlink", name)


def raise_limit(_: Targets) -> str:
    soft, hard = resource.getrlimit(resource.RLIMIT_NICE)
    if hard == resource.RLIM_INFINITY:
        return "nothing to raise"
    resource.setrlimit(resource.RLIMIT_NICE, (soft, hard + 1))
    return "raised one"


LIMITS: dict[str, Probe] = {
    "processes-limit": start_many,
    "open-files-limit": open_many,
    "file-size-limit": gets("wrote it", write_large_file),
    "memory-limit": lambda t: take_memory(t, mmap.MAP_PRIVATE),
    "shared-memory-limit": lambda t: take_memory(t, mmap.MAP_SHARED),
    "memory-file-limit": fill_memory_files,
    "tmp-limit": lambda t: fill_folder(t, OWN_TMP),
    "shared-folder-limit": lambda t: fill_folder(t, "/dev/shm"),
    # A crash could write the memory to disk.
    "core-dump": anything_in(lambda _: max(resource.getrlimit(resource.RLIMIT_CORE), key=abs)),
    "message-queue-limit": gets("made one", make_queue),
    "raise-limit": raise_limit,
    # A better place at the processor than the other bot's; given up at once.
    "real-time": gets(
        "ran first",
        lambda _: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        lambda _: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)),
    ),
    "raise-priority": gets(
        "preferred",
        lambda _: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1),
        lambda _: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + 1),
    ),
}


# Processes that stay when the bot is killed; the runner sees whether they do.


def leaves_child(name: str, prepare: Callable[[], object]) -> Probe:
    """Return a probe that starts a child with its own name, which sleeps and exits."""

    def probe(targets: Targets) -> None:
        sign = targets["outlive"][name]
        reader, writer = os.pipe()
        if fork() == 0:
            try:
                signal.alarm(OUTLIVE_S)
                prepare()
                libc_call("prctl", PR_SET_NAME, sign.encode(), *NO_WORDS[1:])
                os.write(writer, b"!")
                os.closerange(0, 256)
                time.sleep(OUTLIVE_S)
            finally:
                os._exit(0)
        os.close(writer)
        try:
            if not select.select([reader], [], [], SECONDS)[0] or not os.read(reader, 1):
                raise Untried("it never began")
        finally:
            os.close(reader)

    return gets("began", probe)


def become_daemon() -> None:
    """Leave the session, where that is allowed, and the parent."""
    with suppress(OSError):
        os.setsid()
    if fork():
        os._exit(0)
    signal.alarm(OUTLIVE_S)


def ignore_signals() -> None:
    for polite in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(polite, signal.SIG_IGN)


OUTLIVE: dict[str, Probe] = {
    "outlive-child": leaves_child("outlive-child", lambda: None),
    "outlive-group": leaves_child("outlive-group", lambda: os.setpgid(0, 0)),
    "outlive-stubborn": leaves_child("outlive-stubborn", ignore_signals),
    "outlive-daemon": leaves_child("outlive-daemon", become_daemon),
}

GROUPS: dict[str, dict[str, Probe]] = {
    "files": FILES,
    "processes": PROCESSES,
    "inherited": INHERITED,
    "network": NETWORK,
    "shared": {**NOTES, **ONE_FILE, **SUPPLIES},
    "kernel": KERNEL,
    "counters": COUNTERS,
    "traces": TRACES,
    "limits": LIMITS,
    "outlive": OUTLIVE,
}
"""The probes of each guarantee, in the order of their execution."""
PROBES = {name: probe for group in GROUPS.values() for name, probe in group.items()}
SPOILING = frozenset({"referee-trace", "other-bot-trace", "user-namespace"})
"""Probes that spoil their worker: the next probe gets a new one."""


# Workers: a probe that ends its process ends a worker and nothing else.


def outcome(probe: Probe, targets: Targets) -> dict[str, Any]:
    """Return the outcome of a probe; only an observed refusal is a refusal."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return {"got": True, "detail": probe(targets)}
    except Untried as error:
        return {"got": True, "detail": f"not tried: {error}"}
    except Refused as error:
        return {"got": False, "detail": str(error)}
    except OSError as error:
        return {"got": False, "detail": errno.errorcode.get(error.errno or 0, type(error).__name__)}
    except (struct.error, LookupError, NameError, TypeError) as bug:
        return {"got": True, "detail": f"not tried: {type(bug).__name__}"}
    except Exception as error:
        # Python says so of some refusals: ValueError of a limit, RuntimeError of a thread.
        return {"got": False, "detail": type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(*_: object) -> None:
    """End a probe that waits, when the timer rings."""
    raise Untried(f"no answer in {SECONDS:g} s")


def make_probes(names: list[str], targets: Targets, pipe: int) -> None:
    signal.signal(signal.SIGALRM, too_long)
    # If memory is limited for all together, this process is to end, not the one that reports.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for name in names:
        line = json.dumps([name, outcome(PROBES[name], targets)]) + "\n"
        os.write(pipe, line.encode())
        if name in SPOILING:
            return


def read_worker(pipe: int) -> tuple[dict[str, Any], bool]:
    """Return a worker's outcomes, and whether it ended by itself before its time was up."""
    data, has_ended = b"", False
    while not has_ended and select.select([pipe], [], [], SILENCE_S)[0]:
        chunk = os.read(pipe, 65536)
        data, has_ended = data + chunk, not chunk
    return dict(json.loads(line) for line in data.splitlines()), has_ended


def run_worker(names: list[str], targets: Targets) -> tuple[dict[str, Any], int]:
    """Return the outcomes of one worker, and the signal that ended it or 0."""
    reader, writer = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            os.close(reader)
            make_probes(names, targets, writer)
        finally:
            os._exit(0)
    os.close(writer)
    outcomes, has_ended = read_worker(reader)
    os.close(reader)
    if not has_ended:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return outcomes, os.WTERMSIG(status) if has_ended and os.WIFSIGNALED(status) else 0


def run_all(names: list[str], targets: Targets) -> dict[str, Any]:
    """Return every outcome. A probe whose worker the kernel killed was refused."""
    outcomes: dict[str, Any] = {}
    left, crashes = list(names), 0
    while left and crashes <= CRASHES:
        new_outcomes, killed = run_worker(left, targets)
        outcomes.update(new_outcomes)
        left = [name for name in left if name not in outcomes]
        if left and not SPOILING.intersection(new_outcomes):
            detail = f"killed by signal {killed}" if killed else "not tried: its worker was silent"
            outcomes[left.pop(0)] = {"got": not killed, "detail": detail}
            crashes += 1
    missed_outcome = {"got": True, "detail": "not tried: too many workers ended"}
    return {**outcomes, **dict.fromkeys(left, missed_outcome)}


def main() -> None:
    """Read targets, print outcomes; then stay to be killed, as a bot is, if that is wanted."""
    inherited = open_descriptors()
    targets: Targets = json.loads(sys.stdin.readline())
    targets |= {"inherited": inherited, "parent": os.getppid(), "own_program": sys.argv[0]}
    names = [name for name in PROBES if name in set(targets.get("names") or PROBES)]
    try:
        outcomes = run_all(names, targets)
    except OSError as error:
        missed_outcome = {"got": True, "detail": f"not tried: no worker ({error.strerror})"}
        outcomes = dict.fromkeys(names, missed_outcome)
    print(json.dumps(outcomes), flush=True)
    if targets.get("linger"):
        select.select([0], [], [], LINGER_S)


if __name__ == "__main__":
    main()
