"""The decisions of a logged game as examples to learn from, in the numbers of the environment."""

from collections.abc import Container, Iterator

from msgspec import Struct

from arena.analysis.timeline import AskedQuestion, Timeline
from arena.logs.gamelog import LoggedGame
from arena.training.actions import Mask
from arena.training.encoding import Encoding, Vector
from arena.training.episode import Rewards, round_margins, seat_question
from protocol.messages import Option
from protocol.records import ChoiceRecord, FoulClass, FoulRecord, RoundRecord


class DecisionRow(Struct, frozen=True, kw_only=True):
    """A question to a seat, in the encoding of the training environment, and the answer."""

    seat: int
    round: int
    """The round's number in the game, from 1."""
    number: int
    """The question's number among those to this seat in the game, from 1."""
    id: int
    """The question's number on the bot's pipe."""
    vector: Vector
    """All that the seat knew, and nothing else; see `arena.training.encoding`."""
    mask: Mask
    """1 for the number of each option; see `arena.training.actions`."""
    options: tuple[Option, ...]
    choice: int | None
    """The index of the chosen option; None: the seat fouled."""
    action: int | None
    """The number of the chosen option; None: the seat fouled, or the option has no number."""
    ms: float
    """The time charged, in ms."""
    foul: FoulClass | None


def decision_rows(
    timeline: Timeline, encoding: Encoding, seats: Container[int]
) -> Iterator[DecisionRow]:
    """Yield the answered questions to these seats, in the order in which they were asked."""
    every = range(len(timeline.logged.sitting.seats))
    asked = [one for seat in every if seat in seats for one in timeline.questions(seat)]
    for one in sorted(asked, key=lambda question: question.index):
        if one.answer:
            yield _row(encoding, one, one.answer)


def _row(
    encoding: Encoding, asked: AskedQuestion, record: ChoiceRecord | FoulRecord
) -> DecisionRow:
    ask, options = seat_question(asked.game, asked.seat, asked.options), asked.options
    choice = asked.choice
    return DecisionRow(
        seat=asked.seat,
        round=asked.round,
        number=asked.number,
        id=asked.question.id,
        vector=encoding.vector(ask),
        mask=encoding.actions.mask(options),
        options=options,
        choice=choice,
        action=None if choice is None else encoding.actions.find(options[choice]),
        ms=record.ms,
        foul=record.foul if isinstance(record, FoulRecord) else None,
    )


def margins_by_round(logged: LoggedGame) -> dict[int, Rewards]:
    """Return the environment's reward of each seat for each finished round, in points."""
    before, margins = (0,) * len(logged.sitting.seats), dict[int, Rewards]()
    for record in logged.records:
        if isinstance(record, RoundRecord):
            margins[record.round] = round_margins(logged.sitting.rules, before, record.scores)
            before = record.scores
    return margins
