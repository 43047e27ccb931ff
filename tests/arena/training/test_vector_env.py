"""The vectorised environment: at every step the same as one environment after another."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from arena.engine.shuffle import SEED, RandomWords, shuffle
from arena.rules.variants import derive, find_variant
from arena.training import single_seat
from arena.training.encoding import ChoiceMask, Encoding, Vector
from arena.training.policy import Question
from arena.training.single_seat import Deals, RoundsVectorEnv, SingleSeatEnv, shuffle_each
from arena.valuation.batch import NumberArray
from protocol.errors import UserError
from protocol.ruleset import Ruleset
from tests.support.fast_run import NAMED_TABLES, slow_except

REFUSED_GAMES = ("auction-draw", "double-draw")
TABLES = [(name, seats) for name, seats in NAMED_TABLES if name not in REFUSED_GAMES]
FAST = (("draw", 2),)


def assert_same(
    rules: str | Ruleset,
    seats: int,
    *,
    rivals: tuple[object, object],
    seat: int,
    rows: int,
    steps: int,
) -> None:
    """Compare with as many single environments, with random actions of which some are fouls."""
    env = RoundsVectorEnv(rows, rules, seats, rivals=rivals[0], seat=seat)  # type: ignore[arg-type]

    def make_env() -> SingleSeatEnv:
        return SingleSeatEnv(rules, seats, rivals=rivals[1], seat=seat, rounds=1)  # type: ignore[arg-type]

    single_envs = SyncVectorEnv([make_env] * rows, autoreset_mode=AutoresetMode.SAME_STEP)
    luck, ends = np.random.default_rng(seat), 0
    (vectors, info), (expected, expected_info) = env.reset(seed=7), single_envs.reset(seed=7)
    for _ in range(steps):
        np.testing.assert_array_equal(vectors, expected)
        np.testing.assert_array_equal(info["action_mask"], expected_info["action_mask"])
        scores = luck.random(info["action_mask"].shape) + info["action_mask"]
        scores[luck.random(rows) < 0.05] *= -1
        actions = scores.argmax(axis=1)
        vectors, paid, over, cut, info = env.step(actions)
        expected, owed, done, _, expected_info = single_envs.step(actions)
        np.testing.assert_array_equal(over, done)
        np.testing.assert_array_equal(paid, owed)
        assert not cut.any()
        if over.any():
            ends += over.sum()
            np.testing.assert_array_equal(info["_final_obs"], expected_info["_final_obs"])
            last = np.stack(list(expected_info["final_obs"][over]))
            np.testing.assert_array_equal(info["final_obs"][over], last)
        np.testing.assert_array_equal(info["fouled"][~over], expected_info["fouled"][~over])
    assert ends


@pytest.mark.parametrize(("name", "seats"), slow_except(FAST, TABLES))
def test_a_vector_environment_is_as_many_single_ones(
    name: str, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_seat, "FEWEST_IN_ARRAYS", 1)
    seat = (len(name) + seats) % seats
    assert_same(name, seats, rivals=("greedy", "greedy"), seat=seat, rows=2, steps=25)


def test_arrays_deal_what_each_board_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deals agree also where two seats draw equal lots, and where a word is thrown away."""
    seeds = [bytes([n]) * SEED for n in range(100)]
    orders = [[*shuffle(RandomWords(seed, 1, "tiles"), range(28))] for seed in seeds]
    assert shuffle_each(seeds, "tiles", 28).tolist() == orders
    deals = Deals(find_variant("draw"), 4)
    array_deals = deals.dealt(seeds)
    monkeypatch.setattr(single_seat, "FEWEST_IN_ARRAYS", 101)
    single_deals = deals.dealt(seeds)
    for name in ("hands", "turn", "drawable", "left", "must", "front", "back"):
        np.testing.assert_array_equal(getattr(array_deals, name), getattr(single_deals, name))
    for start, stop in zip(array_deals.front[0], array_deals.back[0], strict=True):
        assert array_deals.stock[start:stop].tolist() == single_deals.stock[start:stop].tolist()
    monkeypatch.setattr(single_seat, "WORD", 0)
    monkeypatch.setattr(single_seat, "shuffle", lambda _, numbers: [*reversed(numbers)])
    assert shuffle_each(seeds[:2], "tiles", 28).tolist() == [[*reversed(range(28))]] * 2


def test_a_function_is_asked_for_every_seat_but_the_agents() -> None:
    encoding = Encoding(derive(find_variant("dutch"), "dutch", {"rounds": 1}), 3)

    def batch(vectors: Vector, masks: ChoiceMask) -> NumberArray:
        """Choose by what is seen, so that a wrong vector shows."""
        weights = np.random.default_rng(1).normal(size=(vectors.shape[1], masks.shape[1]))
        choices: NumberArray = np.where(masks, vectors @ weights, -np.inf).argmax(axis=1)
        return choices

    def policy(question: Question) -> int:
        options = question.ask.options
        action = batch(encoding.vector(question.ask)[None], encoding.actions.mask(options)[None])
        return encoding.actions.choice(int(action[0]), options)

    assert_same("dutch", 3, rivals=(batch, policy), seat=1, rows=3, steps=15)


@pytest.mark.parametrize("name", REFUSED_GAMES)
def test_a_game_without_arrays_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=f"The game {name} has turns that arrays do not have"):
        RoundsVectorEnv(2, name)


def test_wrong_rivals_sizes_and_actions_are_refused() -> None:
    with pytest.raises(UserError, match="suit"):
        RoundsVectorEnv(2, rivals="suit")
    with pytest.raises(UserError, match="num_envs must be 1 or more, not 0"):
        RoundsVectorEnv(0)
    envs = RoundsVectorEnv(20, rivals=lambda _vectors, masks: masks.argmin(axis=1))
    with pytest.raises(ValueError, match="A rival chose what is not offered"):
        envs.reset(seed=1)
    envs = RoundsVectorEnv(2)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="Not actions"):
        envs.step(np.array([0, -1]))
