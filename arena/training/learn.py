"""An example: a network with one hidden layer learns the draw game against `greedy` in numpy.

    python -m arena.training.learn net.npz --seconds 180

It is proximal policy optimisation (PPO) with one value beside the scores of the actions. The README
next to this file has the bot that plays what this saves.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.training.vector_env import RoundsVectorEnv

ROWS, STEPS = 2048, 16
"""Rounds side by side, and steps of them from which the network then learns."""
EPOCHS, BATCH = 2, 4096
"""Times that each step is learnt from, and steps that are so at a time."""
HIDDEN = 128
"""Values of the hidden layer."""
RATE, GAE_LAMBDA, CLIP, ENTROPY_BONUS = 1e-3, 0.95, 0.2, 0.01
"""Learning rate, GAE lambda, PPO clip, entropy bonus."""
POINTS = 20
"""Points of a round that count as 1."""

Floats = NDArray[np.float32]
Gradients = dict[str, Floats]


class Steps(NamedTuple):
    """Observations and actions, each a row."""

    seen: Floats
    mask: NDArray[np.bool_]
    actions: NDArray[np.intp]
    chances: Floats
    """The chance that the network gave to the action."""
    values: Floats
    """The reward that the network expected."""
    rewards: Floats
    over: NDArray[np.bool_]


class Network:
    """Weights, and Adam's moments of them."""

    def __init__(self, inputs: NDArray[np.intp], actions: int, rng: np.random.Generator) -> None:
        self.inputs = inputs
        """The places of the vector that the network sees."""
        first = rng.normal(size=(len(inputs), HIDDEN)) * len(inputs) ** -0.5
        self.weights: Gradients = {
            "w1": first.astype(np.float32),
            "b1": np.zeros(HIDDEN, np.float32),
            "w2": np.zeros((HIDDEN, actions + 1), np.float32),
            "b2": np.zeros(actions + 1, np.float32),
        }
        self._moments = {name: np.zeros((2, *one.shape)) for name, one in self.weights.items()}
        self._updates = 0

    def look(self, seen: Floats, mask: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Return the hidden layer, the chance of each action, and the expected reward."""
        net = self.weights
        hidden = np.tanh(seen @ net["w1"] + net["b1"])
        out = hidden @ net["w2"] + net["b2"]
        scores = np.where(mask, out[:, :-1], -np.inf)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, chances / chances.sum(axis=1, keepdims=True), out[:, -1]

    def learn(self, steps: Steps, gains: Floats, goals: Floats, rate: float) -> None:
        """Make actions with a gain likelier, and bring the values nearer to their goals."""
        rows = np.arange(len(gains))
        hidden, chances, values = self.look(steps.seen, steps.mask)
        ratio = chances[rows, steps.actions] / steps.chances
        free = np.where(gains > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
        push = free * ratio * gains
        logs = np.log(np.maximum(chances, 1e-9))
        entropy = -(chances * logs).sum(axis=1, keepdims=True)
        gradient = np.empty((len(rows), chances.shape[1] + 1), np.float32)
        gradient[:, :-1] = chances * push[:, None] + ENTROPY_BONUS * chances * (logs + entropy)
        gradient[rows, steps.actions] -= push
        gradient[:, -1] = values - goals
        gradient /= len(rows)
        back = (gradient @ self.weights["w2"].T) * (1 - hidden**2)
        self._adam_step(
            {
                "w1": steps.seen.T @ back,
                "b1": back.sum(axis=0),
                "w2": hidden.T @ gradient,
                "b2": gradient.sum(axis=0),
            },
            rate,
        )

    def _adam_step(self, gradients: Gradients, rate: float) -> None:
        """Update the weights by Adam."""
        self._updates += 1
        for name, gradient in gradients.items():
            mean, square = self._moments[name]
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            root = np.sqrt(square / (1 - 0.999**self._updates)) + 1e-8
            self.weights[name] -= (rate * mean / (1 - 0.9**self._updates) / root).astype(np.float32)


def train(seconds: float, path: str) -> None:
    """Train for so many seconds of CPU time, and save the network."""
    envs, rng = RoundsVectorEnv(ROWS, "draw", 2, rivals="greedy"), np.random.default_rng(1)
    parts = envs.encoding.parts
    # Scores and rounds stand still in episodes of one round: of them nothing can be learnt.
    inputs = np.r_[0 : parts["scores"].start, parts["boneyard"], parts["passes"]]
    network = Network(inputs, len(envs.encoding.actions.options), rng)
    vectors, infos = envs.reset(seed=1)
    began, rounds = time.process_time(), 0
    while (spent := time.process_time() - began) < seconds:
        story: list[Steps] = []
        for _ in range(STEPS):
            seen, mask = vectors[:, inputs], infos["action_mask"] != 0
            _, chances, values = network.look(seen, mask)
            # The least of exponential times is each action with its chance.
            times = rng.exponential(size=chances.shape) / np.maximum(chances, 1e-20)
            actions = np.where(mask, times, np.inf).argmin(axis=1)
            taken = chances[np.arange(ROWS), actions]
            vectors, rewards, over, _, infos = envs.step(actions)
            paid = (rewards / POINTS).astype(np.float32)
            story.append(Steps(seen, mask, actions, taken, values, paid, over))
        next_values = network.look(vectors[:, inputs], infos["action_mask"] != 0)[2]
        every = Steps._make(np.concatenate(part) for part in zip(*story, strict=True))
        gains = _gains(story, next_values)
        goals = gains + every.values
        gains = (gains - gains.mean()) / gains.std()
        for _ in range(EPOCHS):
            order = rng.permutation(len(gains))
            for at in range(0, len(order), BATCH):
                some = order[at : at + BATCH]
                batch = Steps._make(part[some] for part in every)
                network.learn(batch, gains[some], goals[some], RATE * (1 - 0.9 * spent / seconds))
        rounds += int(every.over.sum())
        mean = every.rewards[every.over].mean() * POINTS
        print(f"{spent:6.0f} s {rounds:10,} rounds: {mean:+6.2f} points a round", flush=True)
    np.savez(path, allow_pickle=False, inputs=inputs, **network.weights)


def _gains(story: list[Steps], next_values: Floats) -> Floats:
    """Return how much better each step came out than expected, later ones fading."""
    gains, later = list[Floats](), np.zeros(ROWS, np.float32)
    for step in reversed(story):
        later = step.rewards - step.values + ~step.over * (next_values + GAE_LAMBDA * later)
        gains.append(later.astype(np.float32))
        next_values = step.values
    return np.concatenate(gains[::-1])


def main() -> None:
    """Read the command line, and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("path", help="the file of the network, such as net.npz")
    parser.add_argument("--seconds", type=float, default=180.0, help="CPU time of the training")
    wanted = parser.parse_args()
    train(wanted.seconds, wanted.path)


if __name__ == "__main__":
    main()
