"""Playouts are deterministic and end every round; the plain player plays as it is described."""

import numpy as np
import pytest

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, find_variant
from arena.valuation.plain import plain_option
from arena.valuation.playouts import play_out
from arena.valuation.states import States
from protocol.messages import Draw
from protocol.ruleset import playable_seat_counts

SEED = bytes(32)


def dealt(name: str, seats: int) -> Game:
    """Return a game with its first round dealt."""
    game = values.new_game(find_variant(name), seats)
    while values.needs_deal(game):
        game = values.begin(game, values.chance_decides(game, SEED))
    return game


@pytest.mark.parametrize("name", VARIANTS)
def test_a_playout_gains_what_the_plain_player_gains_in_every_seat(name: str) -> None:
    for seats in playable_seat_counts(find_variant(name)):
        game = start = dealt(name, seats)
        while not game.playing.over:
            game = values.act(game, plain_option(game))
        gains = play_out(States.of([start, game]).repeated(2))
        assert (gains[:2] == np.subtract(game.scores, start.scores)).all()
        assert not gains[2:].any(), "A round that is over brings no more."
        scores = States.of([start, game]).scores + play_out(States.of([start, game]))
        assert (scores == game.scores).all(), "Scores have what the act that ended a round brought."


def test_a_drawn_tile_changes_places_with_the_one_that_would_have_come() -> None:
    game = dealt("draw", 2)
    stock = [bit.bit_length() - 1 for bit in game.playing.stock_rows[0]]
    drawn = States.of([game]).after_draw(np.array(stock[3:4]))
    next_at = -1 if game.settings.from_back[game.playing.turn] else 0
    stock[next_at], stock[3] = stock[3], stock[next_at]
    swapped = States.of([game]).with_stock(np.array(stock)).after(Draw())
    assert (play_out(drawn) == play_out(swapped)).all()
