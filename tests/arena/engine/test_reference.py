"""The engine, changed in place, plays as its reference on values does; a copy shares nothing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import engine
from arena.engine import values
from arena.engine.shuffle import board_seed
from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.engine_comparison import compare, snapshot
from tests.support.rulesets import seated

numbers = st.integers(0, 2**32)
Table = tuple[Ruleset, int]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_named_game_is_played_as_by_the_reference(name: str) -> None:
    for seats in playable_seat_counts(find_variant(name)):
        seed = board_seed(b"reference", name, seats)
        compare(find_variant(name), seats, seed, random.Random(name), rounds=2)


@given(seated(), numbers, numbers)
def test_every_ruleset_is_played_as_by_the_reference(table: Table, seed: int, luck: int) -> None:
    compare(*table, board_seed(b"reference", "any", seed), random.Random(luck), rounds=2)


@given(seated(), numbers, numbers)
def test_a_copy_changes_nothing_of_its_game(table: Table, number: int, choices: int) -> None:
    """Each move is made on a copy, as an analysis does; the state before it stays as it was."""
    seed, luck = board_seed(b"reference", "copy", number), random.Random(choices)
    game = engine.new_game(*table)
    for _ in range(60):
        if game.over:
            return
        before, kept = game, snapshot(game)
        if engine.needs_deal(game):
            game = values.begin(game, engine.chance_decides(game, seed))
        else:
            game = values.act(game, luck.choice(engine.legal(game)))
        assert snapshot(before) == kept
