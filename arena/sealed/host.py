"""The host of one sealed bot: the program that runs a WebAssembly module as a bot.

It runs alone, in a bot's sandbox, and imports nothing of ours. The module talks by WASI preview 1.
Its answers follow from its bytes, its arguments, its lines and the seed in its game's first line:
each read gives one line, the clock counts instructions, each game begins in a fresh instance.

Its arguments are MEMORY FIRST MODULE ARGUMENT... MEMORY is the module's limit in bytes; FIRST the
size of what stdin begins with (the compiled module), or 0. If MODULE is a compiled interpreter
(*.cwasm), its library lies beside it, and stdin begins with the bot's files. FIRST may also be
`only`, or `interpreter` for one of ours: compile stdin to stdout.

Every line on stdout is a frame, which only the host can write: `GAME USED =LINE` is a line of the
bot, `GAME USED !FOUL DETAIL` the end of its instance. GAME counts the games begun so far, USED the
instructions since the answer before.
"""

import hashlib
import json
import mmap
import os
import posixpath
import re
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import CFUNCTYPE, POINTER, addressof, byref, c_size_t, c_ubyte, c_uint64, c_void_p, cast
from ctypes import create_string_buffer as c_text
from typing import Any, NoReturn

import wasmtime
from wasmtime import _ffi as ffi
from wasmtime import _func

MILLION = 1_000_000
START = 1_000 * MILLION
"""The instructions that an instance has until it reads its game's first line. If all are loads that
wait for each other, at 150 ns, they take 150 s: less than the 200 s that a start may last."""
COMPLETE, REFUSED = b"complete", b"refused"
"""The end of a compiled module; what comes in place of one that cannot be compiled."""
LARGEST, SPARE, STACK, TABLE = 8 * 2**20, 192 * 2**20, 2**20, 100_000
"""The most bytes of a module; the bytes of the host itself, and of the native stack, which
bounds recursion (the module's own is in its memory); the most entries of a table."""
INTERPRETER_STACK = 2 * 2**20
"""The native stack of an interpreter, whose own limit of calls must come first on any processor:
what bots do fits into half of it here. Wasmtime has no more without changing another setting."""
CALL, BUFFER, BYTE, LETTER = 10_000, 1_000, 4, 100
"""The instructions charged for a call of the host, for each buffer given to it, for each byte that
it moves, and for each byte of a path. The host needs less time than a bot for so many instructions,
so no bot gains time by calls. A path of many short names takes 50 ns a byte."""
LINE = 65_536
"""The most bytes of a line; of a longer one enough is passed on to be a foul."""
OUTPUT, FRAME, STDERR = 2 * LINE, 32, 2**20
"""The most bytes of stdout between two questions, which the referee keeps until it asks; the bytes
that each line counts in addition to its own; the most bytes of stderr in a game."""
MODULE = "wasi_snapshot_preview1"
OK, BADF, INVAL, ISDIR, MFILE, NOENT = 0, 8, 28, 31, 33, 44
NOSYS, NOTDIR, ROFS, SPIPE = 52, 54, 69, 70
"""Errors of WASI."""
ROOT, MOST_OPEN, LONGEST_PATH = 3, 256, 4096
"""The descriptor of the folder in which all paths begin; the most that are open at once; the most
bytes of a path."""
PIPE, FOLDER, FILE = 2, 3, 4
"""Kinds of what a descriptor stands for; stdin, stdout and stderr are terminals, so that runtimes
neither seek nor ask on."""
RIGHTS = {PIPE: 2 | 2**6, FOLDER: 2**13 | 2**14 | 2**18 | 2**21, FILE: 2 | 2**2 | 2**5 | 2**21}
"""To read and write; to open, list and look; to read, seek, tell and look."""
CREATE, TRUNCATE, WRITE = 1, 8, 2**6
"""Flags and the right of an opening that would change a file."""
QUESTION = re.compile(rb'\{"type":"ask","id":\d+,"game":\d+,"round":\d+,"time_ms":(\d+),')
GAME, BYE = b'{"type":"game",', b'{"type":"bye"'
OFFERED = """
args_get:ii args_sizes_get:ii environ_get:ii environ_sizes_get:ii clock_res_get:ii
clock_time_get:iIi fd_advise:iIIi fd_allocate:iII fd_close:i fd_datasync:i fd_fdstat_get:ii
fd_fdstat_set_flags:ii fd_fdstat_set_rights:iII fd_filestat_get:ii fd_filestat_set_size:iI
fd_filestat_set_times:iIIi fd_pread:iiiIi fd_prestat_get:ii fd_prestat_dir_name:iii
fd_pwrite:iiiIi fd_read:iiii fd_readdir:iiiIi fd_renumber:ii fd_seek:iIii fd_sync:i fd_tell:ii
fd_write:iiii path_create_directory:iii path_filestat_get:iiiii path_filestat_set_times:iiiiIIi
path_link:iiiiiii path_open:iiiiiIIii path_readlink:iiiiii path_remove_directory:iii
path_rename:iiiiii path_symlink:iiiii path_unlink_file:iii poll_oneoff:iiii proc_exit:i
proc_raise:i random_get:ii sched_yield:
"""
"""The functions of WASI that a module may import: i is a number of 32 bits, I one of 64. Those
without a method or an answer below say that they are not there. Nobody needs sockets."""
SIGNATURES = dict(entry.split(":") for entry in OFFERED.split())
CHANGES = """
path_create_directory path_filestat_set_times path_link path_remove_directory path_rename
path_symlink path_unlink_file fd_allocate fd_filestat_set_size fd_filestat_set_times fd_pwrite
"""
FIXED = {"environ_get": OK, "sched_yield": OK, "fd_prestat_get": BADF, "fd_prestat_dir_name": BADF}
FIXED |= {"path_readlink": INVAL} | dict.fromkeys(CHANGES.split(), ROFS)
"""The answers that are always the same."""
FUEL = c_uint64()
Callback = CFUNCTYPE(c_size_t, c_void_p, c_void_p, POINTER(c_uint64), c_size_t)
"""A function of the host; its third argument holds a number in every second place, then the answer.
The package's own functions make objects of all that they are given, in five times the time."""


