"""Compilers that make modules of WebAssembly: their commands, and whether they are here."""

import shutil
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from arena.sealed.module import MISSING, wasmtime_folder
from protocol.errors import unknown_name

MODULE = "{build}/my-bot.wasm"
RUST_LIBRARY = ("rustc", "--print", "target-libdir", "--target", "wasm32-wasip1")


class Toolchain(NamedTuple):
    """A compiler of one language."""

    language: str
    name: str
    build: tuple[str, ...]
    """The command up to the source's file."""
    install: str

    def is_here(self) -> bool:
        """Tell whether this machine has it, with its library for WebAssembly."""
        if self.name == "ziglang":
            return find_spec("ziglang") is not None
        library = "/usr/lib/wasm32-wasi" if self.name == "clang" else "/"
        if self.name == "rustc":
            with suppress(OSError, subprocess.TimeoutExpired):
                done = subprocess.run(RUST_LIBRARY, capture_output=True, text=True, timeout=20)
                library = done.stdout.strip() or "/nonexistent"
        return shutil.which(self.name) is not None and Path(library).exists()


C = ("--target=wasm32-wasi", "-O2", "-s", "-o", MODULE)
RUST = ("--edition=2021", "--target", "wasm32-wasip1", "-O", "-o", MODULE)
GO = ("env", "GOOS=wasip1", "GOARCH=wasm", "go", "build", "-ldflags=-s -w", "-o", MODULE)
DEBIAN = "apt install clang lld wasi-libc libclang-rt-dev-wasm32"
TOOLCHAINS = (
    Toolchain("c", "ziglang", ("{python}", "-m", "ziglang", "cc", *C), "pip install ziglang"),
    Toolchain("c", "clang", ("clang", *C), DEBIAN),
    Toolchain("rust", "rustc", ("rustc", *RUST), "rustup target add wasm32-wasip1"),
    Toolchain("go", "go", GO, "apt install golang (1.21 or newer)"),
)
"""Each language's best first. C++ has none: the template throws exceptions, which WASI lacks."""


def sealed_build(language: str, file: str) -> tuple[tuple[str, ...], str]:
    """Return the command that builds a language's file, and a sentence about what is missing.

    Raises UserError.
    """
    known = [one for one in TOOLCHAINS if one.language == language]
    if not known:
        languages = {one.language for one in TOOLCHAINS}
        raise unknown_name("language of sealed bots", language, languages)
    tools = next((one for one in known if one.is_here()), known[0])
    missing = "" if tools.is_here() else f"It needs {tools.name}: {tools.install}."
    return (*tools.build, file), missing


def about_toolchains() -> str:
    """Return in a sentence what is here for sealed bots."""
    here = [f"{one.language} ({one.name})" for one in TOOLCHAINS if one.is_here()]
    if wasmtime_folder() is None:
        return MISSING
    build = f"compiles {', '.join(here)}" if here else "finds no compiler (pip install ziglang)"
    return f"Sealed bots (*.wasm) can play. `boneyard new --sealed` {build}."
