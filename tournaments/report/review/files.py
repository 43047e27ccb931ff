"""The files of a review for programs: review.json has its sums, review.csv every decision."""

from collections.abc import Iterator

from arena.files import DamagedFileError, read_file
from protocol.codec import DamagedRecordError, decode_json, indented_json
from tournaments.report.exports import csv_lines
from tournaments.report.review.sums import ReviewSummary
from tournaments.storage.folder import Folder
from tournaments.storage.review_log import read_seats

COLUMNS = (
    "game", "board", "seat", "entrant", "question", "round", "phase", "kind", "options", "choice",
    "best", "loss", "error", "exact",
)  # fmt: skip


def read_summary(folder: Folder) -> ReviewSummary | None:
    """Return the sums of an event's review; None if there is none. Raises DamagedFileError."""
    if not folder.review.exists():
        return None
    try:
        return decode_json(read_file(folder.review), ReviewSummary)
    except DamagedRecordError as error:
        raise DamagedFileError(
            f"{folder.review}: {error}. Remove the file: `boneyard explain --review` makes it again"
        ) from error


def summary_json(summary: ReviewSummary) -> Iterator[bytes]:
    """Yield the content of review.json."""
    yield indented_json(summary)
    yield b"\n"


def decisions_csv(folder: Folder, seats: int) -> Iterator[bytes]:
    """Yield a line for each decision of the first so many reviewed seats.

    `choice` and `best` are options in words; `loss` and its standard `error` are in points; `exact`
    is 1 where the endgame was solved. Raises DamagedFileError.
    """
    rows = (
        (
            *(seat.game, seat.board, seat.seat, seat.entrant, one.number, one.round),
            *(one.phase, one.kind, len(one.values), one.chosen, one.better),
            *(one.loss, one.error, int(one.exact)),
        )
        for seat, _ in zip(read_seats(folder), range(seats), strict=False)
        for one in seat.decisions
    )
    return csv_lines(COLUMNS, rows)
