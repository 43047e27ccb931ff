"""Verification of an event's review: its lines, its sums, and a sample of its values."""

import hashlib
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from arena.files import has_content, read_file
from arena.logs.catalog import FOLDER, logs_of_sittings
from arena.logs.checksummed import DamagedFileError
from protocol.records import Result
from tournaments.report.review.files import decisions_csv, read_summary, summary_json
from tournaments.report.review.reviewer import ReviewTask, review_part
from tournaments.report.review.sums import summarize_review
from tournaments.storage.folder import Folder
from tournaments.storage.review_log import (
    DecisionLoss,
    ReviewTerms,
    SeatReview,
    read_seats,
    read_terms,
)

SAMPLE = 3
"""Seats that are reviewed again: all would take as long as the review."""
ROUNDING = 0.002
"""The difference in points that another machine's arithmetic may make."""


def review_faults(folder: Folder, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the faults of an event's review.

    A sample of seats is reviewed again, chosen by the bytes of the whole file. Whoever forges a
    line can try until the sample misses it.
    """
    try:
        yield from _faults(folder, results)
    except DamagedFileError as error:
        yield f"{error}; the review was not checked"


def _faults(folder: Folder, results: Mapping[str, Result]) -> Iterator[str]:
    terms = read_terms(folder)
    if terms is None:
        if folder.review.exists():
            yield f"{folder.review}: {folder.review_log.name}, from which it follows, is missing"
        return
    known: set[tuple[str, int]] = set()
    for one in read_seats(folder):
        key = one.game, one.seat
        result = results.get(one.game)
        who = result.seats[one.seat] if result and one.seat < len(result.seats) else None
        if one.entrant != who or key in known:
            yield f"{folder.review_log}: the ledger has no such seat: seat {one.seat} of {one.game}"
            return
        known.add(key)
    yield from _sums(folder, terms)
    for one in _sample(folder):
        yield from _values(folder, terms, one)


def _sums(folder: Folder, terms: ReviewTerms) -> Iterator[str]:
    """Yield the files that do not follow from the review's lines at their time."""
    told = read_summary(folder)
    if told is None:
        return
    first = (one for _, one in zip(range(told.seats), read_seats(folder), strict=False))
    files = {
        folder.review: summary_json(summarize_review(terms, first)),
        folder.review_csv: decisions_csv(folder, told.seats),
    }
    for path, lines in files.items():
        if not has_content(path, lines):
            yield f"{path}: does not follow from {folder.review_log.name}. `report --review` again"


def _sample(folder: Folder) -> list[SeatReview]:
    """Return some seats, chosen by the file's own bytes."""
    whole = hashlib.sha256(read_file(folder.review_log)).digest()

    def drawn(one: SeatReview) -> bytes:
        return hashlib.sha256(whole + f"{one.game} {one.seat}".encode()).digest()

    return sorted(read_seats(folder), key=drawn)[:SAMPLE]


def _values(folder: Folder, terms: ReviewTerms, one: SeatReview) -> Iterator[str]:
    """Yield the difference between a reviewed seat and a new review of it."""
    why = list[str]()
    for path in logs_of_sittings(folder.path / FOLDER, one.game):
        reviewed = review_part(ReviewTask(path, {one.game: (one.seat,)}, terms))
        why += reviewed.faults
        for fresh in reviewed.seats:
            if not _equal(one, fresh):
                yield (
                    f"{folder.review_log}: seat {one.seat} of {one.game}: another review gives "
                    "other values"
                )
            return
    yield (
        f"{folder.review_log}: seat {one.seat} of {one.game} cannot be reviewed again: "
        f"{'; '.join(why) or 'no log has the game'}"
    )


def _equal(one: SeatReview, other: SeatReview) -> bool:
    """Tell whether two reviews are the same but for rounding."""
    if replace(one, decisions=()) != replace(other, decisions=()):
        return False
    same = len(one.decisions) == len(other.decisions)
    return same and all(map(_alike, one.decisions, other.decisions))


def _alike(one: DecisionLoss, other: DecisionLoss) -> bool:
    bare = [replace(of, values=(), errors=(), loss=0.0, error=0.0) for of in (one, other)]
    was, now = [(*of.values, *of.errors, of.loss, of.error) for of in (one, other)]
    same = bare[0] == bare[1] and len(was) == len(now)
    return same and all(a == b or abs(a - b) < ROUNDING for a, b in zip(was, now, strict=True))