class BotEnd(Exception):  # noqa: N818 - it is no error of ours
    """The end of an instance, or why none can start; it is a foul if the game needs the bot."""

    def __init__(self, foul: str, detail: str, status: int = 1) -> None:
        super().__init__(" ".join(detail.split())[:300])
        self.foul, self.status = foul, status


class NextGame(Exception):  # noqa: N818 - as above
    """The first line of another game has come: its bot is another instance."""


class Disk:
    """The files that an interpreted bot may read: its own, and the interpreter's library."""

    def __init__(self) -> None:
        self.files: dict[bytes, memoryview] = {}
        self.folders: dict[bytes, dict[bytes, None]] = {}
        """The names in each folder, in their order."""

    def add(self, data: bytes | mmap.mmap) -> None:
        """Add packed files: a line with their names and sizes, and their contents."""
        start = data.find(b"\n") + 1
        content = memoryview(data)
        for name, size in json.loads(data[:start]):
            path = b"/" + name.encode()
            self.files[path] = content[start : start + size]
            start += size
            while path != b"/":
                path, _, part = path.rpartition(b"/")
                path = path or b"/"
                self.folders.setdefault(path, {})[part] = None

    def kind(self, path: bytes) -> int | None:
        """Return the kind of what a path names; None if it names nothing."""
        return FILE if path in self.files else FOLDER if path in self.folders else None


class OpenFile:
    """A file or a folder that the instance has opened."""

    def __init__(self, path: bytes, kind: int) -> None:
        self.path, self.kind = path, kind
        self.place = 0
        """The next byte of a file that is read."""


class Wire:
    """The referee's side: its lines, one at a time, and the frames for it."""

    def __init__(self) -> None:
        self.games = 0
        """The games begun so far."""
        self.hello = b""
        """The first line, which each instance is sent."""
        self.over = False
        """True once the referee has said goodbye, or is gone: no frame is for anybody then."""
        self._buffer = bytearray()

    def read_bytes(self, size: int) -> bytes:
        """Wait for `size` bytes, before the first line."""
        data = bytearray()
        while len(data) < size and (more := os.read(0, size - len(data))):
            data += more
        return bytes(data)

    def read(self) -> bytes:
        """Wait for the next line; nothing at the end."""
        while (end := self._buffer.find(b"\n")) < 0:
            more = os.read(0, LINE)
            if not more:
                self.over = True
                return b""
            self._buffer += more
        line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        self.over = line.startswith(BYE)
        return line

    def write(self, used: int, kind: str, line: bytes) -> None:
        """Write a frame."""
        data = b"%d %d %s%s\n" % (self.games, used, kind.encode(), line)
        while data:
            data = data[os.write(1, data) :]


