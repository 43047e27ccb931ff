"""The system calls that a bot may make, and the seccomp filter that refuses all others."""

import errno
import platform
import struct
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

# The system calls that a bot may make, each group with its reason: any other call is refused.
#
# Two bots share files that both may only read. No call in this list shows one of them that the
# other reads, holds or awaits such a file; calls that are harmless except for some argument are in
# RULES too. Numbers are those of the kernel, for x86-64 and for aarch64.


CallNumbers = tuple[int | None, int | None]
"""A call's number on x86-64 and on aarch64; None if that machine has no such call."""


class CallGroup(Struct, frozen=True):
    """A group of calls that are allowed, or refused by another error than an unknown call's."""

    why: str
    calls: dict[str, CallNumbers]
    error: int | None = None
    """The error; 0: they return as if they had been made; None: they are made."""


# Several calls a line, so that a group can be seen at once.
# fmt: off
GROUPS = (
    CallGroup(
        "Reading and writing what is open: the three pipes, own files, the machine's libraries.",
        {
            "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66),
            "pread64": (17, 67), "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70),
            "lseek": (8, 62), "close": (3, 57), "close_range": (436, 436), "dup": (32, 23),
            "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59),
            "fcntl": (72, 25), "ioctl": (16, 29), "sendfile": (40, 71),
        },
    ),
    CallGroup(
        "Waiting for one's own descriptors and clocks.",
        {
            "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
            "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
            "epoll_wait": (232, None), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
            "eventfd": (284, None), "eventfd2": (290, 19), "signalfd": (282, None),
            "signalfd4": (289, 74), "timerfd_create": (283, 85), "timerfd_settime": (286, 86),
            "timerfd_gettime": (287, 87),
        },
    ),
    CallGroup(
        "Finding files and looking at them.",
        {
            "open": (2, None), "openat": (257, 56), "creat": (85, None), "access": (21, None),
            "faccessat": (269, 48), "faccessat2": (439, 439), "stat": (4, None), "lstat": (6, None),
            "fstat": (5, 80), "newfstatat": (262, 79), "statx": (332, 291), "readlink": (89, None),
            "readlinkat": (267, 78), "getdents": (78, None), "getdents64": (217, 61),
            "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "umask": (95, 166),
        },
    ),
    CallGroup(
        "Making and changing files, which is possible in the bot's own /tmp and /dev/shm only.",
        {
            "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None),
            "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38),
            "renameat2": (316, 276), "symlink": (88, None), "symlinkat": (266, 36),
            "mknod": (133, None), "mknodat": (259, 33), "chmod": (90, None), "fchmod": (91, 52),
            "fchmodat": (268, 53), "fchmodat2": (452, 452), "truncate": (76, 45),
            "ftruncate": (77, 46), "fallocate": (285, 47),
        },
    ),
    CallGroup(
        "Memory of one's own.",
        {
            "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216),
            "brk": (12, 214), "madvise": (28, 233), "msync": (26, 227), "membarrier": (324, 283),
        },
    ),
    CallGroup(
        "Threads and processes of one's own.",
        {
            "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221),
            "execveat": (322, 281), "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260),
            "waitid": (247, 95), "set_tid_address": (218, 96), "futex": (202, 98),
            "rseq": (334, 293), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
            "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
            "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
            "getpriority": (140, 141), "getcpu": (309, 168), "arch_prctl": (158, None),
        },
    ),
    CallGroup(
        "Asking about oneself, and giving up what one has.",
        {
            "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173),
            "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156),
            "setpgid": (109, 154), "getuid": (102, 174), "geteuid": (107, 175),
            "getgid": (104, 176), "getegid": (108, 177),
            "getgroups": (115, 158), "getresuid": (118, 148), "getresgid": (120, 150),
            "getrlimit": (97, 163), "setrlimit": (160, 164), "prlimit64": (302, 261),
            "getrusage": (98, 165), "times": (100, 153), "uname": (63, 160), "prctl": (157, 167),
            "capget": (125, 90), "getrandom": (318, 278),
        },
    ),
    CallGroup(
        "Signals, which reach one's own processes only.",
        {
            "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigaction": (13, 134),
            "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
            "rt_sigsuspend": (130, 133), "rt_sigtimedwait": (128, 137),
            "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
            "sigaltstack": (131, 132), "pause": (34, None), "alarm": (37, None),
            "setitimer": (38, 103), "getitimer": (36, 102), "restart_syscall": (219, 128),
        },
    ),
    CallGroup(
        "Clocks and timers.",
        {
            "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
            "nanosleep": (35, 101), "gettimeofday": (96, 169), "time": (201, None),
            "timer_create": (222, 107), "timer_settime": (223, 110), "timer_gettime": (224, 108),
            "timer_getoverrun": (225, 109), "timer_delete": (226, 111),
        },
    ),
    CallGroup(
        "Two ends of one's own wire, as event loops and child processes use them; never a name.",
        {
            "socketpair": (53, 199), "sendto": (44, 206), "recvfrom": (45, 207),
            "recvmsg": (47, 212), "shutdown": (48, 210), "getsockopt": (55, 209),
            "getsockname": (51, 204), "getpeername": (52, 205),
        },
    ),
    CallGroup(
        "What `setpriv` needs to become the bot's user, and what only ever takes rights away.",
        {
            "setresuid": (117, 147), "setresgid": (119, 149), "setgroups": (116, 159),
            "capset": (126, 91), "landlock_create_ruleset": (444, 444),
            "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
        },
    ),
)
NETWORK = CallGroup(
    "Connecting to the bot's proxy, in a namespace where nothing else is; only for `network`.",
    {
        "socket": (41, 198), "connect": (42, 203), "setsockopt": (54, 208), "sendmsg": (46, 211),
        "sendmmsg": (307, 269),
    },
)
BUILDING = CallGroup(
    "Locks and second names of files, by which build tools work; only for builds, which run before "
    "the games and know nothing of them. No bot can see a lock, because it may not ask for one.",
    {"flock": (73, 32), "link": (86, None), "linkat": (265, 37)},
)
REFUSED_CALLS = (
    # With any error Node, Go and Python take the copy as failed. The call is never really made: a
    # bot could leave times for another one to see, on devices that all may write to.
    CallGroup("A copy of a file gets the original's times.", {"utimensat": (280, 88)}, 0),
    # Many processes that wait for a disk that others use too would hold up the referee.
    CallGroup(
        "What a bot writes is in memory only, and never on a disk.",
        {"fsync": (74, 82), "fdatasync": (75, 83)}, 0,
    ),
    # The scheduler gives each session as much time as the referee's (autogroup).
    CallGroup("A process may not leave its session.", {"setsid": (112, 157)}, errno.EPERM),
    CallGroup(
        "A copy gets the original's attributes too, except on a file system without attributes.",
        {
            "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
            "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10),
            "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
        },
        errno.ENOTSUP,
    ),
)
"""The calls with another answer than unknown calls, whose error would end programs needlessly."""
# fmt: on


