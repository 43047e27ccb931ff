"""Ends of rounds and openings that many tests of clauses play, on top of positions."""

from typing import Any

import msgspec

from arena.engine import values
from arena.engine.state import Game
from protocol.messages import Ask
from protocol.ruleset import Ruleset
from tests.support import positions
from tests.support.positions import do, over, position, seed

BLOCKABLE = "13 32"
"""A line on which 2-1 blocks everybody who holds no one: both ends show one then."""


def blocked(rules: Ruleset | str, *hands: str, turn: int = 0, **more: Any) -> Game:
    """Return a round that the seat to move has just blocked; these hands, without a one, are
    left."""
    assert not any("1" in hand for hand in hands), "A hand with a one could go on."
    held = [f"21 {hand}" if seat == turn else hand for seat, hand in enumerate(hands)]
    game = do(position(rules, hands=held, line=BLOCKABLE, turn=turn, **more), "21 right")
    assert over(game) == "blocked"
    return game


def next_round(game: Game) -> Game:
    """Return the next round, or the next deal of this one, from a seed."""
    return values.begin(game, values.chance_decides(game, seed()))


def asked(game: Game) -> Ask:
    """Return the question to the seat to move, decoded from its bytes."""
    return msgspec.convert(positions.asked(game), Ask)
