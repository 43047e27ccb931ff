"""Messages between a run and its workers, and the scheduler's address: orders, answers, bots."""

import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.files import hold_lock
from arena.sandbox.command import Confinement, SandboxMode, is_file, named_paths, program_paths
from arena.sealed.module import wasmtime_version
from protocol import __version__
from protocol.codec import DamagedRecordError, decode_record
from protocol.errors import UserError
from protocol.records import LogRecord, Result, WorkerName
from tournaments.formats.base import Entrant
from tournaments.plan.bots import (
    check_files,
    check_folder,
    files_below,
    prepare_entrant,
    resolve_command,
)
from tournaments.plan.event import Event, WrittenBot
from tournaments.plan.schedule import PlannedGame, PlannedSitting

# The address of a run's workers from the command line, refused without TLS.


OTHERS_RIGHTS = stat.S_IRWXG | stat.S_IRWXO
"""The rights of everybody but a file's owner."""
NO_PACKAGE = (
    "{what} needs the package {package}, which is not installed: "
    "pip install '.[cluster]' in the clone."
)
NO_TLS = (
    "{address} has no TLS: other users who can reach it could run programs there and here. Give "
    "the scheduler certificates and say tls://HOST:PORT --tls FOLDER; see `boneyard help cluster`."
)


class ClusterAddress(NamedTuple):
    """A scheduler's address."""

    address: str
    """Address of the scheduler, with its protocol."""
    tls: Path
    """A folder with ca.pem, cert.pem and key.pem."""


LAST_PORT = 65_535


def parse_cluster_option(text: str, tls: Path | None) -> ClusterAddress:
    """Read the value of `--cluster`. Raises UserError, also for an address without TLS."""
    return ClusterAddress(_checked(text), _complete(text, tls))


def _checked(text: str) -> str:
    """Return a scheduler's address in full. Raises UserError."""
    address = text if "://" in text else f"tls://{text}"
    protocol, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    # Python reads no number of more than 4,300 digits.
    is_port = port.isascii() and port.isdecimal() and 0 < int(port[:6]) <= LAST_PORT
    if protocol not in ("tcp", "tls") or not host or not is_port:
        raise UserError(f"{text!r} is not a scheduler's address. Give one such as tls://head:8786.")
    if protocol == "tcp":
        raise UserError(NO_TLS.format(address=address))
    return address


def check_worker_name(name: str) -> str:
    """Check a worker's name from the command line.

    Raises UserError for a name that a log cannot hold.
    """
    try:
        return msgspec.convert(name, WorkerName)
    except msgspec.ValidationError:
        raise UserError(
            f"--name {name!r}: a worker's name has up to 64 letters, digits, dots, dashes and "
            "underscores, and begins with a letter or a digit."
        ) from None


def _complete(text: str, tls: Path | None) -> Path:
    """Return the folder of the certificates. Raises UserError."""
    if tls is None:
        raise UserError(f"{text}: --tls FOLDER is missing, with ca.pem, cert.pem and key.pem.")
    for name in ("ca.pem", "cert.pem", "key.pem"):
        if not (tls / name).is_file():
            raise UserError(f"--tls {tls}: {name} is missing in this folder.")
    if (tls / "key.pem").stat().st_mode & OTHERS_RIGHTS:
        raise UserError(f"{tls / 'key.pem'}: other users may read it. Say chmod 600 of it.")
    return tls


def need_engine(feature: str) -> None:
    """Refuse to go on without the engine's packages. Raises UserError."""
    for package in ("distributed", "cryptography"):
        if find_spec(package) is None:
            raise UserError(NO_PACKAGE.format(what=feature, package=package))


# Bots with their files: packed where the event is, named by their content, unpacked on workers.


MAX_BUNDLE_BYTES = 2**28
"""Most bytes of a bot's files: each worker holds them in memory for a moment."""
FILES_PLACEHOLDER = "{files}"
"""Placeholder in a bundled bot's commands: the folder of its files."""
BUILD = "{build}"
"""Placeholder in a bot's commands: the folder where a worker builds it."""
READY = "ready"
"""Name of the file that marks a bundle as unpacked and built."""


class BundledFile(Struct, frozen=True):
    """A file of a bot."""

    content: bytes
    is_program: bool
    """True if its user may run it."""


class Bundle(Struct, frozen=True):
    """A bot that another machine can unpack."""

    name: str
    """SHA-256 of the other fields, in hex."""
    bot: WrittenBot
    """The bot's entry; {files} in its commands is the folder of its files."""
    home: str
    """The folder in which the bot runs, below that folder."""
    files: dict[str, BundledFile]
    """The bot's files, by their original paths, but without the first slash."""


