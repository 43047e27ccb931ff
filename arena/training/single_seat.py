"""Gymnasium environments of one seat, against bots: one game at a time, or thousands of rounds.

    env = SingleSeatEnv("draw", 2, rivals="greedy", rounds=1)

Games, seeds, actions and rewards are those of `arena.training.boneyard_v0`. The observation is the
vector alone; `info["action_mask"]` is the mask, all 0 once the episode is over. As at a table, an
action that is not offered is a foul: the first option is taken, and `info["fouled"]` is True.

The agent has a choice in every episode: a board on which it has none is left out.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

# First, since it says which package is missing, if one is.
from arena.training.boneyard_v0 import Rendering, raw_env  # isort: skip

import numpy as np
from gymnasium import Env
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from msgspec import to_builtins
from numpy.typing import NDArray

from arena import engine
from arena.analysis.frames import PassesAndDraws
from arena.engine import view
from arena.engine.deal import begin, chance_decides, choose_leader, lay_out, method
from arena.engine.shuffle import SEED, WORD, RandomWords, board_seed, shuffle
from arena.engine.state import Game
from arena.training.encoding import (
    MAX_TARGET_SHARE,
    PLAY_ENDS,
    TRAINING_CLOCK,
    ChoiceMask,
    Encoding,
    Reward,
    Vector,
    round_margins,
)
from arena.training.policy import PolicyFunction, Question
from arena.valuation.batch import NO_TILE, Flags, Ints, NumberArray, Places, RoundBatch, mask_tables
from protocol.codec import encode_line
from protocol.errors import UserError, unknown_name
from protocol.messages import Ask, Draw, Option, Pass
from protocol.ruleset import BY_DOUBLE, Ruleset, set_of_tiles, target
from sample_bots import counting, greedy, random_bot, suit

LADDER: Mapping[str, PolicyFunction] = {
    "first": lambda _: 0,
    "random": lambda q: random_bot.choose(encode_line(q.ask).decode()[:-1], q.ask.options),
    "greedy": lambda q: greedy.choose(to_builtins(q.ask)),
    "suit": lambda q: suit.choose(to_builtins(q.ask)),
    "counting": lambda q: counting.choose(to_builtins(q.ask), to_builtins(q.game.rules)),
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
        rivals: str | PolicyFunction = "greedy",
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
        return self._observe(fouled=False)

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
        vector, info = self._observe(fouled=fouled)
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
            starts = view.starting_events(episode.game, ask.game, ask.seat, TRAINING_CLOCK)
            self._take(episode.options[index(self._rival(Question(ask, starts)))])

    def _take(self, option: Option) -> None:
        self._owed += self._table.episode.act(option)[self._seat]

    def _observe(self, *, fouled: bool) -> tuple[Vector, dict[str, Any]]:
        ask = self.question()
        mask = self.encoding.actions.mask(ask.options)
        return self.encoding.vector(ask), {"action_mask": mask, "fouled": fouled}


# Rounds side by side, with what their seats saw: vectors and masks as those of an `Episode`.


WORST_RANK = np.iinfo(np.int16).max
GRADE = 200
"""The distance of two grades: more than the ranks within one."""
VECTORS_AT_ONCE = 1024
"""Vectors that are made at a time: they stay in the processor's cache."""


