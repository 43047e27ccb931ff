"""The file review.jsonl: what each reviewed decision cost, a line for each seat of a game."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.files import APPEND, append_atomic, open_regular, write_atomic
from arena.logs.checksummed import read_sealed, truncate_torn_line
from protocol.codec import decode_json, encode_json, seal
from protocol.errors import UserError
from tournaments.storage.folder import Folder, lock_file

REVIEW_FORMAT = 1
MOST_WORLDS = 10_000
Points = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Points of lead: far more than any game has, so that sums fit."""


REMEDY = ". Remove the file: `boneyard review` makes it again"
"""The end of a sentence about a damaged review.jsonl."""


class ReviewTerms(Struct, frozen=True, tag_field="type", tag="review"):
    """The way in which decisions are valued: the file's first line, the same for all its games."""

    event: str
    """The event's name."""
    worlds: Annotated[int, Meta(ge=2, le=MOST_WORLDS)]
    """Deals of the hidden tiles over which an option is valued."""
    by: str
    """The player that plays rounds on."""
    format: int = REVIEW_FORMAT
    """Version of this file's format."""


class DecisionLoss(Struct, frozen=True, array_like=True):
    """A decision between several options, and its loss; points are points of lead."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    id: int
    """The question's id in the log."""
    at: int
    """Its moment in the replay, from 0."""
    round: int
    """The round's number in the game, from 1."""
    phase: str
    """The part of the round: lead, early, draws, endgame."""
    kind: str
    """The kind of the choice: play, draw_although_able, draw, pass, call, bid, other."""
    choice: int
    """The number of the chosen option, from 0."""
    best: int
    """The number of the best option."""
    values: tuple[Points, ...]
    """The value of each option, in points."""
    errors: tuple[Points, ...]
    """The standard error of each value, in points."""
    loss: Points
    """The cost of the choice, in points: by chance it may be a little below 0."""
    error: Points
    """The standard error of the loss, in points."""
    exact: bool
    """True if the values are those of perfect play with all tiles known."""
    chosen: str
    """The chosen option in words."""
    better: str
    """The best option in words."""


class SeatReview(Struct, frozen=True, tag_field="type", tag="seat"):
    """The review of one seat's decisions in one game."""

    game: str
    """The game's name."""
    board: int
    """Its board."""
    seat: int
    """The seat."""
    entrant: str
    """The entrant in this seat."""
    rounds: int
    """Rounds that the game had."""
    decisions: tuple[DecisionLoss, ...]
    """Its decisions between several options, in order."""


def read_terms(folder: Folder) -> ReviewTerms | None:
    """Return the terms of an event's review; None if there is none. Raises DamagedFileError."""
    lines = read_sealed(folder.review_log, decode_review, REMEDY)
    first = next(lines, None)
    return first.record if first and isinstance(first.record, ReviewTerms) else None


def read_seats(folder: Folder) -> Iterator[SeatReview]:
    """Yield the reviewed seats of an event, in the order of the file. Raises DamagedFileError."""
    for entry in read_sealed(folder.review_log, decode_review, REMEDY):
        if isinstance(entry.record, SeatReview):
            yield entry.record


def drop_games_of(folder: Folder, names: Iterable[str]) -> None:
    """Remove from an event's review the games in which one of these entrants sat, and all sums.

    Raises DamagedFileError, OSError.
    """
    gone = set(names)
    if folder.review_log.is_file():
        records = (entry.record for entry in read_sealed(folder.review_log, decode_review, REMEDY))
        write_atomic(
            folder.review_log,
            _sealed(
                one
                for one in records
                if isinstance(one, ReviewTerms) or gone.isdisjoint(one.game.split(".")[1:])
            ),
        )
    for sums in (folder.review, folder.review_csv):
        sums.unlink(missing_ok=True)


def _sealed(records: Iterable[ReviewTerms | SeatReview]) -> Iterator[bytes]:
    checksum = 0
    for one in records:
        line, checksum = seal(encode_json(one) + b"\n", checksum)
        yield line


def decode_review(line: bytes) -> ReviewTerms | SeatReview:
    """Decode a line without its checksum. Raises DamagedRecordError."""
    return decode_json(line, ReviewTerms | SeatReview)  # type: ignore[arg-type]  # a union


class ReviewLog:
    """The file, open for appending; the folder's review is locked meanwhile."""

    def __init__(self, path: Path, terms: ReviewTerms) -> None:
        """Open the file, or begin it; `terms` are those that a new file gets.

        Remove a line that a kill cut short. Raises DamagedFileError, OSError.
        """
        self.terms, self.done = terms, set[tuple[str, int]]()
        self._checksum, lines = 0, 0
        truncate_torn_line(path)
        for entry in read_sealed(path, decode_review, REMEDY):
            self._checksum, lines = entry.checksum, lines + 1
            if isinstance(entry.record, SeatReview):
                self.done.add((entry.record.game, entry.record.seat))
            else:
                self.terms = entry.record
        self._descriptor = open_regular(path, APPEND)
        if not lines:
            self._append(terms)

    def add(self, seat: SeatReview) -> None:
        """Append a seat. Raises OSError, and then nothing was written."""
        self._append(seat)
        self.done.add((seat.game, seat.seat))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _append(self, record: ReviewTerms | SeatReview) -> None:
        line, checksum = seal(encode_json(record) + b"\n", self._checksum)
        append_atomic(self._descriptor, line)
        self._checksum = checksum


@contextmanager
def held_review(folder: Folder) -> Iterator[None]:
    """Hold an event's review. Raises UserError while another process reviews the event."""
    with lock_file(folder.review_lock, f"{folder.path} is being reviewed by another process."):
        yield


@contextmanager
def open_review(
    folder: Folder, usual: ReviewTerms, worlds: int | None, by: str | None
) -> Iterator[ReviewLog]:
    """Open an event's review to add to it; a new one has the `usual` terms but for those given.

    Raises UserError if the file has other terms, or while another process reviews the event.
    """
    with held_review(folder):
        begun = replace(usual, worlds=worlds or usual.worlds, by=by or usual.by)
        log = ReviewLog(folder.review_log, begun)
        try:
            _check_terms(folder, log.terms, worlds, by)
            yield log
        finally:
            log.close()


def _check_terms(folder: Folder, has: ReviewTerms, worlds: int | None, by: str | None) -> None:
    """Refuse to mix games that are valued in different ways. Raises UserError."""
    given = replace(has, worlds=worlds or has.worlds, by=by or has.by, format=REVIEW_FORMAT)
    if given != has:
        raise UserError(
            f"{folder.review_log} has {has.worlds} worlds by {has.by} (format {has.format}), not "
            f"{given.worlds} by {given.by} (format {given.format}). Leave out --worlds and --by to "
            "go on with it, or remove the file to review all games again."
        )
