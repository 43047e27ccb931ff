"""Sets of tiles: how many, which, and how a tile is turned."""

import pytest

from protocol.ruleset import flip, high_first, tile_set


@pytest.mark.parametrize(
    ("highest", "count"), [(0, 1), (1, 3), (6, 28), (7, 36), (8, 45), (9, 55), (12, 91), (18, 190)]
)
def test_a_set_has_every_pair_once(highest: int, count: int) -> None:
    tiles = tile_set(highest)
    assert len(tiles) == len(set(tiles)) == count
    assert set(tiles) == {(a, b) for a in range(highest + 1) for b in range(highest + 1) if a >= b}
    assert list(tiles) == sorted(tiles)


def test_flip_turns_a_tile() -> None:
    assert flip((5, 2)) == (2, 5)
    assert flip((3, 3)) == (3, 3)
    for tile in tile_set(6):
        assert flip(flip(tile)) == tile
        assert high_first(tile) == high_first(flip(tile)) == tile
