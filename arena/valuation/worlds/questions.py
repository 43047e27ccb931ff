"""The questions to a seat in a logged game, and the worlds that may be behind each of them."""

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from arena import engine
from arena.analysis.alternative_deals import (
    QUIET,
    DecisionPoint,
    PublicMove,
    RoundHistory,
    alternative_deals,
)
from arena.analysis.replay import deal_of, steps
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.logs.gamelog import LoggedGame
from arena.valuation.endgames import is_open
from arena.valuation.states import States
from arena.valuation.worlds.chains import worlds
from arena.valuation.worlds.hidden_tiles import HiddenTiles, UncoveredError, hidden_tiles, seed_of
from protocol.messages import Option
from protocol.records import ChoiceRecord, DealRecord, FoulRecord

BETWEEN = 60
"""Changes of the general chain between two worlds that are used."""
FEW = 12
"""The most worlds of a reviewed question that the general chain gives: it is slow."""


class AskedQuestion(NamedTuple):
    """A question to a seat in a logged game."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    game: Game
    """The table, nothing hidden."""
    options: tuple[Option, ...]
    """The seat's options."""
    record: int
    """The index in the log's records of the answer, or of where it would stand."""
    answer: ChoiceRecord | FoulRecord | None
    """The answer or the foul; None: the game was cut off before."""
    history: RoundHistory
    """The round up to the question, as everybody sees it."""

    @property
    def seat(self) -> int:
        """The seat that was asked."""
        return self.game.playing.turn


def asked_questions(logged: LoggedGame, seat: int) -> Iterator[AskedQuestion]:
    """Yield every question to a seat, in order; the last may be without an answer.

    Raises DamagedLogError.
    """
    start = game = engine.new_game(logged.sitting.rules, len(logged.sitting.seats))
    deals, acts = list[Dealt](), list[PublicMove]()
    fouled = set(logged.game.forfeited)
    number, at = 0, 0
    for step in steps(logged):
        record = step.record
        if record is not None:
            at = _place(logged, record, at)
        if isinstance(record, ChoiceRecord | FoulRecord) and record.seat == seat:
            number += 1
            history = RoundHistory(start, tuple(deals), tuple(acts))
            yield AskedQuestion(number, game, step.options, at, record, history)
        if isinstance(record, DealRecord):
            if game.round is None or game.playing.over:
                start, deals, acts = game, [], []
            deals.append(deal_of(record))
        elif isinstance(record, FoulRecord):
            fouled.add(record.seat)
        elif isinstance(record, ChoiceRecord | None):
            acts += _moves(game, record.choice if record else 0, fouled)
        game = step.game
    if logged.result is None and (options := engine.legal(game)) and game.playing.turn == seat:
        history = RoundHistory(start, tuple(deals), tuple(acts))
        yield AskedQuestion(number + 1, game, options, len(logged.records), None, history)


def _place(logged: LoggedGame, record: object, begin: int) -> int:
    """Return the index of a record of the log."""
    return next(at for at in range(begin, len(logged.records)) if logged.records[at] is record)


def _moves(game: Game, choice: int, fouled: set[int]) -> list[PublicMove]:
    """Return the public moves of a choice."""
    seat, option = game.playing.turn, engine.legal(game)[choice]
    return [] if isinstance(option, QUIET) else [PublicMove(seat, option, seat in fouled)]


def question_worlds(
    asked: Sequence[AskedQuestion], many: int, slow: int
) -> list[States | list[Game]]:
    """Return for each question so many worlds, at most `slow` where the general chain finds them.

    A table without hidden tiles has one world, and is itself. The questions are of one ruleset and
    number of seats.
    """
    hidden = [_hidden(question) for question in asked]
    fast = iter(worlds([one for one in hidden if one], many))
    return [
        next(fast)
        if one
        else States.of([question.game])
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
    moment = DecisionPoint(len(question.history.acts), question.game.playing.aside.phase)
    luck = random.Random(seed_of(question.game))
    chain = alternative_deals(question.history, question.seat, luck, (question.seat, moment))
    used = islice(chain, BETWEEN - 1, many * BETWEEN, BETWEEN)
    return [world.game for world in used]
