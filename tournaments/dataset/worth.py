"""Luck and losses of a game's decisions, from the event's files or computed from its log."""

from collections.abc import Iterable
from typing import NamedTuple

from arena.analysis.timeline import Timeline
from arena.logs.checksummed import DamagedFileError
from arena.valuation.decision_loss import review_seat
from protocol.codec import DamagedRecordError
from protocol.records import Result
from tournaments.storage import luck_store, review_log
from tournaments.storage.log_luck import LuckRecord
from tournaments.storage.luck_store import decode_luck
from tournaments.storage.review_log import SeatReview, decode_review

DIGITS = 3
"""Decimals of values and losses, as in review.jsonl."""


class Loss(NamedTuple):
    """The loss of a decision and the values of its options, in points of lead."""

    choice: int
    """The index of the chosen option."""
    best: int
    """The index of the best option."""
    loss: float
    """The value of the best option less that of the chosen one."""
    error: float
    """The standard error of the loss."""
    values: list[float]
    """The value of each option."""


class KnownWorth(NamedTuple):
    """The lines about a game in the files of its event."""

    luck: tuple[bytes, ...] = ()
    """The lines of luck.jsonl."""
    reviews: tuple[bytes, ...] = ()
    """The lines of review.jsonl, each about a seat."""


def read_luck(lines: Iterable[bytes], result: Result) -> LuckRecord | None:
    """Return a game's luck if a line has that of this very result. Raises DamagedFileError."""
    try:
        found = [*map(decode_luck, lines)]
    except DamagedRecordError as error:
        why = f"luck.jsonl: a line is not a game's luck: {error}{luck_store.REMEDY}"
        raise DamagedFileError(why) from error
    return next((one for one in found if one.scores == result.scores), None)


def read_losses(lines: Iterable[bytes]) -> dict[int, dict[int, Loss]]:
    """Return the losses in these lines of review.jsonl, by seat and by the question's number.

    Raises DamagedFileError.
    """
    try:
        seats = [*map(decode_review, lines)]
    except DamagedRecordError as error:
        why = f"review.jsonl: a line is not a seat's review: {error}{review_log.REMEDY}"
        raise DamagedFileError(why) from error
    return {
        seat.seat: {
            one.number: Loss(one.choice, one.best, one.loss, one.error, [*one.values])
            for one in seat.decisions
        }
        for seat in seats
        if isinstance(seat, SeatReview)
    }


def compute_losses(timeline: Timeline, seat: int) -> dict[int, Loss]:
    """Compute the losses of a seat's decisions, by the question's number.

    Only questions with several options have one.
    """
    return {
        one.number: Loss(
            one.choice,
            one.best,
            round(one.loss, DIGITS),
            round(one.error, DIGITS),
            [round(option.lead, DIGITS) for option in one.options],
        )
        for one in review_seat(timeline, seat)
    }
