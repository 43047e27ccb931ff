"""Attempts of a bot against the referee, another bot and the machine; this file runs as a bot.

One self-contained file, because it must run where a bot runs: `python -I -S probes.py`. One line
of stdin holds the targets (a JSON object, see fixtures.py), one line of stdout the outcomes: for
each probe `{"got": true|false, "detail": …}`, where `got` means that the attempt got through.
An attempt that could not be made counts as got through: only an observed refusal is a refusal.

Bounded: at most FORKS forks, LARGEST_MIB of memory or files, SECONDS a probe. Nothing outlasts the
script except the `outlive-…` probes, whose processes end by themselves after 20 s.
"""

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
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

FORKS = 40
"""Workers (1 + SPOILING + CRASHES) + processes of the fork probe + those that outlive + clone3."""
CRASHES = 8
"""Workers that are replaced after a probe ended them."""
MOST_PROCESSES = 20
"""The highest limit on processes that is tried: one more than the limit is started."""
LARGEST_MIB = 128
"""The highest limit on memory or files that is tried."""
BEYOND_MIB = 8
"""Amount by which the probes exceed a limit, in MiB."""
SECONDS = 1.0
"""Most seconds of one probe."""
LINGER_S = 5
OUTLIVE_S = 20
MIB = 2**20
CHUNK = 4 * MIB

NUMBERS = {
    "x86_64": {
        "bpf": 321,
        "perf_event_open": 298,
        "userfaultfd": 323,
        "keyctl": 250,
        "add_key": 248,
        "kcmp": 312,
        "readahead": 187,
        "mincore": 27,
        "move_pages": 279,
        "io_setup": 206,
        "io_destroy": 207,
        "membarrier": 324,
        "futex": 202,
        "utimensat": 280,
        "set_tid_address": 218,
    },
    "aarch64": {
        "bpf": 280,
        "perf_event_open": 241,
        "userfaultfd": 282,
        "keyctl": 219,
        "add_key": 217,
        "kcmp": 272,
        "readahead": 213,
        "mincore": 232,
        "move_pages": 239,
        "io_setup": 0,
        "io_destroy": 1,
        "membarrier": 283,
        "futex": 98,
        "utimensat": 88,
        "set_tid_address": 96,
    },
}
SAME_NUMBERS = {
    "io_uring_setup": 425,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "futex_waitv": 449,
    "cachestat": 451,
    "futex_wake": 454,
}
CLONE_NEWUSER = 0x1000_0000
SO_NETNS_COOKIE = 71
TIOCSTI = 0x5412
PTRACE_SEIZE = 0x4206
F_OFD_GETLK, F_SETLEASE, F_NOTIFY, F_GET_RW_HINT = 36, 1024, 1026, 1035
MADV_WILLNEED, MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ = 3, 12, 20, 21, 22
FUTEX_WAKE, FUTEX_REQUEUE, FUTEX2_SIZE_U32 = 1, 3, 2
MANY, ALL_BITS = 1000, 0xFFFF_FFFF
MAP_HUGETLB = 0x4_0000
RESOLVE_CACHED = 0x20
MOST_PIPES = 10_000_000
MOST_EVENTFDS = 32
IN_OPEN = 0x20
KEYCTL_READ, KEYCTL_SEARCH = 11, 10
SESSION, USER, OWN_PROCESS = -3, -4, -2
GETVAL, IPC_NOWAIT = 12, 0o4000
PR_SET_NAME, PR_GET_NO_NEW_PRIVS = 15, 39

Targets = dict[str, Any]
Probe = Callable[[Targets], str]
"""An attempt that returns what it got; it raises Refused or OSError if it was refused."""


class Refused(Exception):  # noqa: N818 - the usual outcome, not an error
    """The attempt did not get through."""


class Untried(Exception):  # noqa: N818 - neither is this
    """The attempt could not be made, so nothing is known."""


# The kernel, called by name.


def number(name: str) -> int:
    """Return a system call's number on this machine."""
    machine = NUMBERS.get(os.uname().machine)
    if machine is None:
        raise Untried(f"no call numbers for {os.uname().machine}")
    return machine[name] if name in machine else SAME_NUMBERS[name]


