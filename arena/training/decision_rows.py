"""The decisions of a logged game as examples to learn from, in the numbers of the environment."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from arena.analysis.timeline import Answer, AskedQuestion, Timeline
from arena.logs.gamelog import LoggedGame
from arena.training.actions import Mask
from arena.training.encoding import Encoding, Vector
from arena.training.episode import Rewards, round_margins, seat_question
from protocol.records import RoundRecord


class DecisionRow(NamedTuple):
    """An answered question to a seat, in the encoding of the training environment."""

    asked: AskedQuestion
    answer: Answer
    vector: Vector
    mask: Mask
    action: int | None
    """The number of the chosen option; None: the seat fouled, or the option has no number."""


def decision_rows(
    timeline: Timeline, encoding: Encoding, seats: Iterable[int]
) -> Iterator[DecisionRow]:
    """Yield the answered questions to these seats, in the order in which they were asked."""
    numbers = encoding.actions.numbers
    every = [one for seat in seats for one in timeline.questions(seat)]
    for one in sorted(every, key=lambda question: question.index):
        if one.answer:
            ask = seat_question(one.game, one.seat, one.options)
            action = None if one.choice is None else numbers.get(one.options[one.choice])
            mask = encoding.actions.mask(one.options)
            yield DecisionRow(one, one.answer, encoding.vector(ask), mask, action)


def margins_by_round(logged: LoggedGame) -> dict[int, Rewards]:
    """Return the environment's reward of each seat for each finished round, in points."""
    before, margins = (0,) * len(logged.sitting.seats), dict[int, Rewards]()
    for record in logged.records:
        if isinstance(record, RoundRecord):
            margins[record.round] = round_margins(logged.sitting.rules, before, record.scores)
            before = record.scores
    return margins
