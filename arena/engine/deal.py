"""Dealing: the set, the hands, and what stays in the boneyard."""

from collections.abc import Iterator

from arena.engine.boneyard import laid
from arena.engine.chance import shuffled
from arena.engine.state import Hand, Row
from protocol.rules import Deal, by_seats
from protocol.tiles import tile_set


def dealt(
    rules: Deal, seats: int, stream: Iterator[int]
) -> tuple[tuple[Hand, ...], tuple[Row, ...]]:
    """Shuffled hands for each seat, and the boneyard (C deal)."""
    order = tuple(shuffled(stream, tile_set(rules.highest_pip)))
    size = by_seats(rules.hand, seats)
    hands = tuple(order[seat * size : (seat + 1) * size] for seat in range(seats))
    return hands, laid(order[seats * size :], seats)
