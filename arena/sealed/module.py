"""Modules of WebAssembly: bots, and interpreters of bots; compilers, the host's command, frames."""

import lzma
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from py_compile import compile as compile_file
from typing import NamedTuple, get_args

from arena.files import (
    DamagedFileError,
    describe_error,
    hold_lock,
    make_private,
    open_file,
    user_cache,
    write_atomic,
)
from protocol.codec import (
    DamagedRecordError,
    Fault,
    decode_json,
    encode_json,
    line_start,
    printable,
)
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


# --- interpreters inside the seal: their place in the user's cache, and the files of a bot ---
#
# `python/build` and `javascript/build` make one each, `interpreter.xz`: a module of WebAssembly
# (CPython, QuickJS) and its library. Boneyard ships them instead of building them on each machine:
# another build of CPython could order sets otherwise, and the same bot would then play another
# game. Each is compiled once on a machine.

COMPILE_S = 300
"""The most s to compile an interpreter: 4 to 11 s of CPU were measured for Python."""
KEPT_VERSIONS = 4
"""Versions of an interpreter on one machine that may be used in turn without compiling."""
MAX_FILES, MAX_FILES_BYTES = 2_000, 32 * 2**20
"""The most files of a bot, and bytes in them: its host holds them in memory."""
BYTECODE_FOLDER = "__pycache__"


class Interpreter(NamedTuple):
    """The files of the interpreter in the cache."""

    code: Path
    """Machine code of this processor, for hosts of the same bytes."""
    library: Path
    """Its library, packed."""


@cache
def installed_interpreter(word: str) -> Interpreter:
    """Return an interpreter; compile it first where this user has none. Raises UserError."""
    folder = user_cache("sealed")
    if folder is None:
        raise UserError("Sealed bots need a cache of your own: set XDG_CACHE_HOME to a folder.")
    folder = folder.resolve() / _processor() / SEALED_LANGUAGES[word].name
    host = sha256(HOST_FILE.read_bytes()).hexdigest()[:8]
    home = folder / f"{interpreter_name(word)}-{wasmtime_version()}-{host}"
    paths, digests = Interpreter(home / "code.cwasm", home / "code.lib"), home / "digests.json"
    try:
        make_private(home)
        with hold_lock(folder / "lock"):
            if not _is_whole(paths, digests):
                _install(word, paths, digests)
            os.utime(home)
            _remove_old(folder)
    except (OSError, DamagedFileError) as error:
        raise UserError(f"The interpreter of sealed bots: {describe_error(error)}.") from error
    return paths


def _processor() -> str:
    """Return a name of the processor, for which machine code is made: machines may share a home."""
    features = platform.processor()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()}-{sha256(features.encode()).hexdigest()[:8]}"


def _is_whole(paths: Interpreter, digests: Path) -> bool:
    """Tell whether both files are as they were written: damaged machine code could do anything."""
    with suppress(OSError, DamagedRecordError):
        return decode_json(digests.read_bytes(), list[str]) == _digests(paths)
    return False


def _digests(paths: Interpreter) -> list[str]:
    return [sha256(path.read_bytes()).hexdigest() for path in paths]


def _remove_old(folder: Path) -> None:
    """Remove all but the versions used last: each of Python has 32 MB. Raises OSError."""
    homes = sorted(folder.glob("*-*"), key=lambda home: home.stat().st_mtime)
    for home in homes[:-KEPT_VERSIONS]:
        shutil.rmtree(home)


def _install(word: str, paths: Interpreter, digests: Path) -> None:
    """Unpack and compile an interpreter. Raises UserError, OSError."""
    if word == PYTHON.word:
        print("Preparing Python for sealed bots, only this once: about 10 s.", file=sys.stderr)
    files = unpack(lzma.decompress(SEALED_LANGUAGES[word].archive.read_bytes()))
    module = files.pop(word)
    compiler = host_argv(("",), 0, "interpreter")
    try:
        done = subprocess.run(compiler, input=module, capture_output=True, timeout=COMPILE_S)
    except subprocess.TimeoutExpired:
        raise UserError(f"{word} was not compiled in {COMPILE_S} s.") from None
    if done.returncode or not done.stdout:
        why = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UserError(f"{word} cannot be compiled: {''.join(why)}")
    write_atomic(paths.code, (done.stdout,))
    write_atomic(paths.library, (pack(files),))
    write_atomic(digests, (encode_json(_digests(paths)),))