def syscall(name: str, *words: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a raw system call. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    wide = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return checked(int(libc.syscall(ctypes.c_long(number(name)), *wide)))


def libc_call(name: str, *words: Any) -> int:
    """Call a function of the C library that returns an int. Raises OSError."""
    return checked(int(getattr(ctypes.CDLL(None, use_errno=True), name)(*words)))


def checked(result: int) -> int:
    """Return the result of a call, or raise its error as an OSError."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def fork() -> int:
    """Fork; nothing else in this file does. A child drops handlers and timers of its parent."""
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return pid


# What the probes have in common.


def read(path: str, size: int = 4096) -> bytes:
    """Return the first bytes of a file."""
    descriptor, found = os.open(path, os.O_RDONLY | os.O_NONBLOCK), b""
    try:
        while len(found) < size and (more := os.read(descriptor, size - len(found))):
            found += more
        return found
    finally:
        os.close(descriptor)


def secret(targets: Targets, found: bytes) -> str:
    """Succeed only if the secret is in the bytes."""
    if targets["token"].encode() not in found:
        raise Refused("something else was there")
    return "read the secret"


def something(found: object) -> str:
    """Succeed if there is anything."""
    if not found:
        raise Refused("empty")
    return "read it"


def try_open(path: str, flags: int) -> str:
    """Succeed if a path can be opened; read and write nothing."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
    return "opened it"


def writable(folder: str) -> str:
    """Succeed if a nameless file can be made there; try a named one if the system has none."""
    try:
        return try_open(folder, os.O_TMPFILE | os.O_WRONLY)
    except OSError as no:
        if no.errno not in (errno.EOPNOTSUPP, errno.EISDIR):
            raise
    path = f"{folder}/boneyard-{os.getpid()}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return "made a file"


def appended(path: str, data: bytes) -> str:
    """Succeed if something can be added to a file, which is made if missing."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, data)
    os.close(descriptor)
    return "wrote there"


def home_listed(targets: Targets) -> str:
    """List the user's home, not an empty folder of its name."""
    found = os.stat(targets["home"])
    if [found.st_dev, found.st_ino] != targets["home_identity"]:
        raise Refused("another folder")
    return f"{len(os.listdir(targets['home']))} names"


def own_tmp() -> str:
    """Return the folder in which a bot may write, if there is one."""
    return os.environ.get("TMPDIR", "/tmp")


def namespace(name: str) -> str:
    """Return the identity of one of our own namespaces; empty if it cannot be read."""
    with suppress(OSError):
        return os.readlink(f"/proc/self/ns/{name}")
    return ""


def numbered(targets: Targets, who: str) -> int:
    """Return a process id that means the same to us as to the referee."""
    own = namespace("pid")
    if own and own != targets["pid_namespace"]:
        raise Refused("process ids of its own")
    return int(targets[who]["pid"])


def proc(targets: Targets, who: str, name: str) -> str:
    """Return a path under /proc of another process; in a /proc of ours its number is another's."""
    own = namespace("pid")
    if own and own != targets["pid_namespace"] and os.readlink("/proc/self") == str(os.getpid()):
        raise Refused("a /proc of its own")
    return f"/proc/{targets[who]['pid']}/{name}"


def find_process(targets: Targets, who: str) -> str:
    """Succeed if the other process's command line is anywhere in /proc."""
    wanted = targets[who]["argument"].encode()
    for pid in [name for name in os.listdir("/proc") if name.isdigit()][:5000]:
        with suppress(OSError):
            if wanted in read(f"/proc/{pid}/cmdline"):
                return "found it"
    raise Refused("not there")


def peeked(targets: Targets, who: str) -> str:
    """Read the other's memory through its file."""
    descriptor = os.open(proc(targets, who, "mem"), os.O_RDONLY)
    try:
        return secret(targets, os.pread(descriptor, 64, targets[who]["address"]))
    finally:
        os.close(descriptor)


def vm_read(targets: Targets, who: str) -> str:
    """Read the other's memory with a call."""
    pid, room = numbered(targets, who), ctypes.create_string_buffer(64)
    here = struct.pack("PN", ctypes.addressof(room), 64)
    there = struct.pack("PN", targets[who]["address"], 64)
    one, no_flags = ctypes.c_ulong(1), ctypes.c_ulong(0)
    libc_call("process_vm_readv", pid, here, one, there, one, no_flags)
    return secret(targets, room.raw)


def seized(targets: Targets, who: str) -> str:
    """Become the other's tracer; this ends with the worker, and the other never stops."""
    words = (ctypes.c_long(0), ctypes.c_long(0))
    libc_call("ptrace", ctypes.c_long(PTRACE_SEIZE), numbered(targets, who), *words)
    return "traces it"


def descriptor_taken(targets: Targets, who: str) -> str:
    """Copy a descriptor out of the other process."""
    other = os.pidfd_open(numbered(targets, who))
    mine = syscall("pidfd_getfd", other, targets[who]["descriptor"], 0)
    return secret(targets, os.pread(mine, 4096, 0))


def held(targets: Targets, who: str) -> str:
    """Hold the other process by a descriptor."""
    os.close(os.pidfd_open(numbered(targets, who)))
    return "holds it"


def signalled(targets: Targets, who: str) -> str:
    """Send a harmless signal; the other end shows whether it arrived."""
    os.kill(numbered(targets, who), signal.SIGURG)
    return "sent a signal"


def compared(targets: Targets) -> str:
    """Ask the kernel whether two processes share something."""
    syscall("kcmp", os.getpid(), numbered(targets, "referee"), 1, 0, 0)
    return "compared"


def reniced(targets: Targets, who: str) -> str:
    """Take the processor from another."""
    pid = numbered(targets, who)
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid) + 1)
    return "slowed it"


def pinned(targets: Targets, who: str) -> str:
    """Put another on one processor."""
    pid = numbered(targets, who)
    os.sched_setaffinity(pid, [min(os.sched_getaffinity(pid))])
    return "pinned it"


def limited(targets: Targets, who: str) -> str:
    """Lower another's limits."""
    pid = numbered(targets, who)
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft - 1, hard))
    return "lowered its limit"


def sacrificed(targets: Targets, who: str) -> str:
    """Mark another as the first to be killed when memory ends, then restore the old value."""
    path = proc(targets, who, "oom_score_adj")
    return appended(path, read(path))


def cpu_clock(targets: Targets, who: str) -> str:
    """Read how much processor time another has used."""
    return f"{time.clock_gettime((~numbered(targets, who) << 3) | 2):.3f} s"


def session_of(targets: Targets, who: str) -> str:
    """Ask for the other's session."""
    return str(os.getsid(numbered(targets, who)))


def descriptors() -> list[int]:
    """Return the descriptors that were open at the start, beyond the three."""
    found = []
    for descriptor in range(3, 256):
        with suppress(OSError):
            os.fstat(descriptor)
            found.append(descriptor)
    return found


def inherited_secret(targets: Targets) -> str:
    """Read any descriptor that the referee left open."""
    if not targets["inherited"]:
        raise Refused("none")
    return f"{len(targets['inherited'])} descriptors"


def terminal_pushed(_: Targets) -> str:
    """Type on the user's terminal: a null pointer fails with EFAULT after every check."""
    terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    try:
        libc_call("ioctl", terminal, ctypes.c_ulong(TIOCSTI), None)
    except OSError as no:
        if no.errno != errno.EFAULT:
            raise
    finally:
        os.close(terminal)
    return "may type there"


def network_cookie() -> int:
    """Return the identity of our network; 0 if the kernel does not tell."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        return int(
            struct.unpack("Q", any_socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8))[0]
        )
    return 0


def same_network(targets: Targets) -> str:
    """Succeed if the referee's network is ours."""
    if network_cookie() != targets["network"] or not targets["network"]:
        raise Refused("another network")
    return "the referee's network"


def tcp(port: int) -> str:
    """Connect on loopback."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS / 2):
        return "connected"


def udp(targets: Targets) -> str:
    """Send on loopback; the other end shows whether it arrived."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"probe", ("127.0.0.1", targets["referee"]["udp"]))
    return "sent"


def unix(address: str) -> str:
    """Connect to a local socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sender:
        sender.settimeout(SECONDS / 2)
        sender.connect(address)
    return "connected"


def listening(targets: Targets) -> str:
    """Wait for others on the referee's own network."""
    with socket.create_server(("127.0.0.1", 0)):
        same_network(targets)
    return "listens"


