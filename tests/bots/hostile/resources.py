"""Hostile use of the machine: memory. All bounded."""

import ctypes
import mmap
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.bots.hostile.__main__ import Bot

MIB = 2**20
PAGE = 4096


def touched(memory: "mmap.mmap | bytearray") -> None:
    """Make it resident."""
    for at in range(0, len(memory), PAGE):
        memory[at] = 1


def memory_in_steps(bot: "Bot") -> None:
    """Allocate a mebibyte every 2 ms, up to twice the limit."""
    hoard = []
    for _ in range(120):
        hoard.append(b"x" * MIB)
        time.sleep(0.002)
    bot.stay()


def memory_in_one_burst(bot: "Bot") -> None:
    """Four times what it may have, in one go: where there is a wall, it is refused."""
    hoard = bytearray(256 * MIB)
    touched(hoard)
    bot.stay()


def memory_shared(bot: "Bot") -> None:
    """Shared memory is no private data: it is refused, or counted all the same."""
    memory = mmap.mmap(-1, 120 * MIB)
    touched(memory)
    bot.stay()


def memory_hidden(bot: "Bot") -> None:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    memory_in_steps(bot)


def memory_of_a_child(bot: "Bot") -> None:
    """Allocate more than the limit in a child, and play on."""
    ready, told = os.pipe()
    if os.fork() == 0:
        memory = mmap.mmap(-1, 100 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        touched(memory)
        os.write(told, b".")
        bot.stay()
        os._exit(0)
    os.read(ready, 1)
    time.sleep(0.5)
