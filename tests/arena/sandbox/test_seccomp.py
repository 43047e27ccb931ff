"""The filter's program: what it lets through, run as the kernel runs it, for both machines."""

import errno
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.sandbox import syscalls
from arena.sandbox.syscalls import BUILDING, GROUPS, NETWORK, REFUSED_CALLS, RULES

MACHINES = tuple(syscalls._ARCHES)
ALLOWED, KILLED = "allowed", "killed"
CALLS = {name: numbers for group in GROUPS for name, numbers in group.calls.items()}
OTHERWISE = {name: numbers for group in REFUSED_CALLS for name, numbers in group.calls.items()}
"""The calls that are refused by an error of their own."""
NUMBERS = range(1024)
X32 = 0x4000_0000
I386, ARM = 0x4000_0003, 0x4000_0028
HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)
PRIVATE, REAL_TIME = 128, 256
NAMESPACES = (0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000)
NOT_THERE = frozenset([
    "fadvise64", "readahead", "preadv2", "pwritev2", "mincore", "cachestat", "process_madvise",
    "move_pages", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue", "set_robust_list",
    "get_robust_list", "flock", "inotify_init1", "fanotify_init", "io_setup", "io_uring_setup",
    "openat2", "clone3", "splice", "vmsplice", "sendmsg", "socket", "connect", "bind", "sysinfo",
    "statfs", "fstatfs", "memfd_create", "sync", "sync_file_range", "syncfs", "sched_setaffinity",
    "setpriority", "ptrace", "process_vm_readv", "pidfd_open", "kcmp", "bpf", "perf_event_open",
    "userfaultfd", "keyctl", "shmget", "mq_open", "unshare", "mount",
])  # fmt: skip
"""Calls by which two bots could notice each other or reach the kernel."""


def verdict(
    machine: str,
    number: int,
    *arguments: int,
    arch: int | None = None,
    has_network: bool = False,
    is_build: bool = False,
) -> int | str:
    """Return the verdict on a call: allowed, killed, or an error number."""
    data = struct.pack(
        "=IIQ6Q",
        number,
        syscalls._ARCHES[machine][1] if arch is None else arch,
        0,
        *(word % 2**64 for word in (*arguments, 0, 0, 0, 0, 0, 0)[:6]),
    )
    program = list(struct.iter_unpack("=HBBI", syscalls._program(machine, has_network, is_build)))
    index = word = 0
    while True:
        operation, met, unmet, operand = program[index]
        index += 1
        if operation == syscalls._LOAD:
            (word,) = struct.unpack_from("=I", data, operand)
        elif operation == syscalls._AND:
            word &= operand
        elif operation == syscalls._JUMP:
            index += operand
        elif operation in (syscalls._IS, syscalls._AT_LEAST):
            holds = word == operand if operation == syscalls._IS else word >= operand
            index += met if holds else unmet
        else:
            assert operation == syscalls._RETURN
            names = {syscalls._ALLOW: ALLOWED, syscalls._KILL: KILLED}
            return names.get(operand) or int(operand & 0xFFFF)


def number_of(call: str, machine: str) -> int:
    number = {**CALLS, **NETWORK.calls, **BUILDING.calls}[call][MACHINES.index(machine)]
    if number is None:
        pytest.skip(f"{machine} has no {call}")
    return number


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_in_no_group_are_absent(machine: str) -> None:
    column = MACHINES.index(machine)
    listed_numbers = {numbers[column] for numbers in (*CALLS.values(), *OTHERWISE.values())}
    free = {numbers[column] for name, numbers in CALLS.items() if name not in RULES}
    for number in NUMBERS:
        outcome = verdict(machine, number)
        assert outcome == ALLOWED or number not in free
        assert (outcome == errno.ENOSYS) or number in listed_numbers


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_that_is_refused_by_an_error_of_its_own_lets_programs_go_on(machine: str) -> None:
    column = MACHINES.index(machine)
    for call, numbers in OTHERWISE.items():
        number = numbers[column]
        assert number is not None
        undone = 0 if call in ("utimensat", "fsync", "fdatasync") else errno.ENOTSUP
        assert verdict(machine, number) == (errno.EPERM if call == "setsid" else undone)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call", sorted(BUILDING.calls))
def test_only_a_build_may_lock_a_file_or_give_it_a_second_name(call: str, machine: str) -> None:
    number = number_of(call, machine)
    assert verdict(machine, number) == errno.ENOSYS
    assert verdict(machine, number, is_build=True) == ALLOWED


def test_no_call_that_connects_bots_is_allowed() -> None:
    assert not CALLS.keys() & {*NOT_THERE, *OTHERWISE}
    assert RULES.keys() <= CALLS.keys() | NETWORK.calls.keys()
    for column in range(len(MACHINES)):
        numbers = [numbers[column] for numbers in CALLS.values() if numbers[column] is not None]
        assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("column", range(2))
def test_the_numbers_are_those_of_the_kernels_headers(column: int) -> None:
    if not HEADERS[column].is_file():
        pytest.skip("no headers of the kernel here")
    text = HEADERS[column].read_text()
    header_numbers = {
        ("newfstatat" if name == "fstatat" else name): int(number)
        for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)
    }
    table_numbers = {name: numbers[column] for name, numbers in {**CALLS, **OTHERWISE}.items()}
    for name, number in table_numbers.items():
        assert header_numbers.get(name, number) == number, name
    assert len(header_numbers.keys() & table_numbers.keys()) > 150


