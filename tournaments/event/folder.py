"""The folder of an event: the paths of its files, its lock, and writes that lose nothing."""

import errno
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from errno import EAGAIN
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.files import (
    DamagedFileError,
    append_atomic,
    open_append,
    open_regular,
    read_file,
    refuse_link,
    remove_partial_files,
    set_mode,
    sweep,
    write_atomic,
)
from arena.logs.catalog import (
    GAMES_FOLDER,
    LOG_SUFFIX,
    REPLAY_PAGE,
    REPLAYS,
    SEEDS,
    list_logs,
    log_names,
    published_seeds,
)
from arena.logs.checksummed import last_line
from arena.logs.gamelog import read_records
from arena.sandbox.command import SYSTEM, SandboxMode
from protocol.codec import DamagedRecordError, decode_commitment, encode_line
from protocol.errors import UserError
from protocol.records import Commitment, Reveal, Sitting
from tournaments.formats.base import Entrant
from tournaments.plan.event import Event, from_json

# Locks on files that end with the process that holds them. Windows has its own.


if sys.platform == "win32":
    import msvcrt

    LOCK_REFUSAL = OSError  # PermissionError, and of Wine no number.
else:
    import fcntl

    LOCK_REFUSAL = PermissionError  # POSIX allows EACCES instead of EAGAIN.


def try_lock(descriptor: int) -> None:
    """Lock a file, open for writing, until this process closes the file or ends.

    This is a record lock, because no child inherits it. `flock` belongs to the open file: a bot
    that is just being started would hold it too until its program runs, even after the process that
    started the bot has died. The lock ends when the process closes *any* descriptor of the file, so
    nothing else in this process may open it. Raises BlockingIOError while another process holds the
    lock, and OSError.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except LOCK_REFUSAL as error:
        raise BlockingIOError(EAGAIN, os.strerror(EAGAIN)) from error


# The folder of an event: the paths of its files, and writes that lose nothing.


SeedOf = Callable[[int], bytes]
"""A function that returns the seed of a board."""
PARTIAL_S = 3600.0
"""Age in s from which a partial file counts as left by a kill: no writing takes so long."""
SECRET = 32
"""Length of a secret, in bytes."""
COMMITMENT = len(encode_line(Commitment(1, "0" * 64)))
"""Bytes of a commitment at least."""
NO_PLACE = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT),
    *(errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG),
}
"""Errors after which a folder can never be made; others are the machine's and may pass."""


