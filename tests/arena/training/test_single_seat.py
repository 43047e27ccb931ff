"""The environment of one seat: Gymnasium's own checks, what it shows and pays, and its rivals."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import sample_bots
from arena.training import boneyard_v0
from arena.training.policy import Question
from arena.training.single_seat import LADDER, SingleSeatEnv
from protocol.codec import decode_line, encode_line
from protocol.errors import UserError
from protocol.messages import Choose
from tests.support.conversations import BYE, HELLO, PATIENCE
from tests.support.fast_run import slow_except


@pytest.mark.parametrize("name", ["draw", "auction-draw"])
@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
def test_the_checks_of_gymnasium_pass(name: str) -> None:
    check_env(SingleSeatEnv(name, rounds=2, render_mode="ansi"))


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_observations_and_rewards_are_those_of_the_environment_of_all_seats(seat: int) -> None:
    env = SingleSeatEnv("dutch", 3, rivals="suit", seat=seat, rounds=2)
    full_env, agent = boneyard_v0.raw_env("dutch", 3, rounds=2), f"player_{seat}"
    luck, rival, over, paid, expected = random.Random(seat), LADDER["suit"], False, 0.0, 0.0
    full_env.reset(seed=5)
    vector, info = env.reset(seed=5)
    while full_env.agents and not all(full_env.terminations.values()):
        if full_env.agent_selection != agent:
            ask = full_env.question(full_env.agent_selection)
            option = ask.options[int(rival(Question(ask, None)))]  # type: ignore[arg-type]
            full_env.step(full_env.encoding.actions.numbers[option])
        else:
            observation = full_env.observe(agent)
            np.testing.assert_array_equal(vector, observation["observation"])
            np.testing.assert_array_equal(info["action_mask"], observation["action_mask"])
            action = luck.choice(observation["action_mask"].nonzero()[0])
            vector, reward, over, cut, info = env.step(action)
            assert not cut
            paid += reward
            full_env.step(action)
        expected += full_env.rewards[agent]
    assert over
    assert paid == expected
    assert not info["action_mask"].any()
    with pytest.raises(RuntimeError, match="The episode is over"):
        env.step(0)


def test_a_foul_takes_the_first_option_and_stands_in_the_info() -> None:
    env, twin = SingleSeatEnv(rounds=1), SingleSeatEnv(rounds=1)
    _, info = env.reset(seed=1)
    twin.reset(seed=1)
    first = env.encoding.actions.numbers[env.question().options[0]]
    foul_step = env.step(int(info["action_mask"].argmin()))
    right_step = twin.step(first)
    assert (foul_step[4]["fouled"], right_step[4]["fouled"]) == (True, False)
    np.testing.assert_array_equal(foul_step[0], right_step[0])
    with pytest.raises(ValueError, match="Not an action: -1"):
        env.step(-1)


@pytest.mark.parametrize("rival", slow_except(("counting",), LADDER))
def test_a_rival_chooses_as_the_bot_does(rival: str) -> None:
    questions: list[Question] = []
    choices: list[int] = []

    def policy(question: Question) -> int:
        questions.append(question)
        choices.append(int(LADDER[rival](question)))
        return choices[-1]

    for name in ("draw", "partnership"):
        env, over = SingleSeatEnv(name, rivals=policy, rounds=2), False
        _, info = env.reset(seed=3)
        while not over:
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    lines = [encode_line(part) for question in questions for part in (question.game, question.ask)]
    file = {"random": "random_bot"}.get(rival, rival)
    process = subprocess.run(
        (sys.executable, "-I", "-S", f"{Path(sample_bots.__file__).with_name(file)}.py"),
        input=b"".join([HELLO, *lines, BYE]),
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    answers = [decode_line(line) for line in process.stdout.splitlines()[1:]]
    assert [answer.choice for answer in answers if isinstance(answer, Choose)] == choices
    assert len(choices) > 20


def test_an_unknown_rival_or_seat_is_refused() -> None:
    with pytest.raises(UserError, match="greedi"):
        SingleSeatEnv(rivals="greedi")
    with pytest.raises(UserError, match="There is no seat 2"):
        SingleSeatEnv("draw", 2, seat=2)
