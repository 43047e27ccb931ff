"""Playouts from the middle of rounds: in arrays, and by the engine row by row."""

import random
from collections.abc import Iterator
from itertools import islice

from arena import engine
from arena.engine.deal import begin, chance_decides
from arena.engine.state import Game
from arena.rules.variants import find_variant
from arena.valuation.batch import RoundBatch
from protocol.ruleset import Ruleset
from tests.support.games import plain_option, play_on

TABLES = (("draw", 2), ("draw", 4), ("dutch", 2), ("double-draw", 2))
GAMES, EACH = 50, 300
"""Games, and playouts of each."""
MOVES = 4, 10
"""The least and the most moves before a playout."""


def batch(name: str, seats: int) -> tuple[RoundBatch, list[Game]]:
    """Return rounds to be played out, and the games in the middle of which each begins."""
    rng = random.Random(name)
    games = list(islice(_middles(find_variant(name), seats, rng), GAMES))
    return RoundBatch.from_games(games).repeat(EACH), games


def play_by_engine(games: list[Game]) -> None:
    """Play each round to its end by the engine."""
    for game in games:
        play_on(game.copy())


def _middles(rules: Ruleset, seats: int, rng: random.Random) -> Iterator[Game]:
    while True:
        game, seed = engine.new_game(rules, seats), rng.randbytes(32)
        while engine.needs_deal(game):
            begin(game, chance_decides(game, seed))
        for _ in range(rng.randint(*MOVES)):
            if not game.playing.over:
                engine.act_unchecked(game, plain_option(game))
        if not game.playing.over:
            yield game
