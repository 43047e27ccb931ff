"""Modules of WebAssembly as bots: their compilers, their host's command and its frames."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from py_compile import compile as compile_file
from typing import NamedTuple, get_args

from protocol.codec import Fault, line_start, printable
from protocol.errors import UserError, unknown_name
from protocol.messages import GameStarts
from protocol.records import FoulClass

# --- frames of a sealed bot's host, as the referee reads them: the bot cannot forge them ---

GAME_START = line_start(GameStarts)
FOUL_CLASSES: dict[bytes, FoulClass] = {name.encode(): name for name in get_args(FoulClass)}
FIGURES = re.compile(rb"[0-9]{1,18}")
MILLION = 1_000_000


class HostFrame(NamedTuple):
    """A line of the bot, or the end of its instance, with its work in million instructions."""

    line: bytes | None
    fault: Fault | None
    effort_ms: float


class FrameReader:
    """The reader of one host's frames: it drops those of games that are over."""

    def __init__(self) -> None:
        self._games = 0
        self._beginning = b""
        """As much of the line that is being sent as tells whether a game begins with it."""

    def note_sent(self, data: bytes) -> None:
        """Count the games that begin in what is sent: a line, several, or a part of one."""
        for number, part in enumerate(data.split(b"\n")):
            before = b"" if number else self._beginning
            self._beginning = (before + part)[: len(GAME_START)]
            self._games += self._beginning == GAME_START != before

    def read(self, line: bytes) -> HostFrame | None:
        """Return the frame in a line; None if it belongs to an earlier game.

        What is no frame comes from a broken host.
        """
        game, _, rest = line.partition(b" ")
        used, _, content = rest.partition(b" ")
        foul, _, detail = content[1:].partition(b" ")
        is_known = content[:1] == b"=" or (content[:1] == b"!" and foul in FOUL_CLASSES)
        if not (is_known and FIGURES.fullmatch(game) and FIGURES.fullmatch(used)):
            fault = Fault("gone", f"Its host failed: {printable(line)}")
            return HostFrame(None, fault, 0.0)
        if int(game) != self._games:
            return None
        effort_ms = int(used) / MILLION
        if content[:1] == b"=":
            return HostFrame(content[1:], None, effort_ms)
        return HostFrame(None, Fault(FOUL_CLASSES[foul], printable(detail, 400)), effort_ms)


# --- the command of a host ---

MODULE_SUFFIX = ".wasm"
"""The ending of a module's file: such a bot is never started but by the host."""
SEALED = "sealed"
"""The word in logs for a sitting in which all bots are sealed."""
SPARE_MIB = 192
"""Memory of the host itself, in MiB, beside the module's."""
HOST_FILE = Path(__file__).with_name("host.py").resolve()
START = """import sys, importlib.util as util; sys.path.append({folder!r})
spec = util.spec_from_file_location("host", {host!r}); host = util.module_from_spec(spec)
spec.loader.exec_module(host); host.main()"""
"""The program that starts the host: it lists no folder, for a sandbox may forbid that."""


class SealedLanguage(NamedTuple):
    """A language whose sources run inside the seal, by an interpreter that we ship."""

    name: str
    """The name of its template, and of its folder here."""
    programs: re.Pattern[str]
    """The names of its interpreters outside."""
    harmless: frozenset[str] = frozenset()
    """Their options that change nothing inside, where no other site, environment or buffer is."""

    @property
    def word(self) -> str:
        """The first word of its bots' commands, in place of the interpreter's file."""
        return self.name + MODULE_SUFFIX

    @property
    def archive(self) -> Path:
        """The interpreter and its library, packed."""
        return HOST_FILE.with_name(self.name) / "interpreter.xz"


OPTIONS = frozenset(("-I", "-S", "-s", "-u", "-B", "-E", "-O", "-q"))
PYTHON = SealedLanguage("python", re.compile("python.*"), OPTIONS)
JAVASCRIPT = SealedLanguage("javascript", re.compile("node(js)?"))
SEALED_LANGUAGES = {language.word: language for language in (PYTHON, JAVASCRIPT)}
"""By their words."""
INTERPRETED = frozenset(language.name for language in SEALED_LANGUAGES.values())
"""Their names."""


