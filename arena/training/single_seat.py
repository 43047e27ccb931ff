"""The engine as a Gymnasium environment: the agent has one seat, bots of the ladder the others.

    env = SingleSeatEnv("draw", 2, rivals="greedy", rounds=1)

Games, seeds, actions and rewards are those of `arena.training.boneyard_v0`. The observation is the
vector alone; `info["action_mask"]` is the mask, all 0 once the episode is over. As at a table, an
action that is not offered is a foul: the first option is taken, and `info["fouled"]` is True.

The agent has a choice in every episode: a board on which it has none is left out.
"""

from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np
from gymnasium import Env
from msgspec import to_builtins

from arena.engine import view
from arena.training.boneyard_v0 import Rendering, raw_env
from arena.training.encoding import Vector
from arena.training.episode import CLOCK, Reward
from arena.training.policy import Policy, Question
from protocol.codec import encode_line
from protocol.errors import UserError, unknown_name
from protocol.messages import Ask, Option
from protocol.ruleset import Ruleset
from sample_bots import counting, greedy, random_bot, suit

LADDER: Mapping[str, Policy] = {
    "first": lambda _: 0,
    "random": lambda one: random_bot.choose(encode_line(one.ask).decode()[:-1], one.ask.options),
    "greedy": lambda one: greedy.choose(to_builtins(one.ask)),
    "suit": lambda one: suit.choose(to_builtins(one.ask)),
    "counting": lambda one: counting.choose(to_builtins(one.ask), to_builtins(one.game.rules)),
}
"""Sample bots that choose within this process what they would choose at a table, weakest first."""


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

        `rivals`: a name of `LADDER`, or a policy as for `play`. Raises UserError like
        `boneyard_v0.env`, for an unknown rival, or if the table has no such seat.
        """
        table = raw_env(rules, seats, rounds=rounds, reward=reward, render_mode=render_mode)
        if isinstance(rivals, str) and rivals not in LADDER:
            raise unknown_name("rival", rivals, LADDER)
        if seat not in range(table.seats):
            raise UserError(f"There is no seat {seat!r}. Take one of 0 to {table.seats - 1}.")
        self.rules, self.seats, self.encoding = table.rules, table.seats, table.encoding
        self._table, self._seat, self._agent = table, seat, table.possible_agents[seat]
        self.observation_space = table.observation_space(self._agent)["observation"]
        self.action_space = table.action_space(self._agent)
        self.render_mode = render_mode
        self._rival = LADDER[rivals] if isinstance(rivals, str) else rivals
        self._owed = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin the next episode; a seed fixes its deals, and those of the episodes after it."""
        super().reset(seed=seed, options=options)
        self._begin(seed)
        while not self._table.episode.options:
            self._begin()
        return self._seen(fouled=False)

    def step(self, action: int | np.int64) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Take the option with this number, and let the rivals play until the agent has a choice.

        The reward is that of all that happened since the last step. Raises ValueError for a number
        that no option has, and RuntimeError once the episode is over.
        """
        episode, actions = self._table.episode, self.encoding.actions
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
        return self._table.question(self._agent)

    def render(self) -> str | None:
        """Return or print the table as text, with all hands."""
        return self._table.render()

    def _begin(self, seed: int | None = None) -> None:
        self._table.reset(seed)
        self._owed = 0.0
        self._play_rivals()

    def _play_rivals(self) -> None:
        """Let the rivals play until the agent has a choice or the episode ends."""
        episode = self._table.episode
        while episode.options and episode.seat != self._seat:
            ask = episode.question(episode.seat)
            starts = view.starting_events(episode.game, ask.game, ask.seat, CLOCK)
            self._take(episode.options[index(self._rival(Question(ask, starts)))])

    def _take(self, option: Option) -> None:
        self._owed += self._table.episode.act(option)[self._seat]

    def _seen(self, *, fouled: bool) -> tuple[Vector, dict[str, Any]]:
        ask = self.question()
        mask = self.encoding.actions.mask(ask.options)
        return self.encoding.vector(ask), {"action_mask": mask, "fouled": fouled}
