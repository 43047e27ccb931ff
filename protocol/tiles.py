"""Tiles and sets of tiles."""

from functools import cache

Tile = tuple[int, int]
"""Two pips: (high, low) in a hand or a boneyard, (left, right) in the line."""


@cache
def tile_set(highest_pip: int, doubles: bool = True) -> tuple[Tile, ...]:
    """Return all tiles of a set in ascending order, each (high, low).

    The double-six set has 28 tiles; a double-eight set without doubles has 36 (C Austria).
    """
    return tuple(
        (high, low)
        for high in range(highest_pip + 1)
        for low in range(high + 1)
        if doubles or high != low
    )


def flip(tile: Tile) -> Tile:
    """Return the tile turned round."""
    return tile[1], tile[0]


def high_first(tile: Tile) -> Tile:
    """Return a tile from the line as a hand shows it: (high, low)."""
    return tile if tile[0] >= tile[1] else (tile[1], tile[0])
