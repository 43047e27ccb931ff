"""The boneyard: in which order tiles are drawn from it, and which are never drawn.

A scattered boneyard lies in rows, one for each two seats; one of the two draws from the front and
the other from the back. Of face-down tiles any is as good as the next, so the game stays the same
in law; but when the board is played again, one seat's draws do not shift another's.
"""

from arena.engine.state import Row
from protocol.rules import Boneyard, Turn
from protocol.tiles import Tile


def laid(tiles: Row, seats: int) -> tuple[Row, ...]:
    """The tiles that were not dealt, in rows."""
    if seats == 2:
        return (tiles,)
    half = len(tiles) // 2
    return tiles[:half], tiles[half:]


def count(stock: tuple[Row, ...]) -> int:
    """Tiles in the boneyard."""
    return sum(map(len, stock))


def drawable(boneyard: Boneyard, turn: Turn, stock: tuple[Row, ...]) -> int:
    """Tiles that may still be drawn (C.25, C.26); none at all in a block game."""
    if turn.draw_limit == 0:
        return 0
    return max(0, count(stock) - boneyard.reserve)


def draw(seat: int, stock: tuple[Row, ...]) -> tuple[Tile, tuple[Row, ...]]:
    """The tile that this seat draws next, and what is left."""
    own = min(seat // 2, len(stock) - 1)
    at = own if stock[own] else 1 - own
    row = stock[at]
    tile, rest = (row[-1], row[:-1]) if seat % 2 else (row[0], row[1:])
    return tile, (*stock[:at], rest, *stock[at + 1 :])
