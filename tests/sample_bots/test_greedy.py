"""The choices of the sample bot greedy."""

import pytest

from sample_bots.greedy import choose

LIGHT, HEAVY, DOUBLE = ({"do": "play", "tile": tile} for tile in ([1, 0], [6, 4], [2, 2]))
PAIR = {"do": "play_two", "left": [6, 5], "right": [1, 0]}
DRAW, CALL, GO_ON = {"do": "draw"}, {"do": "call"}, {"do": "go_on"}


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ([LIGHT, HEAVY, DRAW], 1),  # The heaviest.
        ([LIGHT, HEAVY, DOUBLE], 2),  # Doubles first.
        ([HEAVY, HEAVY], 0),  # The first of equals.
        ([HEAVY, PAIR], 1),  # As heavy as both of its tiles.
        ([DRAW, {"do": "rain"}], 0),  # What it does not know it leaves alone.
        ([CALL, GO_ON], 1),  # Its hand is not the lightest.
    ],
)
def test_greedy_plays_the_heaviest_tile_doubles_first(
    options: list[dict[str, object]], choice: int
) -> None:
    ask = {"options": options, "seat": 0, "hands": [2, 2], "hand": [[6, 6], [6, 5]]}
    assert choose(ask) == choice