class SeenRounds:
    """First rounds of one game, each a row; rows are replaced and played on in place."""

    def __init__(self, rules: Ruleset, seats: int, encoding: Encoding) -> None:
        """Begin without rows. Raises UserError for rules that arrays do not have."""
        self.tables = mask_tables(rules, seats)
        if rules.turn.tiles > 1 or rules.boneyard.auction or rules.end.blocked == "call":
            raise UserError(
                f"The game {rules.name} has turns that arrays do not have: bids, calls, or pairs "
                "of tiles. Take SingleSeatEnv."
            )
        self.rules, self.seats, self.encoding = rules, seats, encoding
        self.batch: RoundBatch
        tiles = set_of_tiles(rules.deal)
        self._bits = self.tables.bits.take(self.tables.ranks)
        self._pips = 1 << np.arange(rules.deal.highest_pip + 1, dtype=np.int32)
        self._target = target(rules, seats)
        self._draw, self._pass = (encoding.actions.numbers[option] for option in (Draw(), Pass()))
        grades = np.array([40 * (high == low) + high + low for high, low in tiles])
        self._grades = np.tile(grades * GRADE, len(PLAY_ENDS)).astype(np.int16)

    def begin(self, batch: RoundBatch) -> None:
        """Take these rounds, which have begun, as the rows."""
        self.batch, self._leader = batch, batch.turn.copy()
        self._played = np.zeros_like(batch.hands)
        self._acts = PassesAndDraws(*np.zeros((2, *self._played.shape), np.int32))
        held = batch.hands.T[:, :, None] & self._bits != 0
        # In the order in which they came.
        self._came = np.where(held, batch.order[self.tables.ranks].T[:, None], np.int16(0))

    def replace(self, rows: Places, batch: RoundBatch) -> None:
        """Put these rounds, which have begun, in the places of rows."""
        fresh = SeenRounds(self.rules, self.seats, self.encoding)
        fresh.begin(batch)
        self.batch.replace(rows, batch)
        facts = zip((self._played, *self._acts), (fresh._played, *fresh._acts), strict=True)
        for array, new in facts:
            array[:, rows] = new
        self._leader[rows], self._came[rows] = fresh._leader, fresh._came

    def masks(self, rows: Places) -> ChoiceMask:
        """Return the mask of each seat to move; all 0 once the round is over."""
        choices = self.batch.choices(rows)
        mask = np.zeros((len(rows), len(self.encoding.actions.options)), np.int8)
        mask[:, : len(self._grades)] = self._spread(choices["plays"])
        mask[:, self._draw], mask[:, self._pass] = choices["draws"], choices["passes"]
        mask[self.batch.is_over[rows]] = 0
        return mask

    def vectors(self, rows: Places, seat: int) -> Vector:
        """Return what a seat may know of these rounds, as `Encoding.vector`."""
        vectors = np.empty((len(rows), self.encoding.size), np.float32)
        for start in range(0, len(rows), VECTORS_AT_ONCE):
            part = slice(start, start + VECTORS_AT_ONCE)
            self._look(rows[part], seat, vectors[part])
        return vectors

    def _look(self, rows: Places, seat: int, vectors: Vector) -> None:
        """Write what a seat may know of these rounds."""
        batch, parts, tiles = self.batch, self.encoding.parts, len(self._bits)
        order = np.array(self.encoding.order(seat))
        vectors[:, parts["hand"]] = batch.hands[seat][rows][:, None] & self._bits != 0
        vectors[:, parts["line"]] = batch.line[rows][:, None] & self._bits != 0
        numbers = np.arange(len(self._pips))
        for name, pips in (("left", batch.left[rows]), ("right", batch.right[rows])):
            vectors[:, parts[name]] = pips[:, None] == numbers
        by_seat = np.ix_(order, rows)
        vectors[:, parts["played"]] = self._spread(self._played[by_seat].T)
        for name, pips in (("passed", self._acts.passed), ("drew", self._acts.drew)):
            flags = pips[by_seat].T[:, :, None] & self._pips != 0
            vectors[:, parts[name]] = flags.reshape(len(rows), len(order) * len(self._pips))
        vectors[:, parts["leader"]] = self._leader[rows][:, None] == order
        vectors[:, parts["tiles"]] = self.tables.sizes(batch.hands[by_seat]).T / tiles
        points, scores = batch.points[:, rows].T, batch.select(rows).scores
        vectors[:, parts["scores"]] = np.clip(
            scores[:, order] / self._target, -MAX_TARGET_SHARE, MAX_TARGET_SHARE
        )
        stock = (batch.back[:, rows] - batch.front[:, rows]).sum(axis=0)
        vectors[:, parts["boneyard"]] = np.stack([stock, batch.drawable[rows]], axis=1) / tiles
        vectors[:, parts["passes"].start] = np.minimum(1.0, batch.passes[rows] / self.seats)
        vectors[:, parts["round"]] = 1
        # Whoever won the round has the pot, and so has gained something.
        pot = np.where((scores != points).any(axis=1), 0, batch.pot[rows])
        vectors[:, parts["pot"].start] = np.minimum(MAX_TARGET_SHARE, pot / self._target)

    def margins(self, rows: Places, seat: int) -> NDArray[np.float64]:
        """Return the seat's reward for these rounds, which are over."""
        margins = round_margins(self.rules, (0,) * self.seats, [*self.batch.select(rows).scores.T])
        return np.asarray(margins[seat], np.float64)

    def choose(self, rows: Places, masks: ChoiceMask, *, greedy: bool) -> NumberArray:
        """Return each question's first option, or with `greedy` the one that greedy.py takes."""
        arrivals = 2 * self._came[rows, self.batch.turn[rows]]
        ranks = np.concatenate([arrivals, arrivals + 1, arrivals], axis=1) - greedy * self._grades
        plays = masks[:, : ranks.shape[1]] != 0
        best = np.where(plays, ranks, WORST_RANK).argmin(axis=1)
        other = np.where(masks[:, self._draw], self._draw, self._pass)
        return np.where(plays.any(axis=1), best, other)

    def act(self, rows: Places, actions: NumberArray) -> None:
        """Take an offered action in each of these rows."""
        batch, seat = self.batch, self.batch.turn[rows]
        draws, passes = actions == self._draw, actions == self._pass
        left, right = batch.left[rows].astype(np.int32), batch.right[rows].astype(np.int32)
        ends = np.where(left >= 0, 1 << np.maximum(left, 0) | 1 << np.maximum(right, 0), 0)
        self._acts.add_draw((seat[draws], rows[draws]), ends[draws])
        self._acts.add_pass((seat[passes], rows[passes]), ends[passes])
        end, number = np.divmod(np.where(draws | passes, 0, actions), len(self._bits))
        tile = np.where(draws | passes, 0, self._bits[number])
        self._played[seat, rows] |= tile
        first = np.where(passes, NO_TILE, self.tables.ranks.take(number))
        batch.play(rows[~draws], first[~draws], end[~draws], NO_TILE)
        rows, seat = rows[draws], seat[draws]
        before = batch.hands[seat, rows]
        batch.draw(rows)
        tile = batch.hands[seat, rows] ^ before
        number = (tile[:, None] & self._bits != 0).argmax(axis=1)
        self._came[rows, seat, number] = self._came[rows, seat].max(axis=1) + 1

    def _spread(self, masks: Ints) -> Flags:
        """Return for some masks a row whether each tile is in them."""
        flags: Flags = masks[:, :, None] & self._bits != 0
        return flags.reshape(len(masks), masks.shape[1] * len(self._bits))


