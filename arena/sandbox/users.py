"""Separate users: root gives every bot its own user for the life of the bot."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

FIRST, LAST = 60_600, 61_100
"""User numbers that systems leave free; below 65,536, so that containers map them."""
CLAIMS = Path("/run/boneyard-users")
"""The folder of claims, root's alone: whoever could claim all numbers would stop every run. Not
names of sockets or a folder in /tmp, which anybody may take first."""


class NoUserLeftError(OSError):
    """Every user number belongs to a living bot: a shortage that passes."""

    def __init__(self) -> None:
        super().__init__(errno.EAGAIN, f"All users from {FIRST} to {LAST - 1} are in use by bots")


class User:
    """A user number that no other bot on this machine has, in this run or another."""

    def __init__(self) -> None:
        """Claim a number. Raises NoUserLeftError, and OSError if claims cannot be made here."""
        with _claims() as folder:
            for number in sorted(set(range(FIRST, LAST)) - _users_in_use()):
                if (claim := _claim(number, folder)) is not None:
                    self.number, self._claim = number, claim
                    return
        raise NoUserLeftError

    def release(self) -> None:
        """Give the number back; nothing of the bot is left."""
        os.close(self._claim)


@contextmanager
def _claims() -> Iterator[int]:
    """Open the folder of claims. Raises PermissionError if others can enter it, and OSError."""
    with suppress(FileExistsError):
        CLAIMS.mkdir(0o700)
    folder = os.open(CLAIMS, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(folder)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(errno.EPERM, "Others can enter this folder", str(CLAIMS))
        yield folder
    finally:
        os.close(folder)


def _claim(number: int, folder: int) -> int | None:
    """Return a descriptor that holds a user number until it is closed; None: another holds it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    claim = os.open(f"{number}", flags, 0o600, dir_fd=folder)
    try:
        # The kernel releases the lock however its holder dies.
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(claim)
        if error.errno != errno.EWOULDBLOCK:
            raise
        return None
    return claim


@cache
def _users_in_use() -> frozenset[int]:
    """Return the users who had processes when this run began: bots of others or of a dead referee.

    Such a bot must not meet one that it could read. This looks once; later the claims tell.
    """
    users: set[int] = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            numbers = status.read_text(errors="replace").partition("\nUid:")[2].partition("\n")[0]
            users.update(map(int, numbers.split()))
    return frozenset(users)
