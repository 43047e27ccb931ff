"""The file review.jsonl: what each reviewed decision cost, a line for each seat of a game."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.logs.checksummed import SealedLog
from protocol.codec import decode_json
from protocol.errors import UserError
from tournaments.storage.folder import Folder, lock_file

REVIEW_FORMAT = 1
MOST_WORLDS = 10_000
Points = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Points of lead: far more than any game has, so that sums fit."""


REMEDY = ". Remove the file: `boneyard explain --review` makes it again"
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
    seat: int
    entrant: str
    rounds: int
    """Rounds that the game had."""
    decisions: tuple[DecisionLoss, ...]
    """Its decisions between several options, in order."""


def read_terms(folder: Folder) -> ReviewTerms | None:
    """Return the terms of an event's review; None if there is none. Raises DamagedFileError."""
    first = next(_log(folder.review_log).read(), None)
    return first if isinstance(first, ReviewTerms) else None


def read_seats(folder: Folder) -> Iterator[SeatReview]:
    """Yield the reviewed seats of an event, in the order of the file. Raises DamagedFileError."""
    return (one for one in _log(folder.review_log).read() if isinstance(one, SeatReview))


def _log(path: Path) -> SealedLog[ReviewTerms | SeatReview]:
    return SealedLog(path, decode_review, REMEDY)


def decode_review(line: bytes) -> ReviewTerms | SeatReview:
    """Decode a line without its checksum. Raises DamagedRecordError."""
    return decode_json(line, ReviewTerms | SeatReview)  # type: ignore[arg-type]  # a union


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
            if isinstance(one, SeatReview):
                self.done.add((one.game, one.seat))
            else:
                self.terms = one
        if not self._log.checksum:
            self._log.append([terms])

    def add(self, seat: SeatReview) -> None:
        """Append a seat. Raises OSError, and then nothing was written."""
        self._log.append([seat])
        self.done.add((seat.game, seat.seat))


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
        _check_terms(folder, log.terms, worlds, by)
        yield log


def _check_terms(folder: Folder, has: ReviewTerms, worlds: int | None, by: str | None) -> None:
    """Refuse to mix games that are valued in different ways. Raises UserError."""
    given = replace(has, worlds=worlds or has.worlds, by=by or has.by, format=REVIEW_FORMAT)
    if given != has:
        raise UserError(
            f"{folder.review_log} has {has.worlds} worlds by {has.by} (format {has.format}), not "
            f"{given.worlds} by {given.by} (format {given.format}). Leave out --worlds and --by to "
            "go on with it, or remove the file to review all games again."
        )
