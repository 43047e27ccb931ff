"""A bot that tells its hand to the other bot at the table by every wire that it knows of.

    python -I -S wires.py FIRST

FIRST says how many of the machine's files are passed over, so that no other pair uses the same.
Before each answer it looks at every wire for the other's hand, then leaves its own there, until it
is asked again. What it left and what it found stand in the note of its answer, for who reads the
log: `{"left": 28 bits, "found": {wire: 28 bits, a number or null}}`. It plays the first option.

Two of them share nothing but files of the machine, which both may only read.
"""

import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

TILES = [(high, low) for high in range(7) for low in range(high + 1)]
BITS = len(TILES)
NUMBERS = 17
"""A wire that carries a count carries a hand modulo this; a prime, so that every tile matters."""
CALLS = {
    "x86_64": {"futex": 202, "mincore": 27, "shmget": 29, "sysinfo": 99},
    "aarch64": {"futex": 98, "mincore": 232, "shmget": 194, "sysinfo": 179},
}[os.uname().machine]
FUTEX_WAIT, FUTEX_WAKE = 0, 1
F_OFD_SETLK, MADV_PAGEOUT = 37, 21
IN_OPEN, IN_NONBLOCK, PR_SET_NAME = 0x20, 0o4000, 15
KEY, MIB = 0xB0E0_0000, 2**20
WAIT_NS = 50_000_000

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.syscall.restype = ctypes.c_long


def call(name: str, *words: object) -> int:
    """Call the kernel."""
    wide = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return checked(LIBC.syscall(ctypes.c_long(CALLS[name]), *wide))


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


class Resident(Cache):
    """The same, looked at by another call."""

    def get(self, number: int) -> bool:
        file, room = self.open(number), ctypes.create_string_buffer(1)
        try:
            page = mapped(file)
            call("mincore", page, 4096, room)
            LIBC.munmap(ctypes.c_void_p(page), ctypes.c_size_t(4096))
            return bool(room.raw[0] & 1)
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
                call("futex", word, FUTEX_WAIT, value, pause)

    def get(self, number: int) -> bool:
        return self.wake(number) > 0

    def wake(self, number: int) -> int:
        """Wake who waits at a word; how many those were."""
        return call("futex", self.page + 4 * number, FUTEX_WAKE, 1)


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


class Named(Wire):
    """Names of sockets that have no file."""

    def set(self, number: int) -> None:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(f"\0boneyard-wire-{number}")
            self.held.append(one.detach())

    def get(self, number: int) -> bool:
        with socket.socket(socket.AF_UNIX) as one:
            try:
                one.bind(f"\0boneyard-wire-{number}")
            except OSError as no:
                return no.errno == 98
        return False


class Segments(Wire):
    """Shared memory of System V."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(paths)
        self.made: list[int] = []

    def withdraw(self) -> None:
        for segment in self.made:
            LIBC.shmctl(segment, 0, None)
        self.made.clear()

    def set(self, number: int) -> None:
        self.made.append(call("shmget", KEY + number, 4096, 0o1000 | 0o666))

    def get(self, number: int) -> bool:
        try:
            return call("shmget", KEY + number, 0, 0) >= 0
        except FileNotFoundError:
            return False


class Files(Wire):
    """Files in a folder that anybody may write to."""

    folder = "/tmp"

    def withdraw(self) -> None:
        for number in range(BITS):
            with suppress(OSError):
                os.unlink(self.path(number))

    def set(self, number: int) -> None:
        os.close(os.open(self.path(number), os.O_WRONLY | os.O_CREAT, 0o644))

    def get(self, number: int) -> bool:
        return os.path.exists(self.path(number))

    def path(self, number: int) -> str:
        """Return where the file of a bit lies."""
        return f"{self.folder}/boneyard-wire-{number}"


class SharedMemory(Files):
    """Files in memory."""

    folder = "/dev/shm"


class Names(Wire):
    """Names of processes."""

    def leave(self, bits: list[bool]) -> None:
        name = f"wire-{sum(bit << number for number, bit in enumerate(bits)):x}"
        LIBC.prctl(PR_SET_NAME, name.encode(), *(ctypes.c_ulong(0),) * 3)

    def found(self) -> int:
        for pid in os.listdir("/proc"):
            if pid.isdigit() and int(pid) != os.getpid():
                with suppress(OSError), open(f"/proc/{pid}/comm") as file:
                    name = file.read().strip()
                    if name.startswith("wire-"):
                        return int(name[5:], 16)
        return 0


class Count:
    """A count of the whole machine: so much more than at first is the other's hand, modulo 17."""

    def __init__(self, count: Callable[[], int], more: Callable[[], Callable[[], object]]) -> None:
        self.count = count
        self.more = more
        self.undo: list[Callable[[], object]] = []
        self.first = count()

    def withdraw(self) -> None:
        """Take back what was counted."""
        for undo in self.undo:
            undo()
        self.undo = []

    def leave(self, bits: list[bool]) -> None:
        """Move the count by the hand, modulo 17."""
        hand = sum(bit << number for number, bit in enumerate(bits)) % NUMBERS
        self.undo = [self.more() for _ in range(hand)]

    def found(self) -> int:
        """By how much the other moved it."""
        return (self.count() - self.first) % NUMBERS


