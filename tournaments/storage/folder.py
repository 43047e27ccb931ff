"""The folder of an event: which file holds what, and how it is written so that nothing is lost."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from arena.engine.shuffle import board_seed
from arena.logs.catalog import ENDING, FOLDER, list_logs
from arena.logs.checksummed import DamagedFileError, append_atomic, damaged, last_line, read_lines
from arena.sandbox.command import SYSTEM
from arena.sandbox.limits import SandboxMode
from protocol.codec import DamagedRecordError, decode_commitment, decode_reveal, encode_line
from protocol.errors import UserError
from protocol.records import Commitment, Reveal
from tournaments.plan.event import Entrant, Event, from_json
from tournaments.plan.file_lock import try_lock

P = TypeVar("P", Commitment, Reveal)

SECRET = 32
"""Bytes of a secret."""
NO_PLACE = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT),
    *(errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG),
}
"""Why no folder can ever be there; another reason is the machine's, and may pass."""


class Folder(Struct, frozen=True):
    """The files of one event."""

    path: Path
    """The folder."""

    @property
    def event(self) -> Path:
        """The event as played."""
        return self.path / "event.json"

    @property
    def secret(self) -> Path:
        """32 bytes from which every deal comes; readable by its owner only."""
        return self.path / "secret.key"

    @property
    def commitments(self) -> Path:
        """Published before the first game."""
        return self.path / "commitments.jsonl"

    @property
    def history(self) -> Path:
        """What was promised before the event was extended; none if it never was."""
        return self.path / "history.jsonl"

    @property
    def seeds(self) -> Path:
        """Published board by board when its games are over."""
        return self.path / "seeds.jsonl"

    @property
    def ledger(self) -> Path:
        """Results in the order of the schedule."""
        return self.path / "ledger.jsonl"

    @property
    def report(self) -> Path:
        """For people."""
        return self.path / "report.md"

    @property
    def page(self) -> Path:
        """For people who look before they read."""
        return self.path / "report.html"

    @property
    def results(self) -> Path:
        """For programs."""
        return self.path / "results.json"

    @property
    def games(self) -> Path:
        """Every seat of every game, for programs."""
        return self.path / "games.csv"

    @property
    def ratings(self) -> Path:
        """The standings, for programs."""
        return self.path / "ratings.csv"

    @property
    def crosstable(self) -> Path:
        """Who made what against whom, for programs."""
        return self.path / "crosstable.csv"

    @property
    def pgn(self) -> Path:
        """Who won against whom, for programs that rate chess games."""
        return self.path / "results.pgn"

    @property
    def times(self) -> Path:
        """What the bots used of time, for programs."""
        return self.path / "times.json"

    @property
    def crash(self) -> Path:
        """What went wrong when a game had to be voided."""
        return self.path / "crash.txt"

    @property
    def build(self) -> Path:
        """Compiled bots."""
        return self.path / "build"

    @property
    def lock(self) -> Path:
        """Held by the process that writes here; see `tournaments.plan.file_lock`."""
        return self.path / ".lock"

    def log(self, sitting: str) -> Path:
        """The game log of a sitting."""
        return self.path / FOLDER / f"{sitting}{ENDING}"

    def logs(self) -> list[Path]:
        """Every game log, by name; see `arena.logs.compression` for how they lie there."""
        return list_logs(self.path / FOLDER)


@contextmanager
def lock_for_writing(folder: Folder) -> Iterator[None]:
    """Hold the folder for writing.

    Raises UserError while another process does, and where nothing can be written.
    """
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        if error.errno not in NO_PLACE:
            raise
        raise UserError(f"{folder.path} cannot be written: {error.strerror}.") from error
    try:
        try:
            try_lock(descriptor)
        except BlockingIOError:
            raise UserError(f"{folder.path} is being written by another boneyard.") from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def kept_private(folder: Folder, over: Callable[[], bool]) -> Iterator[None]:
    """Let nobody else read the game logs until the event is over.

    They show the deals of boards that others still have to play. Where the folder is not ours
    to close, it stays as it is.
    """
    logs = folder.path / FOLDER
    logs.mkdir(exist_ok=True)
    with suppress(PermissionError):
        logs.chmod(0o700)
    try:
        yield
    finally:
        with suppress(OSError):
            # A run that was refused leaves nothing behind; a folder with logs stays.
            logs.rmdir()
        if over() and logs.exists():
            with suppress(PermissionError):
                logs.chmod(folder.path.stat().st_mode & 0o777)


def secret_of(folder: Folder) -> bytes:
    """The event's secret.

    Raises UserError when it is not whole: deals from it could be predicted.
    """
    secret = content(folder.secret)
    if len(secret) != SECRET:
        raise UserError(f"{folder.secret} has {len(secret)} bytes, not {SECRET}: it is damaged.")
    return secret


def load_event(folder: Folder) -> Event:
    """Read the event of a folder.

    Raises UserError when there is none, or when it has boards that nobody has promised.
    """
    event, promised = read_event(folder), _promised(folder)
    if promised is not None and event.all_boards > promised:
        raise UserError(
            f"{folder.event} is damaged: it has {event.all_boards} boards, and "
            f"{folder.commitments.name} promises the deals of {promised}."
        )
    return event


