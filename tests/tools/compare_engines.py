"""Compares the engine with its reference on many random rounds; the suite plays a few of them.

python -m tests.tools.compare_engines [ROUNDS]      100,000 unless it is said otherwise

Half of the rounds are of the named games at every table, half of random rulesets.
"""

import random
import sys
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.engine.shuffle import board_seed
from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import Game as Limits
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.engine_comparison import compare
from tests.support.rulesets import seated

ROUNDS_A_GAME = 12
LONG = Limits(target=100_000, max_rounds=ROUNDS_A_GAME)
NUMBERS = st.integers(0, 2**32)
TABLES = [
    (find_variant(name), seats)
    for name in VARIANTS
    for seats in playable_seat_counts(find_variant(name))
]


def named(rounds: int) -> int:
    """Play so many rounds of the named games, or a few more; return how many."""
    played = 0
    for board in count():
        for rules, seats in TABLES:
            seed = board_seed(b"compare", rules.name, board)
            played += compare(rules, seats, seed, random.Random(board), ROUNDS_A_GAME)
        if played >= rounds:
            return played
    raise AssertionError


def any_rules(rounds: int) -> int:
    """Play about so many rounds of random rulesets; return how many."""
    played = 0

    @settings(
        max_examples=max(1, rounds // ROUNDS_A_GAME),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(seated(), NUMBERS, NUMBERS)
    def play(table: tuple[Ruleset, int], seed: int, luck: int) -> None:
        nonlocal played
        rules, seats = table
        board = board_seed(b"compare", "any", seed)
        # Many random games are over after a round or two.
        for limits in (rules.game, LONG):
            long = replace(rules, game=limits)
            played += compare(long, seats, board, random.Random(luck), ROUNDS_A_GAME)

    play()
    return played


def main() -> None:
    """Compare, and print how much."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{named(rounds // 2)} rounds of named games, no difference", flush=True)
    print(f"{any_rules(rounds // 2)} rounds of random rulesets, no difference")


if __name__ == "__main__":
    main()