class Bot:
    """One instance of the module, from its start to the end of its game."""

    def __init__(
        self, wire: Wire, store: wasmtime.Store, words: list[bytes], disk: Disk, game: bytes
    ) -> None:
        """`game`: the first line of its game; nothing before the first game."""
        self._wire, self._store, self._words, self._disk = wire, store, words, disk
        self._opened = {ROOT: OpenFile(b"/", FOLDER)} if disk.folders else {}
        self._game = game
        self._context = store._context()
        self._memory: wasmtime.Memory | None = None
        self._bytes = memoryview(bytearray())  # It can be written, if only with 0 bytes.
        self._lines = self._all_lines()
        self._rest = b""
        self._buffer = bytearray()
        self._output = self._stderr = self._questions = self._answers = self._drawn = self._past = 0
        self._seed, self._effort, self._greets = bytes(32), START // MILLION, bool(game)
        if game:
            message = json.loads(game)
            self._seed = bytes.fromhex(message.get("seed", "")) or self._seed
            self._effort = message["clock"]["move_ms"]
        self._limit = self._left = START
        self.go_on()

    # --- work ---

    def stop(self) -> None:
        """Read how many instructions are left; until `go_on` the host works and charges for it."""
        ffi.wasmtime_context_get_fuel(self._context, byref(FUEL))
        self._left = FUEL.value

    def go_on(self) -> None:
        """Let the instance work on with what it has left."""
        ffi.wasmtime_context_set_fuel(self._context, self._left)

    @property
    def used(self) -> int:
        """The instructions since the answer before."""
        return self._limit - self._left

    def charge(self, instructions: int) -> None:
        """Charge for work of the host."""
        self._left -= instructions
        if self._left < 0:
            self._left = 0
            detail = f"It used up the {self._limit / MILLION:,g} million instructions."
            raise BotEnd("late", detail) from None

    def _count_anew(self) -> None:
        """Charge what it thinks from now on to its next answer."""
        self._past += self.used
        self._limit = self._left = self._effort * MILLION

    # --- lines ---

    def _all_lines(self) -> Iterator[bytes]:
        """Yield the lines for this instance: the hello, its game, and what comes after it."""
        yield self._wire.hello
        if self._game:
            self._count_anew()
            yield self._game
        while line := self._wire.read():
            if line.startswith(GAME):
                raise NextGame(line)
            if match := QUESTION.match(line):
                if self._answers <= self._questions:
                    # Else the referee has not read all of it.
                    self._output = 0
                self._questions += 1
                limit = int(match[1]) * MILLION
                self._limit, self._left = limit, limit - self.used
                self.charge(0)
            yield line
        yield b""

    def take(self, most: int) -> bytes:
        """Return the next line, or as much of it as there is room for."""
        if not self._rest:
            if self._questions > self._answers:
                # No line comes before its answer: it would wait for ever.
                raise BotEnd("late", "It reads on before it has answered.")
            self._rest = next(self._lines, b"")
        piece, self._rest = self._rest[:most], self._rest[most:]
        return piece

    def take_output(self, data: bytes) -> None:
        """Take output of the bot; pass on each whole line."""
        ends = data.count(b"\n")
        self._output += len(data) + FRAME * ends
        if self._output > OUTPUT:
            raise BotEnd("flooding", f"More than {OUTPUT} bytes to one question.")
        self._buffer += data
        if not ends and len(self._buffer) < LINE:
            return
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer[:] = rest
        if len(rest) >= LINE:
            lines.append(rest)
            self._buffer.clear()
        for line in lines:
            if self._greets:
                # The referee knows the hello of the first instance.
                self._greets = False
                continue
            self._wire.write(self.used, "=", line)
            self._answers += bool(self._game)
            self._count_anew()

    # --- memory ---

    def reach(self, address: int, size: int) -> memoryview:
        """Return the module's memory, which has these bytes. Raises BotEnd if it has not."""
        if address + size > len(self._bytes):
            # It may have grown: it never moves, see `configuration`.
            if self._memory:
                pointer = self._memory.data_ptr(self._store)
                kind = c_ubyte * self._memory.data_len(self._store)
                self._bytes = memoryview(kind.from_address(addressof(pointer.contents))).cast("B")
            if address + size > len(self._bytes):
                raise BotEnd("gone", "It gave the host an address outside its memory.")
        return self._bytes

    def store_bytes(self, address: int, data: bytes) -> None:
        """Write bytes into the module's memory."""
        self.reach(address, len(data))[address : address + len(data)] = data

    def put_number(self, address: int, number: int) -> None:
        """Write a number of 32 bits into the module's memory."""
        struct.pack_into("<I", self.reach(address, 4), address, number)

    def _buffers(self, address: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield the addresses and sizes in a list of buffers."""
        for start in range(address, address + 8 * min(count, 1024), 8):
            self.charge(BUFFER)
            yield struct.unpack_from("<II", self.reach(start, 8), start)

    # --- the functions of WASI, by its names ---

    def args_sizes_get(self, count: int, size: int) -> int:
        self.put_number(count, len(self._words))
        self.put_number(size, sum(map(len, self._words)))
        return OK

    def args_get(self, list_at: int, text_at: int) -> int:
        for number, word in enumerate(self._words):
            self.charge(BUFFER)
            self.put_number(list_at + 4 * number, text_at)
            self.store_bytes(text_at, word)
            text_at += len(word)
        return OK

    def environ_sizes_get(self, count: int, size: int) -> int:
        self.put_number(count, 0)
        self.put_number(size, 0)
        return OK

    def clock_res_get(self, _: int, address: int) -> int:
        self.store_bytes(address, struct.pack("<Q", 1))
        return OK

    def clock_time_get(self, _: int, __: int, address: int) -> int:
        """Tell the instructions so far: each is 1 ns of every clock."""
        self.store_bytes(address, struct.pack("<Q", 1 + self._past + self.used))
        return OK

    def fd_read(self, fd: int, buffers: int, count: int, result_at: int) -> int:
        """Read a file, or at most one line of stdin, so that the amount read reveals no time."""
        file = self._opened.get(fd)
        if fd != 0 and (file is None or file.kind != FILE):
            return ISDIR if file else BADF
        address, size = next((pair for pair in self._buffers(buffers, count) if pair[1]), (0, 0))
        if file:
            data = bytes(self._disk.files[file.path][file.place : file.place + size])
            file.place += len(data)
        else:
            data = self.take(size) if size else b""
        self.charge(BYTE * len(data))
        self.store_bytes(address, data)
        self.put_number(result_at, len(data))
        return OK

    def fd_write(self, fd: int, buffers: int, count: int, result_at: int) -> int:
        if fd not in (1, 2):
            return BADF
        data = bytearray()
        for address, size in self._buffers(buffers, count):
            # No line needs more at once, and the rest comes in another call.
            length = min(size, LINE - len(data))
            data += self.reach(address, length)[address : address + length]
        self.charge(BYTE * len(data))
        if fd == 1:
            self.take_output(bytes(data))
        else:
            self._stderr += len(data)
            if self._stderr > STDERR:
                raise BotEnd("flooding", f"More than {STDERR} bytes of stderr in one game.")
            os.write(2, data)
        self.put_number(result_at, len(data))
        return OK

    # --- files: nothing can be written ---

    def _kind(self, fd: int) -> int | None:
        """Return the kind of a descriptor; None if it is closed."""
        file = self._opened.get(fd)
        return file.kind if file else PIPE if fd <= 2 else None

    def _path(self, fd: int, address: int, size: int) -> bytes:
        """Return a path that the module gave; nothing if it is too long, or not in a folder."""
        folder = self._opened.get(fd)
        if folder is None or folder.kind != FOLDER or size > LONGEST_PATH:
            return b""
        self.charge(LETTER * (size + len(folder.path)))
        path = bytes(self.reach(address, size)[address : address + size])
        # What leads above the root ends there, as it does on any disk.
        return posixpath.normpath(b"/" + folder.path + b"/" + path).replace(b"//", b"/")

    def path_open(
        self, fd: int, _: int, address: int, size: int, flags: int, rights: int, *rest: int
    ) -> int:
        path = self._path(fd, address, size)
        kind = self._disk.kind(path)
        if not path:
            return BADF
        if flags & (CREATE | TRUNCATE) or rights & WRITE:
            return ROFS
        if kind is None:
            return NOENT
        if flags & 2 and kind == FILE:
            return NOTDIR
        if len(self._opened) >= MOST_OPEN:
            return MFILE
        free = min({*range(ROOT, ROOT + MOST_OPEN)} - {*self._opened})
        self._opened[free] = OpenFile(path, kind)
        self.put_number(rest[-1], free)
        return OK

    def fd_close(self, fd: int) -> int:
        if self._kind(fd) is None:
            return BADF
        self._opened.pop(fd, None)
        return OK

    def fd_seek(self, fd: int, offset: int, whence: int, result_at: int) -> int:
        file = self._opened.get(fd)
        if file is None or file.kind != FILE:
            return SPIPE if fd <= 2 else BADF
        start = (0, file.place, len(self._disk.files[file.path]))[min(whence, 2)]
        place = start + (offset - 2**64 if offset >= 2**63 else offset)
        if not 0 <= place < 2**63:
            return INVAL
        file.place = place
        self.store_bytes(result_at, struct.pack("<Q", place))
        return OK

    def fd_tell(self, fd: int, result_at: int) -> int:
        return self.fd_seek(fd, 0, 1, result_at)

    def fd_fdstat_get(self, fd: int, address: int) -> int:
        kind = self._kind(fd)
        if kind is None:
            return BADF
        self.store_bytes(address, struct.pack("<QQQ", kind, RIGHTS[kind], RIGHTS[FILE]))
        return OK

    def fd_fdstat_set_flags(self, fd: int, _: int) -> int:
        return BADF if self._kind(fd) is None else OK

    def fd_filestat_get(self, fd: int, address: int) -> int:
        kind = self._kind(fd)
        if kind is None:
            return BADF
        file = self._opened.get(fd)
        self._put_facts(address, kind, file.path if file else b"")
        return OK

    def path_filestat_get(self, fd: int, _: int, address: int, size: int, result_at: int) -> int:
        path = self._path(fd, address, size)
        kind = self._disk.kind(path)
        if kind is None:
            return NOENT if path else BADF
        self._put_facts(result_at, kind, path)
        return OK

    def _put_facts(self, address: int, kind: int, path: bytes) -> None:
        """Write what is known of a file: its kind and size, and a number of its own."""
        number = int.from_bytes(hashlib.sha256(path).digest()[:8], "little") if path else 0
        size = len(self._disk.files.get(path, b""))
        facts = struct.pack("<QQQQQQQQ", 0, number, kind, 1, size, 0, 0, 0)
        self.store_bytes(address, facts)

    def fd_readdir(self, fd: int, address: int, size: int, cookie: int, result_at: int) -> int:
        folder = self._opened.get(fd)
        if folder is None or folder.kind != FOLDER:
            return NOTDIR if folder else BADF
        data, names = b"", [*self._disk.folders[folder.path]]
        self.charge(BYTE * len(names))
        for place, name in enumerate(names[cookie:], start=cookie + 1):
            kind = self._disk.kind(posixpath.join(folder.path, name)) or FILE
            data += struct.pack("<QQII", place, 0, len(name), kind) + name
            if len(data) >= size:
                break
        self.charge(BYTE * len(data))
        self.store_bytes(address, data[:size])
        self.put_number(result_at, min(len(data), size))
        return OK

    # --- time and chance ---

    def poll_oneoff(self, wants: int, events: int, count: int, result_at: int) -> int:
        """Answer at once that all is ready; a sleep costs the instructions that its time has."""
        requests = []
        for start in range(wants, wants + 48 * min(count, 64), 48):
            self.charge(BUFFER)
            requests.append(struct.unpack_from("<8sB15xQ8xH6x", self.reach(start, 48), start))
        ready = [request for request in requests if request[1]]
        if not ready and requests:
            ready = [min(requests, key=lambda request: request[2])]
            _, __, ns, flags = ready[0]
            self.charge(max(0, ns - (self._past + self.used) * (flags & 1)))
        for number, (name, kind, *_) in enumerate(ready):
            self.store_bytes(events + 32 * number, name + bytes((0, 0, kind)) + bytes(21))
        self.put_number(result_at, len(ready))
        return OK if requests else INVAL

    def proc_exit(self, status: int) -> NoReturn:
        raise BotEnd("gone", f"It exited with status {status & 0xFF}.", status & 0xFF)

    def random_get(self, address: int, size: int) -> int:
        """Give chance that follows from the seed: the same in every run."""
        self.reach(address, size)
        self.charge(BYTE * size)
        for start in range(0, size, LINE):
            self._drawn += 1
            words = self._seed + struct.pack("<Q", self._drawn)
            data = hashlib.shake_256(words).digest(min(LINE, size - start))
            self.store_bytes(address + start, data)
        return OK

    # --- its life ---

    def run(self, linker: wasmtime.Linker, module: wasmtime.Module) -> NoReturn:
        """Run the instance to its end. Raises BotEnd, NextGame."""
        try:
            exports = linker.instantiate(self._store, module).exports(self._store)
            memory, start = exports.get("memory"), exports.get("_start")
            assert isinstance(memory, wasmtime.Memory)
            assert isinstance(start, wasmtime.Func)
            self._memory = memory
            start(self._store)
        except wasmtime.Trap as trap:
            self.stop()
            code = trap.trap_code
            if code == wasmtime.TrapCode.OUT_OF_FUEL:
                self._left = -1
                self.charge(0)
            name = code.name.lower().replace("_", " ") if code else "trap"
            raise BotEnd("gone", f"It crashed: {name}.") from None
        except wasmtime.WasmtimeError as error:
            raise BotEnd("gone", f"It cannot start: {error}") from None
        self.stop()
        raise BotEnd("gone", "It exited with status 0.", 0)


class Host:
    """The compiled module, and the instance that plays now."""

    def __init__(
        self, wire: Wire, path: str, memory: int, first_size: int, words: list[str]
    ) -> None:
        self._wire, self._memory = wire, memory
        self._words = [os.fsencode(word) + b"\0" for word in ("bot", *words)]
        self._bot: Bot
        self._engine = wasmtime.Engine(configuration(path))
        self._linker = wasmtime.Linker(self._engine)
        self._disk = Disk()
        first = wire.read_bytes(first_size)
        if path.endswith(".cwasm"):
            try:
                self._module = wasmtime.Module.deserialize_file(self._engine, path)
            except wasmtime.WasmtimeError:  # Wine maps no file as a program.
                with open(path, "rb") as file:
                    self._module = wasmtime.Module.deserialize(self._engine, file.read())
            with open(path.removesuffix(".cwasm") + ".lib", "rb") as file:
                self._disk.add(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            self._disk.add(first)
        elif first == REFUSED:
            raise BotEnd("gone", "It takes too much time or memory to compile its module.")
        elif first:
            self._module = wasmtime.Module.deserialize(self._engine, first)
        else:
            self._module = load_module(self._engine, path)
        self._callbacks = [*map(self._offer, {entry.name or "" for entry in self._module.imports})]

    def _offer(self, name: str) -> object:
        """Define a function that the module imports; return what must not be freed."""
        numbers = {"i": wasmtime.ValType.i32(), "I": wasmtime.ValType.i64()}
        results = [] if name == "proc_exit" else [numbers["i"]]
        kind = wasmtime.FuncType([numbers[letter] for letter in SIGNATURES[name]], results)
        callback = Callback(self._function(name))
        pointer = cast(callback, ffi.wasmtime_func_unchecked_callback_t)
        linker, finalizer = self._linker.ptr(), CFUNCTYPE(None, c_void_p)()
        title, size, words = c_text(name.encode()), len(name), c_text(MODULE.encode())
        ffi.wasmtime_linker_define_func_unchecked(
            linker, words, len(MODULE), title, size, kind.ptr(), pointer, None, finalizer
        )
        return callback

    def _function(self, name: str) -> Callable[..., int]:
        method = getattr(Bot, name, None)
        answer = FIXED.get(name, NOSYS)
        # A 32-bit number does not overwrite the upper half of its place: mask that off.
        masks = {"i": 2**32 - 1, "I": 2**64 - 1}
        places = [(2 * index, masks[letter]) for index, letter in enumerate(SIGNATURES[name])]

        def call(_data: None, _caller: int, numbers: Any, _count: int) -> int:
            bot = self._bot
            try:
                bot.stop()
                bot.charge(CALL)
                arguments = [numbers[place] & mask for place, mask in places]
                numbers[0] = method(bot, *arguments) if method else answer
                bot.go_on()
            except Exception as error:
                _func.LAST_EXCEPTION = error
                return cast(wasmtime.Trap("")._consume(), c_void_p).value or 0
            return 0

        return call

    def serve(self) -> None:
        """Run instance after instance until the referee says no more."""
        wire, game = self._wire, b""
        wire.hello = wire.read()
        while True:
            store = wasmtime.Store(self._engine)
            store.set_limits(self._memory, TABLE, 1, 8, 1)
            bot = self._bot = Bot(wire, store, self._words, self._disk, game)
            try:
                bot.run(self._linker, self._module)
            except BotEnd as end:
                if wire.over:
                    sys.exit(end.status)
                wire.write(bot.used, "!", f"{end.foul} {end}".encode())
                while (game := wire.read()) and not game.startswith(GAME):
                    pass  # Until the next game nobody plays.
            except NextGame as other:
                (game,) = other.args
            store.close()
            if not game:
                return
            wire.games += 1


def configuration(path: str = "") -> wasmtime.Config:
    """Return settings under which the same module computes the same on every machine."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    for feature in ("relaxed_simd", "threads", "memory64", "multi_memory", "exceptions", "gc"):
        setattr(config, f"wasm_{feature}", False)
    config.max_wasm_stack = INTERPRETER_STACK if path.endswith(".cwasm") else STACK
    config.memory_may_move = False
    # With copy-on-write, a module's data is free where memfd_create works, else 1 for each byte.
    config.memory_init_cow = False
    config.parallel_compilation = False  # A large machine has more cores than a bot threads.
    return config


def load_module(engine: wasmtime.Engine, path: str | int) -> wasmtime.Module:
    """Return the module in a file. Raises BotEnd if it cannot be a bot."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BotEnd("gone", f"Its module has more than {LARGEST // 2**20} MiB.")
    if not data.startswith(b"\0asm"):
        raise BotEnd("gone", "It is not a module of WebAssembly.")
    try:
        module = wasmtime.Module(engine, data)
    except wasmtime.WasmtimeError as error:
        raise BotEnd("gone", f"Its module is invalid: {error}") from None
    strange = [
        f"{entry.module}.{entry.name}"
        for entry in module.imports
        if entry.module != MODULE or entry.name not in SIGNATURES
    ]
    if strange:
        raise BotEnd("gone", f"It imports {', '.join(strange[:5])}, which no sealed bot gets.")
    exports = {export.name: export.type for export in module.exports}
    if not isinstance(exports.get("_start"), wasmtime.FuncType):
        raise BotEnd("gone", "It exports no function _start: build it as a command, not a library.")
    if not isinstance(exports.get("memory"), wasmtime.MemoryType):
        raise BotEnd("gone", "It exports no memory.")
    return module


def main() -> None:
    """Serve the referee, compile for it, or say why there is no bot."""
    memory, first, path, *words = sys.argv[1:]
    wire = Wire()
    if first == "interpreter":
        # It is ours, not a bot's: it may use all cores, and is larger than bots may be.
        config = configuration()
        config.parallel_compilation = True
        module = wasmtime.Module(wasmtime.Engine(config), sys.stdin.buffer.read())
        sys.stdout.buffer.write(module.serialize())
        return
    with suppress(ImportError, OSError, ValueError):
        # Bound memory without a sandbox too, where the system can.
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(memory) + SPARE,) * 2)
    try:
        if first == "only":
            module = load_module(wasmtime.Engine(configuration()), 0)
            sys.stdout.buffer.write(module.serialize() + COMPLETE)
        else:
            Host(wire, path, int(memory), int(first), words).serve()
    except BotEnd as why:
        wire.write(0, "!", f"{why.foul} {why}".encode())
        # Wait for our end, so that the referee reads the reason first.
        while os.read(0, LINE):
            pass