def routed(_: Targets) -> str:
    """Ask for a route to a documentation address; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("192.0.2.1", 9))
    return "has a route"


def socket_of(family: int, kind: int, protocol: int = 0) -> str:
    """Make a socket of a kind that no bot needs."""
    socket.socket(family, kind, protocol).close()
    return "made one"


def note(targets: Targets, place: str) -> str:
    """Read a note that the other bot left in a place."""
    return secret(targets, read(f"{place}/{targets['note']}"))


def segment(targets: Targets) -> str:
    """Read System V shared memory."""
    identity = libc_call("shmget", targets["key"], 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(identity, None, 0o10000)
    if address in (None, ctypes.c_void_p(-1).value):
        checked(-1)
    return secret(targets, ctypes.string_at(address, 64))


def semaphore(targets: Targets) -> str:
    """Read a System V semaphore."""
    identity = libc_call("semget", targets["key"], 1, 0)
    if libc_call("semctl", identity, 0, GETVAL, 0) != targets["semaphore"]:
        raise Refused("another value")
    return "read it"


def message(targets: Targets) -> str:
    """Take a message from a System V queue."""
    identity, room = libc_call("msgget", targets["key"], 0), ctypes.create_string_buffer(256)
    size, any_type = ctypes.c_size_t(128), ctypes.c_long(0)
    libc_call("msgrcv", identity, room, size, any_type, IPC_NOWAIT)
    return secret(targets, room.raw)


def queued(targets: Targets) -> str:
    """Take a message from a POSIX queue."""
    name = b"/" + targets["note"].encode()
    queue, room = libc_call("mq_open", name, os.O_RDONLY | os.O_NONBLOCK), bytes(128)
    buffer = ctypes.create_string_buffer(room, 128)
    libc_call("mq_receive", queue, buffer, ctypes.c_size_t(128), None)
    return secret(targets, buffer.raw)


def key(targets: Targets, ring: int, name: str) -> str:
    """Read a key that the other bot put into a keyring."""
    words = (b"user", f"{targets['note']}-{name}".encode())
    found, room = syscall("keyctl", KEYCTL_SEARCH, ring, *words, 0), bytes(128)
    buffer = ctypes.create_string_buffer(room, 128)
    syscall("keyctl", KEYCTL_READ, found, buffer, 128)
    return secret(targets, buffer.raw)


@contextmanager
def shared_file(targets: Targets) -> Iterator[int]:
    """Yield a descriptor of a file that every bot reads, as the interpreter's are."""
    descriptor = os.open(targets["shared"], os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def flocked(targets: Targets) -> str:
    """See the other bot's lock on a whole file."""
    with shared_file(targets) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return "saw its lock"
    raise Refused("no lock seen")


def record_locked(targets: Targets, command: int) -> str:
    """See the other bot's lock on a part of a file."""
    ask = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    with shared_file(targets) as descriptor:
        answer = fcntl.fcntl(descriptor, command, ask)
    if struct.unpack("hhqqi4x", answer)[0] == fcntl.F_UNLCK:
        raise Refused("no lock seen")
    return "saw its lock"


def leased(targets: Targets) -> str:
    """Take a lease, which fails while anybody else has the file open, and so reveals it."""
    with shared_file(targets) as descriptor:
        try:
            fcntl.fcntl(descriptor, F_SETLEASE, fcntl.F_WRLCK)
        except BlockingIOError:
            return "saw that it is open"
    raise Refused("nobody else")


def watched(targets: Targets) -> str:
    """See when the other bot opens a file."""
    watch = libc_call("inotify_init1", os.O_CLOEXEC)
    try:
        libc_call("inotify_add_watch", watch, targets["shared"].encode(), IN_OPEN)
        if not select.select([watch], [], [], SECONDS / 2)[0]:
            raise Refused("saw nothing")
    finally:
        os.close(watch)
    return "saw it opened"


def read_time(targets: Targets) -> str:
    """See that the other bot has read a file."""
    if os.stat(targets["shared"]).st_atime < targets["shared_read_at"] + 1:
        raise Refused("never changed")
    return "saw that it was read"


def times_changed(targets: Targets) -> str:
    """Leave a number in the times of a file that every bot can see."""
    os.utime(targets["shared"], (targets["shared_read_at"] + 9, targets["shared_read_at"] + 9))
    return "changed them"


def attribute(targets: Targets) -> str:
    """Leave a word in the attributes of a file that every bot can see."""
    os.setxattr(targets["shared"], "user.boneyard", b"1")
    return "wrote one"


def device_times_changed(_: Targets) -> str:
    """Set the present time on a device that every bot may write to."""
    syscall("utimensat", -100, b"/dev/null", None, 0)
    return "changed them"


def hinted(targets: Targets) -> str:
    """Read the hint on a file's use that the other bot left with the file."""
    with shared_file(targets) as descriptor:
        answer = fcntl.fcntl(descriptor, F_GET_RW_HINT, bytes(8))
    if struct.unpack("Q", answer)[0] != targets["hint"]:
        raise Refused("another hint")
    return "read it"


def folder_noticed(targets: Targets) -> str:
    """Be told by a signal when the other bot reads a file of a folder."""
    descriptor = os.open(os.path.dirname(targets["shared"]), os.O_RDONLY)
    try:
        fcntl.fcntl(descriptor, F_NOTIFY, 1)
    finally:
        os.close(descriptor)
    return "will be told"


# Pages of files that every bot reads.


def dropped(targets: Targets) -> str:
    """Drop a file from memory: its next reader waits for the disk."""
    with shared_file(targets) as descriptor:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    return "dropped it"


def read_ahead(targets: Targets) -> str:
    """Bring a file into memory."""
    with shared_file(targets) as descriptor:
        syscall("readahead", descriptor, 0, 4096)
    return "brought it in"


def read_if_there(targets: Targets) -> str:
    """Read only data in memory, and so learn whether they are there."""
    with shared_file(targets) as descriptor:
        try:
            os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT)
        except BlockingIOError:
            return "not in memory"
    return "in memory"


