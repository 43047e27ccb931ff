"""A game between scripted seats, with its log and with every line that each seat was told."""

import random
from itertools import count

from arena.engine.shuffle import board_seed
from arena.match.game_setup import GameSetup
from protocol.messages import Clock
from protocol.ruleset import Ruleset
from tests.support.logged_games import NAMES, NONSENSE, Overheard, Pick, overhear


def any_of(seed: object, foul: float = 0.0) -> Pick:
    """Chooses at random, and now and then answers nonsense."""
    rng = random.Random(str(seed))
    return lambda question: (
        NONSENSE if rng.random() < foul else rng.randrange(len(question.options))
    )


def overheard(
    rules: Ruleset, seats: int, pick: Pick, clock: Clock | None = None, board: int = 1
) -> Overheard:
    """Play a game; each answer takes longer than the one before, so that the bank is used."""
    names, clock = NAMES[:seats], clock or Clock(bank_ms=100)
    setup = GameSetup(f"{board}.{'.'.join(names)}", 3, board, names, rules, clock)
    seed = board_seed(b"overheard", "event", board)
    return overhear(setup, seed, pick, count(clock.move_ms - 50.0), "so")
