"""Ambiguities of the sources, as the third part of rules.md numbers and decides them."""

from random import Random

from arena.engine import values
from arena.engine.state import Game
from tests.support.positions import ask, rules, shuffled


def test_ambiguity_15_partners_have_chips_and_pay_the_ante_as_one_side() -> None:
    """Chips move and are neither made nor lost: what the sides lack lies in the pool."""
    partners = rules("auction-draw", partners=True)
    game, luck = shuffled(partners, 4), Random(5)
    assert (ask(game)["scores"], ask(game)["pot"]) == ([-3, -3, -3, -3], 6)
    while not game.over:
        options = values.legal(game)
        game = values.act(game, luck.choice(options)) if options else deal_on(game)
        assert sum(game.scores[:2]) + game.pot == 0
        assert game.scores[:2] == game.scores[2:]
    assert game.playing.number == 20


def deal_on(game: Game) -> Game:
    """Return the game with its next round dealt."""
    return values.begin(game, values.chance_decides(game, bytes(32)))
