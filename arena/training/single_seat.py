"""The engine as a Gymnasium environment: the agent has one seat, bots of the ladder the others.

    env = SingleSeatEnv("draw", 2, rivals="greedy", rounds=1)

Games, seeds, actions and rewards are those of `arena.training.boneyard_v0`. The observation is the
vector alone; `info["action_mask"]` is the mask, all 0 once the episode is over. As at a table, an
action that is not offered is a foul: the first option is taken, and `info["fouled"]` is True.

The agent has a choice in every episode: a board on which it has none is left out.
"""

from operator import index
from typing import Any

import numpy as np
from gymnasium import Env

from arena.engine import view
from arena.training.boneyard_v0 import Rendering, raw_env
from arena.training.encoding import Vector
from arena.training.episode import CLOCK, Boards, Reward, draw_episode
from arena.training.policy import Policy, Question
from arena.training.rivals import find_rival
from protocol.errors import UserError
from protocol.messages import Ask, Option
from protocol.ruleset import Ruleset


class SingleSeatEnv(Env[Vector, np.int64]):
    """A game in which the agent has one seat."""

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 1}  # noqa: RUF012 - as its base declares it

    def __init__(
        self,
        rules: str | Ruleset = "draw",
        seats: int | None = None,
        *,
        rivals: str | Policy = "greedy",
        seat: int = 0,
        rounds: int | None = None,
        reward: Reward = "points",
        render_mode: Rendering | None = None,
    ) -> None:
        """Set up a game as `boneyard_v0.env` does; `rivals` has all seats but the agent's.

        `rivals`: a name of `arena.training.rivals.LADDER`, or a policy as for `play`. Raises
        UserError like `boneyard_v0.env`, for an unknown rival, or if the table has no such seat.
        """
        table = raw_env(rules, seats, rounds=rounds, reward=reward)
        if seat not in range(table.seats):
            raise UserError(f"There is no seat {seat!r}. Take one of 0 to {table.seats - 1}.")
        self.rules, self.seats = table.rules, table.seats
        """The ruleset, and the number of seats at the table."""
        self.encoding = table.encoding
        """The encoding of observations and actions."""
        self.observation_space = table.observation_space(table.possible_agents[0])["observation"]
        self.action_space = table.action_space(table.possible_agents[0])
        self.render_mode = render_mode
        self._boards = Boards(table.rules, table.seats, reward)
        self._rival, self._seat, self._owed = find_rival(rivals), seat, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin the next episode; a seed fixes its deals, and those of the episodes after it."""
        super().reset(seed=seed, options=options)
        self._begin(seed)
        while not self._episode.options:
            self._begin()
        return self._seen(fouled=False)

    def step(self, action: int | np.int64) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Take the option with this number, and let the rivals play until the agent has a choice.

        The reward is that of all that happened since the last step. Raises ValueError for a number
        that no option has, and RuntimeError once the episode is over.
        """
        episode, actions = self._episode, self.encoding.actions
        if not episode.options:
            raise RuntimeError("The episode is over. Call reset().")
        if action not in self.action_space:
            raise ValueError(f"Not an action: {action!r}. Take one of {self.action_space}.")
        option = actions.options[action]
        fouled = option not in episode.options
        self._take(episode.options[0] if fouled else option)
        self._play_rivals()
        reward, self._owed = self._owed, 0.0
        if self.render_mode == "human":
            self.render()
        vector, info = self._seen(fouled=fouled)
        return vector, reward, not episode.options, False, info

    def question(self) -> Ask:
        """Return the question as a bot receives it, for custom encodings."""
        return self._episode.question(self._seat)

    def render(self) -> str | None:
        """Return or print the table as text, with all hands."""
        text = draw_episode(self._episode)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def _begin(self, seed: int | None = None) -> None:
        self._episode, self._owed = self._boards.next(seed), 0.0
        self._play_rivals()

    def _play_rivals(self) -> None:
        """Let the rivals play until the agent has a choice or the episode ends."""
        episode = self._episode
        while episode.options and episode.seat != self._seat:
            ask = episode.question(episode.seat)
            starts = view.starting_events(episode.game, ask.game, ask.seat, CLOCK)
            self._take(episode.options[index(self._rival(Question(ask, starts)))])

    def _take(self, option: Option) -> None:
        self._owed += self._episode.act(option)[self._seat]

    def _seen(self, *, fouled: bool) -> tuple[Vector, dict[str, Any]]:
        """Return the observation and what goes with it."""
        ask = self.question()
        mask = self.encoding.actions.mask(ask.options)
        return self.encoding.vector(ask), {"action_mask": mask, "fouled": fouled}