def read_event(folder: Folder) -> Event:
    """Read the event of a folder, whatever was promised about its deals.

    Raises UserError when there is none.
    """
    if not folder.event.is_file():
        raise UserError(f"{folder.path} holds no event: there is no {folder.event.name} in it.")
    return from_json(folder.event.read_bytes(), folder.event)


def _promised(folder: Folder) -> int | None:
    """Return the last board that was committed to, which is written before the event; else None."""
    with suppress(OSError, DamagedRecordError):
        return decode_commitment(last_line(folder.commitments)[0]).board
    return None


def write_atomic(path: Path, lines: Iterable[bytes]) -> None:
    """Replace a file at once: whoever reads it sees the old one or the new one."""
    write_temporary(path, lines, 0o644)


def has_content(path: Path, lines: Iterable[bytes]) -> bool:
    """Whether a file is there and has just these bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        same = all(file.read(len(line)) == line for line in lines)
        return same and not file.read(1)


def write_temporary(path: Path, lines: Iterable[bytes], mode: int) -> None:
    """Replace a file at once, readable by those whom the mode says.

    Raises OSError, and then nothing is left of it.
    """
    beside = path.with_name(path.name + ".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        # On a full disk what there is of it stands in everybody's way.
        beside.unlink()
        raise
    beside.replace(path)


def published_commitments(folder: Folder) -> dict[int, str]:
    """The commitments by board.

    Raises DamagedFileError.
    """
    return {one.board: one.sha256 for one in _promises(folder.commitments, decode_commitment)}


def published_seeds(path: Path) -> dict[int, bytes]:
    """The seeds that a file reveals, by board.

    Raises DamagedFileError.
    """
    return {one.board: bytes.fromhex(one.seed) for one in _promises(path, decode_reveal)}


def digest(folder: Folder) -> str:
    """SHA-256 of the published commitments, in hex: who knows it holds us to every deal."""
    return hashlib.sha256(content(folder.commitments)).hexdigest()


def content(path: Path) -> bytes:
    """What is in a file; nothing when there is none."""
    return path.read_bytes() if path.exists() else b""


def reveal_one(folder: Folder, event: Event, board: int) -> None:
    """Publish the seed of a board that has just been finished, whichever was before it.

    `reveal` puts them all in order when the run is over. Raises OSError.
    """
    seed = board_seed(secret_of(folder), event.name, board)
    descriptor = os.open(folder.seeds, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        append_atomic(descriptor, encode_line(Reveal(board, seed.hex())))
    finally:
        os.close(descriptor)


def reveal(folder: Folder, event: Event, boards: Iterable[int]) -> None:
    """Publish the seeds of finished boards; what was published once stays, whoever joins later."""
    secret, over = secret_of(folder), set(boards)

    def seed(board: int) -> str:
        return board_seed(secret, event.name, board).hex()

    with suppress(DamagedFileError):  # What is damaged is written anew.
        public = _promises(folder.seeds, decode_reveal)
        over |= {one.board for one in public if one.seed == seed(one.board)}
    lines = (encode_line(Reveal(board, seed(board))) for board in sorted(over))
    write_atomic(folder.seeds, lines)


def _promises(path: Path, decode: Callable[[bytes], P]) -> Iterator[P]:
    """What was published about each board, once for each."""
    boards: set[int] = set()
    for line in read_lines(path):
        try:
            promise = decode(line.data)
        except DamagedRecordError as error:
            raise damaged(path, line, error) from error
        if promise.board in boards:
            raise damaged(path, line, f"board {promise.board} was there before")
        boards.add(promise.board)
        yield promise


def check_not_readable(folder: Folder, entrants: Iterable[Entrant], wish: SandboxMode) -> None:
    """Refuse to keep secrets, and logs with everybody's tiles, in what a bot may read.

    They would change its fingerprint too, and nobody could go on with the event. Files of another
    event are refused as well. Raises UserError.
    """
    for entrant in entrants:
        for path in map(Path, entrant.command.reads):
            built = path.is_relative_to(folder.build)
            within = path.is_relative_to(folder.path) and not built
            if within or folder.path.is_relative_to(path):
                raise UserError(
                    f"Bot {entrant.name} may read {path}, and the event's secret and logs lie in "
                    f"{folder.path}: give the bot a folder of its own, or choose another --out."
                )
            if other := _event_around(path):
                raise UserError(
                    f"Bot {entrant.name} may read {path}, which belongs to the event in "
                    f"{other.path}: copy what the bot needs to another folder."
                )
    if wish != "off" and any(folder.path.is_relative_to(path) for path in SYSTEM):
        raise UserError(
            f"{folder.path} lies where every bot may read, and the event's secret and logs would "
            "lie there: choose another folder (--out)."
        )


def _event_around(path: Path) -> Folder | None:
    """Return the event to which a path belongs, unless it is what was built for a bot."""
    for folder in map(Folder, (path, *path.parents)):
        if folder.secret.exists() and folder.event.exists():
            return None if path.is_relative_to(folder.build) else folder
    return None
