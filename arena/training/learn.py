"""An example: a network with one hidden layer learns the draw game against `greedy` in numpy.

    python -m arena.training.learn net.npz --seconds 180

It is proximal policy optimisation (PPO) with one value beside the scores of the actions. The README
next to this file has the bot that plays what this saves.
"""

import argparse
import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.training.single_seat import RoundsVectorEnv

ENVIRONMENTS, ROLLOUT_STEPS = 2048, 16
"""Environments side by side, and steps of each in a rollout."""
EPOCHS, MINIBATCH = 2, 4096
"""Passes over a rollout, and transitions of a minibatch."""
TESTED = 4096
"""Rounds of the test."""
HIDDEN = 128
RATE, GAE_LAMBDA, CLIP, ENTROPY_BONUS = 1e-3, 0.95, 0.2, 0.01
"""Learning rate, GAE lambda, PPO clip, entropy bonus."""
POINTS_SCALE = 20
"""Points of a round that count as 1."""

Floats32 = NDArray[np.float32]
Gradients = dict[str, Floats32]


class Transitions(NamedTuple):
    """Transitions, each a row: observations, actions, and what came of them."""

    features: Floats32
    mask: NDArray[np.bool_]
    actions: NDArray[np.intp]
    probabilities: Floats32
    """The probability that the network gave to the action."""
    values: Floats32
    rewards: Floats32
    over: NDArray[np.bool_]


