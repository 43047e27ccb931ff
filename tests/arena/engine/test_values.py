"""Games as values: a move on a copy changes nothing of the game that was copied."""

import random

from hypothesis import given
from hypothesis import strategies as st

from arena import engine
from arena.engine import values
from arena.engine.shuffle import board_seed
from protocol.ruleset import Ruleset
from tests.support.positions import snapshot
from tests.support.rulesets import rules_and_seats

numbers = st.integers(0, 2**32)


@given(rules_and_seats(), numbers, numbers)
def test_a_copy_changes_nothing_of_its_game(
    table: tuple[Ruleset, int], number: int, choices: int
) -> None:
    """Each move is made on a copy, as an analysis does; the state before it stays as it was."""
    seed, rng = board_seed(b"values", "copy", number), random.Random(choices)
    game = engine.new_game(*table)
    for _ in range(60):
        if game.over:
            return
        before, kept = game, snapshot(game)
        if engine.needs_deal(game):
            game = values.begin(game, engine.chance_decides(game, seed))
        else:
            game = values.act(game, rng.choice(engine.legal(game)))
        assert snapshot(before) == kept
