"""Random rounds by the engine alone, dealt as a referee deals them."""

import random

from arena import engine
from arena.engine.deal import begin, chance_decides
from arena.engine.shuffle import board_seed
from arena.rules.variants import find_variant


def random_rounds(rules: str, seats: int, count: int, rng: random.Random) -> None:
    """Deal and play first rounds at random."""
    new = engine.new_game(find_variant(rules), seats)
    for number in range(count):
        game = new.copy()
        begin(game, chance_decides(new, board_seed(b"bench", "engine", number)))
        while options := engine.legal(game):
            engine.act_unchecked(game, rng.choice(options))
