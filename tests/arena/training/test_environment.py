"""Training: PettingZoo's own tests, what vectors tell and hide, and rewards."""

import random
import subprocess
import sys
import warnings
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

from arena.analysis.alternative_deals import replay_round
from arena.engine import values
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.rules.variants import find_variant
from arena.training import boneyard_v0
from arena.training.encoding import Encoding, Episode, Reward, Vector, seat_question, standing
from protocol.codec import encode_line
from protocol.errors import UserError
from protocol.messages import Ask, Clock, Drew, Event, Leads, Lot, Passed, Play, Played, Stock
from protocol.ruleset import Ruleset, tile_set
from tests.support.fast_run import FAST_TABLES, examples
from tests.support.games import questions, random_game, resampled
from tests.support.rulesets import rules_and_seats

lucks = st.randoms(use_true_random=False)
numbers = st.integers(0, 2**32)
MASK_WARNINGS = ("Observation is not a NumPy array", "Observation space for each agent probably")
"""What the test warns of whenever an observation has a mask, unless PettingZoo made the game."""


# --- PettingZoo ---


@pytest.mark.parametrize(("name", "seats"), FAST_TABLES)
def test_the_checks_of_petting_zoo_pass(name: str, seats: int) -> None:
    with warnings.catch_warnings():
        for warning in MASK_WARNINGS:
            warnings.filterwarnings("ignore", warning)
        api_test(boneyard_v0.env(name, seats, rounds=1, render_mode="ansi"), num_cycles=40)
    seed_test(lambda: boneyard_v0.env(name, seats, rounds=1), num_cycles=10)


def test_without_petting_zoo_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['pettingzoo'] = None; from arena.training import boneyard_v0"
    process = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True)
    assert "pip install '.[train]'" in process.stderr.splitlines()[-1]


def test_an_unknown_game_and_an_impossible_table_are_refused() -> None:
    with pytest.raises(UserError, match="did you mean dutch"):
        boneyard_v0.env("duch")
    with pytest.raises(UserError, match="table of four"):
        boneyard_v0.env("partnership", 2)


def test_an_unknown_reward_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Unknown reward 'place': did you mean places"):
        boneyard_v0.env(reward=cast(Any, "place"))


@pytest.mark.parametrize("rounds", [0, -3, 2.5, True, "3", 1001])
def test_an_invalid_number_of_rounds_is_refused(rounds: Any) -> None:
    with pytest.raises(UserError, match="rounds"):
        boneyard_v0.env(rounds=rounds)


def test_an_action_that_is_not_offered_is_refused_or_ends_the_game() -> None:
    env = boneyard_v0.env("block", rounds=1)
    env.reset(seed=1)
    (action, *_) = np.flatnonzero(env.last()[0]["action_mask"] == 0)
    with pytest.raises(ValueError, match=f"Action {action} is not offered now"):
        env.step(action)
    with pytest.raises(ValueError, match="not offered"):
        env.step(len(env.last()[0]["action_mask"]))
    lenient = TerminateIllegalWrapper(boneyard_v0.raw_env("block", rounds=1), illegal_reward=-1)
    lenient.reset(seed=1)
    lenient.last()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lenient.step(action)
    assert min(lenient.rewards.values()) == -1


# --- options and numbers ---


# --- what a vector tells ---


def question(*events: Event, seat: int = 1, seats: int = 3) -> Ask:
    return Ask(
        id=1,
        game=1,
        round=3,
        time_ms=0,
        seat=seat,
        hand=((6, 5), (1, 0)),
        line=((2, 5), (5, 5), (5, 1)),
        ends=(2, 1),
        boneyard=Stock(7, 5),
        hands=(4, 2, 14)[:seats],
        scores=(30, -20, 1000)[:seats],
        pot=10,
        events=[*events],
        options=(Play((1, 0), "right"),),
    )


DUTCH = Encoding(find_variant("dutch"), 3)
TILES = tile_set(6)


def part(vector: Vector, name: str, layout: Encoding = DUTCH) -> list[float]:
    values: list[float] = vector[layout.parts[name]].tolist()
    return values


def indexes_of_one(vector: Vector, name: str) -> list[int]:
    return [index for index, value in enumerate(part(vector, name)) if value == 1]


