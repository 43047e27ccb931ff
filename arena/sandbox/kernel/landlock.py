"""Level C's restrictions: Landlock and the seccomp filter, set on the calling thread for good.

A thread that has done this starts a bot, and the bot inherits it: no launcher, no cost a start.
It uses the kernel's own calls, because no maintained library exists.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from arena.sandbox.command import DEVICES
from arena.sandbox.kernel.seccomp import filter_program

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_ALL_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
"""Landlock version → the bits of all file rights that it knows."""
_ALL_TCP, _ALL_SCOPES = 0x3, 0x3


class CannotRestrictError(OSError):
    """The kernel has no Landlock, or refuses it."""


def landlock_version() -> int:
    """Return the kernel's version of Landlock; 0: none."""
    return max(0, _call(_CREATE, None, 0, _VERSION))


def restrict_this_thread(reads: Iterable[str]) -> None:
    """Restrict this thread and what it starts to reading and running only these paths.

    It writes nothing, reaches no TCP port, no abstract socket and, if the kernel is new enough,
    signals nobody outside. Raises CannotRestrictError.
    """
    rules = _ruleset()
    try:
        for path in reads:
            _allow(rules, path, _EXECUTE | _READ | _LIST)
        for path in DEVICES:
            _allow(rules, path, _READ | _WRITE)
        _must(_prctl(_NO_NEW_PRIVS, 1))
        _must(_call(_RESTRICT, rules, 0))
    finally:
        os.close(rules)
    _refuse_calls()


def _ruleset() -> int:
    abi = landlock_version()
    if not abi:
        raise CannotRestrictError("The kernel has no Landlock")
    attributes = struct.pack(
        "=QQQ",
        _ALL_FILES[min(abi, max(_ALL_FILES))],
        _ALL_TCP if abi >= 4 else 0,
        _ALL_SCOPES if abi >= 6 else 0,
    )[: 8 if abi < 4 else 16 if abi < 6 else 24]
    return _must(_call(_CREATE, attributes, len(attributes), 0))


def _allow(rules: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not Path(path).is_dir():
                rights &= ~_LIST
            _must(_call(_ADD, rules, 1, struct.pack("=Qi", rights, descriptor), 0))
        finally:
            os.close(descriptor)


def _refuse_calls() -> None:
    program = filter_program()
    if program is None:
        raise CannotRestrictError("This machine's architecture has no seccomp filter")
    code = ctypes.create_string_buffer(program)
    attributes = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    _must(_prctl(_SET_SECCOMP, _FILTER, attributes))


def _prctl(option: int, *arguments: int | bytes) -> int:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return int(_libc().prctl(option, *map(_word, padded)))


def _call(number: int, *arguments: int | bytes | None) -> int:
    return int(_libc().syscall(number, *map(_word, arguments)))


def _word(argument: int | bytes | None) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _must(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise CannotRestrictError(number, os.strerror(number))
    return result
