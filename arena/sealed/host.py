"""The host of one sealed bot: the program that runs a WebAssembly module as a bot.

It runs alone, in a bot's sandbox, and imports nothing of ours. The module talks by WASI preview 1.
Its answers follow from its bytes, its arguments, its lines and the seed in its game's first line:
each read gives one line, the clock counts instructions, each game begins in a fresh instance.

Its arguments are MEMORY COMPILED MODULE ARGUMENT... MEMORY is the module's most, in bytes; COMPILED
the size of the compiled module with which stdin begins, or 0; or `only`: compile stdin to stdout.

Every line on stdout is a frame, which only the host can write: `GAME USED =LINE` is a line of the
bot, `GAME USED !FOUL DETAIL` the end of its instance. GAME counts the games begun so far, USED the
instructions since the answer before.
"""

import hashlib
import json
import os
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
"""The instructions of an instance until it reads its game's first line. So many of the dearest,
loads that wait for each other at 150 ns, take 150 s: less than the 200 s that a start may last."""
COMPLETE, REFUSED = b"complete", b"refused"
"""The end of a compiled module; what comes in place of one that cannot be compiled."""
LARGEST, SPARE, STACK, TABLE = 8 * 2**20, 192 * 2**20, 2**20, 100_000
"""The most bytes of a module; the bytes of the host itself, and of the native stack, which
bounds recursion (the module's own is in its memory); the most entries of a table."""
CALL, BUFFER, BYTE = 10_000, 1_000, 4
"""The instructions that a call of the host costs, each buffer that it is given, and each byte that
it moves: it takes the host less time than the bot those, so no bot wins time by calls."""
LINE = 65_536
"""The most bytes of a line; what is longer is passed on as far as it is a foul."""
OUTPUT, FRAME, STDERR = 2 * LINE, 32, 2**20
"""The most bytes of stdout between two questions, which the referee keeps until it asks; what each
line counts besides; the most bytes of stderr in a game."""
MODULE = "wasi_snapshot_preview1"
OK, BADF, INVAL, NOSYS, SPIPE = 0, 8, 28, 52, 70
"""Errors of WASI."""
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
FIXED = {"environ_get": OK, "sched_yield": OK, "fd_prestat_get": BADF, "fd_prestat_dir_name": BADF}
"""The answers that are always the same."""
PIPE_ANSWERS = {"fd_close": OK, "fd_fdstat_set_flags": OK, "fd_seek": SPIPE}
PIPE_FACTS = {
    "fd_fdstat_get": struct.pack("<QQQ", 2, 2 | 2**6, 0),
    "fd_filestat_get": bytes(16) + b"\2" + bytes(47),
}
"""The answers for stdin, stdout and stderr, and what is told of them: that they are terminals, so
that runtimes neither seek nor ask on. There is no other file."""
FUEL = c_uint64()
Callback = CFUNCTYPE(c_size_t, c_void_p, c_void_p, POINTER(c_uint64), c_size_t)
"""A function of the host; its third argument holds a number in every second place, then the answer.
The package's own functions make objects of all that they are given, in five times the time."""


class BotEnd(Exception):  # noqa: N818 - it is no error of ours
    """The end of an instance, or why there can be none: the foul if the game needs the bot."""

    def __init__(self, foul: str, detail: str, status: int = 1) -> None:
        super().__init__(" ".join(detail.split())[:300])
        self.foul, self.status = foul, status


class NextGame(Exception):  # noqa: N818 - as above
    """The first line of another game has come: its bot is another instance."""


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

    def __init__(self, wire: Wire, store: wasmtime.Store, words: list[bytes], game: bytes) -> None:
        """`game`: the first line of its game; nothing before the first game."""
        self._wire, self._store, self._words, self._game = wire, store, words, game
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
        """Take up what the instance has left: until `go_on` the host works, and charges for it."""
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
        """Read at most one line of stdin, so that no time shows in how much comes."""
        if fd != 0:
            return BADF
        address, size = next((pair for pair in self._buffers(buffers, count) if pair[1]), (0, 0))
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

    def __init__(self, wire: Wire, path: str, memory: int, compiled: int, words: list[str]) -> None:
        self._wire, self._memory = wire, memory
        self._words = [os.fsencode(word) + b"\0" for word in ("bot", *words)]
        self._bot: Bot
        self._engine = wasmtime.Engine(configuration())
        self._linker = wasmtime.Linker(self._engine)
        if compiled:
            code = wire.read_bytes(compiled)
            if code == REFUSED:
                raise BotEnd("gone", "It takes too much time or memory to compile its module.")
            self._module = wasmtime.Module.deserialize(self._engine, code)
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
        facts, answer = PIPE_FACTS.get(name), FIXED.get(name, PIPE_ANSWERS.get(name, NOSYS))
        is_of_pipe = name in PIPE_ANSWERS or facts
        # A number of 32 bits leaves the rest of its place as it was.
        masks = {"i": 2**32 - 1, "I": 2**64 - 1}
        places = [(2 * index, masks[letter]) for index, letter in enumerate(SIGNATURES[name])]

        def call(_data: None, _caller: int, numbers: Any, _count: int) -> int:
            bot = self._bot
            try:
                bot.stop()
                bot.charge(CALL)
                arguments = [numbers[place] & mask for place, mask in places]
                if method:
                    numbers[0] = method(bot, *arguments)
                elif is_of_pipe and arguments[0] > 2:
                    numbers[0] = BADF
                else:
                    numbers[0] = OK if facts else answer
                    if facts:
                        bot.store_bytes(arguments[1], facts)
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
            bot = self._bot = Bot(wire, store, self._words, game)
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


def configuration() -> wasmtime.Config:
    """Return settings under which the same module computes the same on every machine."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    for feature in ("relaxed_simd", "threads", "memory64", "multi_memory", "exceptions", "gc"):
        setattr(config, f"wasm_{feature}", False)
    config.max_wasm_stack = STACK
    config.memory_may_move = False
    # Copied on write, a module's data costs nothing where memfd_create works, else each byte 1.
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
    memory, compiled, path, *words = sys.argv[1:]
    wire = Wire()
    with suppress(ImportError, OSError, ValueError):
        # Where no sandbox holds it, and the system can.
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(memory) + SPARE,) * 2)
    try:
        if compiled == "only":
            module = load_module(wasmtime.Engine(configuration()), 0)
            sys.stdout.buffer.write(module.serialize() + COMPLETE)
        else:
            Host(wire, path, int(memory), int(compiled), words).serve()
    except BotEnd as why:
        wire.write(0, "!", f"{why.foul} {why}".encode())
        # The referee ends us: what it reads first is the reason.
        while os.read(0, LINE):
            pass