@contextmanager
def shared_page(targets: Targets) -> Iterator[int]:
    """Yield the address of a page of a file that every bot reads."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    size, start = ctypes.c_size_t(mmap.PAGESIZE), ctypes.c_long(0)
    with shared_file(targets) as descriptor:
        page = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, start)
    if page in (None, ctypes.c_void_p(-1).value):
        checked(-1)
    ctypes.string_at(page, 1)
    try:
        yield page
    finally:
        libc.munmap(ctypes.c_void_p(page), size)


def pages_listed(targets: Targets) -> str:
    """Ask which pages of a file are in memory."""
    with shared_page(targets) as page:
        syscall("mincore", page, mmap.PAGESIZE, ctypes.create_string_buffer(1))
    return "knows it"


def pages_counted(targets: Targets) -> str:
    """Ask how many pages of a file are in memory; the kernel refuses those who may not know."""
    room = ctypes.create_string_buffer(40)
    with shared_file(targets) as descriptor:
        syscall("cachestat", descriptor, ctypes.create_string_buffer(16), room, 0)
    return "counted them"


def page_placed(targets: Targets) -> str:
    """Ask for a page's place; a page that others use cannot be moved, which reveals it."""
    pages, place = struct.Struct("P"), ctypes.create_string_buffer(4)
    with shared_page(targets) as page:
        syscall("move_pages", 0, 1, pages.pack(page), None, place, 0)
    return "knows it"


def advised(targets: Targets, advice: int) -> str:
    """Advise the kernel about a page of a file."""
    with shared_page(targets) as page:
        place, size = ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE)
        libc_call("madvise", place, size, advice)
    return "was heard"


def merged(_: Targets) -> str:
    """Have a page merged with all that are like it, other bots' too."""
    with mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as page:
        page.madvise(MADV_MERGEABLE)
    return "was heard"


def somebody_waits(counted: Callable[[], int]) -> str:
    """Succeed if anybody was found; the other bot may just be between two waits."""
    end = time.monotonic() + SECONDS / 2
    while time.monotonic() < end:
        if counted():
            return "somebody waits"
        time.sleep(0.001)
    raise Refused("nobody waits")


def woken(targets: Targets) -> str:
    """Wake the other bot, which waits at a page of a file."""
    with shared_page(targets) as page:
        return somebody_waits(lambda: syscall("futex", page, FUTEX_WAKE, MANY))


def moved_to_another(targets: Targets) -> str:
    """Move the other bot's wait from one word of a page to the next, then back again."""
    with shared_page(targets) as page:
        words = (page, page + 4)

        def counted() -> int:
            here, there = words
            moved = syscall("futex", here, FUTEX_REQUEUE, 0, MANY, there)
            syscall("futex", there, FUTEX_REQUEUE, 0, MANY, here)
            return moved

        return somebody_waits(counted)


def woken_anew(targets: Targets) -> str:
    """Wake the other bot by the newer call."""
    with shared_page(targets) as page:
        return somebody_waits(lambda: syscall("futex_wake", page, ALL_BITS, MANY, FUTEX2_SIZE_U32))


def waits_for_several(_: Targets) -> str:
    """Wait by the newer call for nothing at all: a caller's mistake, if the call exists."""
    try:
        syscall("futex_waitv", None, 0, 0, None, 0)
    except OSError as no:
        if no.errno != errno.EINVAL:
            raise
    return "may wait"


def path_remembered(targets: Targets) -> str:
    """Open a file only if somebody has looked up its path."""
    how = struct.pack("QQQ", os.O_RDONLY, 0, RESOLVE_CACHED)
    try:
        os.close(syscall("openat2", -100, targets["shared"].encode(), how, len(how)))
    except BlockingIOError:
        return "nobody has"
    return "somebody has"


def flushed(targets: Targets) -> str:
    """Wait until everything is on the disk, which takes as long as others' writes."""
    with shared_file(targets) as descriptor:
        libc_call("syncfs", descriptor)
    return "flushed"


# Supplies of the machine: everybody notices who takes the last of them.


def reads_ordered(_: Targets) -> str:
    """Reserve asynchronous reads, of which the machine has a number for all."""
    context = ctypes.create_string_buffer(8)
    syscall("io_setup", 1, context)
    syscall("io_destroy", struct.unpack("q", context.raw)[0])
    return "took one"


def huge_page(_: Targets) -> str:
    """Take a huge page; a lack of them is information too."""
    try:
        mmap.mmap(-1, 2 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB).close()
    except OSError as no:
        if no.errno != errno.ENOMEM:
            raise
    return "asked for one"


def terminal_made(_: Targets) -> str:
    """Take a terminal; they are numbered and counted for all."""
    for descriptor in os.openpty():
        os.close(descriptor)
    return "took one"


def descriptor_sent(_: Targets) -> str:
    """Send a descriptor; those on the way are counted for each user."""
    here, there = socket.socketpair()
    with here, there:
        socket.send_fds(here, [b"x"], [0])
    return "sent one"


def core_chosen(_: Targets) -> str:
    """Choose the core that another bot runs on."""
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    return "chose it"


def all_interrupted(_: Targets) -> str:
    """Interrupt every core."""
    syscall("membarrier", 1, 0, 0)
    return "did it"


# The kernel's rarer entrances.


def perf_event(_: Targets) -> str:
    """Count events of our own process."""
    wanted = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 0x61), 112)
    os.close(syscall("perf_event_open", wanted, 0, -1, -1, 0))
    return "made one"


def bpf(_: Targets) -> str:
    """Make a map for kernel programs."""
    wanted = ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 4, 1), 72)
    os.close(syscall("bpf", 0, wanted, 72))
    return "made a map"


def mounted(_: Targets) -> str:
    """Make a mount that is attached nowhere."""
    context = syscall("fsopen", b"tmpfs", 0)
    syscall("fsconfig", context, 6, None, None, 0)
    os.close(syscall("fsmount", context, 0, 0))
    return "mounted"


def handled(targets: Targets) -> str:
    """Open a file by its number instead of its path, which passes every folder's rights."""
    room, where = ctypes.create_string_buffer(struct.pack("I", 128), 136), ctypes.c_int()
    path = targets["shared"].encode()
    libc_call("name_to_handle_at", -100, path, room, ctypes.byref(where), 0)
    with shared_file(targets) as descriptor:
        os.close(libc_call("open_by_handle_at", descriptor, room, os.O_RDONLY))
    return "opened it"


