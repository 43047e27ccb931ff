"""Commitments to boards, and the seeds that reveal their deals, as an event publishes them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from arena.logs.checksummed import read_plain
from protocol.codec import DamagedRecordError, decode_commitment, decode_reveal
from protocol.records import Commitment, Reveal

P = TypeVar("P", Commitment, Reveal)
SEEDS = "seeds.jsonl"
"""The file of an event's folder that reveals the seeds."""


def published_commitments(path: Path) -> dict[int, str]:
    """Read the commitments of a file, by board. Raises DamagedFileError."""
    return {one.board: one.sha256 for one in _promises(path, decode_commitment)}


def published_seeds(path: Path) -> dict[int, bytes]:
    """Read the seeds that a file reveals, by board. Raises DamagedFileError."""
    return {one.board: bytes.fromhex(one.seed) for one in _promises(path, decode_reveal)}


def _promises(path: Path, decode: Callable[[bytes], P]) -> Iterator[P]:
    boards: set[int] = set()

    def decode_new(line: bytes) -> P:
        promise = decode(line)
        if promise.board in boards:
            raise DamagedRecordError(f"board {promise.board} was there before")
        boards.add(promise.board)
        return promise

    return read_plain(path, decode_new)