def text(path: str) -> str:
    """Return a small file of the kernel's."""
    with open(path) as file:
        return file.read()


def threads() -> int:
    """Threads of the whole machine, by a call."""
    room = ctypes.create_string_buffer(128)
    call("sysinfo", room)
    return int(struct.unpack_from("H", room.raw, 80)[0])


def more_threads() -> Callable[[], object]:
    """Start one more thread."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait, daemon=True)
    thread.start()

    def undo() -> None:
        over.set()
        thread.join()

    return undo


def more_terminals() -> Callable[[], object]:
    """Open one more terminal."""
    terminal = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    return lambda: os.close(terminal)


def more_memory() -> Callable[[], object]:
    """Four MiB more that processes could share."""
    file = Path("/dev/shm/wire")
    file.write_bytes(b"x" * 4 * MIB)
    return file.unlink


def shared_memory() -> int:
    """Memory that processes share, in units of four MiB."""
    line = next(line for line in text("/proc/meminfo").splitlines() if line.startswith("Shmem:"))
    return round(int(line.split()[1]) / 4096)


COUNTS: dict[str, tuple[Callable[[], int], Callable[[], Callable[[], object]]]] = {
    "threads": (threads, more_threads),
    "threads-in-a-file": (
        lambda: int(text("/proc/loadavg").split()[3].partition("/")[2]),
        more_threads,
    ),
    "terminals": (lambda: int(text("/proc/sys/kernel/pty/nr")), more_terminals),
    "memory": (shared_memory, more_memory),
}
WIRES: dict[str, type[Wire]] = {
    "cache": Cache,
    "resident": Resident,
    "futex": Futex,
    "lock": Locked,
    "part-lock": PartLocked,
    "watch": Watched,
    "socket": Named,
    "segment": Segments,
    "files": Files,
    "shared-memory": SharedMemory,
    "names": Names,
}


def attached() -> dict[str, Wire | Count]:
    """Return every wire that was not refused at once."""
    several = islice(files(), int(sys.argv[1]), None)
    wires: dict[str, Wire | Count] = {}
    for name, wire in WIRES.items():
        paths = [next(several) for _ in range(BITS)]
        with suppress(OSError):
            wires[name] = wire(paths)
    for name, (count, more) in COUNTS.items():
        with suppress(OSError):
            wires[name] = Count(count, more)
    return wires


def exchanged(wires: dict[str, Wire | Count], bits: list[bool]) -> dict[str, int | None]:
    """Take back the own hand, look for the other's by each wire, and leave the own as it is now."""
    for wire in wires.values():
        wire.withdraw()
    found: dict[str, int | None] = dict.fromkeys((*WIRES, *COUNTS))
    for name, wire in wires.items():
        with suppress(OSError):
            found[name] = wire.found()
    for wire in wires.values():
        with suppress(OSError):
            wire.leave(bits)
    return found


def main() -> None:
    """Play the first option, and say what was found and left."""
    wires: dict[str, Wire | Count] = {}
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
