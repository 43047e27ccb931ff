"""One game without bots, clock or log, and the decisions of a logged game as examples."""

from collections.abc import Iterable, Iterator, Sequence
from operator import add
from typing import Any, Literal, NamedTuple

from arena import engine
from arena.analysis.timeline import AnswerRecord, AskedQuestion, Timeline
from arena.engine import view
from arena.engine.deal import begin, chance_decides
from arena.engine.state import Game
from arena.logs.gamelog import LoggedGame
from arena.match.referee import needs_answer
from arena.training.encoding import ChoiceMask, Encoding, Vector
from protocol.messages import Ask, Clock, Option
from protocol.records import RoundRecord
from protocol.ruleset import Ruleset, count_sides, side_of

# One game without bots, clock or log: its questions, actions and rewards, and how it looks.


Reward = Literal["points", "places"]
"""The kind of reward of a step; see `arena.training.boneyard_v0`."""
Rewards = tuple[float, ...]
TRAINING_CLOCK = Clock()
"""The clock of a table, on which a seat without an alternative is not asked."""


class Episode:
    """A game from its first question to its end."""

    def __init__(self, rules: Ruleset, seats: int, seed: bytes, reward: Reward) -> None:
        """Deal and go on to the first question; `seed` is a board's, and fixes every deal.

        Raises ImpossibleRulesError if the game has no table of this size.
        """
        self.game = engine.new_game(rules, seats)
        """The complete state of the game."""
        self.options: tuple[Option, ...] = ()
        """The options of the seat to move; none once the game is over."""
        self._seed = seed
        self._reward = reward
        self._before = self.game.scores
        self._owed = (0.0,) * seats
        # Rewards of rounds in which no seat had a choice are added to the first step.
        self._owed = self._go_on()

    @property
    def seat(self) -> int:
        """Return the seat that is asked."""
        return self.game.playing.turn

    def question(self, seat: int) -> Ask:
        """Return all that a seat may know now; only the seat that is asked gets options."""
        return seat_question(self.game, seat, self.options if seat == self.seat else ())

    def act(self, option: Option) -> Rewards:
        """Take one of the options and go on to the next question; return the reward of each seat.

        Raises IllegalOptionError if the option is not offered.
        """
        if option not in self.options:
            raise engine.IllegalOptionError(f"Not offered: {option}. Take one of `options`.")
        engine.act_unchecked(self.game, option)
        return self._go_on()

    def _go_on(self) -> Rewards:
        """Deal and take forced actions until a seat has a choice or the game ends."""
        game = self.game
        rewards, self._owed = self._owed, (0.0,) * game.seats
        while True:
            if game.round and game.round.over:
                gained = round_margins(game.rules, self._before, game.scores)
                if self._reward == "places":
                    gained = standing(game) if game.over else (0.0,) * game.seats
                rewards, self._before = tuple(map(add, rewards, gained)), game.scores
            if game.over:
                self.options = ()
                return rewards
            if engine.needs_deal(game):
                begin(game, chance_decides(game, self._seed))
                continue
            self.options = engine.legal(game)
            if needs_answer(TRAINING_CLOCK, self.options, fouled=False):
                return rewards
            engine.act_unchecked(game, self.options[0])


def seat_question(game: Game, seat: int, options: tuple[Option, ...]) -> Ask:
    """Return a seat's view of a game as the question that a table would ask."""
    events = view.history(game.playing, seat)
    return view.question(game, seat, options, events, id=0, number=0, time_ms=0)


def round_margins(rules: Ruleset, before: Sequence[int], after: Sequence[Any]) -> Rewards:
    """Return for each seat the change of its score less the mean change of its rivals' scores."""
    changes = [now - old for now, old in zip(after, before, strict=True)]
    return tuple(change - sum(rivals) / len(rivals) for change, rivals in _rivals(rules, changes))


def standing(game: Game) -> Rewards:
    """Return for each seat the share of rivals ranked below it minus the share ranked above it."""
    return tuple(
        sum((place > rank) - (place < rank) for place in rivals) / len(rivals)
        for rank, rivals in _rivals(game.rules, engine.places(game))
    )


def _rivals(rules: Ruleset, values: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield each seat's value and its rivals' values: all other seats, or the other side, once."""
    partners = rules.deal.partners
    sides = range(count_sides(partners, len(values)))
    for seat, value in enumerate(values):
        yield value, [values[side] for side in sides if side != side_of(partners, seat)]


# The decisions of a logged game as examples to learn from, in the numbers of the environment.


class DecisionRow(NamedTuple):
    """An answered question to a seat, in the encoding of the training environment."""

    question: AskedQuestion
    answer: AnswerRecord
    vector: Vector
    mask: ChoiceMask
    action: int | None
    """The number of the chosen option; None: the seat fouled, or the option has no number."""


def decision_rows(
    timeline: Timeline, encoding: Encoding, seats: Iterable[int]
) -> Iterator[DecisionRow]:
    """Yield the answered questions to these seats, in the order in which they were asked."""
    numbers = encoding.actions.numbers
    questions = [question for seat in seats for question in timeline.questions(seat)]
    for question in sorted(questions, key=lambda question: question.index):
        if question.answer:
            ask = seat_question(question.game, question.seat, question.options)
            choice = question.choice
            action = None if choice is None else numbers.get(question.options[choice])
            mask = encoding.actions.mask(question.options)
            yield DecisionRow(question, question.answer, encoding.vector(ask), mask, action)


def margins_by_round(logged: LoggedGame) -> dict[int, Rewards]:
    """Return the environment's reward of each seat for each finished round, in points."""
    before, margins = (0,) * len(logged.sitting.seats), dict[int, Rewards]()
    for record in logged.records:
        if isinstance(record, RoundRecord):
            margins[record.round] = round_margins(logged.sitting.rules, before, record.scores)
            before = record.scores
    return margins
