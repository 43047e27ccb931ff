"""The seccomp filter of levels A to C: which system calls a bot is refused. Nothing else.

Namespaces and Landlock hide objects; this removes the calls that reach past them: locks and
notices on files that two bots can both read, sockets, System V objects, keys, other processes,
and kernel interfaces that no bot needs. What needs a capability is refused without our help.
"""

import errno
import platform
import struct
from collections.abc import Iterator

from msgspec import Struct

_X86, _ARM = 0xC000003E, 0xC00000B7
_ARCHES = {"x86_64": (0, _X86), "aarch64": (1, _ARM)}
"""Machine → column of the table below, and what the kernel calls it."""
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "flock": (73, 32),
    "socket": (41, 198),
    "syslog": (103, 116),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "clone": (56, 220),
    "clone3": (435, 435),
}
_OF_ITSELF_ONLY = (
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
)
"""Calls whose first argument is a process: 0 is the caller, and all that is let through."""
_LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1026)
"""fcntl: every kind of lock, lease and notice."""
_TYPING = (0x5412, 0x541C)
"""ioctl: TIOCSTI and TIOCLINUX, which type into a terminal."""
_NAMESPACES = 0x7E02_0000
"""clone: flags that make a namespace, in which the process would be root."""

_LOAD, _IS, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH = 0, 4
_X32 = 0x4000_0000
"""Numbers from here on are the same calls of another kind of process."""
_ALLOW, _REFUSE, _ABSENT = 0x7FFF_0000, 0x0005_0000 | errno.EPERM, 0x0005_0000 | errno.ENOSYS
_KILL = 0x8000_0000


class _When(Struct, frozen=True):
    """Refuse a call only when one of its arguments says so."""

    argument: int
    test: int
    values: tuple[int, ...]
    met: int = _REFUSE
    unmet: int = _ALLOW


_CONDITIONS = {
    **dict.fromkeys(_OF_ITSELF_ONLY, _When(0, _IS, (0,), met=_ALLOW, unmet=_REFUSE)),
    "fcntl": _When(1, _IS, _LOCKS),
    "ioctl": _When(1, _IS, _TYPING),
    "clone": _When(0, _HAS, (_NAMESPACES,)),
}

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand."""


def filter_program() -> bytes | None:
    """The filter for this kind of machine; None where its system calls are not known here."""
    machine = platform.machine()
    if machine not in _ARCHES:
        return None
    column, arch = _ARCHES[machine]
    return b"".join(struct.pack("=HBBI", *one) for one in _instructions(column, arch))


def _instructions(column: int, arch: int) -> Iterator[Instruction]:
    yield _LOAD, 0, 0, _ARCH
    yield _IS, 1, 0, arch
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if arch == _X86:
        yield _AT_LEAST, 0, 1, _X32
        yield _RETURN, 0, 0, _REFUSE
    for call, numbers in _NUMBERS.items():
        number = numbers[column]
        if number is not None:
            verdict = list(_verdict(call))
            yield _IS, 0, len(verdict), number
            yield from verdict
    yield _RETURN, 0, 0, _ALLOW


def _verdict(call: str) -> Iterator[Instruction]:
    when = _CONDITIONS.get(call)
    if when is None:
        # The C library falls back to clone, whose flags can be looked at, when there is no clone3.
        yield _RETURN, 0, 0, _ABSENT if call == "clone3" else _REFUSE
        return
    yield _LOAD, 0, 0, 16 + 8 * when.argument
    for left in range(len(when.values), 0, -1):
        yield when.test, left, 0, when.values[-left]
    yield _RETURN, 0, 0, when.unmet
    yield _RETURN, 0, 0, when.met
