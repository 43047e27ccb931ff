"""Separate users: root gives every bot its own user for the life of the bot."""

import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

from arena.sandbox.limits import Level

FIRST, LAST = 60_600, 61_100
"""User numbers that systems leave free; below 65,536, so that containers map them."""
KILLER = LAST
"""The user of the program that ends bots: no bot ever has it."""


class NoUserLeftError(OSError):
    """Every user number belongs to a living bot."""


class User:
    """A user number that no other bot on this machine has, in this run or another."""

    def __init__(self) -> None:
        self._claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        for number in sorted(set(range(FIRST, LAST)) - _in_use()):
            try:
                # An abstract name is held by one process at a time and dies with it.
                self._claim.bind(f"\0boneyard-user-{number}")
            except OSError:
                continue
            self.number = number
            return
        self._claim.close()
        raise NoUserLeftError(f"All users from {FIRST} to {LAST} are in use by bots")

    def release(self) -> None:
        """Give the number back; nothing of the bot is left."""
        self._claim.close()


@cache
def _in_use() -> frozenset[int]:
    """Return the users who had processes when this run began: bots of others or of a dead referee.

    Such a bot must not meet one that it could read. This looks once; later the locks tell.
    """
    found: set[int] = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            users = status.read_text(errors="replace").partition("\nUid:")[2].partition("\n")[0]
            found.update(map(int, users.split()))
    return frozenset(found)


def needs_user(level: Level, our_user: int) -> bool:
    """Tell whether bots at this level run as users of their own, which only root can arrange."""
    return level != "off" and our_user == 0