class Rule(Struct, frozen=True):
    """A condition: a call is allowed only if one of its arguments has one of these values.

    Arguments are numbers: the filter cannot read what a pointer points to.
    """

    argument: int
    """The index of the argument, from 0."""
    values: tuple[int, ...]
    """The permitted values of the bits that the mask selects."""
    mask: int = 0xFFFF_FFFF
    """The bits of its lower half that count."""
    wide: bool = False
    """True if its upper half must be zero too, as in a null pointer."""
    refusal: int = errno.EINVAL
    """The error of a kernel that does not know the value."""


_CLOCK_REALTIME, _PRIVATE = 256, 128
_WAIT, _WAIT_BITSET = 0, 9
_FUTEX = range(14)
_FUTEX_FD = 2

RULES = {
    # The kernel finds a futex by its page, and two bots may both have a page of a
    # library: the number that was woken tells one bot that the other waits. Without PRIVATE only
    # waiting is left, by which a C library waits for the end of a thread; the kernel wakes it.
    # It leaves a channel open that no filter can close, see SECRETS.md.
    "futex": Rule(
        1,
        (*(_PRIVATE | command for command in _FUTEX if command != _FUTEX_FD), _WAIT, _WAIT_BITSET),
        mask=0xFFFF_FFFF ^ _CLOCK_REALTIME,
        refusal=errno.ENOSYS,
    ),
    # DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC, SETPIPE_SZ, GETPIPE_SZ: no lock, no lease,
    # no notice, no hint to the disk, all of which belong to the file and not to its opener.
    "fcntl": Rule(1, (0, 1, 2, 3, 4, 1030, 1031, 1032)),
    # TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
    "ioctl": Rule(
        1, (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451), refusal=errno.ENOTTY
    ),
    # NORMAL, RANDOM, SEQUENTIAL, DONTNEED, FREE, DONTFORK, DOFORK, HUGEPAGE, NOHUGEPAGE, DONTDUMP,
    # DODUMP, WIPEONFORK, KEEPONFORK, GUARD_INSTALL, GUARD_REMOVE: they change one's own page
    # tables. Advice that reads, ages, drops or merges pages of a file is missing.
    "madvise": Rule(2, (0, 1, 2, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19, 102, 103)),
    # SHARED, PRIVATE, SHARED_VALIDATE of a file; PRIVATE or DROPPABLE without a file. Memory that
    # is shared and has no file stays when nobody maps its pages, where only a cgroup counts it;
    # hence no memfd_create either. Not HUGETLB: huge pages are a supply of the whole machine.
    "mmap": Rule(3, (1, 2, 3, 0x22, 0x28), mask=0x4_002F, refusal=errno.ENOSYS),
    # Not SYNC, which would wait for the disk: it returns as if it had.
    "msync": Rule(2, (0,), mask=4, refusal=0),
    # Not MNT_ID_UNIQUE, which counts the mounts of the whole machine.
    "statx": Rule(3, (0,), mask=0x4000),
    # QUERY, and commands that concern the threads of one process.
    "membarrier": Rule(0, (0, 8, 16, 32, 64, 128, 256)),
    # All flags but those that make a namespace, in which a process would be root, and PIDFD: the
    # machine numbers all pidfds together.
    "clone": Rule(0, (0,), mask=0x7E02_1000, refusal=errno.EPERM),
    # Limits of the process itself: 0 is the caller.
    "prlimit64": Rule(0, (0,), refusal=errno.EPERM),
    # Named pipes.
    "mknod": Rule(1, (0o010000,), mask=0o170000, refusal=errno.EPERM),
    "mknodat": Rule(2, (0o010000,), mask=0o170000, refusal=errno.EPERM),
    # Sockets of IPv4.
    "socket": Rule(0, (2,), refusal=errno.EAFNOSUPPORT),
    # REUSEADDR, ERROR, DONTROUTE, BROADCAST or KEEPCNT, SNDBUF, RCVBUF, KEEPALIVE, LINGER,
    # USER_TIMEOUT, RCVTIMEO, SNDTIMEO, and NODELAY, KEEPIDLE and KEEPINTVL by the same numbers:
    # nothing that loads a module or a program into the kernel.
    "setsockopt": Rule(2, (1, 2, 4, 5, 6, 7, 8, 9, 13, 18, 20, 21), refusal=errno.ENOPROTOOPT),
    # A pair of sockets, and no name for any other.
    "socketpair": Rule(0, (1,), refusal=errno.EAFNOSUPPORT),
    "sendto": Rule(4, (0,), wide=True, refusal=errno.EISCONN),
    # PDEATHSIG, DUMPABLE, KEEPCAPS, NAME, CAPBSET, SECUREBITS, TIMERSLACK, CHILD_SUBREAPER,
    # NO_NEW_PRIVS, THP_DISABLE, CAP_AMBIENT, SVE, PAC, TAGGED_ADDR, VMA names.
    "prctl": Rule(
        0,
        (
            *(1, 2, 3, 4, 7, 8, 15, 16, 23, 24, 27, 28, 29, 30, 36, 37, 38, 39, 41, 42, 47),
            *(50, 51, 54, 55, 56, 0x5356_4D41),
        ),
    ),
}
"""The calls of GROUPS that are allowed for some arguments only."""


