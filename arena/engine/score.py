"""Scoring a round: what hands count, who wins, and how many points."""

from typing import assert_never

from arena.engine.state import Hand
from protocol.rules import Score

Pips = tuple[int, ...]


def pips(score: Score, hand: Hand) -> int:
    """What a hand counts; an empty hand counts nothing (C score, C Dutch)."""
    return sum(a + b if a or b else score.double_blank for a, b in hand)


def points(score: Score, held: Pips, out: int | None) -> tuple[int, ...]:
    """Points for each seat from what the hands count; `out` is the seat that went out."""
    won_by = _winner(score, held, out)
    return tuple(
        _worth(score, held, won_by, out) if seat == won_by else 0 for seat in range(len(held))
    )


def _winner(score: Score, held: Pips, out: int | None) -> int | None:
    match score.winner:
        case "out":
            return out if out is not None else _lowest(score, held)
        case "lowest":
            return _lowest(score, held)
        case _:
            assert_never(score.winner)


def _lowest(score: Score, held: Pips) -> int | None:
    """The seat with the fewest pips, whoever went out; a tie as the rules say (C.37)."""
    fewest = min(held)
    tied = [seat for seat, pips in enumerate(held) if pips == fewest]
    if len(tied) == 1:
        return tied[0]
    match score.tie:
        case "nobody":
            return None
        case _:
            assert_never(score.tie)


def _worth(score: Score, held: Pips, winner: int, out: int | None) -> int:
    formula = score.points_blocked if out is None else score.points_out
    others = sum(held) - held[winner]
    match formula:
        case "others_minus_own":
            return max(0, others - held[winner])
        case "others":
            return others
        case "one":
            return 1
        case _:
            assert_never(formula)