def capable(_: Targets) -> str:
    """Succeed if we have any capability: a bot needs none."""
    head, room = struct.pack("Ii", 0x2008_0522, 0), ctypes.create_string_buffer(24)
    libc_call("capget", head, room)
    words = struct.unpack("6I", room.raw)
    return something(words[0] | words[1] | words[3] | words[4])


def gaining(_: Targets) -> str:
    """Succeed if programs with the set-user-id bit would give their rights."""
    if libc_call("prctl", PR_GET_NO_NEW_PRIVS, *(ctypes.c_ulong(0),) * 4):
        raise Refused("no new privileges")
    return "may gain rights"


def old_calls(_: Targets) -> str:
    """Call the kernel by the 32-bit door, which a filter may have left open."""
    if os.uname().machine != "x86_64":
        raise Refused("no such door here")
    room = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    room.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, getpid; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(room))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() != os.getpid():
        raise Refused("refused")
    return "called"


def root_changed(_: Targets) -> str:
    """Choose another root folder: the same one."""
    os.chroot("/")
    return "changed it"


def entered(targets: Targets) -> str:
    """Enter a namespace of the referee."""
    descriptor = os.open(proc(targets, "referee", "ns/uts"), os.O_RDONLY)
    libc_call("setns", descriptor, 0)
    return "entered"


def new_user(_: Targets) -> str:
    """Make a user namespace of our own, where we would be root."""
    libc_call("unshare", CLONE_NEWUSER)
    return "made one"


