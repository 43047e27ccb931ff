"""The worlds that may be behind the questions to a seat in a logged game."""

import random
from collections.abc import Sequence
from itertools import islice

from arena.analysis.alternative_deals import StopAt, alternative_deals
from arena.analysis.timeline import AskedQuestion
from arena.engine.state import Game
from arena.valuation.batch import RoundBatch
from arena.valuation.endgames import is_open
from arena.valuation.worlds.chains import worlds
from arena.valuation.worlds.hidden_tiles import HiddenTiles, UncoveredError, hidden_tiles, seed_of

BETWEEN = 60
"""Changes of the general chain between two worlds that are used."""
FEW = 12
"""The most worlds of a reviewed question that the general chain gives: it is slow."""


def question_worlds(
    asked: Sequence[AskedQuestion], many: int, slow: int
) -> list[RoundBatch | list[Game]]:
    """Return for each question so many worlds, at most `slow` where the general chain finds them.

    A table without hidden tiles has one world, and is itself. The questions are of one ruleset and
    number of seats.
    """
    hidden = [_hidden(question) for question in asked]
    fast = iter(worlds([one for one in hidden if one], many))
    return [
        next(fast)
        if one
        else RoundBatch.of([question.game])
        if is_open(question.game)
        else _general_worlds(question, min(many, slow))
        for question, one in zip(asked, hidden, strict=True)
    ]


def _hidden(question: AskedQuestion) -> HiddenTiles | None:
    """Return what the asked seat cannot see; None if that is nothing or only the chain knows it.

    A seat that has fouled plays its first option, which tells of the order of its hand.
    """
    if is_open(question.game) or any(move.fallback for move in question.history.acts):
        return None
    try:
        return hidden_tiles(question.game, question.history.deals[-1])
    except UncoveredError:
        return None


def _general_worlds(question: AskedQuestion, many: int) -> list[Game]:
    """Return worlds of any question, a few changes of the deal between one and the next."""
    phase = question.game.playing.phase.name
    until = StopAt(question.seat, len(question.history.acts), phase)
    rng = random.Random(seed_of(question.game))
    chain = alternative_deals(question.history, question.seat, rng, until)
    used = islice(chain, BETWEEN - 1, many * BETWEEN, BETWEEN)
    return [world.game for world in used]
