"""The folder of an event: which file holds what, and how it is written so that nothing is lost."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from arena.engine.chance import board_seed, commitment
from arena.sandbox.profile import SYSTEM
from arena.sealed import damaged, read_lines
from protocol.codec import DamagedRecordError, decode_commitment, decode_reveal, encode_line
from protocol.records import Commitment, Reveal
from protocol.usage import UserError
from tournaments.event import Event, as_json, from_json

P = TypeVar("P", Commitment, Reveal)

SECRET = 32
"""Bytes of a secret."""


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

    def log(self, sitting: str) -> Path:
        """The game log of a sitting."""
        return self.path / "games" / f"{sitting}.jsonl"

    def logs(self) -> list[Path]:
        """Every game log, by name."""
        return sorted((self.path / "games").glob("*.jsonl"))


@contextmanager
def only_writer(folder: Folder) -> Iterator[None]:
    """Hold the folder for writing.

    Raises UserError while another process does, and where nothing can be written.
    """
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder.path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise UserError(f"{folder.path} cannot be written: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UserError(f"{folder.path} is being written by another boneyard.") from None
    finally:
        os.close(descriptor)


def begin(folder: Folder, event: Event, seed: int | None) -> None:
    """Write the event, its secret and its commitments, or go on with the same event.

    Raises UserError when the folder holds another one, or lies where a bot may read.
    """
    _hidden(folder, event)
    if folder.event.exists():
        _same(folder, event)
        _promised(folder, event)
        if seed is not None and secret_of(folder) != _seeded(seed):
            raise UserError(
                f"{folder.path} was begun with another --seed: choose another folder (--out)."
            )
    else:
        # Whatever a killed run left here was published by nobody.
        _write_secret(folder.secret, seed)
        write_whole(folder.commitments, _commitments(event, secret_of(folder)))
    # Last, so that a folder with an event has all the rest.
    write_whole(folder.event, [as_json(event)])


def secret_of(folder: Folder) -> bytes:
    """The event's secret.

    Raises UserError when it is not whole: deals from it could be predicted.
    """
    secret = _content(folder.secret)
    if len(secret) != SECRET:
        raise UserError(f"{folder.secret} has {len(secret)} bytes, not {SECRET}: it is damaged.")
    return secret


def load(folder: Folder) -> Event:
    """The event of a folder.

    Raises UserError when there is none.
    """
    if not folder.event.is_file():
        raise UserError(f"{folder.path} holds no event: there is no {folder.event.name} in it.")
    return from_json(folder.event.read_bytes(), folder.event)


def write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Replace a file at once: whoever reads it sees the old one or the new one."""
    _write_beside(path, lines, 0o644)


def holds(path: Path, lines: Iterable[bytes]) -> bool:
    """Whether a file is there and has just these bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        same = all(file.read(len(line)) == line for line in lines)
        return same and not file.read(1)


def _write_beside(path: Path, lines: Iterable[bytes], mode: int) -> None:
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
    return hashlib.sha256(_content(folder.commitments)).hexdigest()


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def reveal(folder: Folder, event: Event, boards: Iterable[int]) -> None:
    """Publish the seeds of finished boards."""
    secret = secret_of(folder)
    write_whole(
        folder.seeds,
        (
            encode_line(Reveal(board, board_seed(secret, event.name, board).hex()))
            for board in boards
        ),
    )


def _promises(path: Path, decode: Callable[[bytes], P]) -> Iterator[P]:
    """What was published about each board, in the order of the boards."""
    before = 0
    for line in read_lines(path):
        try:
            promise = decode(line.data)
        except DamagedRecordError as error:
            raise damaged(path, line, error) from error
        if promise.board <= before:
            raise damaged(path, line, f"board {promise.board} after board {before}")
        before = promise.board
        yield promise


def _same(folder: Folder, event: Event) -> None:
    old = load(folder)
    if old == event:
        return
    before = {entrant.name: entrant for entrant in old.entrants}
    changed = [one.name for one in event.entrants if before.get(one.name, one) != one]
    differing = [
        name for name in Event.__struct_fields__ if getattr(old, name) != getattr(event, name)
    ]
    what = (
        f"bot {changed[0]} has changed since"
        if changed
        else f"the plan is not the same ({', '.join(differing)})"
    )
    raise UserError(
        f"{folder.path} holds event {old.name!r}, but {what}: choose another folder (--out)."
    )


def _hidden(folder: Folder, event: Event) -> None:
    """Refuse to keep secrets, and logs with everybody's tiles, in what a bot may read.

    They would change its fingerprint too, and nobody could go on with the event.
    """
    for entrant in event.entrants:
        for path in map(Path, entrant.command.reads):
            built = path.is_relative_to(folder.build)
            within = path.is_relative_to(folder.path) and not built
            if within or folder.path.is_relative_to(path):
                raise UserError(
                    f"Bot {entrant.name} may read {path}, and the event's secret and logs lie in "
                    f"{folder.path}: give the bot a folder of its own, or choose another --out."
                )
    if event.sandbox != "off" and any(folder.path.is_relative_to(path) for path in SYSTEM):
        raise UserError(
            f"{folder.path} lies where every bot may read, and the event's secret and logs would "
            "lie there: choose another folder (--out)."
        )


def _promised(folder: Folder, event: Event) -> None:
    """Refuse to play deals that are not those that were committed to."""
    if _content(folder.commitments) != b"".join(_commitments(event, secret_of(folder))):
        raise UserError(
            f"{folder.commitments} is not what {folder.secret.name} leads to: one is damaged."
        )


def _write_secret(path: Path, seed: int | None) -> None:
    secret = secrets.token_bytes(SECRET) if seed is None else _seeded(seed)
    _write_beside(path, [secret], 0o600)


def _seeded(seed: int) -> bytes:
    return hashlib.sha256(f"boneyard seed|{seed}".encode()).digest()


def _commitments(event: Event, secret: bytes) -> Iterator[bytes]:
    for board in range(1, event.boards + 1):
        yield encode_line(Commitment(board, commitment(board_seed(secret, event.name, board))))