class PathInFolder:
    """The path of a file below the folder of an event or of a league."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: Any, _: type) -> Path:
        """Return the path in this folder."""
        path: Path = folder.path / self._name
        return path


class Folder(Struct, frozen=True):
    """Paths of the files of an event."""

    path: Path

    event = PathInFolder("event.json")
    """The event's whole plan, as played."""
    private = PathInFolder("private")
    """Folder of what nobody else may see; all other files may be shown when the event is over."""
    secret = PathInFolder("private/secret.key")
    """32 bytes from which every deal is derived."""
    deals = PathInFolder("private/deals.jsonl")
    """Seeds of all boards if the deals are set or filtered; no file if they are only drawn."""
    crash = PathInFolder("private/crash.txt")
    """The traceback of a bug of ours that voided a game; it may show hands and local folders."""
    stderr = PathInFolder("private/stderr")
    """A folder for each bot, with what it writes to stderr; while it is there, no log has that."""
    commitments = PathInFolder("commitments.jsonl")
    """Commitments to the seeds of all boards, published before the first game."""
    history = PathInFolder("history.jsonl")
    """Earlier plans and their commitments; no file if the event was never extended."""
    seeds = PathInFolder(SEEDS)
    """Seeds of finished boards, each published when the board's games are over."""
    ledger = PathInFolder("ledger.jsonl")
    """Results in the order of the schedule."""
    luck = PathInFolder("luck.jsonl")
    """The luck of each game, from its log; no file if nobody asked for it."""
    report = PathInFolder("report.md")
    page = PathInFolder("report.html")
    """The report with charts, for a browser."""
    replay_page = PathInFolder(REPLAY_PAGE)
    """The page that replays the game in its address, from the folder of replays."""
    index = PathInFolder("index.html")
    """The report as the first page of a site, with its links; no file in an event's folder."""
    results = PathInFolder("results.json")
    games = PathInFolder("games.csv")
    """Every seat of every game, for programs."""
    ratings = PathInFolder("ratings.csv")
    crosstable = PathInFolder("crosstable.csv")
    pgn = PathInFolder("results.pgn")
    """Results of pairs of entrants, for programs that rate chess games."""
    times = PathInFolder("times.json")
    """The bots' use of time, for programs."""
    facts = PathInFolder(".facts.jsonl")
    """The facts of logs that the last report read, so that the next one need not read them."""
    pieces = PathInFolder(".pieces.json")
    """The pieces of long files that the last report wrote, so that the next one copies them."""
    review_log = PathInFolder("review.jsonl")
    """The loss of each reviewed decision; no file without `boneyard explain --review`."""
    review = PathInFolder("review.json")
    review_csv = PathInFolder("review.csv")
    """Every reviewed decision, for programs."""
    replays = PathInFolder(REPLAYS)
    """Folder of the games that `replay_page` shows."""
    build = PathInFolder("build")
    lock = PathInFolder(".lock")
    """File locked by the process that writes here; while a run plays, its time is when that began.
    It has a byte while logs may have results that no report has seen."""
    review_lock = PathInFolder(".review.lock")
    """File locked by the process that reviews the games; a run may go on meanwhile."""

    def parts(self) -> list[Path]:
        """Return the files and folders that belong to the event and exist.

        The build folder, the locks and what is kept to save time are not part of the event.
        """
        besides = {"private", "build", "facts", "pieces", "lock", "review_lock"}
        names = [name for name, part in vars(Folder).items() if isinstance(part, PathInFolder)]
        paths = [getattr(self, name) for name in names if name not in besides]
        return [path for path in (*paths, self.path / GAMES_FOLDER) if path.exists()]

    def log(self, sitting: str) -> Path:
        """Return the path of a sitting's game log."""
        return self.path / GAMES_FOLDER / f"{sitting}{LOG_SUFFIX}"

    def logs(self) -> list[Path]:
        """Return all game logs, sorted by name; see `arena.logs.checksummed` for their forms."""
        return list_logs(self.path / GAMES_FOLDER)

    def log_names(self) -> set[str]:
        """Return the names of the sittings that have a log."""
        return {name.removesuffix(LOG_SUFFIX) for name in log_names(self.path / GAMES_FOLDER)}


def was_locked(folder: Folder) -> bool:
    """Tell whether bots of an event were locked in before, as its first log has it.

    Raises DamagedFileError, OSError.
    """
    first = [next(read_records(log), None) for log in folder.logs()[:1]]
    sittings = [entry.record for entry in first if entry and isinstance(entry.record, Sitting)]
    return any(sitting.sandbox == "locked" for sitting in sittings)


@contextmanager
def lock_for_writing(folder: Folder) -> Iterator[None]:
    """Hold the folder for writing.

    Raises UserError while another process holds it, or if nothing can be written there.
    """
    with lock_file(folder.lock, f"{folder.path} is in use by another boneyard process."):
        for place in (folder.path, folder.private):
            remove_partial_files(place, PARTIAL_S)
        yield


def note_unseen(folder: Folder, *, may_have: bool) -> None:
    """Note in the file of the lock whether logs may have results that no report has seen.

    A kill leaves the note. Opening and closing the file would unlock it.
    """
    with suppress(OSError):  # Windows does not let go of a file that is locked.
        os.truncate(folder.lock, int(may_have))
        os.utime(folder.lock)


def has_unseen(folder: Folder) -> bool:
    """Tell whether logs may have results that no report has seen."""
    return folder.lock.exists() and folder.lock.stat().st_size > 0


