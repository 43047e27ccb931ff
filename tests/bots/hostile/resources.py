"""Hostile use of the machine: memory, processors, threads, descriptors, files. All bounded."""

import ctypes
import mmap
import os
import tempfile
import threading
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


def memory_reserved(_bot: "Bot") -> None:
    """Reserved, never used: costs nobody anything."""
    try:
        reserved = mmap.mmap(-1, 2048 * MIB, prot=mmap.PROT_READ)
        reserved.close()
    except (OSError, MemoryError):
        return


def threads(_bot: "Bot") -> None:
    done = threading.Event()
    try:
        for _ in range(40):
            threading.Thread(target=done.wait, args=(300,), daemon=True).start()
    except RuntimeError:
        return


def descriptors(_bot: "Bot") -> None:
    opened = []
    try:
        for _ in range(900):
            opened.append(os.open("/dev/null", os.O_RDONLY))  # noqa: PERF401
    except OSError:
        pass
    for descriptor in opened:
        os.close(descriptor)


def temporary_file(_bot: "Bot") -> None:
    """Eight MiB that are gone with the process."""
    _filled(8)


def _filled(mib: int) -> None:
    try:
        with tempfile.TemporaryFile() as file:
            for _ in range(mib):
                file.write(b"x" * MIB)
    except OSError:
        return


def burns_while_others_think(_bot: "Bot") -> None:
    """Let a child keep a core busy for a second while the bot plays on."""
    if os.fork() == 0:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pass
        os._exit(0)


# --- only behind a proven limit ---


def fills_the_disk(_bot: "Bot") -> None:
    """Write more than its files may have."""
    _filled(64)


def fills_memory_with_files(_bot: "Bot") -> None:
    """Shared memory that no process holds."""
    try:
        with open("/dev/shm/boneyard-hostile", "wb") as file:
            for _ in range(64):
                file.write(b"x" * MIB)
    except OSError:
        return


def memory_hog(bot: "Bot") -> None:
    """As much as it can get in children, at most a gibibyte in all."""
    for _ in range(8):
        if os.fork() == 0:
            touched(bytearray(100 * MIB))
            bot.stay()
            os._exit(0)
    bot.stay()


def takes_every_descriptor(bot: "Bot") -> None:
    """In ten processes, each as many as it gets, at most 1,000."""
    for _ in range(10):
        if os.fork() == 0:
            descriptors(bot)
            bot.stay()
            os._exit(0)
    bot.stay()
