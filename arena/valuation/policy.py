"""Policies: how a bot picks its plays, how that is learnt from logs, and playouts by policies.

A policy is a conditional logit: an option is chosen with the probability exp(worth) / sum of all
exp(worth). A player of playouts adds Gumbel noise to each worth and takes the best option, which
has just these probabilities; without noise it takes the option of the greatest worth.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import shake_256
from math import exp, log
from typing import NamedTuple

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from arena.analysis.timeline import Timeline
from arena.engine.state import Game
from arena.valuation.batch import (
    ALL_ROUNDS,
    FREE_BITS,
    HIGHER,
    LEFT_END,
    RESULTS,
    RIGHT_END,
    TILE_PLACES,
    Flags,
    Ints,
    MaskTables,
    Places,
    RoundBatch,
    find_lightest,
    names_needed,
    parties,
)
from arena.valuation.terms import Policy
from protocol.messages import Play, PlayTwo
from protocol.records import ChoiceRecord

# Policies: how a bot picks one of its plays, as weights of what a play does.


UNIT = 1000
"""Parts of a logit in which worths are counted: whole numbers are the same on every machine."""
NOISES = 1 << 14
"""Gumbel noises in the table; a power of two."""
PRIMES = 331, 613, 1361
"""Steps in the table of noises between options: by the end, and by each tile of a turn."""

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


class Options(NamedTuple):
    """Plays, several of each row; of those that look equally good the first is the favourite."""

    rows: Places
    tiles: tuple[Ints, ...]
    """The tile, or where a turn plays two those for the left and for the right end."""
    ends: Ints
    """The end for the first."""
    places: tuple[Places, ...]
    """The place of each tile in the tables of ends."""
    after: Places
    """The ends of the line after the play."""


class VisibleTiles(NamedTuple):
    """The hands and the line that a policy looks at, a row each."""

    hands: Ints
    others: Ints
    """The hand of the next seat."""
    line: Ints
    order: NDArray[np.int8]
    """See `RoundBatch.order`."""


class PolicyTables:
    """The worths of plays by a policy, as tables of whole numbers."""

    def __init__(self, tables: MaskTables, policy: Policy) -> None:
        self.tables, self._base = tables, len(tables.tiles) + 1
        self._weights = {name: np.int32(round(UNIT * getattr(policy, name))) for name in FEATURES}
        self._shed = np.zeros(TILE_PLACES, np.int32)
        for index, tile in enumerate(tables.tiles, FREE_BITS - 1):
            worth = policy.pip * sum(tile) + policy.double * (tile[0] == tile[1])
            self._shed[index] = round(UNIT * worth)
        sizes = range(self._base)
        equal = tables.left == tables.right
        self._fits_both = np.where(equal, tables.fitting, tables.both)
        stuck = [
            round(UNIT * policy.stuck * exp(-fitting * hand_size / max(unseen, 1)))
            for hand_size in sizes
            for unseen in sizes
            for fitting in sizes
        ]
        self._stuck = np.array(stuck, np.int32) if policy.stuck else None
        numbers = [1 << high | 1 << low for high, low in tables.tiles]
        self._numbers = tables.by_part(numbers, np.bitwise_or)

    def worths(self, position: VisibleTiles, options: Options) -> NDArray[np.int32]:
        """Return the worth of each option in the position of its row."""
        hands, others, line, order = position
        tables, rows, weights = self.tables, options.rows, self._weights
        fitting, rest = tables.fitting.take(options.after), hands.take(rows)
        worth = np.zeros(len(rows), np.int32)
        for tiles, places in zip(options.tiles, options.places, strict=True):
            rest ^= tiles
            worth += self._shed.take(places)
        worth += weights["fits"] * np.bitwise_count(rest & fitting)
        worth += weights["safe"] * self._can_play(rest, fitting, options)
        if weights["both"]:
            fit = np.bitwise_count(rest & self._fits_both.take(options.after))
            worth += weights["both"] * fit
        if self._stuck is not None:
            unseen = tables.all & ~(hands | line)
            of_row = (tables.sizes(others) * self._base + tables.sizes(unseen)) * self._base
            follow = np.bitwise_count(unseen.take(rows) & fitting)
            worth += self._stuck.take(of_row.take(rows) + follow)
        if weights["kinds"]:
            numbers = tables.look_up(self._numbers, rest, np.bitwise_or)
            worth += weights["kinds"] * tables.sizes(numbers)
        if weights["blocks"]:
            worth += weights["blocks"] * ~self._can_play(others.take(rows), fitting, options)
        worth += weights["left"] * (options.ends != RIGHT_END)
        if weights["place"]:
            index = (options.places[0] - (FREE_BITS - 1)) * len(hands) + rows
            worth += weights["place"] * order.take(index)
        return worth

    def _can_play(self, hands: Ints, fitting: Ints, options: Options) -> Flags:
        """Tell for each hand whether it has a play after the option."""
        if self.tables.settings.two_tiles:
            return self.tables.can_play_two(hands, options.after)
        can: Flags = hands & fitting != 0
        return can


def options_of(
    tables: MaskTables, ends: Places, rows: Places, tile: Ints, side: Ints, *second: Ints
) -> Options:
    """Return these plays; `ends` are those of all rows, `side` the end of each play.

    `second`: the tiles for the right end where a turn plays two; 0 is no tile.
    """
    after = tables.ends_after(ends.take(rows), tile, side)
    for other in second:
        after = tables.ends_after(after, other, RIGHT_END)
    tiles = tile, *second
    return Options(rows, tiles, side, tuple(map(tables.places_of, tiles)), after)


def favourites(options: Options, worths: NDArray[np.int32], noise: Places | None) -> Places:
    """Return the number of the best option of each row that has any.

    `noise`: a place in the table of noises for each row; None: no noise.
    """
    if noise is not None:
        indices = noise.take(options.rows)
        for places, prime in zip((options.ends, *options.places), PRIMES, strict=False):
            indices += places * prime
        worths = worths + NOISE.take(indices & NOISES - 1)
    return first_best(worths, options.rows)


def first_best(worths: NDArray[np.int32], rows: Places) -> Places:
    """Return the number of the best option of each row that has any, of equal ones the first."""
    # Below a worth's whole part stands the option, the first highest.
    count = len(worths)
    coded = worths.astype(np.int64) * count - np.arange(count)
    return -np.maximum.reduceat(coded, np.flatnonzero(np.diff(rows, prepend=-1))) % count


@lru_cache(maxsize=256)
def tables_of(tables: MaskTables, policy: Policy) -> PolicyTables:
    """Return the worths of plays with a set of tiles."""
    return PolicyTables(tables, policy)


# Playouts: rounds played on to their end by a policy in every seat.
#
# All rounds of a batch take their turns together, seat after seat. The plain player plays the
# heaviest tile that fits, doubles first; a tile that fits both ends covers the higher number. No
# player draws if it can play; a blocked round is called by the lightest hand only.


COMPACT_AT = 8
"""Compact the batch once 1/8 of its rounds are over."""
A_TURN = 7919
"""Places in the table of noises from one turn of a round to the next; a prime."""


def play_out(
    batch: RoundBatch, policies: Sequence[Policy] = (), seeds: Places | None = None
) -> NDArray[np.int32]:
    """Return for each round (a row) the points that each seat gains until it is over.

    `policies`: one for each seat; empty: all players are plain. `seeds`: a number for each round,
    from which its noise follows; None: each seat takes the best option. Fees and antes still to be
    paid count, and the pot that the winner takes. A round that is over brings no more.
    """
    needed = names_needed(batch.tables) | ({"line"} if policies else set())
    if any(policy.place for policy in policies):
        needed |= {"order"}
    end = batch.select(np.arange(len(batch)), RESULTS)
    in_play = ~(batch.is_over | _find_calls(batch))
    for seat in range(batch.tables.seats):
        members = np.flatnonzero(in_play & (batch.turn == seat))
        own_seeds = None if seeds is None else seeds.take(members)
        rounds = batch.select(members, needed)
        _Playout(rounds, members, policies, own_seeds, end).play(seat)
    end.credited = batch.is_over
    end.is_over[:] = True
    return (end.points + end.gains - batch.points).T


def _find_calls(batch: RoundBatch) -> Flags:
    """Tell in which rounds one of the seats still to be asked calls: the lightest hand does."""
    calls = np.zeros(len(batch), np.bool_)
    rows = np.flatnonzero(batch.ask_count) if batch.settings.dead_ends_to_call else calls[:0]
    if not rows.size:
        return calls
    tables, step = batch.tables, batch.settings.step
    sides = parties(tables, tables.count_pips(batch.hands[:, rows]))
    lightest = find_lightest(sides)
    for seat in range(tables.seats):
        place = (seat - batch.turn[rows]) * step % tables.seats
        is_asked = place >= tables.seats - batch.ask_count[rows]
        calls[rows] |= is_asked & (lightest == seat % len(sides))
    return calls


class _Playout:
    """Rounds in which the same seat is to move, played to their end."""

    def __init__(
        self,
        batch: RoundBatch,
        members: Places,
        policies: Sequence[Policy],
        seeds: Places | None,
        end: RoundBatch,
    ) -> None:
        self.batch, self.members, self.seeds, self.end = batch, members, seeds, end
        self.policies = [tables_of(batch.tables, policy) for policy in policies]
        self.turns = 0

    def play(self, seat: int) -> None:
        """Play all rounds to their end; this seat begins."""
        batch = self.batch
        while len(self.members):
            self._turn(seat)
            if batch.settings.dead_ends_to_call:
                batch.is_over |= _find_calls(batch)
            over = np.flatnonzero(batch.is_over)
            if len(over) * COMPACT_AT >= len(batch):
                self._compact(over)
            elif over.size:
                batch.freeze(over)
            seat = batch.settings.after[seat]

    def _turn(self, seat: int) -> None:
        """Let the seat draw until it can play or may draw no more, and play."""
        batch, drew = self.batch, None
        able, draws = batch.legal(ALL_ROUNDS, seat)
        if batch.settings.draw_when_able:
            draws &= able == 0
        stuck = np.flatnonzero(draws)
        while stuck.size:
            batch.draw_tile(seat, stuck)
            if batch.settings.draw_ends_turn:
                drew = stuck
                break
            able[stuck], draws = batch.legal(stuck, seat)
            stuck = stuck[draws & (able[stuck] == 0)]
        batch.play_of(seat, ALL_ROUNDS, *self._plays(seat, able), drew=drew)

    def _plays(self, seat: int, able: Ints) -> Iterator[tuple[Ints, int | Ints]]:
        """Yield the tiles that the seat plays, and the end for each."""
        batch, tables = self.batch, self.batch.tables
        if self.policies:
            yield from self._favourites(able, seat)
        elif batch.settings.two_tiles:
            high, low = tables.best_pair(able, batch.ends)
            # A last tile alone goes where it fits.
            yield np.where(high != 0, high, able), HIGHER
            yield low, tables.low_end.take(batch.ends)
        else:
            yield able & -able, HIGHER

    def _favourites(self, able: Ints, seat: int) -> list[tuple[Ints, Ints]]:
        """Return the tiles that the seat plays by its policy, and the end for each; 0: none."""
        batch, policy = self.batch, self.policies[seat]
        left, right, lead = batch.plays_by_end(ALL_ROUNDS, able)
        left |= lead
        puts = [(able & -able, np.where(left, LEFT_END, RIGHT_END))]
        several = able & (able - 1)
        if batch.settings.two_tiles:
            puts.append((np.zeros_like(able), np.full_like(able, RIGHT_END)))
        else:
            several |= left & right
        self.turns += 1
        rows = np.flatnonzero(several)
        if not rows.size:
            return puts
        options = self._options(rows, able, left, right)
        hands, others = batch.hands[seat], batch.hands[batch.settings.after[seat]]
        # Without it no policy asks which tiles come first.
        order = batch.order if "order" in batch.names else batch.line
        worths = policy.worths(VisibleTiles(hands, others, batch.line, order), options)
        noise = None if self.seeds is None else self.seeds + self.turns * A_TURN
        best = favourites(options, worths, noise)
        puts[0][1][rows] = options.ends.take(best)
        for (masks, _), tiles in zip(puts, options.tiles, strict=True):
            masks[rows] = tiles.take(best)
        return puts

    def _options(self, rows: Places, able: Ints, *by_end: Ints) -> Options:
        """Return all plays of these rows."""
        tables, ends = self.batch.tables, self.batch.ends
        if self.batch.settings.two_tiles:
            index, tile, second = tables.each_pair(able.take(rows), ends.take(rows))
            return options_of(tables, ends, rows.take(index), tile, np.zeros_like(index), second)
        masks = np.stack([tiles.take(rows) for tiles in by_end], axis=1)
        index, tile = tables.each_tile(masks.ravel())
        return options_of(tables, ends, rows.take(index >> 1), tile, index & 1)

    def _compact(self, over: Places) -> None:
        """Store the ends of rounds that are over, and keep the others."""
        members, batch = self.members.take(over), self.batch
        rest = np.flatnonzero(~batch.is_over)
        for name in batch.names & CHANGING:
            getattr(self.end, name)[..., members] = getattr(batch, name).take(over, axis=-1)
        self.members = self.members.take(rest)
        if self.seeds is not None:
            self.seeds = self.seeds.take(rest)
        batch.keep(rest)


CHANGING = frozenset(("hands", "last_seat", "last_tile", "points", "pot"))
"""Those of the arrays by which a batch scores that a playout changes."""


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


def choices_of(timeline: Timeline, seat: int) -> Iterator[Choice]:
    """Yield the choices of a seat in a game that its policy is learnt from."""
    for question in timeline.questions(seat):
        if isinstance(question.answer, ChoiceRecord):
            play = question.options[question.answer.choice]
            plays = sum(isinstance(option, Play | PlayTwo) for option in question.options)
            if isinstance(play, Play | PlayTwo) and plays > 1:
                yield Choice(question.game, play, timeline.logged.game.board)


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
    tables, rounds = batch.tables, np.arange(len(batch))
    play_rows, (tile, end), (second, _) = batch.plays()
    next_seat = np.array(batch.settings.after)[batch.turn]
    hands = batch.hands[batch.turn, rounds], batch.hands[next_seat, rounds]
    position = VisibleTiles(*hands, batch.line, batch.order)
    options = options_of(tables, batch.ends, play_rows, tile, end, second)
    # The features are written once: as the worths by a policy of one weight.
    policies = [tables_of(tables, Policy(**{name: 1.0})) for name in FEATURES]
    features = np.stack([policy.worths(position, options) for policy in policies], axis=1) / UNIT
    plays = np.array([batch.puts(choice.play) for choice in choices])[play_rows].T
    is_chosen: Flags = (tile == plays[0]) & (end == plays[1]) & (second == plays[2])
    return _Rows(features, is_chosen, np.searchsorted(play_rows, rounds))


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
