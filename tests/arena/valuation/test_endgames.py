"""Endgames are solved as a plain search solves them."""

import random
from collections.abc import Iterator
from itertools import count, islice

import pytest

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import derive, find_variant
from arena.valuation.endgames import exact_leads
from tests.support.fast_run import slow_except
from tests.support.positions import position

GAMES = {
    "draw": derive(find_variant("draw"), "draw", {"reserve": 0}),
    "dutch": derive(find_variant("dutch"), "dutch", {"reserve": 0}),
    "double-draw": find_variant("double-draw"),
    "puerto-rico": find_variant("puerto-rico"),
    "old-draw": find_variant("old-draw"),
    "pot": derive(find_variant("pot-draw"), "pot", {"reserve": 0}),
    "blocker": find_variant("puerto-rico-blocker"),
    "at_once": derive(find_variant("jordanian"), "at_once", {"reserve": 0}),
}
MOST_TILES = 8
"""Tiles in both hands from which on the plain search is fast."""
TRIED = 12


def positions(game: str) -> Iterator[Game]:
    """Yield positions of random rounds in which a seat has a choice and knows all tiles."""
    rng = random.Random(1)
    for board in count():
        seed = board.to_bytes(32, "big")
        state = values.new_game(GAMES[game], 2)
        while not (state.round and state.playing.over):
            options = values.legal(state)
            if not options:
                state = values.begin(state, values.chance_decides(state, seed))
                continue
            if len(options) > 1 and exact_leads(state):
                yield state
            # The last option draws, if drawing is allowed.
            option = rng.choice(options) if rng.random() < 0.6 else options[-1]
            state = values.act(state, option)


def value(game: Game) -> int:
    """Return seat 0's points less seat 1's when both play the round perfectly from here."""
    if game.playing.over is not None:
        return game.points[0] - game.points[1]
    worths = (value(values.act_unchecked(game, option)) for option in values.legal(game))
    return max(worths) if game.playing.turn == 0 else min(worths)


def worths(game: Game) -> tuple[int, ...]:
    """Return what each option is worth for the seat to move."""
    sign = 1 if game.playing.turn == 0 else -1
    return tuple(sign * value(values.act_unchecked(game, option)) for option in values.legal(game))


# Slow: the endgames of one game are solved beside it.
@pytest.mark.parametrize("game", slow_except(("draw",), GAMES))
def test_endgames_are_solved_as_by_a_plain_search(game: str) -> None:
    small = (state for state in positions(game) if sum(map(len, state.playing.hands)) <= MOST_TILES)
    for state in islice(small, TRIED):
        assert exact_leads(state) == worths(state)


def test_hidden_tiles_are_not_solved() -> None:
    hands = ["21", "41"]
    assert exact_leads(position("draw", hands=hands, line="13 32", stock="66 55")) == ()
    assert exact_leads(position("draw", hands=[*hands, "43"], line="13 32", stock="")) == ()
    assert exact_leads(position("draw", hands=hands, line="13 32", stock="")) == (5, 5)
