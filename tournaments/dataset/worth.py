"""Luck and losses of a game's decisions, computed from its log: they know what no seat knew."""

from collections.abc import Iterable
from typing import NamedTuple

from arena.logs.gamelog import LoggedGame
from arena.valuation.decision_loss import review_seat
from arena.valuation.luck import game_luck

DIGITS = 3
"""Decimals of luck, values and losses in points;"""
SHARE_DIGITS = 5
"""of luck in the share of a game."""


class SeatLuck(NamedTuple):
    """What a seat owes to the tiles drawn in a game."""

    points: float
    """In points."""
    share: float
    """In the share of the game's pairs of sides, 0 to 1."""
    rounds: dict[int, float]
    """In points, by round; a round without a draw is missing."""


class Loss(NamedTuple):
    """What the options of a decision were worth, and what the choice cost, in points of lead."""

    best: int
    """The index of the best option."""
    loss: float
    """The value of the best option less that of the chosen one."""
    error: float
    """The standard error of the loss."""
    values: list[float]
    """The value of each option."""


def luck_by_seat(logged: LoggedGame) -> list[SeatLuck]:
    """Compute what each seat owes to luck. Raises DamagedLogError."""
    luck = game_luck(logged)
    rounds: list[dict[int, float]] = [{} for _ in luck.points]
    for draw in luck.draws:
        for own, points in zip(rounds, draw.points, strict=True):
            own[draw.round] = own.get(draw.round, 0.0) + points
    return [
        SeatLuck(round(points, DIGITS), round(share, SHARE_DIGITS), _rounded(own))
        for points, share, own in zip(luck.points, luck.share, rounds, strict=True)
    ]


def _rounded(values: dict[int, float]) -> dict[int, float]:
    return {key: round(value, DIGITS) for key, value in values.items()}


def losses(logged: LoggedGame, seats: Iterable[int]) -> dict[tuple[int, int], Loss]:
    """Compute the losses of these seats' decisions, by the seat and the question's number.

    Only questions with several options have one. Raises DamagedLogError.
    """
    return {
        (seat, one.number): Loss(
            one.best,
            round(one.loss, DIGITS),
            round(one.error, DIGITS),
            [round(option.lead, DIGITS) for option in one.options],
        )
        for seat in seats
        for one in review_seat(logged, seat)
    }
