"""The worlds that may be behind the questions to a seat in a logged game."""

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

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


class Worlds(NamedTuple):
    """The worlds of some questions, as many of each."""

    questions: list[int]
    """The places of the questions among those that were asked for."""
    each: int
    rounds: RoundBatch
    """All worlds of the first question, then of the next."""
    games: Sequence[Game] = ()
    """The same as games, where options are not always those of arrays."""


def question_worlds(asked: Sequence[AskedQuestion], many: int, slow: int) -> Iterator[Worlds]:
    """Yield so many worlds of each question, at most `slow` where the general chain finds them.

    A table without hidden tiles has one world, and is itself. The questions are of one ruleset and
    number of seats.
    """
    known = [at for at, one in enumerate(asked) if is_open(one.game)]
    if known:
        yield Worlds(known, 1, RoundBatch.of([asked[at].game for at in known]))
    hidden = {at: _hidden(asked[at]) for at in {*range(len(asked))}.difference(known)}
    covered = {at: one for at, one in hidden.items() if one}
    if covered:
        yield Worlds([*covered], many, worlds([*covered.values()], many))
    for at in hidden.keys() - covered.keys():
        games = _general_worlds(asked[at], min(many, slow))
        yield Worlds([at], len(games), RoundBatch.of(games), games)


def _hidden(question: AskedQuestion) -> HiddenTiles | None:
    """Return what the asked seat cannot see; None if only the general chain knows it.

    A seat that has fouled plays its first option, which tells of the order of its hand.
    """
    if any(move.fallback for move in question.history.acts):
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