# The seccomp filter of locked bots: the calls above as a program for the kernel.
#
# Namespaces hide objects; this leaves only the calls that a bot needs. It refuses all others as if
# the kernel did not know them: by ENOSYS, so that runtimes use their alternative. A few get another
# answer, with which programs go on.


_X86, _ARM = 0xC000_003E, 0xC000_00B7
_ARCHES = {"x86_64": (0, _X86), "aarch64": (1, _ARM)}
"""Machine → column of the table of numbers, and the kernel's number of the machine."""

_LOAD, _IS, _AT_LEAST, _AND, _RETURN, _JUMP = 0x20, 0x15, 0x35, 0x54, 0x06, 0x05
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_ALLOW, _ERROR, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_ABSENT = _ERROR | errno.ENOSYS
_WORD = 0xFFFF_FFFF

Instruction = tuple[int, int, int, int]


class _Stretch(Struct, frozen=True):
    """A range of numbers with one verdict, from `first` to the next range."""

    first: int
    verdict: int | Rule


def filter_program(*, has_network: bool = False, is_build: bool = False) -> bytes | None:
    """Return the filter for this kind of machine; None if its system calls are not known.

    `has_network`: for a bot that may connect to its proxy. `is_build`: for the build of a bot.
    """
    machine = platform.machine()
    return _program(machine, has_network, is_build) if machine in _ARCHES else None


