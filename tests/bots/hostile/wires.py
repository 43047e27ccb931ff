"""A bot that tells its hand to the other bot at the table by wires of several kinds.

    python -I -S wires.py FIRST

FIRST says how many of the machine's files are passed over, so that no other pair uses the same.
Before each answer it looks at each wire for the other's hand, then leaves its own there, until it
is asked again. What it left and what it found stand in the note of its answer, for who reads the
log: `{"left": 28 bits, "found": {wire: 28 bits, a number or null}}`. It plays the first option.

Two of them share nothing but files of the machine, which both may only read.
"""

import ctypes
import fcntl
import json
import mmap
import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

TILES = [(high, low) for high in range(7) for low in range(high + 1)]
BITS = len(TILES)
NUMBERS = 17
"""A wire that carries a count carries a hand modulo this; a prime, so that every tile matters."""
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
FUTEX_WAIT, FUTEX_WAKE = 0, 1
F_OFD_SETLK, MADV_PAGEOUT = 37, 21
IN_OPEN, IN_NONBLOCK = 0x20, 0o4000
ROOM, MIB = "/dev/shm/wire", 2**20
WAIT_NS = 50_000_000

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.syscall.restype = ctypes.c_long


def futex(*words: object) -> int:
    """Wait or wake at a word of memory."""
    wide = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return checked(LIBC.syscall(ctypes.c_long(FUTEX), *wide))


def checked(result: int) -> int:
    """Return the result, or its error as an OSError."""
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def files() -> Iterator[str]:
    """Files of the machine, in an order that the other bot knows, and hardly used by anybody."""
    for folder, folders, names in os.walk("/usr/share"):
        folders.sort()
        for path in sorted(os.path.join(folder, name) for name in names):
            with suppress(OSError):
                if os.path.isfile(path) and os.stat(path).st_size >= 4096:
                    yield path


def mapped(descriptor: int) -> int:
    """Return the address of a file's first page."""
    page = LIBC.mmap(
        None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, descriptor, ctypes.c_long(0)
    )
    if page in (None, ctypes.c_void_p(-1).value):
        checked(-1)
    return int(page)


class Wire:
    """A way to leave bits for the other bot; each method may be refused by an OSError."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        self.held: list[int] = []

    def withdraw(self) -> None:
        """Take back what was left."""
        for descriptor in self.held:
            os.close(descriptor)
        self.held.clear()

    def leave(self, bits: list[bool]) -> None:
        """Leave these bits."""
        for number, bit in enumerate(bits):
            if bit:
                self.set(number)

    def found(self) -> int:
        """Return the bits that the other left."""
        return sum(self.get(number) << number for number in range(BITS))

    def set(self, number: int) -> None:
        """Leave one bit."""
        raise NotImplementedError

    def get(self, number: int) -> bool:
        """Tell whether the other left this bit."""
        raise NotImplementedError

    def open(self, number: int) -> int:
        """Open the file of a bit."""
        return os.open(self.paths[number], os.O_RDONLY | os.O_CLOEXEC)


class Cache(Wire):
    """Whether a file is in memory."""

    def leave(self, bits: list[bool]) -> None:
        for number, bit in enumerate(bits):
            file = self.open(number)
            try:
                with suppress(OSError):
                    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                with suppress(OSError):
                    page, size = ctypes.c_void_p(mapped(file)), ctypes.c_size_t(4096)
                    LIBC.madvise(page, size, MADV_PAGEOUT)
                    LIBC.munmap(page, size)
                if bit:
                    os.pread(file, 1, 0)
            finally:
                os.close(file)

    def get(self, number: int) -> bool:
        file = self.open(number)
        try:
            return bool(os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT))
        except BlockingIOError:
            return False
        finally:
            os.close(file)


class Futex(Wire):
    """Who waits at a word of a page."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(paths)
        file = self.open(0)
        self.page = mapped(file)
        os.close(file)
        self.wake(0)  # Where that is refused, nobody needs to wait.
        self.left: list[bool] = []
        self.threads: list[threading.Thread] = []

    def withdraw(self) -> None:
        bits, self.left = self.left, []
        for number, bit in enumerate(bits):
            if bit:
                self.wake(number)
        for thread in self.threads:
            thread.join()

    def leave(self, bits: list[bool]) -> None:
        self.left = bits
        self.threads = [
            threading.Thread(target=self.wait, args=(number, bits), daemon=True)
            for number, bit in enumerate(bits)
            if bit
        ]
        for thread in self.threads:
            thread.start()

    def wait(self, number: int, bits: list[bool]) -> None:
        """Wait at a word, until other bits are left."""
        word = self.page + 4 * number
        value = int.from_bytes(ctypes.string_at(word, 4), sys.byteorder)
        pause = ctypes.create_string_buffer(struct.pack("qq", 0, WAIT_NS))
        while self.left is bits:
            with suppress(OSError):
                futex(word, FUTEX_WAIT, value, pause)

    def get(self, number: int) -> bool:
        return self.wake(number) > 0

    def wake(self, number: int) -> int:
        """Wake who waits at a word; how many those were."""
        return futex(self.page + 4 * number, FUTEX_WAKE, 1)


