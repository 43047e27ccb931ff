"""Learning a bot's policy from the plays that it chose in logged games: a conditional logit."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from arena.analysis.timeline import Timeline
from arena.engine.state import Game
from arena.valuation.batch import Flags, Places, RoundBatch
from arena.valuation.policy import FEATURES, UNIT, USUAL, Policy, Position, options_of, tables_of
from protocol.messages import Play, PlayTwo
from protocol.records import ChoiceRecord

Floats = NDArray[np.float64]

PULL = 2e-6
"""The pull of each weight to that of the usual policy, a choice. Most bots always take what they
think best: with 2e-4 the choices of `greedy` looked less sure: log chance -0.06, now -0.01."""
STEPS = 50
"""The most steps of Newton's method; about ten are enough."""
DECIMALS = 3
"""Decimals of a learnt weight: its sums differ between machines far below them."""


class Choice(NamedTuple):
    """A play that a bot chose among several."""

    game: Game
    play: Play | PlayTwo
    board: int


class LearntPolicy(NamedTuple):
    """A policy, and how well such a policy foresees choices on other boards."""

    policy: Policy
    choices: int
    foreseen: float
    """The share of the choices, 0 to 1, that are the best option of the policy which the boards of
    the other half teach: of its own boards a policy foresees more than it will."""


class _Rows(NamedTuple):
    """The options of choices, which of them were chosen, and where each choice begins."""

    options: Floats
    chosen: Flags
    begins: Places

    def of(self, kept: Flags) -> "_Rows":
        """Return those of some choices."""
        sizes = np.diff(self.begins, append=len(self.options))
        each = np.repeat(kept, sizes)
        begins = np.cumsum(sizes[kept]) - sizes[kept]
        return _Rows(self.options[each], self.chosen[each], begins)


def choices_of(timeline: Timeline, seat: int) -> Iterator[Choice]:
    """Yield the choices of a seat in a game that its policy is learnt from."""
    for asked in timeline.questions(seat):
        if isinstance(asked.answer, ChoiceRecord):
            play = asked.options[asked.answer.choice]
            plays = sum(isinstance(one, Play | PlayTwo) for one in asked.options)
            if isinstance(play, Play | PlayTwo) and plays > 1:
                yield Choice(asked.game, play, timeline.logged.game.board)


def learn_policy(choices: Sequence[Choice]) -> LearntPolicy:
    """Learn the policy under which these choices are likeliest, near to the usual one."""
    if not choices:
        return LearntPolicy(USUAL, 0, 0.0)
    rows = _rows(choices)
    odd = np.array([choice.board % 2 == 1 for choice in choices])
    hits = sum(_count_foreseen(rows.of(~half), rows.of(half)) for half in (odd, ~odd))
    return LearntPolicy(_likeliest(rows), len(choices), round(hits / len(choices), 4))


def _likeliest(rows: _Rows) -> Policy:
    """Return the policy under which the choices are likeliest, near to the usual one."""
    options, chosen, begins = rows
    spread = options.std(axis=0)
    # A feature that no option of these has more than another keeps its usual weight.
    used = spread > 0
    scaled, usual = options[:, used] / spread[used], np.array(astuple(USUAL))
    weights = usual.copy()
    weights[used] = _newton(scaled, chosen, begins, usual[used] * spread[used]) / spread[used]
    return Policy(*np.round(weights, DECIMALS).tolist())


def _count_foreseen(learnt_from: _Rows, rows: _Rows) -> int:
    """Count the choices that the policy of other choices thinks best; none teach nothing."""
    if not len(learnt_from.begins) or not len(rows.begins):
        return 0
    worths = rows.options @ np.array(astuple(_likeliest(learnt_from)))
    best = np.maximum.reduceat(worths, rows.begins)
    return int(np.count_nonzero(worths[rows.chosen] >= best - 0.5 / UNIT))


def _rows(choices: Sequence[Choice]) -> _Rows:
    """Return the features of all options, which of them were chosen, and where choices begin."""
    batch = RoundBatch.of([one.game for one in choices])
    tables, rounds = batch.tables, np.arange(len(batch))
    of, (tile, end), (second, _) = batch.plays()
    next_seat = np.array(batch.settings.after)[batch.turn]
    hands = batch.hands[batch.turn, rounds], batch.hands[next_seat, rounds]
    position = Position(*hands, batch.line, batch.order)
    options = options_of(tables, batch.ends, of, tile, end, second)
    # The features are written once: as the worths by a policy of one weight.
    alone = [tables_of(tables, Policy(**{name: 1.0})) for name in FEATURES]
    features = np.stack([one.worths(position, options) for one in alone], axis=1) / UNIT
    put = np.array([batch.puts(one.play) for one in choices])[of].T
    chosen: Flags = (tile == put[0]) & (end == put[1]) & (second == put[2])
    return _Rows(features, chosen, np.searchsorted(of, rounds))


def _newton(options: Floats, chosen: Flags, begins: Places, usual: Floats) -> Floats:
    """Return the weights of the highest penalised likelihood, which is concave."""
    of = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(options)))
    pull, seen, weights = PULL * len(begins), options[chosen].sum(axis=0), usual.copy()
    value, step = -np.inf, np.zeros_like(weights)
    for _ in range(STEPS):
        tried = weights + step
        worths = options @ tried
        worths -= np.maximum.reduceat(worths, begins)[of]
        chances = np.exp(worths)
        sums = np.add.reduceat(chances, begins)
        away = tried - usual
        found = float(worths[chosen].sum() - np.log(sums).sum() - pull / 2 * (away @ away))
        if found < value:
            step /= 2
            continue
        weights, value = tried, found
        chances /= sums[of]
        means = np.add.reduceat(chances[:, None] * options, begins)
        slope = seen - chances @ options - pull * away
        curve = (options * chances[:, None]).T @ options - means.T @ means
        step = np.linalg.solve(curve + pull * np.eye(len(weights)), slope)
        if np.abs(step).max() < 1e-9:
            break
    return weights