class Network:
    """Weights, and Adam's moments of them."""

    def __init__(self, inputs: int, actions: int, rng: np.random.Generator) -> None:
        first = rng.normal(size=(inputs, HIDDEN)) * inputs**-0.5
        self.weights: Gradients = {
            "w1": first.astype(np.float32),
            "b1": np.zeros(HIDDEN, np.float32),
            "w2": np.zeros((HIDDEN, actions + 1), np.float32),
            "b2": np.zeros(actions + 1, np.float32),
        }
        self._moments = {name: np.zeros((2, *array.shape)) for name, array in self.weights.items()}
        self._updates = 0

    def forward(
        self, features: Floats32, mask: NDArray[np.bool_]
    ) -> tuple[Floats32, Floats32, Floats32]:
        """Return the hidden layer, the probability of each action, and the expected reward."""
        net = self.weights
        hidden = np.tanh(features @ net["w1"] + net["b1"])
        out = hidden @ net["w2"] + net["b2"]
        scores = np.where(mask, out[:, :-1], -np.inf)
        probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, probabilities / probabilities.sum(axis=1, keepdims=True), out[:, -1]

    def update(
        self, batch: Transitions, advantages: Floats32, returns: Floats32, rate: float
    ) -> None:
        """Take one step of PPO: clipped policy, entropy bonus, and values towards the returns."""
        rows = np.arange(len(advantages))
        hidden, probabilities, values = self.forward(batch.features, batch.mask)
        ratio = probabilities[rows, batch.actions] / batch.probabilities
        unclipped = np.where(advantages > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
        weight = unclipped * ratio * advantages
        logs = np.log(np.maximum(probabilities, 1e-9))
        entropy = -(probabilities * logs).sum(axis=1, keepdims=True)
        gradient = np.empty((len(rows), probabilities.shape[1] + 1), np.float32)
        entropy_gradient = ENTROPY_BONUS * probabilities * (logs + entropy)
        gradient[:, :-1] = probabilities * weight[:, None] + entropy_gradient
        gradient[rows, batch.actions] -= weight
        gradient[:, -1] = values - returns
        gradient /= len(rows)
        hidden_gradient = (gradient @ self.weights["w2"].T) * (1 - hidden**2)
        first = {"w1": batch.features.T @ hidden_gradient, "b1": hidden_gradient.sum(axis=0)}
        self._adam_step(first | {"w2": hidden.T @ gradient, "b2": gradient.sum(axis=0)}, rate)

    def _adam_step(self, gradients: Gradients, rate: float) -> None:
        self._updates += 1
        for name, gradient in gradients.items():
            mean, square = self._moments[name]
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            root = np.sqrt(square / (1 - 0.999**self._updates)) + 1e-8
            self.weights[name] -= (rate * mean / (1 - 0.9**self._updates) / root).astype(np.float32)


def train(seconds: float, path: str) -> None:
    """Train for `seconds` of CPU time, and save the network."""
    envs, rng = RoundsVectorEnv(ENVIRONMENTS, "draw", 2, rivals="greedy"), np.random.default_rng(1)
    parts = envs.encoding.parts
    # Scores and rounds stand still in episodes of one round: of them nothing can be learnt.
    inputs = np.r_[0 : parts["scores"].start, parts["boneyard"], parts["passes"]]
    network = Network(len(inputs), len(envs.encoding.actions.options), rng)
    vectors, infos = envs.reset(seed=1)
    began, rounds = time.process_time(), 0
    while (spent := time.process_time() - began) < seconds:
        rollout: list[Transitions] = []
        for _ in range(ROLLOUT_STEPS):
            features, mask = vectors[:, inputs], infos["action_mask"] != 0
            _, probabilities, values = network.forward(features, mask)
            # The action with the least of these times is a random one, by the probabilities.
            times = rng.exponential(size=probabilities.shape) / np.maximum(probabilities, 1e-20)
            actions = np.where(mask, times, np.inf).argmin(axis=1)
            chances = probabilities[np.arange(ENVIRONMENTS), actions]
            vectors, rewards, over, _, infos = envs.step(actions)
            paid = (rewards / POINTS_SCALE).astype(np.float32)
            rollout.append(Transitions(features, mask, actions, chances, values, paid, over))
        next_values = network.forward(vectors[:, inputs], infos["action_mask"] != 0)[2]
        batch = Transitions._make(np.concatenate(part) for part in zip(*rollout, strict=True))
        advantages = _advantages(rollout, next_values)
        returns = advantages + batch.values
        advantages = (advantages - advantages.mean()) / advantages.std()
        rate = RATE * (1 - 0.9 * spent / seconds)
        for _ in range(EPOCHS):
            order = rng.permutation(len(advantages))
            for start in range(0, len(order), MINIBATCH):
                places = order[start : start + MINIBATCH]
                minibatch = Transitions._make(part[places] for part in batch)
                network.update(minibatch, advantages[places], returns[places], rate)
        rounds += int(batch.over.sum())
        mean = batch.rewards[batch.over].mean() * POINTS_SCALE
        print(f"{spent:6.0f} s {rounds:10,} rounds: {mean:+6.2f} points a round", flush=True)
    np.savez(path, allow_pickle=False, inputs=inputs, **network.weights)
    _test(network, inputs)
    print(f"The bot that plays {path} is in arena/training/README.md. Next:")
    print(f'  boneyard run "net.py {path}" greedy --format versus')


def _test(network: Network, inputs: NDArray[np.intp]) -> None:
    """Print the score of the best actions in rounds that the training never saw."""
    envs = RoundsVectorEnv(TESTED, "draw", 2, rivals="greedy")
    vectors, infos = envs.reset(seed=2)
    scores = np.full(TESTED, np.nan)
    while np.isnan(scores).any():
        mask = infos["action_mask"] != 0
        _, probabilities, _ = network.forward(vectors[:, inputs], mask)
        vectors, rewards, over, _, infos = envs.step(probabilities.argmax(axis=1))
        scores = np.where(np.isnan(scores) & over, rewards, scores)
    error = 1.96 * scores.std() / TESTED**0.5
    print(f"Test: {scores.mean():+.2f} ± {error:.2f} points a round against greedy (95 %).")


def _advantages(rollout: list[Transitions], next_values: Floats32) -> Floats32:
    """Return the advantage of each transition by generalised advantage estimation (GAE)."""
    advantages, advantage = list[Floats32](), np.zeros(ENVIRONMENTS, np.float32)
    for step in reversed(rollout):
        advantage = step.rewards - step.values + ~step.over * (next_values + GAE_LAMBDA * advantage)
        advantages.append(advantage.astype(np.float32))
        next_values = step.values
    return np.concatenate(advantages[::-1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=f"{__doc__}".partition("\n")[0])
    parser.add_argument("path", help="the file of the network, such as net.npz")
    parser.add_argument("--seconds", type=float, default=180.0, help="CPU time of the training")
    wanted = parser.parse_args()
    if not os.access(folder := Path(wanted.path).parent, os.W_OK):
        parser.error(f"The folder {folder} cannot be written to.")
    train(wanted.seconds, wanted.path)