@contextmanager
def lock_file(path: Path, refusal: str) -> Iterator[None]:
    """Hold a file of a folder, which is made if need be.

    Raises UserError with the `refusal` while another process holds it, or if nothing can be written
    there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whoever may read a file may hold a lock on it, and would keep us out.
        descriptor = open_regular(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        if error.errno not in NO_PLACE:
            raise
        raise UserError(f"{path.parent} cannot be written: {error.strerror}.") from error
    try:
        try:
            try_lock(descriptor)
        except BlockingIOError:
            raise UserError(refusal) from None
        # A file of earlier times may be open to all. Windows has no such call.
        with suppress(PermissionError, AttributeError):
            os.fchmod(descriptor, 0o600)
        # A killed process of ours may have left the files of its sandbox trial.
        sweep(path.parent)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def kept_private(folder: Folder, over: Callable[[], bool]) -> Iterator[None]:
    """Let only the owner read the game logs, and what is made from them, until the event is over.

    They show the deals of boards that other bots still have to play. A folder whose mode we may
    not change stays as it is.
    """
    places = (folder.path / GAMES_FOLDER, folder.replays)
    for place in places:
        place.mkdir(exist_ok=True)
        with suppress(PermissionError):
            place.chmod(0o700)
    _set_mode_of_luck(folder)
    try:
        yield
    finally:
        is_over = over()
        for place in places:
            with suppress(OSError):
                # A refused run leaves nothing behind; a folder with files stays.
                place.rmdir()
            if is_over and place.exists():
                with suppress(PermissionError):
                    place.chmod(folder.path.stat().st_mode & 0o777)
        _set_mode_of_luck(folder)


def mode_of_logs(folder: Folder) -> int:
    """Return the mode that lets only those read a file who may read the event's game logs."""
    logs = folder.path / GAMES_FOLDER
    return 0o600 | (logs.stat().st_mode & 0o044 if logs.exists() else 0)


def _set_mode_of_luck(folder: Folder) -> None:
    with suppress(FileNotFoundError, PermissionError):
        set_mode(folder.luck, mode_of_logs(folder))


def make_private(folder: Folder) -> None:
    """Make the private folder, which only its owner may open. Raises OSError."""
    folder.private.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The umask may have taken rights away, or somebody else may have made it with more.
    folder.private.chmod(0o700)


def secret_of(folder: Folder) -> bytes:
    """Read the event's secret.

    Raises UserError if it is not whole: anybody could predict its deals.
    """
    secret = content(folder.secret)
    if len(secret) != SECRET:
        raise UserError(f"{folder.secret} has {len(secret)} bytes, not {SECRET}: it is damaged.")
    return secret


def load_event(folder: Folder) -> Event:
    """Read the event of a folder.

    Raises UserError if there is none, or if it has boards without a commitment that can be read.
    """
    event, promised = read_event(folder), _promised(folder)
    if event.all_boards > promised:
        raise UserError(
            f"{folder.event} is damaged: it has {event.all_boards} boards, but "
            f"{folder.commitments.name} commits to {promised}."
        )
    return event


def event_folder(path: Path) -> Folder | None:
    """Return the folder of the event that a folder or a log belongs to; None if there is none."""
    places = map(Folder, (path, *path.resolve().parents[:2]))
    return next((place for place in places if place.event.is_file()), None)


def find_event(path: Path) -> Event | None:
    """Return the event that a folder or a log belongs to. Raises UserError."""
    folder = event_folder(path)
    return load_event(folder) if folder else None


def read_event(folder: Folder) -> Event:
    """Read the event of a folder without a look at its commitments.

    Raises UserError if there is none.
    """
    if not folder.event.is_file():
        lack = f"{folder.path} has no event: {folder.event.name} is missing."
        if (folder.path / "league.toml").is_file():
            lack += f" `boneyard league {folder.path} status` shows the league that is there."
        raise UserError(lack)
    for place in (folder.path / GAMES_FOLDER, folder.replays, folder.private, folder.build):
        refuse_link(place)
    return from_json(read_file(folder.event), folder.event)


def _promised(folder: Folder) -> int:
    """Return the last board with a commitment; commitments are written before the event.

    Raises UserError if there is none.
    """
    try:
        return decode_commitment(last_line(folder.commitments)[0]).board
    except OSError as error:
        raise UserError(
            f"{folder.commitments} cannot be read: {error.strerror}. Restore the file as it was "
            "published; it commits to the event's deals."
        ) from error
    except DamagedRecordError as error:
        raise UserError(
            f"{folder.commitments} is damaged: its last line is not a commitment: {error}. Restore "
            "the file as it was published."
        ) from error


