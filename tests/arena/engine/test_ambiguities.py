"""What the sources leave open, as rules.md decides it in its third part; numbers are its own."""

from random import Random

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.ruleset import set_of_tiles
from tests.support.positions import rules, shuffled
from tests.support.scenes import asked, blocked

# --- 1, 2: hands and the literal tie ---


# --- 11: partnership ---


# --- 12, 13: Puerto Rico and Austria ---


def test_ambiguity_12_five_hundred_bonuses_by_round() -> None:
    five = find_variant("puerto-rico-500")
    assert five.game.target == 500
    for number, bonus in ((1, 100), (2, 75), (3, 50), (4, 25), (5, 0)):
        game = blocked(five, "66", "50", number=number)
        assert game.points == (0, 17 + bonus)


def test_ambiguity_13_austrian_hands_and_pips() -> None:
    assert sum(map(sum, set_of_tiles(find_variant("austrian").deal))) == 288
    for seats, hand, left in ((2, 9, 18), (3, 7, 15)):
        game = shuffled("austrian", seats)
        assert asked(game).hands == (hand,) * seats
        assert asked(game).boneyard.drawable == asked(game).boneyard.tiles == left
        assert game.target == 100


# --- 15: Auction Draw ---


def test_ambiguity_15_partners_have_chips_and_pay_the_ante_as_one_side() -> None:
    """Chips move and are neither made nor lost: what the sides lack lies in the pool."""
    partners = rules("auction-draw", partners=True)
    game, luck = shuffled(partners, 4), Random(5)
    assert (asked(game).scores, asked(game).pot) == ((-3, -3, -3, -3), 6)
    while not game.over:
        listed = values.legal(game)
        game = values.act(game, luck.choice(listed)) if listed else dealing_on(game)
        assert sum(game.scores[:2]) + game.pot == 0
        assert game.scores[:2] == game.scores[2:]
    assert game.playing.number == 20


def dealing_on(game: Game) -> Game:
    """Return the game with its next round dealt."""
    return values.begin(game, values.chance_decides(game, bytes(32)))


# --- 16, 17: fees ---


# --- 18: sides ---


# --- 19: deals that do not count ---


# --- 20: the winner leads ---


# --- 21, 22 ---
