"""Lines pieced together are the lines of the messages that they are pieced together from."""

import random

from hypothesis import given
from hypothesis import strategies as st

from arena import engine
from arena.engine import view
from arena.engine.shuffle import board_seed
from protocol.codec import encode_line
from protocol.ruleset import Ruleset
from tests.support.fast_run import examples
from tests.support.rulesets import rules_and_seats

LONGEST = 400
"""Acts after which a game is left."""


@examples(40)
@given(rules_and_seats(), st.integers(0, 2**32))
def test_a_written_question_is_the_encoded_question(
    table: tuple[Ruleset, int], number: int
) -> None:
    """Not every seat is asked at every turn, and a bank goes down, as in a game with bots."""
    rng = random.Random(number)
    game = engine.new_game(*table)
    writer, bank_ms = view.LineWriter(game, 7), 5000
    for id in range(LONGEST):
        if game.round and game.round.over:
            for seat, line in enumerate(writer.round_over()):
                told = view.round_over(game, 7, view.history(game.playing, seat))
                assert line == encode_line(told)
        if game.over:
            return
        if engine.needs_deal(game):
            engine.begin(game, engine.chance_decides(game, board_seed(b"x", "y", number)))
            continue
        options, seat = engine.legal(game), game.playing.turn
        if rng.random() < 0.7:
            bank_ms -= rng.choice((0, 0, 3))
            events = view.history(game.playing, seat)
            ask = view.question(game, seat, options, events, id=id, number=7, time_ms=bank_ms)
            assert writer.question(seat, options, id, bank_ms) == encode_line(ask)
        engine.act_unchecked(game, rng.choice(options))