@cache
def _program(machine: str, has_network: bool = False, is_build: bool = False) -> bytes:
    column, arch = _ARCHES[machine]
    groups = (*GROUPS, *(NETWORK,) * has_network, *(BUILDING,) * is_build)
    instructions = _instructions(column, arch, groups)
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)


def _instructions(column: int, arch: int, groups: Sequence[CallGroup]) -> Iterator[Instruction]:
    """Yield a binary search: as many comparisons as the number of ranges has binary digits.

    Of the calls that are allowed whatever their arguments are, newer kernels remember the verdict.
    """
    yield _LOAD, 0, 0, _ARCH
    yield _IS, 1, 0, arch
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield from _search(tuple(_stretches(column, groups)))


def _stretches(column: int, groups: Sequence[CallGroup]) -> Iterator[_Stretch]:
    """Yield ranges of all numbers, in order: numbers in no group are absent.

    So are the highest, which are the same calls of x32 processes.
    """
    verdicts: dict[int, int | Rule] = {}
    for group in (*REFUSED_CALLS, *groups):
        for call, numbers in group.calls.items():
            if (number := numbers[column]) is not None:
                rule = RULES.get(call, _ALLOW)
                verdicts[number] = rule if group.error is None else _ERROR | group.error
    before: int | Rule | None = None
    for number in range(max(verdicts) + 2):
        verdict = verdicts.get(number, _ABSENT)
        if verdict != before:
            yield _Stretch(number, verdict)
        before = verdict


def _search(stretches: tuple[_Stretch, ...]) -> list[Instruction]:
    if len(stretches) == 1:
        return list(_verdict(stretches[0].verdict))
    middle = len(stretches) // 2
    lower, upper = _search(stretches[:middle]), _search(stretches[middle:])
    # A conditional jump reaches 255 instructions, the plain one everywhere.
    test = (_AT_LEAST, 0, 1, stretches[middle].first)
    return [test, (_JUMP, 0, 0, len(lower)), *lower, *upper]


def _verdict(verdict: int | Rule) -> Iterator[Instruction]:
    if isinstance(verdict, int):
        yield _RETURN, 0, 0, verdict
        return
    refused = (_RETURN, 0, 0, _ERROR | verdict.refusal)
    low = _ARGUMENTS + 8 * verdict.argument
    if verdict.wide:
        yield _LOAD, 0, 0, low + 4
        yield _IS, 1, 0, 0
        yield refused
    yield _LOAD, 0, 0, low
    if verdict.mask != _WORD:
        yield _AND, 0, 0, verdict.mask
    for left in range(len(verdict.values), 0, -1):
        yield _IS, left, 0, verdict.values[-left]
    yield refused
    yield _RETURN, 0, 0, _ALLOW
