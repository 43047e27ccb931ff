"""Policies: how a bot picks its plays, how that is learnt from logs, and playouts by policies.

A policy is a conditional logit: an option is chosen with the probability exp(worth) / sum of all
exp(worth). A player of playouts adds Gumbel noise to each worth and takes the best option, which
has just these probabilities; without noise it takes the option of the greatest worth.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import shake_256
from math import exp, log
from typing import NamedTuple

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from arena.engine.state import Game
from arena.valuation.batch import (
    MOVE_STRUCT,
    NOISES,
    POLICY_STRUCT,
    Flags,
    MaskTables,
    Places,
    PointsArray,
    RoundBatch,
    Structs,
    kernel_of,
)
from arena.valuation.terms import MAX_SET_TILES, Policy
from protocol.messages import Play, PlayTwo
from protocol.ruleset import MOST_SEATS

# Policies: how a bot picks one of its plays, as weights of what a play does.


UNIT = 1000
"""Parts of a logit in which worths are counted: whole numbers are the same on every machine."""
FEATURES = Policy.__struct_fields__
KEEN = Policy(pip=0.065, double=1.1, fits=0.3, safe=0.7, stuck=20.0)
"""The weights of the sample bot `counting`."""
USUAL_POLICY = Policy(
    pip=0.25, double=3.5, fits=1.5, safe=0.5, both=0.6, kinds=0.3, stuck=30.0, blocks=1.0, left=0.6
)
"""The policy of a bot of which nothing is known: about what the choices of `counting` teach."""


def _noises() -> NDArray[np.int32]:
    words = np.frombuffer(shake_256(b"boneyard noise 1").digest(4 * NOISES), "<u4").tolist()
    return np.array([round(-UNIT * log(-log((word + 0.5) / 2**32))) for word in words], np.int32)


NOISE = _noises()
"""Gumbel noises, in parts of a logit."""


@lru_cache(maxsize=256)
def _packed(tables: MaskTables, policy: Policy) -> tuple[Structs, NDArray[np.int32]]:
    """Return a policy as the kernel's struct, and its worths of seats that may be stuck.

    Their places are by the tiles that the seat holds, those unseen, and those of them that fit.
    """
    packed = np.zeros((), POLICY_STRUCT)
    for name in {*FEATURES}.intersection(POLICY_STRUCT.names or ()):
        packed[name] = round(UNIT * getattr(policy, name))
    for index, tile in enumerate(tables.tiles):
        worth = policy.pip * sum(tile) + policy.double * (tile[0] == tile[1])
        packed["shed"][index] = round(UNIT * worth)
    packed["is_stuck"] = bool(policy.stuck)
    sizes = range(len(tables.tiles) + 1) if policy.stuck else ()
    stuck = [
        round(UNIT * policy.stuck * exp(-fitting * hand_size / max(unseen, 1)))
        for hand_size in sizes
        for unseen in sizes
        for fitting in sizes
    ]
    return packed, np.array(stuck, np.int32)


def load_policies(tables: MaskTables, policies: Sequence[Policy]) -> None:
    """Give the kernel the policies of all seats."""
    kernel = kernel_of(tables)
    if kernel.policies == policies:
        return
    kernel.policies = None  # Until it has all of them: Ctrl-C may come before.
    kernel.array("noises", np.int32, NOISES)[:] = NOISE
    records = kernel.array("policies", POLICY_STRUCT, MOST_SEATS)
    tables_of_seats = kernel.array("stuck", np.int32, (MOST_SEATS, (MAX_SET_TILES + 1) ** 3))
    for seat, policy in enumerate(policies):
        records[seat], stuck = _packed(tables, policy)
        tables_of_seats[seat, : len(stuck)] = stuck
    kernel.policies = policies


def first_best(worths: NDArray[np.int32], rows: Places) -> Places:
    """Return the number of the best option of each row that has any, of equal ones the first."""
    # Below a worth's whole part stands the option, the first highest.
    count = len(worths)
    coded = worths.astype(np.int64) * count - np.arange(count)
    return -np.maximum.reduceat(coded, np.flatnonzero(np.diff(rows, prepend=-1))) % count


# Playouts: rounds played on to their end by a policy in every seat.
#
# The plain player plays the heaviest tile that fits, doubles first; a tile that fits both ends
# covers the higher number. No player draws if it can play; a blocked round is called by the
# lightest hand only.


A_TURN = 7919
"""Places in the table of noises from one turn of a round to the next; a prime."""


def play_out(
    batch: RoundBatch, policies: Sequence[Policy] = (), seeds: Places | None = None
) -> PointsArray:
    """Return for each round (a row) the points that each seat gains until it is over.

    `policies`: one for each seat; empty: all players are plain. `seeds`: a number for each round,
    from which its noise follows; None: each seat takes the best option. Fees and antes still to be
    paid count, and the pot that the winner takes. A round that is over brings no more.
    """
    load_policies(batch.tables, tuple(policies))
    return batch.play_out(by_policies=bool(policies), seeds=seeds)


# Learning a bot's policy from the plays that it chose in logged games: a conditional logit.


Floats = NDArray[np.float64]

PULL = 2e-6
"""The pull of each weight to the usual policy's, for each choice learnt from. Most bots always take
what they think best; at 2e-4 those of `greedy` looked less sure: log chance -0.06, now -0.01."""
MAX_NEWTON_STEPS = 50
"""The most steps of Newton's method; about ten are enough."""
WEIGHT_DECIMALS = 3
"""Decimals of a learnt weight: machines differ in its sums only in far smaller digits."""


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
    """The share of the choices, 0 to 1, that are the best option by a policy learnt from the other
    half of the boards: on its own boards a policy foresees more than it will on others."""


