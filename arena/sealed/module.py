"""Modules of WebAssembly as bots: the command of the host that runs one."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from py_compile import compile as compile_file

from protocol.errors import UserError

SUFFIX = ".wasm"
"""The ending of a module's file: such a bot is never started but by the host."""
SEALED = "sealed"
"""The level of the sandbox of a sitting in which all bots are sealed: above A."""
SPARE_MIB = 192
"""Memory of the host itself, in MiB, beside the module's."""
HOST = Path(__file__).with_name("host.py").resolve()
START = """import sys, importlib.util as util; sys.path.append({folder!r})
spec = util.spec_from_file_location("host", {host!r}); host = util.module_from_spec(spec)
spec.loader.exec_module(host); host.main()"""
"""The program that starts the host: it lists no folder, for a sandbox may forbid that."""
MISSING = "A sealed bot (*.wasm) needs the package wasmtime: pip install 'boneyard-arena[sealed]'."


def is_module(argv: Sequence[str]) -> bool:
    """Tell whether a command is a module, and so a sealed bot."""
    return argv[0].endswith(SUFFIX)


def wasmtime_folder() -> str | None:
    """Return the folder of the package wasmtime; None where it is not installed."""
    spec = find_spec("wasmtime")
    return f"{Path(spec.origin).resolve().parent}" if spec and spec.origin else None


@cache
def host_name() -> str:
    """Return the version of wasmtime and a digest of all else that decides what a host counts."""
    return f"wasmtime {wasmtime_version()}, host {sha256(HOST.read_bytes()).hexdigest()[:16]}"


def wasmtime_version() -> str:
    """Return the version of the package wasmtime; nothing where it is not installed."""
    return version("wasmtime") if wasmtime_folder() else ""


def host_argv(argv: Sequence[str], memory: int, compiled: int | str = 0) -> tuple[str, ...]:
    """Return the command of the host for a module, which may have so many bytes of memory.

    `compiled`: the size of the compiled module, which it is sent first; or `only` to compile it.
    """
    folder = f"{Path(wasmtime_folder() or '/').parent}"
    code = START.format(folder=folder, host=f"{HOST}")
    return (sys.executable, "-ISc", code, f"{memory}", f"{compiled}", *argv)


@cache
def host_files() -> tuple[str, ...]:
    """Return the files that the host reads besides its Python and the module.

    Its code is kept beside its text, where that can be written, so that it starts sooner.
    """
    code = None
    with suppress(OSError):
        code = compile_file(f"{HOST}")
    return tuple(filter(None, (f"{HOST}", code, wasmtime_folder())))


def check_clock(name: str, argv: Sequence[str], counts_instructions: bool) -> None:
    """Refuse a bot's own clock if it does not count what the bot uses. Raises UserError."""
    if counts_instructions != is_module(argv):
        process = "a process, whose instructions nobody counts: give it a time, as in 200ms"
        kind = "sealed: give it instructions, as in 200M" if is_module(argv) else process
        raise UserError(f"Bot {name} is {kind}.")