# The first rounds of boards, as their seeds deal them: Fisher and Yates' shuffle written in arrays.


FEWEST_IN_ARRAYS = 12
"""Boards from which arrays deal faster than one board after another."""


def shuffle_each(seeds: Sequence[bytes], purpose: str, size: int) -> NumberArray:
    """Shuffle the numbers below `size` for each seed, as `shuffle` does; a row for each."""
    drawn = [RandomWords(seed, 1, purpose).take(size - 1) for seed in seeds]
    words, rows = np.array(drawn, np.uint32).T, np.arange(len(seeds))
    order = np.tile(np.arange(size, dtype=np.int8)[:, None], len(seeds))
    for last, word in zip(range(size - 1, 0, -1), words, strict=True):
        other = (word % np.uint32(last + 1)).astype(np.intp)
        tiles = order[other, rows]
        order[other, rows] = order[last]
        order[last] = tiles
    for row in np.flatnonzero(words.max(axis=0) >= WORD - size).tolist():
        order[:, row] = shuffle(RandomWords(seeds[row], 1, purpose), range(size))
    return order.T


class Deals:
    """The first rounds of one game on any boards."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        """Lay out a round, into which others are dealt."""
        self._new = engine.new_game(rules, seats)
        self._method, deal = method(self._new), rules.deal
        self._laid_out, self._pips = self._new.copy(), np.array(set_of_tiles(deal)).sum(axis=1)
        lay_out(self._laid_out, chance_decides(self._new, bytes(SEED)))
        redeals = self._method in BY_DOUBLE and rules.lead.missing == "redeal"
        self._always_count = not (deal.annul_suit or deal.refuse_doubles or redeals)

    def dealt(self, seeds: Sequence[bytes]) -> RoundBatch:
        """Return a round for each board's seed, begun as `begin` begins it."""
        arrays = self._always_count and self._method != "odd_even"
        if not arrays or len(seeds) < FEWEST_IN_ARRAYS:
            return RoundBatch.from_games([self._begun(seed) for seed in seeds])
        batch = RoundBatch.from_games([self._laid_out]).repeat(len(seeds))
        batch.turn[:] = self._leaders(seeds)
        batch.deal(shuffle_each(seeds, "tiles", len(self._pips)), self._method)
        return batch

    def _begun(self, seed: bytes) -> Game:
        game = self._new.copy()
        while engine.needs_deal(game) and not game.over:
            begin(game, chance_decides(game, seed))
        return game

    def _leaders(self, seeds: Sequence[bytes]) -> NumberArray:
        """Return what `choose_leader` does, for each seed."""
        leaders = np.zeros(len(seeds), np.int8)
        tied = np.ones(len(seeds), np.bool_)
        if self._method in ("highest", "lowest"):
            lots = self._pips[shuffle_each(seeds, "lead", len(self._pips))[:, : self._new.seats]]
            lots *= 1 if self._method == "highest" else -1
            leaders[:] = lots.argmax(axis=1)
            tied = (lots == lots.max(axis=1)[:, None]).sum(axis=1) > 1
        for row in np.flatnonzero(tied).tolist():
            stream = RandomWords(seeds[row], 1, "lead")
            leaders[row] = choose_leader(self._new, self._method, stream)[0]
        return leaders