def new_user_by_clone(_: Targets) -> str:
    """Make a user namespace by the newer call, whose flags no filter can see."""
    words = struct.pack("11Q", CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    pid = syscall("clone3", words, len(words))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made one"


def renamed(targets: Targets) -> str:
    """Set the machine's name to its present value."""
    socket.sethostname(socket.gethostname())
    if namespace("uts") != targets["uts_namespace"]:
        raise Refused("a machine's name of its own")
    return "may rename the machine"


def device_made(_: Targets) -> str:
    """Make a device."""
    path = f"{own_tmp()}/boneyard-{os.getpid()}"
    os.mknod(path, 0o020600, os.makedev(1, 3))
    os.unlink(path)
    return "made one"


def own_control_group(_: Targets) -> str:
    """Change the control group that limits us."""
    group = read("/proc/self/cgroup").decode().rpartition("0::")[2].split("\n")[0]
    return try_open(f"/sys/fs/cgroup{group}/cgroup.procs", os.O_WRONLY)


# Counters that everybody changes and everybody reads.


def disk_space(targets: Targets) -> str:
    """Read how full the disk is that all share."""
    return something(os.statvfs(targets["shared"]).f_bfree)


def machine_load(_: Targets) -> str:
    """Read load and memory by a call, without any file."""
    room = ctypes.create_string_buffer(128)
    libc_call("sysinfo", room)
    return something(struct.unpack("10L", room.raw[:80])[1:4])


def machine_name(targets: Targets) -> str:
    """Read the machine's name."""
    if os.uname().nodename != targets["machine_name"]:
        raise Refused("another name")
    return "read it"


# Traces that the kernel leaves of its own accord.


def page_shared(targets: Targets) -> str:
    """See in the account of our own memory that the other bot has a page in its memory too."""
    with shared_page(targets):
        account = read("/proc/self/smaps", MIB).decode().partition(targets["shared"])[2]
    shared = [line.split()[1] for line in account.splitlines()[:12] if "Shared_" in line]
    if not set(shared) - {"0"}:
        raise Refused("nobody has it")
    return "somebody has it"


def thread_ended(targets: Targets) -> str:
    """End a thread whose end the kernel reports at a page of a file; a waiting process hears it.

    The other end shows whether the other bot did.
    """
    with shared_page(targets) as page:
        thread = threading.Thread(target=syscall, args=("set_tid_address", page))
        thread.start()
        thread.join()
        time.sleep(0.01)
    return "ended"


def pipe_numbered(targets: Targets) -> str:
    """See in the number of a pipe how many the other bot has made."""
    ours, theirs = os.pipe()
    number = os.fstat(ours).st_ino
    os.close(ours)
    os.close(theirs)
    if abs(number - targets["other"]["pipe"]) > MOST_PIPES:
        raise Refused("another count")
    return "the same count"


def eventfd_numbered(targets: Targets) -> str:
    """See that the other bot holds an eventfd: of those that we make, none gets its number.

    Each has the lowest number that is free, so that in a set of our own one would get it.
    """
    theirs, ours = targets["other"]["eventfd"], list[int]()
    try:
        while len(ours) < MOST_EVENTFDS:
            ours.append(libc_call("eventfd", 0, 0))
            told = read(f"/proc/self/fdinfo/{ours[-1]}").partition(b"eventfd-id:")[2]
            number = int(told.split()[0])
            if number == theirs:
                raise Refused("numbers of its own")
            if number > theirs:
                return "the same numbers"
    finally:
        for descriptor in ours:
            os.close(descriptor)
    raise Untried(f"its number {theirs} is too far away")


# Limits, exceeded a little and no further.


def tried(targets: Targets, name: str, most: int) -> int:
    """Return a limit that can be tried safely."""
    limit = int(targets["limits"][name])
    if limit > most:
        raise Untried(f"a limit of {limit} is too large to try")
    return limit


def many_processes(targets: Targets) -> str:
    """Start more processes than the limit; each waits until all are counted, or its alarm."""
    limit, started = tried(targets, "processes", MOST_PROCESSES), 0
    inside, outside = os.pipe()
    try:
        while started <= limit:
            if fork() == 0:
                os.close(outside)
                signal.alarm(3)
                os.read(inside, 1)
                os._exit(0)
            started += 1
    finally:
        os.close(outside)
        os.close(inside)
        for _ in range(started):
            os.wait()
    return f"{started} at once"


def many_files(targets: Targets) -> str:
    """Open more files than the limit."""
    limit = tried(targets, "open_files", 4096)
    opened_here: list[int] = []
    try:
        while len(opened_here) <= limit:
            opened_here.append(os.dup(0))
    finally:
        for descriptor in opened_here:
            os.close(descriptor)
    return f"{len(opened_here)} open"


@contextmanager
def nameless(folder: str) -> Iterator[int]:
    """Yield a file that is gone with its descriptor."""
    path = f"{folder}/boneyard-{os.getpid()}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def large_file(targets: Targets) -> str:
    """Make a file beyond the limit; only its last byte takes room."""
    limit = tried(targets, "file_mib", 2**20) * MIB
    with nameless(own_tmp()) as descriptor:
        os.pwrite(descriptor, b"x", limit)
    return "wrote it"


def much_memory(targets: Targets, flags: int) -> str:
    """Take more memory than the limit, and touch every page of it."""
    limit = tried(targets, "memory_mib", LARGEST_MIB) * MIB
    taken: list[mmap.mmap] = []
    while len(taken) * CHUNK < limit + BEYOND_MIB * MIB:
        taken.append(mmap.mmap(-1, CHUNK, flags=flags | mmap.MAP_ANONYMOUS))
        taken[-1][:: mmap.PAGESIZE] = b"x" * (CHUNK // mmap.PAGESIZE)
    return f"{len(taken) * CHUNK // MIB} MiB"


def much_room(limit: int, make: Callable[[], int]) -> str:
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


def full_folder(targets: Targets, folder: str) -> str:
    """Fill more room in a folder than the limit."""

    def make() -> int:
        with nameless(folder) as descriptor:
            return os.dup(descriptor)

    return much_room(tried(targets, "tmp_mib", LARGEST_MIB), make)


def memory_files(targets: Targets) -> str:
    """Take more memory than the limit, in files without a folder."""
    limit = tried(targets, "memory_mib", LARGEST_MIB)
    return much_room(limit, lambda: os.memfd_create("boneyard"))


def core_dumped(_: Targets) -> str:
    """Succeed if a crash could write the memory to disk."""
    return something(max(resource.getrlimit(resource.RLIMIT_CORE), key=abs))


def own_queue(targets: Targets) -> str:
    """Make a message queue of our own: memory that no limit on memory counts."""
    name = f"/{targets['note']}-own".encode()
    os.close(libc_call("mq_open", name, os.O_CREAT | os.O_RDWR, 0o600, None))
    libc_call("mq_unlink", name)
    return "made one"


def limit_raised(_: Targets) -> str:
    """Raise a hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NICE)
    if hard == resource.RLIM_INFINITY:
        return "nothing to raise"
    resource.setrlimit(resource.RLIMIT_NICE, (soft, hard + 1))
    return "raised one"


def real_time(_: Targets) -> str:
    """Run before everybody else; give it up at once."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return "ran first"


def preferred(_: Targets) -> str:
    """Take a better place at the processor than the other bot; give it up at once."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, own - 1)
    os.setpriority(os.PRIO_PROCESS, 0, own)
    return "preferred"


# Processes that stay when the bot is killed; the runner sees whether they do.


def stay(targets: Targets, name: str, prepare: Callable[[], object]) -> str:
    """Start a child with a name of its own, which sleeps and ends by itself."""
    sign = targets["outlive"][name]
    ours, theirs = os.pipe()
    if fork() == 0:
        try:
            signal.alarm(OUTLIVE_S)
            prepare()
            libc_call("prctl", PR_SET_NAME, sign.encode(), *(ctypes.c_ulong(0),) * 3)
            os.write(theirs, b"!")
            os.closerange(0, 256)
            time.sleep(OUTLIVE_S)
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        if not select.select([ours], [], [], SECONDS / 2)[0] or not os.read(ours, 1):
            raise Untried("it never began")
    finally:
        os.close(ours)
    return "began"


def daemon() -> None:
    """Leave the session and the parent."""
    os.setsid()
    if fork():
        os._exit(0)
    signal.alarm(OUTLIVE_S)


def stubborn() -> None:
    """Ignore every polite signal."""
    for deaf in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(deaf, signal.SIG_IGN)


PROBES: dict[str, Probe] = {
    # files
    "read-secret-key": lambda t: secret(t, read(t["secret_key"])),
    "read-event-file": lambda t: secret(t, read(t["event_file"])),
    "list-game-logs": lambda t: something(os.listdir(t["logs"])),
    "read-game-log": lambda t: secret(t, read(t["game_log"])),
    "write-game-log": lambda t: appended(t["game_log"], b"forged\n"),
    "read-other-bots-program": lambda t: secret(t, read(t["other_program"])),
    "write-other-bots-program": lambda t: try_open(t["other_program"], os.O_WRONLY),
    "write-other-bots-folder": lambda t: appended(f"{t['other_folder']}/planted", b"x"),
    "write-own-program": lambda t: try_open(t["own_program"], os.O_WRONLY),
    "write-own-folder": lambda t: writable(os.path.dirname(t["own_program"])),
    "write-interpreter-folder": lambda _: writable(os.path.dirname(os.__file__)),
    "list-home": home_listed,
    "write-home": lambda t: writable(t["home"]),
    "read-through-referee-root": lambda t: secret(
        t, read(proc(t, "referee", "root") + t["event_file"])
    ),
    "read-through-referee-folder": lambda t: secret(
        t, read(proc(t, "referee", "cwd/") + os.path.basename(t["event_file"]))
    ),
    "read-through-launcher-root": lambda t: secret(
        t, read(f"/proc/{launcher(t)}/root{t['event_file']}")
    ),
    "read-through-other-bots-root": lambda t: secret(
        t, read(proc(t, "other", "root/") + f"{t['other']['tmp']}/{t['note']}")
    ),
    # processes
    "see-referee": lambda t: find_process(t, "referee"),
    "see-other-bot": lambda t: find_process(t, "other"),
    "list-sockets": lambda t: something(
        t["referee"]["abstract"].encode() in read("/proc/net/unix", MIB)
    ),
    # shared
    "referee-command-line": lambda t: secret(t, read(proc(t, "referee", "cmdline"))),
    "referee-environment": lambda t: secret(t, read(proc(t, "referee", "environ"))),
    "referee-memory-file": lambda t: peeked(t, "referee"),
    "referee-memory-call": lambda t: vm_read(t, "referee"),
    "referee-memory-map": lambda t: something(read(proc(t, "referee", "maps"))),
    "referee-descriptor-list": lambda t: something(os.listdir(proc(t, "referee", "fd"))),
    "referee-descriptor-open": lambda t: secret(
        t, read(proc(t, "referee", f"fd/{t['referee']['descriptor']}"))
    ),
    "referee-descriptor-take": lambda t: descriptor_taken(t, "referee"),
    "referee-hold": lambda t: held(t, "referee"),
    "referee-signal": lambda t: signalled(t, "referee"),
    "referee-compare": compared,
    "referee-renice": lambda t: reniced(t, "referee"),
    "referee-pin": lambda t: pinned(t, "referee"),
    "referee-limit": lambda t: limited(t, "referee"),
    "referee-oom-score": lambda t: sacrificed(t, "referee"),
    "referee-trace": lambda t: seized(t, "referee"),
    "other-bot-command-line": lambda t: secret(t, read(proc(t, "other", "cmdline"))),
    "other-bot-memory-file": lambda t: peeked(t, "other"),
    "other-bot-memory-call": lambda t: vm_read(t, "other"),
    "other-bot-environment": lambda t: something(read(proc(t, "other", "environ"))),
    "other-bot-descriptor-open": lambda t: secret(
        t, read(proc(t, "other", f"fd/{t['other']['descriptor']}"))
    ),
    "other-bot-descriptor-take": lambda t: descriptor_taken(t, "other"),
    "other-bot-signal": lambda t: signalled(t, "other"),
    "other-bot-renice": lambda t: reniced(t, "other"),
    "other-bot-pin": lambda t: pinned(t, "other"),
    "other-bot-limit": lambda t: limited(t, "other"),
    "other-bot-oom-score": lambda t: sacrificed(t, "other"),
    "other-bot-processor-time": lambda t: something(read(proc(t, "other", "stat"))),
    "other-bot-processor-clock": lambda t: cpu_clock(t, "other"),
    "other-bot-reads-and-writes": lambda t: something(read(proc(t, "other", "io"))),
    "other-bot-system-call": lambda t: something(read(proc(t, "other", "syscall"))),
    "other-bot-session": lambda t: session_of(t, "other"),
    "other-bot-trace": lambda t: seized(t, "other"),
    # inherited
    "environment": lambda t: secret(t, os.environ.get(t["variable"], "").encode()),
    "descriptors": inherited_secret,
    "terminal-open": lambda _: try_open("/dev/tty", os.O_RDWR),
    "terminal-push": terminal_pushed,
    # network
    "same-network": same_network,
    "tcp-referee": lambda t: tcp(t["referee"]["tcp"]),
    "udp-referee": udp,
    "unix-referee": lambda t: unix(t["unix"]),
    "abstract-unix-referee": lambda t: unix("\0" + t["referee"]["abstract"]),
    "tcp-other-bot": lambda t: tcp(t["other"]["tcp"]),
    "abstract-unix-other-bot": lambda t: unix("\0" + t["other"]["abstract"]),
    "tcp-listen": listening,
    "route-outside": routed,
    "raw-socket": lambda _: socket_of(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet-socket": lambda _: socket_of(socket.AF_PACKET, socket.SOCK_RAW),
    "virtual-machine-socket": lambda _: socket_of(socket.AF_VSOCK, socket.SOCK_STREAM),
    "note-in-tmp": lambda t: note(t, "/tmp"),
    "note-in-own-tmp": lambda t: note(t, t["other"]["tmp"]),
    "note-in-var-tmp": lambda t: note(t, "/var/tmp"),
    "note-in-shared-memory": lambda t: note(t, "/dev/shm"),
    "note-in-run": lambda t: note(t, "/run"),
    "note-in-run-lock": lambda t: note(t, "/run/lock"),
    "system-v-memory": segment,
    "system-v-semaphore": semaphore,
    "system-v-message": message,
    "system-v-list": lambda t: something(str(t["key"]).encode() in read("/proc/sysvipc/shm")),
    "posix-message": queued,
    "session-keyring": lambda t: key(t, SESSION, "session"),
    "user-keyring": lambda t: key(t, USER, "user"),
    "key-list": lambda t: something(t["note"].encode() in read("/proc/keys", MIB)),
    "file-lock": flocked,
    "record-lock": lambda t: record_locked(t, fcntl.F_GETLK),
    "open-file-lock": lambda t: record_locked(t, F_OFD_GETLK),
    "lease": leased,
    "folder-notice": folder_noticed,
    "file-watch": watched,
    "read-time": read_time,
    "write-times": times_changed,
    "write-attribute": attribute,
    "write-device-times": device_times_changed,
    "write-hint": hinted,
    "drop-pages": dropped,
    "read-ahead": read_ahead,
    "read-if-in-memory": read_if_there,
    "list-pages-in-memory": pages_listed,
    "count-pages-in-memory": pages_counted,
    "place-of-a-page": page_placed,
    "advise-cold": lambda t: advised(t, MADV_COLD),
    "advise-page-out": lambda t: advised(t, MADV_PAGEOUT),
    "advise-read-ahead": lambda t: advised(t, MADV_WILLNEED),
    "advise-populate": lambda t: advised(t, MADV_POPULATE_READ),
    "advise-merge": merged,
    "futex-wake": woken,
    "futex-requeue": moved_to_another,
    "futex-wake-by-new-call": woken_anew,
    "futex-wait-by-new-call": waits_for_several,
    "path-in-memory": path_remembered,
    "flush-disk": flushed,
    "asynchronous-reads": reads_ordered,
    "huge-page": huge_page,
    "terminal": terminal_made,
    "descriptor-on-its-way": descriptor_sent,
    "choose-core": core_chosen,
    "interrupt-cores": all_interrupted,
    # kernel
    "user-namespace-by-clone": new_user_by_clone,
    "mount": mounted,
    "change-root": root_changed,
    "enter-namespace": entered,
    "bpf": bpf,
    "perf-events": perf_event,
    "page-faults": lambda _: something(syscall("userfaultfd", 1)),
    "io-uring": lambda _: something(syscall("io_uring_setup", 1, ctypes.create_string_buffer(120))),
    "own-key": lambda t: something(
        syscall("add_key", b"user", b"own", t["token"].encode(), 8, OWN_PROCESS)
    ),
    "open-by-handle": handled,
    "watch-file-system": lambda _: something(libc_call("fanotify_init", 0x200, os.O_RDONLY)),
    "netlink-socket": lambda _: socket_of(socket.AF_NETLINK, socket.SOCK_RAW),
    "kernel-log": lambda _: something(libc_call("klogctl", 10, None, 0)),
    "kernel-log-device": lambda _: try_open("/dev/kmsg", os.O_RDONLY),
    "kernel-addresses": lambda _: something(read("/proc/kallsyms")[:16].strip(b"0")),
    "kernel-settings": lambda _: try_open("/proc/sys/kernel/domainname", os.O_WRONLY),
    "capabilities": capable,
    "set-user-id": gaining,
    "old-system-calls": old_calls,
    "rename-machine": renamed,
    "make-device": device_made,
    "own-control-group": own_control_group,
    "user-namespace": new_user,
    # counters
    "load": lambda _: something(read("/proc/loadavg")),
    "load-by-call": machine_load,
    "processor-counters": lambda _: something(read("/proc/stat")),
    "memory-counters": lambda _: something(read("/proc/meminfo")),
    "page-counters": lambda _: something(read("/proc/vmstat")),
    "disk-counters": lambda _: something(read("/proc/diskstats")),
    "interrupt-counters": lambda _: something(read("/proc/interrupts")),
    "pressure": lambda _: something(read("/proc/pressure/cpu")),
    "lock-list": lambda _: something(read("/proc/locks")),
    "terminal-counter": lambda _: something(read("/proc/sys/kernel/pty/nr")),
    "open-file-counter": lambda _: something(read("/proc/sys/fs/file-nr")),
    "key-counter": lambda _: something(read("/proc/key-users")),
    "disk-space": disk_space,
    "machine-name": machine_name,
    # traces
    "page-sharing": page_shared,
    "end-of-a-thread": thread_ended,
    "numbers-of-pipes": pipe_numbered,
    "numbers-of-eventfds": eventfd_numbered,
    # limits
    "processes-limit": many_processes,
    "open-files-limit": many_files,
    "file-size-limit": large_file,
    "memory-limit": lambda t: much_memory(t, mmap.MAP_PRIVATE),
    "shared-memory-limit": lambda t: much_memory(t, mmap.MAP_SHARED),
    "memory-file-limit": memory_files,
    "tmp-limit": lambda t: full_folder(t, own_tmp()),
    "shared-folder-limit": lambda t: full_folder(t, "/dev/shm"),
    "core-dump": core_dumped,
    "message-queue-limit": own_queue,
    "raise-limit": limit_raised,
    "real-time": real_time,
    "raise-priority": preferred,
    # outlive
    "outlive-child": lambda t: stay(t, "outlive-child", lambda: None),
    "outlive-group": lambda t: stay(t, "outlive-group", lambda: os.setpgid(0, 0)),
    "outlive-stubborn": lambda t: stay(t, "outlive-stubborn", stubborn),
    "outlive-daemon": lambda t: stay(t, "outlive-daemon", daemon),
}
"""Every probe, in the order of their execution."""

SPOILING = frozenset({"referee-trace", "other-bot-trace", "user-namespace"})
"""Probes that spoil their worker: the next probe gets a new one."""


def launcher(targets: Targets) -> int:
    """Return our starter: the first process of our own namespace, else our parent."""
    return 1 if namespace("pid") not in ("", targets["pid_namespace"]) else targets["parent"]


# Workers: a probe that ends its process ends a worker and nothing else.


def outcome(probe: Probe, targets: Targets) -> dict[str, Any]:
    """Return one probe's outcome; only an observed refusal is one."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return {"got": True, "detail": probe(targets)}
    except Untried as no:
        return {"got": True, "detail": f"not tried: {no}"}
    except Refused as no:
        return {"got": False, "detail": str(no)}
    except OSError as no:
        return {"got": False, "detail": errno.errorcode.get(no.errno or 0, type(no).__name__)}
    except Exception as no:
        return {"got": False, "detail": type(no).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(*_: object) -> None:
    """End a probe that waits, when the timer rings."""
    raise Untried(f"no answer in {SECONDS:g} s")


def work(names: list[str], targets: Targets, pipe: int) -> None:
    """Make the probes one after another and report each outcome."""
    signal.signal(signal.SIGALRM, too_long)
    # If memory is limited for all together, this process is to end, not the one that reports.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for name in names:
        told = json.dumps([name, outcome(PROBES[name], targets)]) + "\n"
        os.write(pipe, told.encode())
        if name in SPOILING:
            return


def read_worker(pipe: int) -> tuple[dict[str, Any], bool]:
    """Return a worker's outcomes, and whether it ended by itself before its time was up."""
    told, ended = b"", False
    while not ended and select.select([pipe], [], [], 3 * SECONDS)[0]:
        more = os.read(pipe, 65536)
        told, ended = told + more, not more
    return dict(json.loads(line) for line in told.splitlines()), ended


def worked(names: list[str], targets: Targets) -> tuple[dict[str, Any], int]:
    """Return the outcomes of one worker, and the signal that ended it or 0."""
    ours, theirs = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            os.close(ours)
            work(names, targets, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    told, ended = read_worker(ours)
    os.close(ours)
    if not ended:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return told, os.WTERMSIG(status) if ended and os.WIFSIGNALED(status) else 0


def tried_all(names: list[str], targets: Targets) -> dict[str, Any]:
    """Return every outcome. A probe whose worker the kernel killed was refused."""
    outcomes: dict[str, Any] = {}
    left, crashes = list(names), 0
    while left and crashes <= CRASHES:
        told, killed = worked(left, targets)
        outcomes.update(told)
        left = [name for name in left if name not in outcomes]
        if left and not SPOILING.intersection(told):
            detail = f"killed by signal {killed}" if killed else "not tried: its worker was silent"
            outcomes[left.pop(0)] = {"got": not killed, "detail": detail}
            crashes += 1
    missed = {"got": True, "detail": "not tried: too many workers ended"}
    return {**outcomes, **dict.fromkeys(left, missed)}


def main() -> None:
    """Read targets, print outcomes; then stay to be killed, as a bot is, if that is wanted."""
    inherited = descriptors()
    targets: Targets = json.loads(sys.stdin.readline())
    targets |= {"inherited": inherited, "parent": os.getppid(), "own_program": sys.argv[0]}
    names = [name for name in PROBES if name in set(targets.get("names") or PROBES)]
    try:
        outcomes = tried_all(names, targets)
    except OSError as no:
        missed = {"got": True, "detail": f"not tried: no worker ({no.strerror})"}
        outcomes = dict.fromkeys(names, missed)
    print(json.dumps(outcomes), flush=True)
    if targets.get("linger"):
        select.select([0], [], [], LINGER_S)


if __name__ == "__main__":
    main()