def pack_bot(bot: WrittenBot, base: Path) -> Bundle:
    """Pack a bot from an event's folder with the files that its commands name.

    The program's installation is not packed: a worker must have it on its PATH. Raises UserError.
    """
    bot, base = resolve_command(bot, base)
    # A file is sent with its content: a link would send the content of its target.
    check_folder(bot, base)
    lying = replace(bot, reads=tuple(path for path in bot.reads if BUILD not in path))
    check_files(lying, base, base / BUILD)
    home = (base / (bot.folder or ".")).resolve()
    words = (*bot.run, *bot.build, *bot.reads)
    roots = [str(home)] if bot.folder else []
    # Absolute paths, without following links.
    roots += [os.path.normpath(home / path) for path in _command_paths(bot, home)]
    files = _files(bot.name, roots)
    moved = {word: _moved(word, roots) for word in words}
    entry = WrittenBot(
        name="bot",
        run=tuple(moved[word] for word in bot.run),
        build=tuple(moved[word] for word in bot.build),
        folder="." if bot.folder else None,
        reads=tuple(moved[word] for word in bot.reads),
        network=bot.network,
        environment=bot.environment,
        sealed=bot.sealed,
    )
    return Bundle(_digest(entry, str(home), files), entry, str(home), files)


def _digest(bot: WrittenBot, home: str, files: Mapping[str, BundledFile]) -> str:
    return hashlib.sha256(msgspec.msgpack.encode((bot, home, files))).hexdigest()


def _command_paths(bot: WrittenBot, home: Path) -> Iterator[str]:
    """Yield the files and folders that a bot's commands name, except those of an installation."""
    program = home / bot.run[0]
    program_path = str(program) if is_file(program) else shutil.which(bot.run[0])
    # An installation consists of folders; a program that stands alone is the bot's own.
    for path in program_paths(Path(program_path or program)):
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
    return FILES_PLACEHOLDER + word if moves else word


def _files(name: str, roots: Iterable[str]) -> dict[str, BundledFile]:
    """Return the files below these paths. Raises UserError."""
    files: dict[str, BundledFile] = {}
    size = 0
    for path in dict.fromkeys(files_below(roots)):
        try:
            f"{path}".encode()
            content = path.read_bytes()
        except UnicodeEncodeError as error:
            raise UserError(f"Bot {name}: the name of {path!r} is not UTF-8.") from error
        except OSError as error:
            raise UserError(f"Bot {name}: {path} cannot be read: {error.strerror}.") from error
        size += len(content)
        if size > MAX_BUNDLE_BYTES:
            text = f"its files have more than {MAX_BUNDLE_BYTES >> 20} MiB"
            raise UserError(f"Bot {name}: {text}, too many to send to workers.")
        files[str(path).lstrip("/")] = BundledFile(content, os.access(path, os.X_OK))
    return files


def unpack_bot(bundle: Bundle, folder: Path) -> Entrant:
    """Return a bundle's bot ready to start: unpack and build it below the folder the first time.

    Other processes may do the same at the same time. Blocks. Raises UserError, also if the bundle
    does not match its name (the next run would take it for another bot), and OSError.
    """
    if bundle.name != _digest(bundle.bot, bundle.home, bundle.files):
        raise UserError(f"the bundle {bundle.name!r} is damaged")
    place = folder / bundle.name
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / f"{bundle.name}.lock"):
        files, ready = place / "files", place / READY
        home = files / bundle.home.lstrip("/")
        if not ready.exists():
            shutil.rmtree(place, ignore_errors=True)
            for path, file in bundle.files.items():
                _write(files / path, file)
            home.mkdir(parents=True, exist_ok=True)
        bot = _filled(bundle.bot, str(files))
        entrant = prepare_entrant(
            replace(bot, build=()) if ready.exists() else bot, home, place / "build"
        )
        ready.touch()
        return entrant


def _write(path: Path, file: BundledFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.content)
    path.chmod(0o755 if file.is_program else 0o644)


def _filled(bot: WrittenBot, files: str) -> WrittenBot:
    words = {
        field: tuple(word.replace(FILES_PLACEHOLDER, files) for word in getattr(bot, field))
        for field in ("run", "build", "reads")
    }
    return replace(bot, **words)


# Messages between a run and its workers: the run, orders to play games, and answers.
#
# Of the event's secrets only the seeds of an order's boards travel.


T = TypeVar("T")

ORDER_S = 5.0
"""Time that an order should take, in s: long beside the cost of sending it, short beside the loss
when a worker dies."""
MOST_S = 2 * ORDER_S
"""Time after which a worker starts no other game of an order but sends its results, in s."""


class Run(Struct, frozen=True):
    """A run, with all that a worker needs to play for it."""

    event: Event
    """The plan; its entrants' commands are those of the run's machine."""
    bundles: tuple[Bundle | None, ...]
    """The bot of each entrant; None if it is retired."""
    stderr_boards: int = 0
    """The first boards whose logs keep what bots write to stderr; see `LoggedSittings`."""