def is_module(argv: Sequence[str]) -> bool:
    """Tell whether a command is that of a sealed bot: a module, or interpreted inside the seal."""
    return argv[0].endswith(MODULE_SUFFIX)


def is_interpreted(argv: Sequence[str]) -> bool:
    """Tell whether a command is of a language inside the seal."""
    return argv[0] in SEALED_LANGUAGES


def language_of(program: str) -> SealedLanguage | None:
    """Return the language of an interpreter outside; None if it cannot be sealed."""
    name = Path(program).name
    return next((lang for lang in SEALED_LANGUAGES.values() if lang.programs.fullmatch(name)), None)


def wasmtime_folder() -> str:
    """Return the folder of the package wasmtime."""
    spec = find_spec("wasmtime")
    assert spec, "It is installed with ours."
    return f"{Path(spec.origin or '').resolve().parent}"


@cache
def interpreter_name(word: str) -> str:
    """Return a digest of an interpreter: the same gives the same answers."""
    return sha256(SEALED_LANGUAGES[word].archive.read_bytes()).hexdigest()[:16]


@cache
def host_name() -> str:
    """Return all that decides what a host counts: wasmtime's version, and digests of our parts."""
    host = sha256(HOST_FILE.read_bytes()).hexdigest()[:16]
    names = (f"{word} {interpreter_name(word)}" for word in SEALED_LANGUAGES)
    return f"wasmtime {wasmtime_version()}, host {host}, {', '.join(names)}"


def wasmtime_version() -> str:
    """Return the version of the package wasmtime."""
    from importlib.metadata import version  # It takes 10 ms to import.

    return version("wasmtime")


def host_argv(argv: Sequence[str], memory: int, first: int | str = 0) -> tuple[str, ...]:
    """Return the command of the host for a module, which may have `memory` bytes.

    `first`: the size of what it is sent first; or `only` or `interpreter` to compile.
    """
    folder = f"{Path(wasmtime_folder()).parent}"
    code = START.format(folder=folder, host=f"{HOST_FILE}")
    return (sys.executable, "-ISc", code, f"{memory}", f"{first}", *argv)


@cache
def host_files() -> tuple[str, ...]:
    """Return the files that the host reads besides its Python and the module.

    Its code is kept beside its text, where that can be written, so that it starts sooner.
    """
    code = None
    with suppress(OSError):
        code = compile_file(f"{HOST_FILE}")
    return tuple(filter(None, (f"{HOST_FILE}", code, wasmtime_folder())))


def check_clock(name: str, argv: Sequence[str], counts_instructions: bool) -> None:
    """Refuse a bot's own clock if it does not count what the bot uses. Raises UserError."""
    if counts_instructions != is_module(argv):
        process = (
            "a process, whose instructions nobody counts: give it a time, as in 200ms, or seal it"
        )
        kind = "sealed: give it instructions, as in 200M" if is_module(argv) else process
        raise UserError(f"Bot {name} is {kind}.")


# --- compilers of modules, and whether they are here ---

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
                library = done.stdout.strip()
        return bool(shutil.which(self.name) and library) and Path(library).exists()


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
    toolchains = [toolchain for toolchain in TOOLCHAINS if toolchain.language == language]
    if not toolchains:
        languages = {*INTERPRETED, *(toolchain.language for toolchain in TOOLCHAINS)}
        raise unknown_name("language of sealed bots", language, languages)
    tools = next((toolchain for toolchain in toolchains if toolchain.is_here()), toolchains[0])
    missing = "" if tools.is_here() else f"It needs {tools.name}: {tools.install}."
    return (*tools.build, file), missing


def about_toolchains() -> str:
    """Return in a sentence what is here for sealed bots."""
    names = [f"{tools.language} ({tools.name})" for tools in TOOLCHAINS if tools.is_here()]
    build = f"compiles {', '.join(names)}" if names else "finds no compiler (pip install ziglang)"
    return f"Sealed bots (*.wasm, Python, JavaScript) can play. `boneyard new --sealed` {build}."