def test_a_vector_tells_what_lies_on_the_table() -> None:
    vector = DUTCH.vector(question())
    assert [TILES[index] for index in indexes_of_one(vector, "hand")] == [(1, 0), (6, 5)]
    assert [TILES[index] for index in indexes_of_one(vector, "line")] == [(5, 1), (5, 2), (5, 5)]
    assert (indexes_of_one(vector, "left"), indexes_of_one(vector, "right")) == ([2], [1])
    # Seat 1 asks, so it comes first, and then seats 2 and 0.
    assert part(vector, "tiles") == pytest.approx([2 / 28, 14 / 28, 4 / 28])
    assert part(vector, "scores") == pytest.approx([-20 / 61, 2, 30 / 61])
    assert part(vector, "boneyard") == pytest.approx([7 / 28, 5 / 28])
    assert part(vector, "round") == pytest.approx([3 / 200])
    assert part(vector, "pot") == pytest.approx([10 / 61])


def test_a_vector_tells_what_the_seats_have_done() -> None:
    events = (
        Lot(0, (6, 6)),
        Leads(2),
        Played(2, (5, 5), "lead"),
        Passed(0),
        Drew(1, (6, 5)),
        Played(1, (5, 1), "right"),
        Drew(2),
        Played(2, (2, 5), "left"),
        Drew(0),
        Passed(0),
    )
    vector = DUTCH.vector(question(*events))
    assert indexes_of_one(vector, "leader") == [1]
    tiles = {tile: index for index, tile in enumerate(TILES)}
    assert indexes_of_one(vector, "played") == [tiles[5, 1], 28 + tiles[5, 2], 28 + tiles[5, 5]]
    # Seat 0, the third, has drawn since it passed on a 5; now it has passed on a 2 and a 1.
    assert indexes_of_one(vector, "passed") == [14 + 1, 14 + 2]
    assert indexes_of_one(vector, "drew") == [5, 7 + 1, 7 + 5, 14 + 1, 14 + 2]
    assert part(vector, "passes") == pytest.approx([1 / 3])


@examples(25)
@given(rules_and_seats(), numbers, lucks)
def test_no_byte_of_an_observation_tells_what_is_hidden(
    table: tuple[Ruleset, int], number: int, rng: random.Random
) -> None:
    """All that is hidden is dealt anew, the same public game is played, and the seat is asked."""
    rules, seats = table
    seat = rng.randrange(seats)
    layout = Encoding(rules, seats)
    for deal in random_game(rules, seats, board_seed(b"test", "hidden", number), rng):
        for moment in [*questions(deal, seat, Clock())][:6]:
            other_deal = resampled(deal, seat, rng, moment)
            worlds = {
                observation(layout, [*replay_round(history, moment)][-1].game, seat)
                for history in (deal, other_deal)
            }
            assert len(worlds) == 1


def observation(layout: Encoding, game: Game, seat: int) -> tuple[bytes, ...]:
    """Return a question and its observation as bytes."""
    ask = seat_question(game, seat, values.legal(game))
    mask = layout.actions.mask(ask.options)
    return encode_line(ask), layout.vector(ask).tobytes(), mask.tobytes()


# --- rewards ---


@examples(40)
@given(rules_and_seats(), numbers, lucks, st.sampled_from(("points", "places")))
def test_rewards_of_a_round_add_up_to_zero(
    table: tuple[Ruleset, int], number: int, rng: random.Random, reward: Reward
) -> None:
    rules, seats = table
    episode = Episode(rules, seats, board_seed(b"test", "rewards", number), reward)
    total, has_options = np.zeros(seats), bool(episode.options)
    while episode.options:
        brought = episode.act(rng.choice(episode.options))
        assert sum(brought) == pytest.approx(0)
        total += brought
    scores = episode.game.scores
    rivals = [[*scores[:seat], *scores[seat + 1 :]] for seat in range(seats)]
    if rules.deal.partners:
        rivals = [[scores[1 - seat % 2]] for seat in range(seats)]
    margins = [score - np.mean(row) for score, row in zip(scores, rivals, strict=True)]
    if has_options:
        assert total.tolist() == pytest.approx(
            margins if reward == "points" else standing(episode.game)
        )