class OrderPart(Struct, frozen=True):
    """Games of one sitting that fresh processes play."""

    plan: PlannedSitting
    """The whole sitting."""
    games: tuple[PlannedGame, ...]
    """The games to play, in this order; without any, the bots only have to greet."""
    numbers: tuple[int, ...]
    """Numbers by which bots know the games."""
    results: tuple[Result, ...] = ()
    """Earlier results of the sitting, if a game depends on the games before it."""


class Order(Struct, frozen=True):
    """Games that one worker plays one after the other."""

    run: str
    """Name of the run."""
    attempt: int
    """Number of earlier attempts at this order."""
    parts: tuple[OrderPart, ...]
    """Parts of several sittings, if one alone would be too short."""
    seeds: dict[int, bytes]
    """Seeds of the boards."""


class Output(Struct, frozen=True, tag=True):
    """Answer to an order: its games were played, or as many as time allowed."""

    worker: WorkerName
    confinement: Confinement
    """The confinement of bots on the worker's machine, as it was proved."""
    machine: str
    """System, processor, cores and Python of the worker's machine."""
    seconds: float
    """Time that the games took, in s; includes starting and ending the processes."""
    logs: tuple[tuple[bytes, ...], ...]
    """Records of the games in each part, as lines of a log without checksums."""


Fate = Literal["bot", "machine", "bug", "left"]
"""Cause of a failure: the bot cannot be started there; the worker's machine; a bug of ours; or the
worker left because it was told to."""


class Unplayed(Struct, frozen=True, tag=True):
    """An answer without any result that counts."""

    worker: str
    """Name of the worker; empty if unknown."""
    fate: Fate
    """Cause of the failure."""
    reason: str
    """A sentence; for a bug the traceback."""
    game: str = ""
    """For a bug the game that it spoilt."""


OrderReply = Output | Unplayed


class BrokenAnswerError(Exception):
    """An answer of a worker that does not fit its order; the text says why."""


def encoded(message: Run | Order | OrderReply) -> bytes:
    """Encode a message."""
    return msgspec.msgpack.encode(message)


def decoded(data: bytes, kind: type[T]) -> T:
    """Decode a message. Raises msgspec.ValidationError."""
    return msgspec.msgpack.decode(data, type=kind)


def answered(data: bytes) -> OrderReply:
    """Decode an answer. Raises msgspec.ValidationError."""
    return msgspec.msgpack.decode(data, type=OrderReply)  # type: ignore[no-any-return]


def part_records(order: Order, played: Output) -> list[list[LogRecord]]:
    """Return the records of each part of an order. Raises BrokenAnswerError.

    It judges no game: `verify` does, and whoever can answer could run any program here.
    """
    try:
        parts = [[*map(decode_record, lines)] for lines in played.logs]
    except DamagedRecordError as error:
        raise BrokenAnswerError(str(error)) from error
    ordered = [{game.name for game in part.games} for part in order.parts]
    names = [[result.game for result in results_among(records)] for records in parts]
    fits = len(names) == len(ordered) and all(map(set.issuperset, ordered, names))
    if not fits or not any(names) or any(len(set(games)) < len(games) for games in names):
        raise BrokenAnswerError("it has not the results that were ordered, each once")
    return parts


def results_among(records: Iterable[LogRecord]) -> list[Result]:
    """Return the results among records."""
    return [record for record in records if isinstance(record, Result)]


def content_name(data: bytes) -> str:
    """Name a message by its content: the same order is always the same task."""
    return f"boneyard-{hashlib.sha256(data).hexdigest()[:40]}"


MESSAGES = 2
"""Version of the messages between runs and workers; it grows whenever one of them changes."""


def resource(wish: SandboxMode, wasmtime: str = "") -> str:
    """Return the resource of a worker that can play an event with this sandbox mode.

    It contains our version: games of another version would not replay here; and that of messages.
    `wasmtime`: the version of the package that counts instructions, if bots are sealed: another may
    count differently.
    """
    ours = f"boneyard-{__version__}-{MESSAGES}-{wish}"
    return ours + (f"-wasmtime-{wasmtime}" if wasmtime else "")


def offered_resources(mode: SandboxMode, confinement: Confinement, jobs: int) -> dict[str, float]:
    """Return the resources of a worker that was started in this mode, and what it proved."""
    wishes: list[SandboxMode] = ["off"]
    wishes += ["auto"] if mode != "off" else []
    wishes += ["require"] if confinement.is_locked else []
    return {resource(wish, wasm): jobs for wish in wishes for wasm in {"", wasmtime_version()}}
