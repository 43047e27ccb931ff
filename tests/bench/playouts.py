"""Playouts from the middle of rounds: in arrays, and by the engine row by row."""

import random
from collections.abc import Iterator
from itertools import islice

from arena import engine
from arena.engine.state import Game
from arena.rules.variants import find_variant
from arena.valuation.plain import plain_option
from arena.valuation.rows.game_rows import GameRows
from arena.valuation.states import States
from protocol.ruleset import Ruleset

TABLES = (("draw", 2), ("draw", 4), ("dutch", 2), ("double-draw", 2))
"""Games and numbers of seats."""
GAMES, EACH = 50, 300
"""States, and playouts of each."""
MOVES = 4, 10
"""The least and the most moves before a playout."""


def states(name: str, seats: int) -> tuple[States, States]:
    """Return states in the middle of rounds, as arrays and as games."""
    luck = random.Random(name)
    games = list(islice(_middles(find_variant(name), seats, luck), GAMES))
    return States.of(games).repeated(EACH), States(GameRows.of(games))


def _middles(rules: Ruleset, seats: int, luck: random.Random) -> Iterator[Game]:
    while True:
        game, seed = engine.new_game(rules, seats), luck.randbytes(32)
        while engine.needs_deal(game):
            engine.begin(game, engine.chance_decides(game, seed))
        for _ in range(luck.randint(*MOVES)):
            if not game.playing.over:
                engine.act_unchecked(game, plain_option(game))
        if not game.playing.over:
            yield game
