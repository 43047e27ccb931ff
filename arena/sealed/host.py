"""The host of one sealed bot: the program that runs a WebAssembly module as a bot.

It runs alone, in the sandbox where a bot runs, and imports nothing of ours. The module talks by
WASI preview 1; all that it may call is below. Its answers follow from its bytes, its arguments,
the lines that it was sent and the seed in its game's first line, and from nothing else: each read
gives one line, the clock counts instructions, and each game begins in a fresh instance.

    python -IS host.py FOLDER MEMORY MODULE ARGUMENT...

FOLDER holds the package wasmtime; MEMORY is the most memory of the module, in bytes.

Every line on stdout is a frame, which only the host can write: `GAME USED =LINE` is a line of the
bot, `GAME USED !FOUL DETAIL` the end of its instance. GAME counts the games begun so far, USED the
instructions since the answer before.
"""

import ctypes
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.append(sys.argv[1])

import wasmtime

MILLION = 1_000_000
START = 2_000 * MILLION
"""The instructions that an instance has until it reads its game's first line."""
LARGEST = 16 * 2**20
"""The most bytes of a module: to compile it costs memory and time."""
STACK = 2**20
"""The bytes of the native stack, which bound recursion; the module's own stack is in its memory."""
TABLE = 100_000
"""The most entries of a table of functions."""
CALL, BYTE = 10_000, 4
"""The instructions that a call of the host costs, and each byte that it moves: a call takes the
host about 10 µs, so no bot wins time by calls."""
LINE = 65_536
"""The most bytes of a line; what is longer is passed on as far as it is a foul."""
OUTPUT, FRAME = 2 * LINE, 32
"""The most bytes of stdout between two questions, and what each line counts besides: together less
than what the referee faults, at a moment of its own."""
STDERR = 2**20 - LINE
"""The most bytes of stderr in a game: less than what the referee faults, at a moment of its own."""
MODULE = "wasi_snapshot_preview1"
OK, AGAIN, BADF, INVAL, NOSYS, SPIPE = 0, 6, 8, 28, 52, 70
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
without a method below answer that they are not there. Sockets are left out: nobody needs them."""
SIGNATURES = dict(one.split(":") for one in OFFERED.split())


class NoBot(Exception):  # noqa: N818 - it is no error of ours
    """A module that cannot be a bot; its text says why."""


class Ended(Exception):  # noqa: N818 - as above
    """The end of an instance: the foul that it is if the game still needs the bot."""

    def __init__(self, foul: str, detail: str, status: int = 1) -> None:
        super().__init__(detail)
        self.foul, self.status = foul, status


class NextGame(Exception):  # noqa: N818 - as above
    """The first line of another game has come: its bot is another instance."""


class Wire:
    """The referee's side: its lines, one at a time, and the frames for it."""

    def __init__(self) -> None:
        self.games = 0
        """The games begun so far."""
        self.over = False
        """True once the referee has said goodbye, or is gone: no frame is for anybody then."""
        self._buffer = bytearray()

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

    def __init__(self, wire: Wire, engine: wasmtime.Engine, memory: int, hello: bytes) -> None:
        """`hello`: the referee's first line, which each instance is sent."""
        self.game = b""
        """The first line of the instance's game; nothing before the first game."""
        self.wire = wire
        self.store = wasmtime.Store(engine)
        self.store.set_limits(memory, TABLE, 1, 8, 1)
        self.arguments: list[bytes] = []
        self._memory: wasmtime.Memory | None = None
        self._base = self._size = 0
        self._hello = hello
        self._lines = self._all_lines()
        self._rest = b""
        self._written = bytearray()
        self._output = self._stderr = 0
        self._greets = False
        self._effort = START // MILLION
        self._drawn = 0
        self._seed = bytes(32)
        self._past = 0
        self._limit = 0
        self.allow(START)

    # --- work ---

    def allow(self, limit: int) -> None:
        """Let the instance work for so many instructions, of which it has used some."""
        used = self.used
        self._limit = limit
        self.store.set_fuel(max(0, limit - used))

    @property
    def used(self) -> int:
        """Return the instructions since the answer before."""
        return self._limit - self.store.get_fuel() if self._limit else 0

    def charge(self, instructions: int) -> None:
        """Charge for work of the host."""
        left = self.store.get_fuel()
        self.store.set_fuel(max(0, left - instructions))
        if left < instructions:
            raise self.exhausted()

    def exhausted(self) -> Ended:
        """Return the end of an instance that has used up its instructions."""
        return Ended("late", f"It used up the {self._limit / MILLION:,g} million instructions.")

    def _answered(self) -> None:
        """Count anew: what it thinks from now on is charged to its next answer."""
        self._past += self.used
        self._limit = 0
        self.allow(self._effort * MILLION)

    # --- lines ---

    def begin(self, line: bytes) -> None:
        """Take the first line of its game: it fixes the seed, and the work for a question."""
        self.game = line
        told = json.loads(line)
        self._seed = bytes.fromhex(told.get("seed", "")) or self._seed
        self._effort = told["clock"]["move_ms"]

    def _all_lines(self) -> Iterator[bytes]:
        """Yield the lines for this instance: the hello, its game, and what comes after it."""
        self._greets = bool(self.game)
        yield self._hello
        if self.game:
            self._answered()
            yield self.game
        while line := self.wire.read():
            if line.startswith(GAME):
                self._end_line()
                raise NextGame(line)
            if asked := QUESTION.match(line):
                self.allow(int(asked[1]) * MILLION)
                if not self.store.get_fuel():
                    raise self.exhausted()
                self._output = 0
            yield line
        yield b""

    def _end_line(self) -> None:
        self._written.clear()

    def take(self, most: int) -> bytes:
        """Return the next line, or as much of it as there is room for."""
        self._rest = self._rest or next(self._lines, b"")
        taken, self._rest = self._rest[:most], self._rest[most:]
        return taken

    def put(self, data: bytes) -> None:
        """Take output of the bot; pass on each whole line."""
        self._output += len(data) + FRAME * data.count(b"\n")
        if self._output > OUTPUT:
            raise Ended("flooding", f"More than {OUTPUT} bytes to one question.")
        self._written += data
        *lines, rest = bytes(self._written).split(b"\n")
        self._written[:] = rest
        if len(rest) >= LINE:
            lines.append(rest)
            self._written.clear()
        for line in lines:
            if self._greets:
                # The referee knows the hello of the first instance.
                self._greets = False
                continue
            self.wire.write(self.used, "=", line)
            self._answered()

    # --- memory ---

    def view(self, at: int, size: int) -> int:
        """Return the address of a part of the module's memory. Raises Ended without one."""
        at, size = at & 0xFFFFFFFF, size & 0xFFFFFFFF
        if at + size > self._size:
            # It may have grown: it never moves, see `configuration`.
            self._size = self._memory.data_len(self.store) if self._memory else 0
            if at + size > self._size:
                raise Ended("gone", "It gave the host an address outside its memory.")
        return self._base + at

    def load(self, at: int, size: int) -> bytes:
        """Return bytes of the module's memory."""
        return ctypes.string_at(self.view(at, size), size & 0xFFFFFFFF)

    def store_bytes(self, at: int, data: bytes) -> None:
        """Write bytes into the module's memory."""
        ctypes.memmove(self.view(at, len(data)), data, len(data))

    def put_number(self, at: int, number: int, size: int = 4) -> None:
        """Write a number into the module's memory."""
        self.store_bytes(at, number.to_bytes(size, "little"))

    def _buffers(self, at: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield the addresses and sizes in a list of buffers."""
        table = self.load(at, 8 * min(count & 0xFFFFFFFF, 1024))
        for start in range(0, len(table), 8):
            address, size = table[start : start + 4], table[start + 4 : start + 8]
            yield int.from_bytes(address, "little"), int.from_bytes(size, "little")

    # --- the functions of WASI ---

    def args_sizes_get(self, count: int, size: int) -> int:
        """Tell the number of arguments, and their bytes."""
        self.put_number(count, len(self.arguments))
        self.put_number(size, sum(map(len, self.arguments)))
        return OK

    def args_get(self, list_at: int, text_at: int) -> int:
        """Write the arguments."""
        for number, word in enumerate(self.arguments):
            self.put_number(list_at + 4 * number, text_at)
            self.store_bytes(text_at, word)
            text_at += len(word)
        return OK

    def environ_sizes_get(self, count: int, size: int) -> int:
        """Tell that the environment is empty."""
        self.put_number(count, 0)
        self.put_number(size, 0)
        return OK

    def environ_get(self, _: int, __: int) -> int:
        """Write the empty environment."""
        return OK

    def clock_res_get(self, _: int, at: int) -> int:
        """Tell that the clock counts ns."""
        self.put_number(at, 1, 8)
        return OK

    def clock_time_get(self, _: int, __: int, at: int) -> int:
        """Tell the instructions so far: each is 1 ns of every clock."""
        self.put_number(at, 1 + self._past + self.used, 8)
        return OK

    def fd_close(self, fd: int) -> int:
        """Close nothing."""
        return OK if 0 <= fd <= 2 else BADF

    def fd_fdstat_get(self, fd: int, at: int) -> int:
        """Tell that stdin, stdout and stderr are pipes."""
        if not 0 <= fd <= 2:
            return BADF
        self.store_bytes(at, bytes(24))
        # As for a character device, so that runtimes neither seek nor ask for more.
        self.put_number(at, 2, 1)
        self.put_number(at + 8, 2 | 2**6, 8)
        return OK

    def fd_fdstat_set_flags(self, fd: int, _: int) -> int:
        """Change no flags."""
        return OK if 0 <= fd <= 2 else BADF

    def fd_filestat_get(self, fd: int, at: int) -> int:
        """Tell the kind of stdin, stdout and stderr."""
        if not 0 <= fd <= 2:
            return BADF
        self.store_bytes(at, bytes(64))
        self.put_number(at + 16, 2, 1)
        return OK

    def fd_prestat_get(self, _: int, __: int) -> int:
        """Tell that no folder is open."""
        return BADF

    def fd_prestat_dir_name(self, _: int, __: int, ___: int) -> int:
        """Tell that no folder is open."""
        return BADF

    def fd_seek(self, fd: int, *_: int) -> int:
        """Refuse to seek in a pipe."""
        return SPIPE if 0 <= fd <= 2 else BADF

    def fd_read(self, fd: int, buffers: int, count: int, at: int) -> int:
        """Read at most one line of stdin, so that no time shows in how much comes."""
        if fd != 0:
            return BADF
        read = 0
        for address, size in self._buffers(buffers, count):
            if size:
                data = self.take(size)
                self.charge(BYTE * len(data))
                self.store_bytes(address, data)
                read += len(data)
                break
        self.put_number(at, read)
        return OK

    def fd_write(self, fd: int, buffers: int, count: int, at: int) -> int:
        """Write to stdout or stderr."""
        if fd not in (1, 2):
            return BADF
        data = bytearray()
        for address, size in self._buffers(buffers, count):
            # No buffer needs more at once, and the rest comes in another call.
            data += self.load(address, min(size, LINE - len(data)))
        self.charge(BYTE * len(data))
        if fd == 1:
            self.put(bytes(data))
        else:
            self._stderr += len(data)
            if self._stderr > STDERR:
                raise Ended("flooding", f"More than {STDERR} bytes of stderr in one game.")
            os.write(2, data)
        self.put_number(at, len(data))
        return OK

    def poll_oneoff(self, wants: int, events: int, count: int, at: int) -> int:
        """Answer at once that all is ready; a sleep costs the instructions that its time has."""
        ready = []
        for number in range(min(count & 0xFFFFFFFF, 64)):
            want = self.load(wants + 48 * number, 48)
            kind = want[8]
            ready.append((want[:8], kind, int.from_bytes(want[24:32], "little"), want[40] & 1))
        if not ready:
            return INVAL
        files = [one for one in ready if one[1]]
        if not files:
            ready = [min(ready, key=lambda one: one[2])]
            _, __, ns, absolute = ready[0]
            self.charge(max(0, ns - (self._past + self.used) * absolute))
        for number, (name, kind, _, __) in enumerate(files or ready):
            self.store_bytes(events + 32 * number, name + bytes((0, 0, kind)) + bytes(21))
        self.put_number(at, len(files or ready))
        return OK

    def proc_exit(self, status: int) -> NoReturn:
        """End the instance."""
        raise Ended("gone", f"It exited with status {status & 0xFF}.", status & 0xFF)

    def random_get(self, at: int, size: int) -> int:
        """Give chance that follows from the seed: the same in every run."""
        size &= 0xFFFFFFFF
        self.view(at, size)
        self.charge(BYTE * size)
        for start in range(0, size, 32):
            block = hashlib.sha256(self._seed + self._drawn.to_bytes(8, "little")).digest()
            self._drawn += 1
            self.store_bytes(at + start, block[: size - start])
        return OK

    def sched_yield(self) -> int:
        """Do nothing: there is no other thread."""
        return OK

    # --- its life ---

    def run(self, linker: wasmtime.Linker, module: wasmtime.Module) -> NoReturn:
        """Run the instance to its end. Raises Ended, NextGame."""
        try:
            instance = linker.instantiate(self.store, module)
            exports = instance.exports(self.store)
            memory, start = exports.get("memory"), exports.get("_start")
            assert isinstance(memory, wasmtime.Memory)
            assert isinstance(start, wasmtime.Func)
            self._memory = memory
            self._base = ctypes.addressof(memory.data_ptr(self.store).contents)
            start(self.store)
        except wasmtime.Trap as trap:
            code = trap.trap_code
            if code == wasmtime.TrapCode.OUT_OF_FUEL:
                raise self.exhausted() from None
            name = code.name.lower().replace("_", " ") if code else "trap"
            raise Ended("gone", f"It crashed: {name}.") from None
        except wasmtime.WasmtimeError as error:
            raise Ended("gone", f"It cannot start: {first_words(error)}") from None
        raise Ended("gone", "It exited with status 0.", 0)


class Host:
    """The compiled module, and the instance that plays now."""

    def __init__(self, path: str, memory: int, arguments: list[str]) -> None:
        self.wire = Wire()
        self._memory = memory
        self._arguments = [os.fsencode(word) + b"\0" for word in ("bot", *arguments)]
        self._bot: Bot
        self._engine = wasmtime.Engine(configuration())
        self._linker = wasmtime.Linker(self._engine)
        self._module = load_module(self._engine, path)
        for name, signature in SIGNATURES.items():
            numbers = {"i": wasmtime.ValType.i32(), "I": wasmtime.ValType.i64()}
            results = [] if name == "proc_exit" else [numbers["i"]]
            kind = wasmtime.FuncType([numbers[one] for one in signature], results)
            self._linker.define_func(MODULE, name, kind, self._function(name))

    def _function(self, name: str) -> Callable[..., Any]:
        method = getattr(Bot, name, None)

        def call(*numbers: int) -> Any:
            bot = self._bot
            bot.charge(CALL)
            return method(bot, *numbers) if method else NOSYS

        return call

    def serve(self) -> None:
        """Run instance after instance until the referee says no more."""
        hello = self.wire.read()
        game = b""
        while True:
            bot = self._bot = Bot(self.wire, self._engine, self._memory, hello)
            bot.arguments = self._arguments
            if game:
                bot.begin(game)
            try:
                bot.run(self._linker, self._module)
            except Ended as end:
                if self.wire.over:
                    sys.exit(end.status)
                self.wire.write(bot.used, "!", f"{end.foul} {end}".encode())
                game = self._next_game()
            except NextGame as other:
                (game,) = other.args
            bot.store.close()
            if not game:
                return
            self.wire.games += 1

    def _next_game(self) -> bytes:
        """Read on to the next game: until then nobody plays."""
        while (line := self.wire.read()) and not line.startswith(GAME):
            pass
        return line


def configuration() -> wasmtime.Config:
    """Return settings under which the same module computes the same on every machine."""
    config = wasmtime.Config()
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    config.wasm_relaxed_simd = False
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False
    config.wasm_exceptions = False
    config.wasm_gc = False
    config.max_wasm_stack = STACK
    config.memory_may_move = False
    return config


def load_module(engine: wasmtime.Engine, path: str) -> wasmtime.Module:
    """Return the module in a file. Raises NoBot if it cannot be a bot."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise NoBot(f"Its module has more than {LARGEST // 2**20} MiB.")
    if not data.startswith(b"\0asm"):
        raise NoBot("It is not a module of WebAssembly.")
    try:
        module = wasmtime.Module(engine, data)
    except wasmtime.WasmtimeError as error:
        raise NoBot(f"Its module is invalid: {first_words(error)}") from None
    check_interface(module)
    return module


def check_interface(module: wasmtime.Module) -> None:
    """Refuse a module that wants more than there is, or is not a command. Raises NoBot."""
    strange = [
        f"{one.module}.{one.name}"
        for one in module.imports
        if one.module != MODULE or one.name not in SIGNATURES
    ]
    if strange:
        raise NoBot(f"It imports {', '.join(strange[:5])}, which a sealed bot does not get.")
    exports = {one.name: one.type for one in module.exports}
    if not isinstance(exports.get("_start"), wasmtime.FuncType):
        raise NoBot("It exports no function _start: build it as a command, not as a library.")
    if not isinstance(exports.get("memory"), wasmtime.MemoryType):
        raise NoBot("It exports no memory.")


def first_words(error: Exception) -> str:
    """Return an error's text in a line."""
    return " ".join(f"{error}".split())[:300]


def main() -> None:
    """Serve the referee, or say why there is no bot."""
    memory, path, *arguments = sys.argv[2:]
    try:
        host = Host(path, int(memory), arguments)
    except NoBot as why:
        Wire().write(0, "!", f"gone {why}".encode())
        os.read(0, 1)
        # The referee ends us: what it reads first is the reason.
        while os.read(0, LINE):
            pass
        return
    host.serve()


if __name__ == "__main__":
    main()
