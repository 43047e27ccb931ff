"""Bots as archives: packed where the event is, named by their content, unpacked on workers."""

import fcntl
import hashlib
import io
import os
import shutil
import sys
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from arena.sandbox.dependencies import is_file, named_paths, program_paths
from protocol.errors import UserError
from tournaments.formats.base import Entrant
from tournaments.plan.bot_command import files_below, prepare_entrant, resolve_command
from tournaments.plan.bot_files import check_files, check_folder
from tournaments.plan.event import WrittenBot

MOST = 2**28
"""Most bytes of a bot's files: each worker holds them in memory for a moment."""
FILES = "{files}"
"""Placeholder in a bundled bot's commands: the folder of its files."""
EXECUTABLE = 0o111
"""The mode bits that let everybody run a file."""
BUILD = "{build}"
"""Placeholder in a bot's commands: the folder where a worker builds it."""
READY = "ready"
"""Name of the file that marks a bundle as unpacked and built."""


class Bundle(Struct, frozen=True):
    """A bot that another machine can unpack."""

    name: str
    """SHA-256 of the other fields, in hex."""
    bot: WrittenBot
    """The bot's entry; {files} in its commands is the folder of its files."""
    home: str
    """The folder in which the bot runs, below that folder."""
    archive: bytes
    """The bot's files as a tar archive, at their original paths."""


def pack_bot(bot: WrittenBot, base: Path) -> Bundle:
    """Pack a bot from an event's folder with the files that its commands name.

    The program's installation is not packed: a worker must have it on its PATH. Raises UserError.
    """
    bot, base = resolve_command(bot, base)
    # A file is sent with its content: a link would send the content of its target.
    check_folder(bot, base)
    lying = replace(bot, reads=tuple(one for one in bot.reads if BUILD not in one))
    check_files(lying, base, base / BUILD)
    home = (base / (bot.folder or ".")).resolve()
    words = (*bot.run, *bot.build, *bot.reads)
    roots = [str(home)] if bot.folder else []
    # Absolute paths, without following links.
    roots += [os.path.normpath(home / path) for path in _named(bot, home)]
    archive = _archive(bot.name, roots)
    moved = {word: _moved(word, roots) for word in words}
    written = WrittenBot(
        name="bot",
        run=tuple(moved[word] for word in bot.run),
        build=tuple(moved[word] for word in bot.build),
        folder="." if bot.folder else None,
        reads=tuple(moved[word] for word in bot.reads),
        network=bot.network,
        environment=bot.environment,
    )
    return Bundle(_digest(written, str(home), archive), written, str(home), archive)


def _digest(bot: WrittenBot, home: str, archive: bytes) -> str:
    return hashlib.sha256(f"{bot}|{home}|".encode() + archive).hexdigest()


def _named(bot: WrittenBot, home: Path) -> Iterator[str]:
    """Yield the files and folders that a bot's commands name, except those of an installation."""
    program = home / bot.run[0]
    found = str(program) if is_file(program) else shutil.which(bot.run[0])
    # An installation consists of folders; a program that stands alone is the bot's own.
    for path in program_paths(Path(found or program)):
        if is_file(Path(path)) and os.access(path, os.X_OK):
            yield path
    for word in (*bot.run, *bot.build):
        if word != sys.executable and any(named_paths([word], home)):
            yield word
    yield from (word for word in bot.reads if BUILD not in word)


def _moved(word: str, roots: Iterable[str]) -> str:
    """Return a word of a command as it reads after the files have moved."""
    if word == sys.executable:
        return "{python}"
    moves = word.startswith("/") and any(Path(word).is_relative_to(root) for root in roots)
    return FILES + word if moves else word


def _archive(name: str, roots: Iterable[str]) -> bytes:
    """Return a tar archive; the same files always give the same bytes."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in dict.fromkeys(path for root in roots for path in files_below([root])):
            try:
                _add(tar, path)
            except OSError as error:
                raise UserError(f"Bot {name}: {path} cannot be read: {error.strerror}.") from error
            if data.tell() > MOST:
                text = f"its files have more than {MOST >> 20} MiB, too many to send to workers"
                raise UserError(f"Bot {name}: {text}.")
    return data.getvalue()


def _add(tar: tarfile.TarFile, path: Path) -> None:
    content = path.read_bytes()
    entry = tarfile.TarInfo(str(path).lstrip("/"))
    entry.size = len(content)
    entry.mode = 0o644 | (EXECUTABLE if os.access(path, os.X_OK) else 0)
    tar.addfile(entry, io.BytesIO(content))


def unpack_bot(bundle: Bundle, folder: Path) -> Entrant:
    """Return a bundle's bot ready to start: unpack and build it below the folder the first time.

    Other processes may do the same at the same time. Blocks. Raises UserError, also if the bundle
    does not match its name (the next run would take it for another bot), and OSError.
    """
    if bundle.name != _digest(bundle.bot, bundle.home, bundle.archive):
        raise UserError(f"the bundle {bundle.name!r} is damaged")
    place = folder / bundle.name
    with _alone(folder / f"{bundle.name}.lock"):
        files, ready = place / "files", place / READY
        home = files / bundle.home.lstrip("/")
        if not ready.exists():
            shutil.rmtree(place, ignore_errors=True)
            _unpack(bundle, files)
            home.mkdir(parents=True, exist_ok=True)
        bot = _filled(bundle.bot, str(files))
        entrant = prepare_entrant(
            replace(bot, build=()) if ready.exists() else bot, home, place / "build"
        )
        ready.touch()
        return entrant


def _unpack(bundle: Bundle, files: Path) -> None:
    """Write the files of a bundle below a new folder.

    Accepts only what `_archive` packs, files at relative paths: nothing else can lead out of the
    folder. `extractall(filter="data")` came only with Python 3.11.4. Raises UserError, OSError.
    """
    files.mkdir(parents=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(bundle.archive)) as tar:
            for entry in tar:
                _write(files / _relative(entry), tar.extractfile(entry), entry.mode & EXECUTABLE)
    except tarfile.TarError as error:
        raise UserError(f"the bundle {bundle.name!r} cannot be unpacked: {error}") from error


def _relative(entry: tarfile.TarInfo) -> PurePosixPath:
    """Return the path of an archive's entry that is a file within the archive's folder.

    Raises UserError for every other entry.
    """
    path = PurePosixPath(entry.name)
    if (
        entry.type != tarfile.REGTYPE
        or entry.issparse()
        or path.is_absolute()
        or ".." in path.parts
    ):
        raise UserError(f"a bundle holds {entry.name!r}, which is not a file within it")
    return path


def _write(path: Path, content: IO[bytes] | None, executable: int) -> None:
    assert content
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        shutil.copyfileobj(content, file)
    path.chmod(0o644 | executable)


def _filled(bot: WrittenBot, files: str) -> WrittenBot:
    words = {
        field: tuple(word.replace(FILES, files) for word in getattr(bot, field))
        for field in ("run", "build", "reads")
    }
    return replace(bot, **words)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock that ends with its process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Whoever may read a file may lock it.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