# --- the files of a bot ---


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return files in the form that hosts read: a line with their names and sizes, and contents."""
    head = encode_json([(name, len(content)) for name, content in files.items()])
    return head + b"\n" + b"".join(files.values())


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files that `pack` packed."""
    head, _, rest = data.partition(b"\n")
    files, start = {}, 0
    for name, size in decode_json(head, list[tuple[str, int]]):
        files[name], start = rest[start : start + size], start + size
    return files


def pack_files(folder: str, reads: Sequence[str]) -> bytes:
    """Return the files of an interpreted bot, packed. Raises UserError if it cannot have them.

    `folder`: where it runs; `reads`: files and folders of its own.
    """
    files: dict[str, bytes] = {}
    places: dict[str, Path] = {}
    left = MAX_FILES_BYTES
    try:
        for path in _regular_files(reads):
            name = name_inside(path, Path(folder))
            if places.setdefault(name, path) != path:
                raise UserError(f"Two files would be {name} for a sealed bot. Rename one.")
            if name in files:
                continue  # A command may name a file in a folder that is the bot's own.
            with open_file(path) as file:
                files[name] = file.read(left + 1)
            left -= len(files[name])
            if left < 0 or len(files) > MAX_FILES:
                most = f"{MAX_FILES:,} files and {MAX_FILES_BYTES >> 20} MiB"
                raise UserError(f"A sealed bot has at most {most}, which its host holds.")
            if not name.isprintable():
                raise UserError(f"A sealed bot's files have names that can be printed: {name!r}.")
    except (OSError, DamagedFileError) as error:
        raise UserError(describe_error(error)) from error
    return pack({f"bot/{name}": files[name] for name in sorted(files)})


def _regular_files(paths: Sequence[str]) -> Iterator[Path]:
    """Yield the files among and below paths. A link may lead anywhere, and is left out."""
    for path in map(Path, paths):
        if path.is_symlink():
            continue
        if path.is_file():
            yield path
        for parent, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != BYTECODE_FOLDER)
            for name in sorted(names):
                file = Path(parent, name)
                if file.is_file() and not file.is_symlink():
                    yield file


def name_inside(path: Path, folder: Path) -> str:
    """Return a file's path inside the seal, where the same bot has the same paths everywhere."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def sealed_argv(argv: Sequence[str], folder: Path, reads: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the command of a bot in Python or JavaScript inside the seal.

    `reads`: its files, and folders of them. No word reveals whether another file exists.
    Raises UserError if it is another bot, or its host cannot hold its files.
    """
    program, *words = argv

    def is_own(word: str) -> bool:
        path = os.path.normpath(folder / word)
        is_inside = Path(path).is_relative_to(folder) or path in reads
        return is_inside and os.path.isfile(path)  # noqa: PTH113 - a word may be too long for a path

    language = language_of(program)
    if language is None:
        raise UserError(
            f"it runs {Path(program).name}, and only Python, JavaScript (node) and modules of "
            "WebAssembly (*.wasm) can be sealed."
        )
    while words and words[0] in language.harmless:
        words.pop(0)
    if not words or not is_own(words[0]):
        raise UserError("a sealed bot is a file: name it first after the interpreter.")
    pack_files(f"{folder}", reads)  # It refuses what a host cannot hold.
    return language.word, *(
        name_inside(Path(os.path.normpath(folder / word)), folder) if is_own(word) else word
        for word in words
    )


if __name__ == "__main__":  # The last step of `python/build`.
    root = Path(sys.argv[1])
    built = {name_inside(path, root): path.read_bytes() for path in _regular_files([str(root)])}
    sys.stdout.buffer.write(lzma.compress(pack(built), preset=9 | lzma.PRESET_EXTREME))
