"""The lead: which seat begins a round."""

from collections.abc import Callable, Iterator
from typing import assert_never

from arena.engine.chance import below, shuffled
from protocol.messages import Lot
from protocol.rules import Deal, Lead
from protocol.tiles import Tile, tile_set

Lots = tuple[Lot, ...]


def first_leader(lead: Lead, deal: Deal, seats: int, stream: Iterator[int]) -> tuple[int, Lots]:
    """The leader of the first round, and the lots that were shown to find it."""
    match lead.first:
        case "random":
            return below(stream, seats), ()
        case "highest":
            return _by_lot(max, deal, seats, stream)
        case "lowest":
            return _by_lot(min, deal, seats, stream)
        case _:
            assert_never(lead.first)


def later_leader(lead: Lead, previous: int, seats: int) -> int:
    """The leader of a round after the first (C.9, C.10)."""
    match lead.later:
        case "rotate":
            return (previous + 1) % seats
        case "same":
            return previous
        case _:
            assert_never(lead.later)


def _by_lot(
    best: Callable[[list[int]], int], deal: Deal, seats: int, stream: Iterator[int]
) -> tuple[int, Lots]:
    """Every seat draws a tile; the tied draw again from a freshly shuffled set (C.8, D)."""
    tied = list(range(seats))
    lots: Lots = ()
    while len(tied) > 1:
        drawn: list[Tile] = list(shuffled(stream, tile_set(deal.highest_pip))[: len(tied)])
        lots += tuple(Lot(seat, tile) for seat, tile in zip(tied, drawn, strict=True))
        wanted = best([sum(tile) for tile in drawn])
        tied = [seat for seat, tile in zip(tied, drawn, strict=True) if sum(tile) == wanted]
    return tied[0], lots
