"""The environment of one seat, thousands at a time: rounds in arrays instead of one after another.

    envs = RoundsVectorEnv(1024, "draw", 2, rivals="greedy")

Row i of `reset(seed=s)` is `SingleSeatEnv(..., rounds=1)` after `reset(seed=s + i)`, at every step.
An episode is one round, and its reward comes at its end. The observation of a row whose episode has
ended is the next one's first (`AutoresetMode.SAME_STEP`); the last one is in `infos["final_obs"]`.
`infos["action_mask"]` belongs to the observations, `infos["fouled"]` to the actions just taken.
"""

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arena import engine
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.training.actions import Mask
from arena.training.batch_encoding import SeenRounds
from arena.training.encoding import Vector
from arena.training.single_seat import SingleSeatEnv
from arena.valuation.batch import Numbers, Places
from protocol.errors import UserError, unknown_name
from protocol.ruleset import Ruleset

BatchRival = Callable[[Vector, Mask], Numbers]
"""A function from the vectors and masks of many questions to an action for each."""
NAMES = ("first", "greedy")


class RoundsVectorEnv(VectorEnv[Vector, Numbers, NDArray[Any]]):
    """Many rounds in which the agent has one seat, of one game."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as its base declares it

    def __init__(
        self,
        num_envs: int,
        rules: str | Ruleset = "draw",
        seats: int | None = None,
        *,
        rivals: str | BatchRival = "greedy",
        seat: int = 0,
    ) -> None:
        """Set up rounds as `SingleSeatEnv` does.

        `rivals`: "first", "greedy", or a function that chooses for all rows that wait, such as the
        agent's own network. Raises UserError for `num_envs` below 1, another rival, a game whose
        turns arrays do not have (auctions, calls, two tiles a turn), or as `SingleSeatEnv`.
        """
        if num_envs < 1:
            raise UserError(f"num_envs must be 1 or more, not {num_envs}.")
        if isinstance(rivals, str) and rivals not in NAMES:
            raise unknown_name("rival of arrays", rivals, NAMES)
        one = SingleSeatEnv(rules, seats, seat=seat, rounds=1)
        self.num_envs, self.encoding = num_envs, one.encoding
        self.single_observation_space = one.observation_space
        self.single_action_space = one.action_space
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.action_space = batch_space(one.action_space, num_envs)
        self._rules, self._seats, self._seat, self._rivals = one.rules, one.seats, seat, rivals
        self._new = engine.new_game(one.rules, one.seats)
        self._rounds = SeenRounds(one.rules, one.seats, one.encoding)
        self._every = np.arange(num_envs)
        self._secrets = [secrets.token_bytes() for _ in self._every]
        self._boards = [0] * num_envs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin an episode in every row; a seed fixes all deals from now on."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._secrets = [f"{seed + row}".encode() for row in range(self.num_envs)]
            self._boards = [0] * self.num_envs
        self._masks = np.zeros((self.num_envs, len(self.encoding.actions.options)), np.int8)
        self._rounds.begin([self._deal(row) for row in range(self.num_envs)])
        # What ends before the agent's first choice was no episode.
        self._ended = np.ones(self.num_envs, np.bool_)
        self._play_on(self._every)
        return self._seen(np.zeros(self.num_envs, np.bool_))

    def step(
        self, actions: Numbers
    ) -> tuple[Vector, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take an action in each row, and let the rivals play until the agent has a choice.

        Raises ValueError for a number that no option has.
        """
        actions = np.asarray(actions)
        if actions not in self.action_space:
            raise ValueError(f"Not actions: {actions}. Take those of {self.action_space}.")
        rounds, every = self._rounds, self._every
        fouled = self._masks[every, actions] == 0
        fouls = every[fouled]
        if fouls.size:
            actions = actions.copy()
            actions[fouls] = rounds.choose(fouls, self._masks[fouls], greedy=False)
        rounds.act(every, actions)
        self._ended = np.zeros(self.num_envs, np.bool_)
        self._rewards = np.zeros(self.num_envs)
        self._final = np.zeros((self.num_envs, self.encoding.size), np.float32)
        self._play_on(every)
        vectors, infos = self._seen(fouled)
        if self._ended.any():
            infos |= {"final_obs": self._final, "_final_obs": self._ended}
        return vectors, self._rewards, self._ended, np.zeros(self.num_envs, np.bool_), infos

    def _end(self, rows: Places) -> None:
        """Note what came of the episodes in these rows, and deal their next boards."""
        first = rows[~self._ended[rows]]
        if first.size:
            self._rewards[first] = self._rounds.margins(first, self._seat)
            self._final[first] = self._rounds.vectors(first, self._seat)
            self._ended[first] = True
        self._rounds.replace(rows, [self._deal(row) for row in rows.tolist()])

    def _deal(self, row: int) -> Game:
        """Return the next board of a row, on which a round has begun."""
        self._boards[row] += 1
        seed = board_seed(self._secrets[row], "training", self._boards[row])
        game = self._new.copy()
        while engine.needs_deal(game) and not game.over:
            engine.begin(game, engine.chance_decides(game, seed))
        return game

    def _play_on(self, rows: Places) -> None:
        """Play until the agent has a choice in each row; where a round ends, in the next one."""
        rounds, ended = self._rounds, rows[:0]
        while rows.size or ended.size:
            # Dealing many rounds at once costs less, and so does playing them on with the others.
            if len(ended) > len(rows):
                self._end(ended)
                rows, ended = np.concatenate([rows, ended]), ended[:0]
            over = rounds.batch.ended[rows]
            ended, rows = np.concatenate([ended, rows[over]]), rows[~over]
            masks, own = rounds.masks(rows), rounds.batch.turn[rows] == self._seat
            options = np.count_nonzero(masks, axis=1)
            asked = own & (options > 1)
            self._masks[rows[asked]] = masks[asked]
            rows, masks, options = rows[~asked], masks[~asked], options[~asked]
            actions = masks.argmax(axis=1)
            chosen = np.flatnonzero(options > 1)
            if chosen.size:
                actions[chosen] = self._chosen(rows[chosen], masks[chosen])
            if rows.size:
                rounds.act(rows, actions)

    def _chosen(self, rows: Places, masks: Mask) -> Numbers:
        rounds = self._rounds
        if isinstance(self._rivals, str):
            return rounds.choose(rows, masks, greedy=self._rivals == "greedy")
        turn, actions = rounds.batch.turn[rows], np.zeros(len(rows), np.intp)
        vectors = np.empty((len(rows), self.encoding.size), np.float32)
        for seat in range(self._seats):
            vectors[turn == seat] = rounds.vectors(rows[turn == seat], seat)
        actions[:] = self._rivals(vectors, masks)
        fouled = masks[np.arange(len(rows)), actions] == 0
        if fouled.any():
            raise ValueError(f"A rival chose what is not offered: {actions[fouled][0]}.")
        return actions

    def _seen(self, fouled: NDArray[np.bool_]) -> tuple[Vector, dict[str, Any]]:
        all_rows = np.ones(self.num_envs, np.bool_)
        vectors = self._rounds.vectors(self._every, self._seat)
        infos = {"action_mask": self._masks.copy(), "_action_mask": all_rows}
        return vectors, infos | {"fouled": fouled, "_fouled": all_rows}
