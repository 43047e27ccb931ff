"""A process that stands in for the referee or for another bot while probes reach for it.

Self-contained, as probes.py is: runs as `python -I -S decoy.py TOKEN`, TOKEN being the secret that
its command line carries. The first line of stdin says what it is to set up, the first line of
stdout what it has set up. Then it answers `report` with what was done to it and `end` by removing
everything that it made. It exits when stdin closes or after LIFE_S.
"""

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

LIFE_S = 300
TICK_S = 0.005
IPC_CREAT_EXCL_ALL = 0o1000 | 0o2000 | 0o666
IPC_RMID, SETVAL = 0, 16
SYSCALLS = {"x86_64": {"add_key": 248, "keyctl": 250}, "aarch64": {"add_key": 217, "keyctl": 219}}
KEYRINGS = {"session": -3, "user": -4}
KEYCTL_UNLINK, KEYCTL_SET_TIMEOUT, KEYCTL_SETPERM = 9, 15, 5
F_OFD_SETLK, F_SET_RW_HINT = 37, 1036
FUTEX_NUMBERS, FUTEX_WAIT = {"x86_64": 202, "aarch64": 98}, 0
LIBC = ctypes.CDLL(None, use_errno=True)

Undo = Callable[[], object]


class Decoy:
    """The objects set up for the probes, and the removal of each."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.token = order["token"].encode()
        self.undo: list[Undo] = []
        self.kept: list[object] = []
        self.signals = self.woken = 0
        self.datagrams: list[socket.socket] = []
        self.ready: dict[str, Any] = {"pid": os.getpid(), "missing": {}}
        signal.signal(signal.SIGURG, self._count_signal)

    def _count_signal(self, *_: object) -> None:
        self.signals += 1

    def set_up(self) -> None:
        """Set up each part alone: what a level forbids is missing, and the rest is there."""
        for part in self.order["parts"]:
            try:
                getattr(self, part)()
            except (OSError, ImportError, AttributeError) as error:
                self.ready["missing"][part] = type(error).__name__ + ": " + str(error)[:80]
        self.ready["tmp"] = os.environ.get("TMPDIR", "/tmp")
        self.ready.update(self.state())

    def state(self) -> dict[str, Any]:
        """Return the values that a probe could have changed."""
        ready_sockets = select.select(self.datagrams, [], [], 0)[0]
        return {
            "signals": self.signals,
            "woken": self.woken,
            "datagrams": len(ready_sockets),
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "cpus": len(os.sched_getaffinity(0)),
            "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        }

    def clean(self) -> None:
        """Remove everything, in the reverse order."""
        for undo in reversed(self.undo):
            with contextlib.suppress(OSError):
                undo()

    # Memory and descriptors.

    def memory(self) -> None:
        """Put the secret at a known address: the bytes of an object that is kept."""
        secret = b"".join((self.token, b"."))[:-1]
        self.kept.append(secret)
        self.ready["address"] = id(secret) + sys.getsizeof(b"") - 1

    def secret_file(self) -> None:
        self.ready["descriptor"] = os.open(self.order["secret_key"], os.O_RDONLY)

    def memfd(self) -> None:
        """Make a file that only this process has, or where levels forbid it, a pipe."""
        try:
            self.ready["descriptor"] = end = os.memfd_create("boneyard")
            os.write(end, self.token)
            os.lseek(end, 0, os.SEEK_SET)
        except OSError:
            self.ready["descriptor"], end = os.pipe()
            os.write(end, self.token)
            os.close(end)

    def pipe(self) -> None:
        reader, writer = os.pipe()
        self.ready["pipe"] = os.fstat(reader).st_ino
        os.close(reader)
        os.close(writer)

    def eventfd(self) -> None:
        descriptor = _check(LIBC.eventfd(0, 0))
        with open(f"/proc/self/fdinfo/{descriptor}") as file:
            text = file.read().partition("eventfd-id:")[2]
        self.ready["eventfd"] = int(text.split()[0])

    # Sockets.

    def tcp(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.kept.append(listener)
        self.ready["tcp"] = listener.getsockname()[1]

    def udp(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(("127.0.0.1", 0))
        self.datagrams.append(listener)
        self.ready["udp"] = listener.getsockname()[1]

    def abstract(self) -> None:
        """Listen on a socket without a file."""
        self._unix("\0" + self.order["abstract"])

    def unix(self) -> None:
        """Listen on a socket with a file, for everybody."""
        path = self.order["unix"]
        self._unix(path)
        self.undo.append(lambda: os.unlink(path))
        os.chmod(path, 0o777)

    def _unix(self, address: str) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen(8)
        self.kept.append(listener)

    # Places that two bots may share.

    def notes(self) -> None:
        places = [*self.order["places"], os.environ.get("TMPDIR", "/tmp")]
        self.ready["noted"] = [place for place in dict.fromkeys(places) if self._leave_note(place)]

    def _leave_note(self, place: str) -> bool:
        path = f"{place}/{self.order['note']}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except OSError:
            return False
        self.undo.append(lambda: os.unlink(path))
        os.write(descriptor, self.token)
        os.close(descriptor)
        return True

    def locks(self) -> None:
        """Hold both kinds of lock on a file that every bot reads."""
        whole_lock, part_lock = (os.open(self.order["shared"], os.O_RDONLY) for _ in range(2))
        fcntl.flock(whole_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # An open-file lock: a POSIX lock would end with the next close of the same file.
        fcntl.fcntl(part_lock, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))

    def hint(self) -> None:
        """Leave a hint on its use with a file that every bot reads."""
        descriptor = os.open(self.order["shared"], os.O_RDONLY)
        fcntl.fcntl(descriptor, F_SET_RW_HINT, struct.pack("Q", self.order["hint"]))
        os.close(descriptor)

    def waiter(self) -> None:
        """Start a thread that waits at a page of a file that every bot reads."""
        LIBC.mmap.restype = ctypes.c_void_p
        file = os.open(self.order["shared"], os.O_RDONLY)
        size, start = ctypes.c_size_t(mmap.PAGESIZE), ctypes.c_long(0)
        page = ctypes.c_void_p(LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, start))
        os.close(file)
        word = ctypes.c_long(int.from_bytes(ctypes.string_at(page, 4), sys.byteorder))
        number = ctypes.c_long(FUTEX_NUMBERS[os.uname().machine])

        def wait() -> None:
            while LIBC.syscall(number, page, FUTEX_WAIT, word, None) == 0:
                self.woken += 1

        threading.Thread(target=wait, daemon=True).start()

    def segment(self) -> None:
        LIBC.shmat.restype = ctypes.c_void_p
        LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
        number = _check(LIBC.shmget(self.order["key"], 4096, IPC_CREAT_EXCL_ALL))
        self.undo.append(lambda: LIBC.shmctl(number, IPC_RMID, None))
        ctypes.memmove(LIBC.shmat(number, None, 0), self.token, len(self.token))

    def semaphore(self) -> None:
        number = _check(LIBC.semget(self.order["key"], 1, IPC_CREAT_EXCL_ALL))
        self.undo.append(lambda: LIBC.semctl(number, 0, IPC_RMID, 0))
        _check(LIBC.semctl(number, 0, SETVAL, ctypes.c_long(self.order["semaphore"])))

    def messages(self) -> None:
        number = _check(LIBC.msgget(self.order["key"], IPC_CREAT_EXCL_ALL))
        self.undo.append(lambda: LIBC.msgctl(number, IPC_RMID, None))
        message = struct.pack("l", 1) + self.token
        _check(LIBC.msgsnd(number, message, ctypes.c_size_t(len(self.token)), 0))

    def queue(self) -> None:
        name = b"/" + self.order["note"].encode()
        room = struct.pack("llll32x", 0, 1, 128, 0)
        queue = _check(LIBC.mq_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666, room))
        self.undo.append(lambda: LIBC.mq_unlink(name))
        _check(LIBC.mq_send(queue, self.token, ctypes.c_size_t(len(self.token)), 0))

    def keys(self) -> None:
        """Put a key in each keyring; it also expires, because we may be killed."""
        calls = SYSCALLS[os.uname().machine]
        keyctl = partial(LIBC.syscall, calls["keyctl"])
        for name, ring in KEYRINGS.items():
            words = (b"user", f"{self.order['note']}-{name}".encode(), self.token)
            key = LIBC.syscall(calls["add_key"], *words, len(self.token), ring)
            if key > 0:
                self.undo.append(partial(keyctl, KEYCTL_UNLINK, key, ring))
                keyctl(KEYCTL_SET_TIMEOUT, key, LIFE_S)
                keyctl(KEYCTL_SETPERM, key, 0x3F3F3F3F)

    def serve(self) -> None:
        """Touch the shared file now and then, for bots that watch it, until told to end."""
        shared_file = self.order.get("shared")
        while True:
            if shared_file:
                descriptor = os.open(shared_file, os.O_RDONLY)
                os.read(descriptor, 1)
                os.close(descriptor)
            if not select.select([0], [], [], TICK_S if shared_file else None)[0]:
                continue
            word = sys.stdin.readline().strip()
            if word == "report":
                _print(self.state())
            else:
                return


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _print(words: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(words), flush=True)


def main() -> None:
    signal.alarm(LIFE_S)
    standin = Decoy(json.loads(sys.stdin.readline()))
    try:
        standin.set_up()
        _print(standin.ready)
        standin.serve()
    finally:
        standin.clean()
    _print({})


if __name__ == "__main__":
    main()
