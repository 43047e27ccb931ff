"""The file review.jsonl: what each reviewed decision cost, a line for each seat of a game."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.logs.checksummed import SealedLog
from arena.valuation.reviewed_decision import ReviewedDecision
from protocol.codec import decode_json
from protocol.errors import UserError
from tournaments.storage.folder import Folder, lock_file

REVIEW_FORMAT = 3
MOST_WORLDS = 10_000
REVIEW_REMEDY = ". Remove the file: `boneyard explain --review` makes it again"
"""The end of a sentence about a damaged review.jsonl."""


class ReviewTerms(Struct, frozen=True, tag_field="type", tag="review"):
    """The way in which decisions are valued: the file's first line, the same for all its games."""

    event: str
    worlds: Annotated[int, Meta(ge=2, le=MOST_WORLDS)]
    """Deals of the hidden tiles over which an option is valued."""
    format: int = REVIEW_FORMAT


class DecisionLoss(ReviewedDecision, frozen=True, array_like=True):
    """A reviewed decision, and where it stands; numbers are rounded."""

    id: int
    at: int
    """Its moment in the replay, from 0."""
    chosen: str
    better: str


class SeatLosses(Struct, frozen=True, tag_field="type", tag="seat"):
    """The review of one seat's decisions in one game."""

    game: str
    board: int
    seat: int
    entrant: str
    rounds: int
    decisions: tuple[DecisionLoss, ...]


def read_terms(folder: Folder) -> ReviewTerms | None:
    """Return the terms of an event's review; None if there is none. Raises DamagedFileError."""
    first = next(_log(folder.review_log).read(), None)
    return first if isinstance(first, ReviewTerms) else None


def read_seats(folder: Folder) -> Iterator[SeatLosses]:
    """Yield the reviewed seats of an event, in the order of the file. Raises DamagedFileError."""
    return (one for one in _log(folder.review_log).read() if isinstance(one, SeatLosses))


def _log(path: Path) -> SealedLog[ReviewTerms | SeatLosses]:
    return SealedLog(path, decode_review, REVIEW_REMEDY)


def decode_review(line: bytes) -> ReviewTerms | SeatLosses:
    """Decode a line without its checksum. Raises DamagedRecordError."""
    return decode_json(line, ReviewTerms | SeatLosses)  # type: ignore[arg-type]  # a union


class ReviewLog:
    """The file, to append to; the folder's review is locked meanwhile."""

    def __init__(self, path: Path, terms: ReviewTerms) -> None:
        """Read the file, or begin it; `terms` are those that a new file gets.

        Remove a line that a kill cut short. Raises DamagedFileError, OSError.
        """
        self.terms, self.done = terms, set[tuple[str, int]]()
        self._log = _log(path)
        self._log.mend()
        for one in self._log.read():
            if isinstance(one, SeatLosses):
                self.done.add((one.game, one.seat))
            else:
                self.terms = one
        if not self._log.checksum:
            self._log.append([terms])

    def add(self, seat: SeatLosses) -> None:
        """Append a seat. Raises OSError, and then nothing was written."""
        self._log.append([seat])
        self.done.add((seat.game, seat.seat))


@contextmanager
def open_review(folder: Folder, usual: ReviewTerms, worlds: int | None) -> Iterator[ReviewLog]:
    """Open an event's review to add to it; a new one has the `usual` terms but for those given.

    Raises UserError if the file values games in another way, or while another process reviews the
    event.
    """
    with lock_file(folder.review_lock, f"{folder.path} is being reviewed by another process."):
        log = ReviewLog(folder.review_log, replace(usual, worlds=worlds or usual.worlds))
        has = log.terms
        given = replace(has, worlds=worlds or has.worlds, format=REVIEW_FORMAT)
        if given != has:
            raise UserError(
                f"{folder.review_log} has {has.worlds} worlds (format {has.format}), not "
                f"{given.worlds} (format {given.format}). Leave out --deals to go on with it, or "
                "remove the file to review all games again."
            )
        yield log
