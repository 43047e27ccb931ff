"""Who plays whom, on which boards, in which seats: pure, and the same every time it is asked."""

from collections.abc import Iterator
from itertools import combinations

from msgspec import Struct

from tournaments.event import Event


class PlannedGame(Struct, frozen=True):
    """A game that is to be played."""

    name: str
    """Its name in the event: the board and the entrant in each seat."""
    number: int
    """Its number on the bots' pipes; the same when the sitting is resumed."""
    board: int
    """Its board."""


class PlannedSitting(Struct, frozen=True):
    """The unit of work: fresh processes, one pairing in one rotation, its boards in turn.

    Its processes meet each board once. Another rotation of the same boards is another sitting:
    a process that saw a deal from one seat must never see it from another.
    """

    name: str
    """Its name in the event, and the name of its log."""
    seats: tuple[int, ...]
    """The entrant (an index) in each seat."""
    games: tuple[PlannedGame, ...]
    """Its games, in order."""


def pairings(entrants: int, seats: int, partners: bool = False) -> list[tuple[int, ...]]:
    """Every table of entrants once; pairs in the order of the circle method, so that in any
    prefix everybody has played about as often. With partners every two of a four sit together
    once, or nobody could tell them apart.
    """
    if seats == 2:
        return [pair for day in circle(entrants) for pair in day]
    tables = combinations(range(entrants), seats)
    if not partners:
        return list(tables)
    return [order for a, b, c, d in tables for order in ((a, b, c, d), (a, c, b, d), (a, b, d, c))]


def circle(entrants: int) -> list[list[tuple[int, int]]]:
    """Rounds in which everybody plays once (with an odd number, all but one)."""
    size = entrants + entrants % 2
    days = []
    for day in range(size - 1):
        ring = [size - 1, *((day + step) % (size - 1) for step in range(size - 1))]
        pairs = zip(ring[: size // 2], reversed(ring[size // 2 :]), strict=True)
        days.append([_in_turn(pair, day) for pair in pairs if max(pair) < entrants])
    return days


def _in_turn(pair: tuple[int, int], day: int) -> tuple[int, int]:
    return pair if day % 2 == 0 else (pair[1], pair[0])


def sittings(event: Event) -> Iterator[PlannedSitting]:
    """The whole plan, blocks of boards first, so that a stop at any time leaves it balanced."""
    tables = pairings(len(event.entrants), event.seats, event.rules.deal.partners)
    for first in range(1, event.boards + 1, event.boards_a_sitting):
        boards = range(first, min(first + event.boards_a_sitting, event.boards + 1))
        for table in tables:
            for rotation in range(event.seats):
                yield _sitting(event, table[rotation:] + table[:rotation], boards)


def _sitting(event: Event, seats: tuple[int, ...], boards: range) -> PlannedSitting:
    who = ".".join(event.entrants[entrant].name for entrant in seats)
    games = tuple(PlannedGame(f"{board}.{who}", board - boards[0] + 1, board) for board in boards)
    return PlannedSitting(f"{boards[0]}-{boards[-1]}.{who}", seats, games)


def games(event: Event) -> int:
    """How many games the plan has."""
    return (
        len(pairings(len(event.entrants), event.seats, event.rules.deal.partners))
        * event.seats
        * event.boards
    )
