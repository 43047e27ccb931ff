"""The interpreters of sealed bots: their place in the user's cache, and the files of a bot.

`python/build` and `javascript/build` make one each, `interpreter.xz`: a module of WebAssembly
(CPython, QuickJS) and its library. Boneyard ships them instead of building them on each machine:
another build of CPython could order sets otherwise, and the same bot would then play another game.
Each is compiled once on a machine.
"""

import lzma
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from arena.files import (
    DamagedFileError,
    describe_error,
    hold_lock,
    make_private,
    open_file,
    user_cache,
    write_atomic,
)
from arena.sealed.module import (
    HOST_FILE,
    PYTHON,
    SEALED_LANGUAGES,
    host_argv,
    interpreter_name,
    language_of,
    wasmtime_version,
)
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError

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
