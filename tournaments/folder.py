"""The folder of an event: which file holds what, and how it is written so that nothing is lost."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from arena.engine.chance import board_seed, commitment
from protocol.codec import decode_commitment, decode_reveal, encode_line
from protocol.records import Commitment, Reveal
from protocol.usage import UserError
from tournaments.event import Event, as_json, from_json

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

    Raises UserError while another process does.
    """
    folder.path.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder.path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UserError(f"{folder.path} is being written by another boneyard.") from None
    finally:
        os.close(descriptor)


def begin(folder: Folder, event: Event, seed: int | None) -> None:
    """Write the event, its secret and its commitments, or go on with the same event.

    Raises UserError when the folder holds another one.
    """
    if folder.event.exists():
        _same(folder, event)
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
    secret = folder.secret.read_bytes() if folder.secret.exists() else b""
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
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def published(folder: Folder) -> tuple[dict[int, str], dict[int, bytes]]:
    """Commitments and revealed seeds by board.

    Raises DamagedRecordError.
    """
    commitments = [decode_commitment(line) for line in _lines(folder.commitments)]
    reveals = [decode_reveal(line) for line in _lines(folder.seeds)]
    return (
        {one.board: one.sha256 for one in commitments},
        {one.board: bytes.fromhex(one.seed) for one in reveals},
    )


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


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def _same(folder: Folder, event: Event) -> None:
    old = load(folder)
    if old == event:
        return
    before = {entrant.name: entrant for entrant in old.entrants}
    changed = [one.name for one in event.entrants if before.get(one.name, one) != one]
    what = f"bot {changed[0]} has changed since" if changed else "the plan is not the same"
    raise UserError(
        f"{folder.path} holds event {old.name!r}, but {what}: choose another folder (--out)."
    )


def _write_secret(path: Path, seed: int | None) -> None:
    secret = (
        secrets.token_bytes(SECRET)
        if seed is None
        else hashlib.sha256(f"boneyard seed|{seed}".encode()).digest()
    )
    beside = path.with_name(path.name + ".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _commitments(event: Event, secret: bytes) -> Iterator[bytes]:
    for board in range(1, event.boards + 1):
        yield encode_line(Commitment(board, commitment(board_seed(secret, event.name, board))))