class _Rows(NamedTuple):
    """The options of choices, which of them were chosen, and where each choice begins."""

    options: Floats
    is_chosen: Flags
    begins: Places

    def select(self, flags: Flags) -> "_Rows":
        """Return those of some choices."""
        sizes = np.diff(self.begins, append=len(self.options))
        each = np.repeat(flags, sizes)
        begins = np.cumsum(sizes[flags]) - sizes[flags]
        return _Rows(self.options[each], self.is_chosen[each], begins)


def learn_policy(choices: Sequence[Choice]) -> LearntPolicy:
    """Learn the policy under which these choices are likeliest, near to the usual one."""
    if not choices:
        return LearntPolicy(USUAL_POLICY, 0, 0.0)
    rows = _rows(choices)
    odd = np.array([choice.board % 2 == 1 for choice in choices])
    hits = sum(_count_foreseen(rows.select(~half), rows.select(half)) for half in (odd, ~odd))
    return LearntPolicy(_likeliest(rows), len(choices), round(hits / len(choices), 4))


def _likeliest(rows: _Rows) -> Policy:
    """Return the policy under which the choices are likeliest, near to the usual one."""
    options, is_chosen, begins = rows
    spread = options.std(axis=0)
    # A feature that no option of these has more than another keeps its usual weight.
    used = spread > 0
    scaled, usual = options[:, used] / spread[used], np.array(astuple(USUAL_POLICY))
    weights = usual.copy()
    weights[used] = _newton(scaled, is_chosen, begins, usual[used] * spread[used]) / spread[used]
    return Policy(*np.round(weights, WEIGHT_DECIMALS).tolist())


def _count_foreseen(learnt_from: _Rows, rows: _Rows) -> int:
    """Count the choices that the policy of other choices thinks best; none teach nothing."""
    if not len(learnt_from.begins) or not len(rows.begins):
        return 0
    worths = rows.options @ np.array(astuple(_likeliest(learnt_from)))
    best = np.maximum.reduceat(worths, rows.begins)
    return int(np.count_nonzero(worths[rows.is_chosen] >= best - 0.5 / UNIT))


def _rows(choices: Sequence[Choice]) -> _Rows:
    """Return the features of all options, which of them were chosen, and where choices begin."""
    batch = RoundBatch.from_games([choice.game for choice in choices])
    features = list[NDArray[np.int32]]()
    # The features are written once: as the worths by a policy of one weight.
    for name in FEATURES:
        load_policies(batch.tables, (Policy(**{name: 1.0}),) * batch.tables.seats)
        plays = batch.plays(with_worth=True)
        features.append(plays["worth"])
    moves = np.array([batch.move(choice.play) for choice in choices], MOVE_STRUCT)[plays["row"]]
    is_chosen = np.logical_and.reduce([plays[name] == moves[name] for name in PLAY_NAMES])
    begins = np.searchsorted(plays["row"], np.arange(len(batch)))
    return _Rows(np.stack(features, axis=1) / UNIT, is_chosen, begins)


PLAY_NAMES = "first", "end", "second"
"""The fields of a move that say which play it is."""


def _newton(options: Floats, is_chosen: Flags, begins: Places, usual: Floats) -> Floats:
    """Return the weights of the highest penalised likelihood, which is concave."""
    numbers = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(options)))
    pull, chosen_sum, weights = PULL * len(begins), options[is_chosen].sum(axis=0), usual.copy()
    value, step = -np.inf, np.zeros_like(weights)
    for _ in range(MAX_NEWTON_STEPS):
        tried = weights + step
        worths = options @ tried
        worths -= np.maximum.reduceat(worths, begins)[numbers]
        chances = np.exp(worths)
        sums = np.add.reduceat(chances, begins)
        offset = tried - usual
        fit = float(worths[is_chosen].sum() - np.log(sums).sum() - pull / 2 * (offset @ offset))
        if fit < value:
            step /= 2
            continue
        weights, value = tried, fit
        chances /= sums[numbers]
        means = np.add.reduceat(chances[:, None] * options, begins)
        slope = chosen_sum - chances @ options - pull * offset
        curve = (options * chances[:, None]).T @ options - means.T @ means
        step = np.linalg.solve(curve + pull * np.eye(len(weights)), slope)
        if np.abs(step).max() < 1e-9:
            break
    return weights
