"""The seccomp filter of locked bots: the calls of calls.py as a program for the kernel.

Namespaces hide objects; this leaves only the calls that a bot needs. It refuses all
others as if the kernel did not know them: by ENOSYS, so that runtimes use their alternative. A few
get another answer, with which programs go on.
"""

import errno
import platform
import struct
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from arena.sandbox.kernel.calls import BUILDING, GROUPS, NETWORK, REFUSALS, RULES, CallGroup, Rule

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
    for group in (*REFUSALS, *groups):
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