# The environment of one seat, thousands at a time: rounds in arrays instead of one after another.
#
#     envs = RoundsVectorEnv(1024, "draw", 2, rivals="greedy")
#
# Row i of `reset(seed=s)` is `SingleSeatEnv(..., rounds=1)` after `reset(seed=s + i)`, at every
# step. An episode is one round, and its reward comes at its end. The observation of a row whose
# episode has ended is the next one's first (`AutoresetMode.SAME_STEP`); the last one is in
# `infos["final_obs"]`. `infos["action_mask"]` belongs to the observations, `infos["fouled"]` to the
# actions just taken.


BatchRival = Callable[[Vector, ChoiceMask], NumberArray]
"""A function from the vectors and masks of many questions to an action for each."""
RIVAL_NAMES = ("first", "greedy")


class RoundsVectorEnv(VectorEnv[Vector, NumberArray, NDArray[Any]]):
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
        if isinstance(rivals, str) and rivals not in RIVAL_NAMES:
            raise unknown_name("rival of arrays", rivals, RIVAL_NAMES)
        env = SingleSeatEnv(rules, seats, seat=seat, rounds=1)
        self.num_envs, self.encoding = num_envs, env.encoding
        self.single_observation_space = env.observation_space
        self.single_action_space = env.action_space
        self.observation_space = batch_space(env.observation_space, num_envs)
        self.action_space = batch_space(env.action_space, num_envs)
        self._rules, self._seats, self._seat, self._rivals = env.rules, env.seats, seat, rivals
        self._deals = Deals(env.rules, env.seats)
        self._rounds = SeenRounds(env.rules, env.seats, env.encoding)
        self._all_rows = np.arange(num_envs)
        self._secrets = [secrets.token_bytes() for _ in self._all_rows]
        self._boards = np.zeros(num_envs, np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin an episode in every row; a seed fixes all deals from now on."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._secrets = [f"{seed + row}".encode() for row in range(self.num_envs)]
            self._boards[:] = 0
        self._masks = np.zeros((self.num_envs, len(self.encoding.actions.options)), np.int8)
        self._rounds.begin(self._deal(self._all_rows))
        # What ends before the agent's first choice was no episode.
        self._is_over = np.ones(self.num_envs, np.bool_)
        self._play_on(self._all_rows)
        return self._observe(np.zeros(self.num_envs, np.bool_))

    def step(
        self, actions: NumberArray
    ) -> tuple[Vector, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take an action in each row, and let the rivals play until the agent has a choice.

        Raises ValueError for a number that no option has.
        """
        actions = np.asarray(actions)
        if actions not in self.action_space:
            raise ValueError(f"Not actions: {actions}. Take those of {self.action_space}.")
        rounds, all_rows = self._rounds, self._all_rows
        fouled = self._masks[all_rows, actions] == 0
        fouls = all_rows[fouled]
        if fouls.size:
            actions = actions.copy()
            actions[fouls] = rounds.choose(fouls, self._masks[fouls], greedy=False)
        rounds.act(all_rows, actions)
        self._is_over = np.zeros(self.num_envs, np.bool_)
        self._rewards = np.zeros(self.num_envs)
        self._final = np.zeros((self.num_envs, self.encoding.size), np.float32)
        self._play_on(all_rows)
        vectors, infos = self._observe(fouled)
        if self._is_over.any():
            infos |= {"final_obs": self._final, "_final_obs": self._is_over}
        return vectors, self._rewards, self._is_over, np.zeros(self.num_envs, np.bool_), infos

    def _end(self, rows: Places) -> None:
        """Note what came of the episodes in these rows, and deal their next boards."""
        first = rows[~self._is_over[rows]]
        if first.size:
            self._rewards[first] = self._rounds.margins(first, self._seat)
            self._final[first] = self._rounds.vectors(first, self._seat)
            self._is_over[first] = True
        self._rounds.replace(rows, self._deal(rows))

    def _deal(self, rows: Places) -> RoundBatch:
        """Deal the next boards of these rows."""
        self._boards[rows] += 1
        pairs = zip(rows.tolist(), self._boards[rows].tolist(), strict=True)
        secrets = self._secrets
        return self._deals.dealt([board_seed(secrets[n], "training", board) for n, board in pairs])

    def _play_on(self, rows: Places) -> None:
        """Play until the agent has a choice in each row; where a round ends, in the next one."""
        rounds, over_rows = self._rounds, rows[:0]
        while rows.size or over_rows.size:
            # Dealing many rounds at once costs less, and so does playing them on with the others.
            if len(over_rows) > len(rows):
                self._end(over_rows)
                rows, over_rows = np.concatenate([rows, over_rows]), over_rows[:0]
            over = rounds.batch.is_over[rows]
            over_rows, rows = np.concatenate([over_rows, rows[over]]), rows[~over]
            masks, is_agent = rounds.masks(rows), rounds.batch.turn[rows] == self._seat
            options = np.count_nonzero(masks, axis=1)
            is_asked = is_agent & (options > 1)
            self._masks[rows[is_asked]] = masks[is_asked]
            rows, masks, options = rows[~is_asked], masks[~is_asked], options[~is_asked]
            actions = masks.argmax(axis=1)
            choosers = np.flatnonzero(options > 1)
            if choosers.size:
                actions[choosers] = self._choose(rows[choosers], masks[choosers])
            if rows.size:
                rounds.act(rows, actions)

    def _choose(self, rows: Places, masks: ChoiceMask) -> NumberArray:
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

    def _observe(self, fouled: NDArray[np.bool_]) -> tuple[Vector, dict[str, Any]]:
        present = np.ones(self.num_envs, np.bool_)
        vectors = self._rounds.vectors(self._all_rows, self._seat)
        infos = {"action_mask": self._masks.copy(), "_action_mask": present}
        return vectors, infos | {"fouled": fouled, "_fouled": present}
