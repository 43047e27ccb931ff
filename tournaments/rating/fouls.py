"""Fouls of results: whose they are, and which earlier games had caused. Pure."""

from collections.abc import Iterator

from protocol.records import Result, SeatFoul


def own_fouls(result: Result) -> Iterator[int]:
    """The seats that fouled in a game; one that had lost it before did not."""
    return (foul.seat for foul in fouls_committed(result))


def fouls_committed(result: Result) -> Iterator[SeatFoul]:
    """The fouls of a game but for what earlier games had cost."""
    return (foul for foul in result.fouls if foul.foul != "forfeit")


def fouls_given(result: Result) -> tuple[int, ...]:
    """The seats that had lost a game before it began."""
    return tuple(foul.seat for foul in result.fouls if foul.foul == "forfeit")
