"""The decisions of a logged game as examples to learn from, in the numbers of the environment."""

from collections import Counter
from collections.abc import Container, Iterator

from msgspec import Struct

from arena.analysis.replay import steps
from arena.engine.state import Game
from arena.logs.gamelog import LoggedGame
from arena.match.referee import QUESTIONS_A_GAME
from arena.training.actions import Mask
from arena.training.encoding import Encoding, Vector
from arena.training.episode import Rewards, round_margins, seat_question
from protocol.messages import Option
from protocol.records import ChoiceRecord, FoulClass, FoulRecord, RoundRecord


class DecisionRow(Struct, frozen=True, kw_only=True):
    """A question to a seat, in the encoding of the training environment, and the answer."""

    seat: int
    """The seat that was asked."""
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
    """The options in the question's order."""
    choice: int | None
    """The index of the chosen option; None: the seat fouled."""
    action: int | None
    """The number of the chosen option; None: the seat fouled, or the option has no number."""
    ms: float
    """The time charged, in ms."""
    foul: FoulClass | None
    """The class of the foul, if the seat fouled."""


def decision_rows(
    logged: LoggedGame, encoding: Encoding, seats: Container[int]
) -> Iterator[DecisionRow]:
    """Yield the answered questions to these seats, in the order in which they were asked.

    Raises DamagedLogError at the first record that cannot follow.
    """
    game: Game | None = None
    asked = Counter[int]()
    for step in steps(logged):
        record = step.record
        if isinstance(record, ChoiceRecord | FoulRecord):
            asked[record.seat] += 1
            if game and record.seat in seats:
                yield _row(logged, encoding, game, step.options, record, asked[record.seat])
        game = step.game


def _row(
    logged: LoggedGame,
    encoding: Encoding,
    game: Game,
    options: tuple[Option, ...],
    record: ChoiceRecord | FoulRecord,
    number: int,
) -> DecisionRow:
    ask = seat_question(game, record.seat, options)
    mask = encoding.actions.mask(options)
    choice = record.choice if isinstance(record, ChoiceRecord) else None
    return DecisionRow(
        seat=record.seat,
        round=ask.round,
        number=number,
        id=logged.game.number * QUESTIONS_A_GAME + number,
        vector=encoding.vector(ask),
        mask=mask,
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
