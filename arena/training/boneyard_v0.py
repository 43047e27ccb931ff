"""The engine as a PettingZoo environment (AEC): seats take turns, each sees what it may know.

    env = boneyard_v0.env(rules="draw", seats=2, rounds=1)

An agent is a seat: `player_0`, `player_1`, ... Its observation is a dictionary: `observation`, the
vector of `arena.training.encoding`, and `action_mask`, over the numbers of
`arena.training.encoding`; all 0 for a seat that is not to move. As at a table, a seat is asked only
if it has a choice, and an episode is a game: as many rounds as its rules ask for, or `rounds`.
Agents end together, and no game is cut short: `truncations` stay False.

Rewards, with partners the same for both:

* "points": at the end of a round, the change of the seat's own score (fees and antes included),
  minus the average change of the scores of the other seats, or minus that of the other side;
* "places": at the end of the game, the number of seats ranked below minus the number ranked above,
  divided by the number of other seats: 1 for the first, -1 for the last, 0 for a tie.

A seed fixes the deals of this episode and of those after it, until another seed is given.
"""

import secrets
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as missing:
    raise ImportError(
        "The training environment needs the package pettingzoo, which is not installed: "
        "pip install '.[train]' in the clone."
    ) from missing

from arena.analysis.frames import frame_at
from arena.analysis.text import Look, draw_frame
from arena.analysis.timeline import Moment
from arena.engine.shuffle import board_seed
from arena.rules.variants import derive, find_variant
from arena.training.encoding import ChoiceMask, Encoding, Episode, Reward, Vector
from protocol.errors import UserError, unknown_name
from protocol.messages import Ask
from protocol.ruleset import Ruleset, playable_seat_counts

Rendering = Literal["ansi", "human"]
Observation = dict[Literal["observation", "action_mask"], Vector | ChoiceMask]


def env(*args: Any, **options: Any) -> Any:
    """Return an environment that reports its use before `reset`; it takes what `raw_env` takes."""
    return OrderEnforcingWrapper(raw_env(*args, **options))


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 - PettingZoo calls it so
    """The environment without wrappers, in PettingZoo's naming."""

    metadata = {  # noqa: RUF012 - as its base declares it
        "name": "boneyard_v0",
        "render_modes": ["ansi", "human"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Ruleset = "draw",
        seats: int | None = None,
        *,
        rounds: int | None = None,
        reward: Reward = "points",
        render_mode: Rendering | None = None,
    ) -> None:
        """Set up a game: a name or a ruleset, at its smallest table unless `seats` is given.

        `rounds`: how many make an episode, instead of a target. Raises UserError for an unknown
        game or reward, for `rounds` below 1, or for a number of seats that the game does not allow.
        """
        super().__init__()
        if reward not in get_args(Reward):
            raise unknown_name("reward", f"{reward}", get_args(Reward))
        ruleset = find_variant(rules) if isinstance(rules, str) else rules
        count: object = rounds
        if count is not None:
            # In a ruleset 0 means: to the target.
            if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
                raise UserError(f"rounds must be a whole number of 1 or more, not {count!r}.")
            ruleset = derive(ruleset, ruleset.name, {"rounds": int(count)})
        self.rules = ruleset
        self.seats = playable_seat_counts(ruleset)[0] if seats is None else seats
        self.encoding = Encoding(ruleset, self.seats)
        self.episode: Episode
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.seats)]
        self._reward, self._secret, self._board = reward, secrets.token_bytes(), 0
        low, high = self.encoding.bounds()
        action_count = len(self.encoding.actions.options)
        fields: dict[str, spaces.Space[Any]] = {
            "observation": spaces.Box(low, high, dtype=np.float32),
            "action_mask": spaces.Box(0, 1, (action_count,), np.int8),
        }
        self._observations = {agent: spaces.Dict(fields) for agent in self.possible_agents}
        self._actions = {agent: spaces.Discrete(action_count) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of the values of `observe`."""
        return self._observations[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of the numbers of all options."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - PettingZoo passes it
        """Begin the next episode; a seed fixes its deals, and those of the episodes after it.

        It uses the seed's next board on which a seat has a choice; boards are the same everywhere.
        """
        if seed is not None:
            self._secret, self._board = f"{seed}".encode(), 0
        has_begun = False
        while not has_begun:
            self._board += 1
            board = board_seed(self._secret, "training", self._board)
            self.episode = Episode(self.rules, self.seats, board, self._reward)
            has_begun = bool(self.episode.options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self.episode.seat]

    def step(self, action: int | None) -> None:
        """Take the option with this number for the agent to move; None once the game is over.

        Raises ValueError if the option is not offered.
        """
        agent, episode = self.agent_selection, self.episode
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        number = -1 if action is None else int(action)
        choice = self.encoding.actions.choice(number, episode.options)
        self._cumulative_rewards[agent] = 0.0
        brought = episode.act(episode.options[choice])
        self.rewards = dict(zip(self.agents, brought, strict=True))
        self._accumulate_rewards()
        if episode.options:
            self.agent_selection = self.agents[episode.seat]
        else:
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return what a seat may know now, and the mask of its options."""
        ask = self.question(agent)
        return {
            "observation": self.encoding.vector(ask),
            "action_mask": self.encoding.actions.mask(ask.options),
        }

    def question(self, agent: str) -> Ask:
        """Return the question as a bot receives it, for custom encodings."""
        return self.episode.question(self.possible_agents.index(agent))

    def render(self) -> str | None:
        """Return or print the table as text, with all hands and the options."""
        game, look = self.episode.game, Look(tuple(self.possible_agents))
        text = draw_frame(frame_at(Moment(game, game, (), None, None, 0), None), look).plain
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""
