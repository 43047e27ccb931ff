"""One game without bots, clock or log: what is asked, what is done, and what it was worth."""

from collections.abc import Iterator, Sequence
from operator import add
from typing import Literal

from arena.engine import game as engine
from arena.engine import view
from arena.engine.state import Game
from arena.match.referee import needs_answer
from protocol.messages import Ask, Clock, Option
from protocol.ruleset import Ruleset

Reward = Literal["points", "places"]
"""What a step is worth; see `arena.training.boneyard_v0`."""
Rewards = tuple[float, ...]
"""What a step brought each seat."""
CLOCK = Clock()
"""As at a table, what has no alternative is not asked."""


class Episode:
    """A game from its first question to its end."""

    def __init__(self, rules: Ruleset, seats: int, seed: bytes, reward: Reward) -> None:
        """Deal and go on to the first question; `seed` is a board's, and fixes every deal.

        Raises ImpossibleRulesError when the game is not played at such a table.
        """
        self.game = engine.new_game(rules, seats)
        """The whole truth."""
        self.options: tuple[Option, ...] = ()
        """What the seat to move may choose from; none once the game is over."""
        self._seed = seed
        self._reward = reward
        self._before = self.game.scores
        self._owed = (0.0,) * seats
        # What rounds were worth in which nobody had a choice comes with the first step.
        self._owed = self._go_on(self.game)

    @property
    def seat(self) -> int:
        """The seat that is asked."""
        return self.game.playing.turn

    def question(self, seat: int) -> Ask:
        """All that a seat may know now; options are offered to the seat that is asked."""
        return question(self.game, seat, self.options if seat == self.seat else ())

    def act(self, option: Option) -> Rewards:
        """Take one of the options and go on to the next question; what that brought each seat.

        Raises IllegalOptionError for an option that is not offered.
        """
        if option not in self.options:
            raise engine.IllegalOptionError(f"Not offered: {option}. Take one of `options`.")
        return self._go_on(engine.act_unchecked(self.game, option))

    def _go_on(self, game: Game) -> Rewards:
        """Deal, and do what is forced, until somebody has a choice or the game is over."""
        rewards, self._owed = self._owed, (0.0,) * game.seats
        while True:
            if game.round and game.round.over:
                rewards = tuple(map(add, rewards, self._worth(game)))
            if game.over:
                self.game, self.options = game, ()
                return rewards
            if engine.needs_deal(game):
                game = engine.begin(game, engine.chance_decides(game, self._seed))
                continue
            options = engine.legal(game)
            if needs_answer(CLOCK, options, fouled=False):
                self.game, self.options = game, options
                return rewards
            game = engine.act_unchecked(game, options[0])

    def _worth(self, game: Game) -> Rewards:
        """What the round that is over is worth to each seat."""
        before, self._before = self._before, game.scores
        if self._reward == "places":
            return standing(game) if game.over else (0.0,) * game.seats
        changes = [now - then for now, then in zip(game.scores, before, strict=True)]
        return tuple(
            own - sum(rivals) / len(rivals) for own, rivals in _rivals(game.rules, changes)
        )


def question(game: Game, seat: int, options: tuple[Option, ...]) -> Ask:
    """What a seat may know of a game, as it would be asked at a table."""
    events = view.history(game.playing, seat)
    return view.question(game, seat, options, events, id=0, number=0, time_ms=0)


def standing(game: Game) -> Rewards:
    """For each seat the share of rivals that it left behind, less the share in front of it."""
    return tuple(
        sum((place > own) - (place < own) for place in rivals) / len(rivals)
        for own, rivals in _rivals(game.rules, engine.places(game))
    )


def _rivals(rules: Ruleset, values: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """The value of each seat, and those of its rivals: all others, or the other side, once."""
    for seat, own in enumerate(values):
        others = [other for at, other in enumerate(values) if at != seat]
        yield own, [values[1 - seat % 2]] if rules.deal.partners else others