def test_calls_of_other_architectures_are_refused() -> None:
    for number in NUMBERS:
        assert verdict("x86_64", X32 | number) == errno.ENOSYS
        assert verdict("x86_64", number, arch=I386) == KILLED
        assert verdict("aarch64", number, arch=ARM) == KILLED


def cases() -> Iterator[tuple[str, tuple[int, ...], int | str]]:
    """Yield calls with arguments, and their verdicts."""
    yield "statx", (0, 0, 0, 0x1FFF), ALLOWED
    yield "statx", (0, 0, 0, 0x4001), errno.EINVAL
    for flags in (0, REAL_TIME):
        for command in (0, 9):
            yield "futex", (0, command | flags), ALLOWED
        for command in range(1, 14):
            if command != 9:
                yield "futex", (0, command | flags), errno.ENOSYS
            if command != 2:
                yield "futex", (0, command | flags | PRIVATE), ALLOWED
    yield "futex", (0, 1 | PRIVATE | 512), errno.ENOSYS
    yield "futex", (0, 1 | 1 << 32), errno.ENOSYS
    for advice in (0, 1, 2, 4, 8, 14, 15, 102):
        yield "madvise", (0, 0, advice), ALLOWED
    for advice in (3, 5, 9, 12, 13, 20, 21, 22, 23, 24, 25, 100, 101):
        yield "madvise", (0, 0, advice), errno.EINVAL
    for command in (0, 1, 2, 3, 4, 1030):
        yield "fcntl", (0, command), ALLOWED
    for command in (5, 6, 7, 8, 10, 36, 37, 38, 1024, 1025, 1026, 1033, *range(1035, 1039)):
        yield "fcntl", (0, command), errno.EINVAL
    yield "ioctl", (0, 0x5401), ALLOWED
    for request in (0x5412, 0x541C, 0x8004_5200, 0xC020_660B, 0x4004_9409):
        yield "ioctl", (0, request), errno.ENOTTY
    for flags in (0x01, 0x02, 0x03, 0x12, 0x22, 0x28, 0x2_0022):
        yield "mmap", (0, 4096, 3, flags), ALLOWED
    for flags in (0x20, 0x21, 0x23, 0x31, 0x4_0022, 0x4_0001):
        yield "mmap", (0, 4096, 3, flags), errno.ENOSYS
    for flags, outcome in ((1, ALLOWED), (2, ALLOWED), (4, 0), (6, 0)):
        yield "msync", (0, 4096, flags), outcome
    for command, outcome in ((0, ALLOWED), (8, ALLOWED), (1, errno.EINVAL), (2, errno.EINVAL)):
        yield "membarrier", (command,), outcome
    yield "clone", (0x3D_0F00,), ALLOWED
    for flag in (*NAMESPACES, 0x1000):
        yield "clone", (0x11 | flag,), errno.EPERM
    yield "prlimit64", (0,), ALLOWED
    yield "prlimit64", (77,), errno.EPERM
    for call, before in (("mknod", (0,)), ("mknodat", (0, 0))):
        yield call, (*before, 0o010600), ALLOWED
        for kind in (0o020600, 0o060600, 0o140600):
            yield call, (*before, kind), errno.EPERM
    yield "socketpair", (1,), ALLOWED
    for family in (2, 10, 16, 17, 38, 40):
        yield "socketpair", (family,), errno.EAFNOSUPPORT
    yield "sendto", (0, 0, 0, 0, 0, 0), ALLOWED
    for address in (1, 0x7FFF_0000_0000, 0xFFFF_FFFF):
        yield "sendto", (0, 0, 0, 0, address, 2), errno.EISCONN
    yield "socket", (2, 1), ALLOWED
    for family in (1, 10, 16, 17, 38, 40):
        yield "socket", (family, 1), errno.EAFNOSUPPORT
    for option in (1, 9, 20):
        yield "setsockopt", (3, 6, option), ALLOWED
    for option in (26, 31, 50, 64):
        yield "setsockopt", (3, 6, option), errno.ENOPROTOOPT
    yield "prctl", (15,), ALLOWED
    for option in (22, 35, 67, 0x5961_6D61):
        yield "prctl", (option,), errno.EINVAL


@pytest.mark.parametrize("machine", MACHINES)
def test_the_arguments_of_a_call_decide_its_verdict(machine: str) -> None:
    numbers = {**CALLS, **NETWORK.calls}
    for call, arguments, expected in cases():
        number, has_network = numbers[call][MACHINES.index(machine)], call in NETWORK.calls
        if number is not None:
            outcome = verdict(machine, number, *arguments, has_network=has_network)
            assert outcome == expected, (call, arguments)


def test_every_rule_is_tried_both_ways() -> None:
    for call in RULES:
        outcomes = {outcome == ALLOWED for name, _, outcome in cases() if name == call}
        assert outcomes == {True, False}, call


def test_a_machine_that_is_not_known_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert syscalls.filter_program() is None
