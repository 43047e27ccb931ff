"""Fouls in results: their seats, and forfeits caused by fouls in earlier games. Pure."""

from collections.abc import Iterator

from protocol.records import Result, SeatFoul


def own_fouls(result: Result) -> Iterator[int]:
    """Yield the seats that fouled in a game; a seat that had forfeited it before did not."""
    return (foul.seat for foul in fouls_committed(result))


def fouls_committed(result: Result) -> Iterator[SeatFoul]:
    """Yield the fouls of a game, without forfeits for fouls in earlier games."""
    return (foul for foul in result.fouls if foul.foul != "forfeit")


def fouls_given(result: Result) -> tuple[int, ...]:
    """Return the seats that had forfeited a game before it began."""
    return tuple(foul.seat for foul in result.fouls if foul.foul == "forfeit")
