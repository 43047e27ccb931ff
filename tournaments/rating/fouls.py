"""Fouls in results: their seats and counts, and forfeits caused by earlier fouls. Pure."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from protocol.records import FoulClass, Result, SeatFoul


def own_fouls(result: Result) -> Iterator[int]:
    """Yield the seats that fouled in a game; a seat that had forfeited it before did not."""
    return (foul.seat for foul in fouls_committed(result))


def fouls_committed(result: Result) -> Iterator[SeatFoul]:
    """Yield the fouls of a game, without forfeits for fouls in earlier games."""
    return (foul for foul in result.fouls if foul.foul != "forfeit")


def fouls_given(result: Result) -> tuple[int, ...]:
    """Return the seats that had forfeited a game before it began."""
    return tuple(foul.seat for foul in result.fouls if foul.foul == "forfeit")


class FoulCount(Struct, frozen=True):
    """The fouls of one class that one entrant committed."""

    entrant: str
    foul: FoulClass
    games: int
    game: str
    """The last of them in the order of the schedule,"""
    seat: int
    """and the seat in it."""


def count_fouls(results: Iterable[Result], *, forfeits: bool) -> tuple[FoulCount, ...]:
    """Count the fouls of each entrant and class, sorted by them.

    `forfeits`: also the games that were lost before they began.
    """
    found: dict[tuple[str, FoulClass], FoulCount] = {}
    for result in results:
        for foul in result.fouls if forfeits else fouls_committed(result):
            key = result.seats[foul.seat], foul.foul
            before = found[key].games if key in found else 0
            found[key] = FoulCount(*key, before + 1, result.game, foul.seat)
    return tuple(found[key] for key in sorted(found))
