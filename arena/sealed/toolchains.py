"""Compilers that make modules of WebAssembly: their commands, and whether they are here."""

import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from arena.sealed.module import MISSING, wasmtime_folder
from protocol.errors import unknown_name

MODULE = "{build}/my-bot.wasm"
ASKED_S = 20
"""Time that a compiler has to answer, in s."""


class Toolchain(NamedTuple):
    """A compiler of one language."""

    language: str
    """The language's name in the list of templates."""
    build: tuple[str, ...]
    """The command up to the source's file."""
    install: str
    """Advice on where to get it."""

    @property
    def name(self) -> str:
        """Return its name for people."""
        return "ziglang" if "ziglang" in self.build else self.build[0]

    def is_here(self) -> bool:
        """Tell whether this machine has it, with its library for WebAssembly."""
        if "ziglang" in self.build:
            return find_spec("ziglang") is not None
        program = "go" if "go" in self.build else self.build[0]
        here = shutil.which(program) is not None
        return here and (program == "go" or any(map(Path.exists, _libraries(program))))


def _libraries(program: str) -> Iterator[Path]:
    """Yield the places of a compiler's library for WebAssembly."""
    if program.startswith("clang"):
        yield Path("/usr/lib/wasm32-wasi")
    else:
        words = (program, "--print", "target-libdir", "--target", "wasm32-wasip1")
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=ASKED_S)
        except (OSError, subprocess.TimeoutExpired):
            return
        yield Path(done.stdout.strip() or "/nonexistent")


ZIG = "pip install ziglang"
WASI = "--target=wasm32-wasi"
TOOLCHAINS = (
    Toolchain("c", ("{python}", "-m", "ziglang", "cc", WASI, "-O2", "-s", "-o", MODULE), ZIG),
    Toolchain(
        "c",
        ("clang", WASI, "-O2", "-s", "-o", MODULE),
        "apt install clang lld wasi-libc libclang-rt-dev-wasm32",
    ),
    Toolchain(
        "rust",
        ("rustc", "--edition=2021", "--target", "wasm32-wasip1", "-O", "-o", MODULE),
        "rustup target add wasm32-wasip1",
    ),
    Toolchain(
        "go",
        ("env", "GOOS=wasip1", "GOARCH=wasm", "go", "build", "-ldflags=-s -w", "-o", MODULE),
        "apt install golang (1.21 or newer)",
    ),
)
"""Each language's best first. C++ has none: the template throws exceptions, which WASI lacks."""


def sealed_build(language: str, file: str) -> tuple[tuple[str, ...], str]:
    """Return the command that builds a language's file, and a sentence about what is missing.

    Raises UserError.
    """
    known = [one for one in TOOLCHAINS if one.language == language]
    if not known:
        raise unknown_name(
            "language of sealed bots", language, {one.language for one in TOOLCHAINS}
        )
    tools = next((one for one in known if one.is_here()), known[0])
    missing = "" if tools.is_here() else f"It needs {tools.name}: {tools.install}."
    return (*tools.build, file), missing


def about_toolchains() -> str:
    """Return in a sentence what is here for sealed bots."""
    here = sorted({f"{one.language} ({one.name})" for one in TOOLCHAINS if one.is_here()})
    if wasmtime_folder() is None:
        return MISSING
    build = f"compiles {', '.join(here)}" if here else f"finds no compiler ({ZIG})"
    return f"Sealed bots (*.wasm) can play: level S, above A. `boneyard new --sealed` {build}."