def most_promised(folder: Folder) -> int:
    """Return for how many boards there can be a commitment, by the size of their file alone."""
    size = folder.commitments.stat().st_size if folder.commitments.is_file() else 0
    return size // COMMITMENT


def digest(folder: Folder) -> str:
    """Return the SHA-256 of the commitments, in hex: it binds us to every deal."""
    return hashlib.sha256(content(folder.commitments)).hexdigest()


def content(path: Path) -> bytes:
    """Return the content of a file; empty if it does not exist."""
    return read_file(path) if path.exists() else b""


def reveal_more(folder: Folder, seed_of: SeedOf, boards: Iterable[int]) -> None:
    """Publish the seeds of boards that have just been finished, after those published before.

    `reveal` sorts them all when the run is over. Raises OSError.
    """
    with open_append(folder.seeds) as descriptor:
        lines = seed_lines({board: seed_of(board) for board in sorted(boards)})
        append_atomic(descriptor, b"".join(lines))


def publish_line(path: Path, promise: Commitment | Reveal) -> None:
    """Append a commitment, or what it committed to. Raises OSError."""
    with open_append(path) as descriptor:
        append_atomic(descriptor, encode_line(promise))


def reveal(folder: Folder, seed_of: SeedOf, boards: Iterable[int]) -> None:
    """Publish the seeds of finished boards; a published seed stays, even if bots join later."""
    over = set(boards)
    with suppress(DamagedFileError):  # A damaged file is written again.
        public = published_seeds(folder.seeds)
        over |= {board for board, seed in public.items() if seed == seed_of(board)}
    write_atomic(folder.seeds, seed_lines({board: seed_of(board) for board in sorted(over)}))


def seed_lines(seeds: Mapping[int, bytes]) -> Iterator[bytes]:
    """Yield the lines of a file that reveals these seeds."""
    return (encode_line(Reveal(board, seed.hex())) for board, seed in seeds.items())


def check_not_readable(
    folder: Folder, entrants: Iterable[Entrant], wish: SandboxMode, deals: Path | None = None
) -> None:
    """Refuse a folder that a bot may read: it holds the secret, and logs with everybody's tiles.

    Its files would change the bot's fingerprint, so nobody could continue the event. A bot that
    may read files of another event, or the file with the `deals`, is refused as well. Raises
    UserError.
    """
    secret = deals.resolve() if deals else folder.secret
    for entrant in entrants:
        for path in map(Path, entrant.command.reads):
            if deals and secret.is_relative_to(path.resolve()):
                raise UserError(
                    f"Bot {entrant.name} can read {deals}, which has the event's deals. Give the "
                    "bot its own folder, or move the deals."
                )
            built = path.is_relative_to(folder.build)
            is_inside = path.is_relative_to(folder.path) and not built
            if is_inside or folder.path.is_relative_to(path):
                raise UserError(
                    f"Bot {entrant.name} can read {path}, and the event's secret and logs are in "
                    f"{folder.path}. Give the bot its own folder, or choose another --out."
                )
            if other := _event_around(path):
                raise UserError(
                    f"Bot {entrant.name} can read {path}, which belongs to the event in "
                    f"{other.path}. Copy the bot's files to another folder."
                )
    if wish == "off":
        return
    if any(secret.is_relative_to(path) for path in SYSTEM):
        raise UserError(f"Every bot can read {secret}. Move it to another folder.")
    if any(folder.path.is_relative_to(path) for path in SYSTEM):
        raise UserError(
            f"Every bot can read {folder.path}, where the event's secret and logs would be. "
            "Choose another folder (--out)."
        )


def _event_around(path: Path) -> Folder | None:
    """Return the event to which a path belongs; None for a bot's build, and without an event."""
    for folder in map(Folder, (path, *path.parents)):
        if folder.secret.exists() and folder.event.exists():
            return None if path.is_relative_to(folder.build) else folder
    return None


def default_file(sources: Sequence[Path], name: str) -> Path:
    """Return the file to write: in the only folder that is exported, or else here."""
    source = sources[0] if len(sources) == 1 and sources[0].is_dir() else Path()
    return (source.parent if source.name == GAMES_FOLDER else source) / name
