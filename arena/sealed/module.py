"""Modules of WebAssembly as bots: the command of the host that runs one."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from protocol.errors import UserError

SUFFIX = ".wasm"
"""The ending of a module's file: such a bot is never started but by the host."""
SEALED = "S"
"""The level of the sandbox of a sitting in which all bots are sealed: above A."""
SPARE_MIB = 192
"""Memory of the host itself, in MiB, beside the module's."""
HOST = f"{Path(__file__).with_name('host.py').resolve()}"
MISSING = "A sealed bot (*.wasm) needs the package wasmtime: pip install 'boneyard-arena[sealed]'."


def is_module(argv: Sequence[str]) -> bool:
    """Tell whether a command is a module, and so a sealed bot."""
    return argv[0].endswith(SUFFIX)


def wasmtime_folder() -> str | None:
    """Return the folder of the package wasmtime; None where it is not installed."""
    spec = find_spec("wasmtime")
    return f"{Path(spec.origin).resolve().parent}" if spec and spec.origin else None


def host_argv(argv: Sequence[str], memory: int) -> tuple[str, ...]:
    """Return the command of the host for a module, which may have so many bytes of memory."""
    folder = f"{Path(wasmtime_folder() or '/').parent}"
    return (sys.executable, "-IS", HOST, folder, f"{memory}", *argv)


def host_files() -> tuple[str, ...]:
    """Return the files that the host reads besides its Python and the module."""
    return HOST, wasmtime_folder() or HOST


def check_clock(name: str, argv: Sequence[str], counts_instructions: bool) -> None:
    """Refuse a bot's own clock if it does not count what the bot uses. Raises UserError."""
    if counts_instructions != is_module(argv):
        process = "a process, whose instructions nobody counts: give it a time, as in 200ms"
        kind = "sealed: give it instructions, as in 200M" if is_module(argv) else process
        raise UserError(f"Bot {name} is {kind}.")