class Locked(Wire):
    """Locks on whole files."""

    def set(self, number: int) -> None:
        self.held.append(self.open(number))
        fcntl.flock(self.held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)

    def get(self, number: int) -> bool:
        file = self.open(number)
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False


class PartLocked(Wire):
    """Locks on parts of one file."""

    def set(self, number: int) -> None:
        self.held = self.held or [self.open(0)]
        lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, number, 1, 0)
        fcntl.fcntl(self.held[0], F_OFD_SETLK, lock)

    def get(self, number: int) -> bool:
        file = self.open(0)
        try:
            ask = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, number, 1, 0)
            answer = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, ask))
        finally:
            os.close(file)
        return bool(answer[0] != fcntl.F_UNLCK)


class Watched(Wire):
    """Notices of files that are opened."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(paths)
        self.notices = checked(LIBC.inotify_init1(IN_NONBLOCK))
        self.numbers = {
            checked(LIBC.inotify_add_watch(self.notices, path.encode(), IN_OPEN)): number
            for number, path in enumerate(paths)
        }

    def set(self, number: int) -> None:
        os.close(self.open(number))

    def leave(self, bits: list[bool]) -> None:
        super().leave(bits)
        super().withdraw()
        self.found()  # What it opened itself is no news.

    def found(self) -> int:
        with suppress(BlockingIOError):
            events = os.read(self.notices, 65536)
            heard = {struct.unpack_from("i", events, at)[0] for at in range(0, len(events), 16)}
            return sum(1 << self.numbers[watch] for watch in heard)
        return 0


class Memory:
    """Memory that processes share: so much more than at first is the other's hand, modulo 17."""

    def __init__(self) -> None:
        self.first = self.units()

    def units(self) -> int:
        """Return the memory in units of four MiB."""
        with open("/proc/meminfo") as file:
            line = next(line for line in file if line.startswith("Shmem:"))
        return round(int(line.split()[1]) / 4096)

    def withdraw(self) -> None:
        """Take back what was left."""
        with suppress(OSError):
            os.unlink(ROOM)

    def leave(self, bits: list[bool]) -> None:
        """Take as many units as the hand says."""
        hand = sum(bit << number for number, bit in enumerate(bits)) % NUMBERS
        with open(ROOM, "wb") as file:
            file.write(b"x" * 4 * MIB * hand)

    def found(self) -> int:
        """Return by how much the other moved the count."""
        return (self.units() - self.first) % NUMBERS


WIRES: dict[str, type[Wire]] = {
    "cache": Cache,
    "futex": Futex,
    "lock": Locked,
    "part-lock": PartLocked,
    "watch": Watched,
}


def attached() -> dict[str, Wire | Memory]:
    """Return every wire that was not refused at once."""
    several = islice(files(), int(sys.argv[1]), None)
    wires: dict[str, Wire | Memory] = {}
    for name, wire in WIRES.items():
        paths = [next(several) for _ in range(BITS)]
        with suppress(OSError):
            wires[name] = wire(paths)
    with suppress(OSError):
        wires["memory"] = Memory()
    return wires


def exchanged(wires: dict[str, Wire | Memory], bits: list[bool]) -> dict[str, int | None]:
    """Take back the own hand, look for the other's by each wire, and leave the own as it is now."""
    for wire in wires.values():
        wire.withdraw()
    found: dict[str, int | None] = dict.fromkeys((*WIRES, "memory"))
    for name, wire in wires.items():
        with suppress(OSError):
            found[name] = wire.found()
    for wire in wires.values():
        with suppress(OSError):
            wire.leave(bits)
    return found


def main() -> None:
    """Play the first option, and say what was found and left."""
    wires: dict[str, Wire | Memory] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            wires = attached()
            print('{"type":"hello","name":"wires","version":"1"}', flush=True)
        elif message["type"] == "ask":
            hand = {tuple(tile) for tile in message["hand"]}
            bits = [tile in hand for tile in TILES]
            found = exchanged(wires, bits)
            left = sum(bit << number for number, bit in enumerate(bits))
            note = json.dumps({"left": left, "found": found}, separators=(",", ":"))
            answer = {"type": "choose", "id": message["id"], "choice": 0, "note": note}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
