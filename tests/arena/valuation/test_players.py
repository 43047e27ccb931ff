"""The keen player keeps its own numbers open."""

import numpy as np

from arena.engine import values
from arena.rules.variants import find_variant
from arena.valuation.batch import RoundBatch
from arena.valuation.playouts import play_out, play_out_keenly
from tests.support.positions import position


def test_the_keen_player_gives_up_weight_to_play_on() -> None:
    """After 6-3 seat 0 is stuck; after 6-1 it also plays 1-1 and 1-0, and keeps a pip less."""
    game = position("draw", hands=["63 61 11 10", "55 44"], line="65 52", stock="")
    plain, keen = (player(RoundBatch.of([game])).tolist() for player in (play_out, play_out_keenly))
    assert (plain, keen) == ([[8, 0]], [[9, 0]])


def dealt_batch() -> RoundBatch:
    rules = find_variant("draw")
    games = [values.new_game(rules, 2) for _ in range(64)]
    return RoundBatch.of(
        [
            values.begin(game, values.chance_decides(game, bytes([board] * 32)))
            for board, game in enumerate(games)
        ]
    )


def test_keen_playouts_differ_and_end_every_round() -> None:
    batch = dealt_batch()
    gains = play_out_keenly(batch)
    assert (gains.min(axis=1) == 0).all()
    assert not np.array_equal(gains, play_out(batch))
