"""Luck: what a deal or a drawn tile was worth; and the chances at each moment of a replay.

The shuffle is uniform, and no choice depends on the order of the boneyard: given all that has
happened, each tile in any of its rows is as likely to come next. A state is worth the mean of
playouts that complete it with random tiles, by a policy for each seat that was fixed before the
board was played. So the mean of the luck is 0, whatever the policies are worth: before a deal or a
draw, the playouts take from all that could come; after it, from what is left.
"""

from collections.abc import Iterator, Sequence
from hashlib import shake_256
from itertools import chain, groupby
from math import fsum
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena import engine
from arena.analysis.frames import join_draws
from arena.analysis.timeline import Moment, Timeline, deal_of
from arena.engine import legal
from arena.engine.deal import lay_out
from arena.engine.state import Game, Method
from arena.logs.gamelog import LoggedGame
from arena.match.referee import decided_by_fouls
from arena.valuation.batch import Places, RoundBatch, mask_tables
from arena.valuation.policy import A_TURN, USUAL_POLICY, Floats, play_out
from arena.valuation.terms import USUAL_TERMS, LuckTerms, Policy
from arena.valuation.win_chance import (
    FULL_SHARE,
    MILLI,
    Integers,
    Law,
    law_of,
    lead_to_come,
    share_of_scores,
)
from protocol.messages import Drew, Play, PlayTwo, TurnedUp
from protocol.records import ChoiceRecord, DealRecord, FoulRecord, Result
from protocol.ruleset import BY_DOUBLE, MOST_DEALS, Tile, count_sides, set_of_tiles

# Luck: what a deal or a drawn tile was worth, less the mean of all that could have come.


DRAW_PLAYOUTS, HANDS_PLAYOUTS = 64, 64
"""The playouts of a state before or after a draw, and of a deal whose hands are known."""
MEAN_DEALS = 32
"""The deals for the mean over all of them, each with the hands at every seat in turn: so it has
little of the luck of hands."""
DEAL_TRIES = 4
"""The multiple of `MEAN_DEALS` that is tried where some deals do not count."""
UPPER_KNOT, LOWER_KNOT = (0.96, 0.95), (0.86, 0.6)
"""Shares of choices that policies foresee, and the parts of the measured luck that then count."""
LUCK_DECIMALS = 6


class DrawLuck(Struct, frozen=True):
    """The luck of a deal or of one drawn tile; `points` and `share` have a number for each seat."""

    record: int
    """The index in the game's records after which it came."""
    round: int
    """The round's number in the game, from 1."""
    seat: int
    """The seat that drew it; of a tile turned up to begin the line, and of a deal, the leader."""
    tile: Tile | None
    """The tile, (high, low); None: all hands of a deal."""
    points: tuple[float, ...]
    """Points by which it raised what each seat may expect of the game, see `weight_of`."""
    share: tuple[float, ...]
    """The share of the game, 0 to 1, by which it raised what each seat may expect."""


class GameLuck(Struct, frozen=True):
    """The luck of a game: of each deal and drawn tile, and its sums for each seat."""

    draws: tuple[DrawLuck, ...]
    points: tuple[float, ...]
    share: tuple[float, ...]
    """The share of the game that each seat owes to luck."""


def weight_of(foreseen: Sequence[float]) -> float:
    """Return the part of the measured luck that counts, from the share that each policy foresees.

    The less policies foresee, the worse are playouts. The shares are of earlier boards: a weight
    fitted to the games that it corrects would make their intervals too small.
    """
    mean = fsum(foreseen) / len(foreseen) if foreseen else 0.0
    (high, most), (low, least) = UPPER_KNOT, LOWER_KNOT
    return least + (most - least) * min(max((mean - low) / (high - low), 0.0), 1.0)


def luck_of_games(timelines: Sequence[Timeline], terms: LuckTerms = USUAL_TERMS) -> list[GameLuck]:
    """Return the luck of each of these games of one ruleset and number of seats, from its log.

    If a foul ended a game, all luck before it counts. Raises UserError for rules without values.
    """
    sitting, states = timelines[0].logged.sitting, list[_State]()
    policies = terms.policies or [USUAL_POLICY] * len(sitting.seats)
    mask_tables(sitting.rules, len(policies))
    pairs = ((timeline, _States(timeline.logged, states)) for timeline in timelines)
    chances = [[*_chances(*pair, terms.deals)] for pair in pairs]
    weight = weight_of(terms.foreseen)
    values = [weight * part for part in _values(states, policies)] if states else ()
    return [_with_sums([_luck(chance, values) for chance in row], len(policies)) for row in chances]


def _with_sums(draws: Sequence[DrawLuck], seats: int) -> GameLuck:
    return GameLuck(
        tuple(draws),
        tuple(
            round(fsum(draw.points[seat] for draw in draws), LUCK_DECIMALS) for seat in range(seats)
        ),
        tuple(
            round(fsum(draw.share[seat] for draw in draws), LUCK_DECIMALS) for seat in range(seats)
        ),
    )


class _Chance(NamedTuple):
    """A deal or a drawn tile, and the numbers of the states before and after it."""

    record: int
    round: int
    seat: int
    tile: Tile | None
    before: int
    after: int


def _chances(timeline: Timeline, states: "_States", deals: bool) -> Iterator[_Chance]:
    """Yield each deal and each drawn tile that could have been another."""
    last_state: int | None = None
    turns = 0
    for moment in timeline.moments:
        # Where nobody has chosen since a draw, the state after it is the one before the next.
        if last_state is not None and not _is_forced(moment):
            last_state = None
        # What a position says was not drawn in this game.
        if moment.is_opening:
            continue
        if isinstance(moment.record, DealRecord):
            yield from _with_deal(moment, states, deals)
        # Whoever wins the auction gets both tiles, in whichever order they lie.
        elif moment.before.round and moment.before.round.phase.name == "play":
            turns += moment.before.playing.turn != moment.game.playing.turn
            chance = _in_turn(moment, states, last_state, turns if last_state is not None else 0)
            if chance:
                last_state, turns = chance.after, 0
                yield chance


def _in_turn(moment: Moment, states: "_States", before: int | None, turns: int) -> _Chance | None:
    """Return the tile that a seat drew in its turn.

    `before`: the state before it, if it is one, and the turns since.
    """
    state = moment.before.playing
    for event in moment.events:
        if isinstance(event, Drew) and event.tile and state.stock_size > 1:
            if before is None:
                before = states.before_draw(moment.before)
            number = state.table.bit[event.tile].bit_length() - 1
            after = states.after_draw(moment.game, number, turns)
            return _Chance(moment.index, state.number, event.seat, event.tile, before, after)
    return None


def _is_forced(moment: Moment) -> bool:
    """Tell whether every player of playouts does what was done: it plays if it can, or draws."""
    state = moment.before.playing
    if state.over or state.phase.name != "play":
        return False
    options = legal(moment.before)
    plays = sum(isinstance(option, Play | PlayTwo) for option in options)
    choice = moment.record.choice if isinstance(moment.record, ChoiceRecord) else 0
    return plays <= 1 and choice == 0


def _with_deal(moment: Moment, states: "_States", deals: bool) -> Iterator[_Chance]:
    """Yield a deal that counts, and the tiles drawn for its lead or turned up to begin the line."""
    assert isinstance(moment.record, DealRecord)
    dealt = deal_of(moment.record)
    if not dealt.hands[0] or moment.game.playing.phase.name == "deal":
        return
    laid_out = moment.before.copy()
    lay_out(laid_out, dealt)
    orders = _DealOrders(laid_out, f"{states.label}|{dealt.round}")
    origin, stock = (moment.index, dealt.round), [*chain(*dealt.stock)]
    drawn = [event for event in moment.events if isinstance(event, Drew | TurnedUp) and event.tile]
    all_orders = orders.all_deals() if deals else np.zeros((0, 0), np.int64)
    if not (drawn or all_orders.size):
        return
    after = states.add_deal(laid_out, orders.with_known(()))
    if all_orders.size:
        yield _Chance(*origin, dealt.leader, None, states.add_deal(laid_out, all_orders), after)
    places = list[int]()
    for event in drawn:
        assert event.tile
        places.append(stock.index(event.tile))
        before, after = after, states.add_deal(laid_out, orders.with_known(places))
        seat = event.seat if isinstance(event, Drew) else dealt.leader
        yield _Chance(*origin, seat, event.tile, before, after)


class _DealOrders:
    """Orders of all tiles with which a deal is completed: hands first, then the boneyard."""

    def __init__(self, game: Game, label: str) -> None:
        state, self._game, self._label = game.playing, game, label
        self._hands = [bit.bit_length() - 1 for hand in state.hand_bits for bit in hand]
        self._stock = [bit.bit_length() - 1 for row in state.stock_rows for bit in row]

    def with_known(self, places: Sequence[int]) -> Integers:
        """Return orders with these hands, and these places of the boneyard as they were."""
        free = [place for place in range(len(self._stock)) if place not in places]
        orders = np.tile(self._hands + self._stock, (HANDS_PLAYOUTS, 1))
        keys = random_keys(
            f"{self._label}|hands", HANDS_PLAYOUTS, len(set_of_tiles(self._game.rules.deal))
        )
        # Ascending: nothing here shows how the tiles lay.
        left = np.array(sorted(self._stock[place] for place in free), np.int64)
        columns = [len(self._hands) + place for place in free]
        orders[:, columns] = left[keys[:, left].argsort(axis=1, kind="stable")]
        return orders

    def all_deals(self) -> Integers:
        """Return orders of all tiles: deals that count, each with the hands at every seat."""
        rules, seats = self._game.rules, self._game.seats
        size, tile_count = len(self._hands) // seats, len(set_of_tiles(rules.deal))
        strict = rules.deal.annul_suit or rules.lead.missing == "redeal"
        keys = random_keys(
            f"{self._label}|deals", MEAN_DEALS * (DEAL_TRIES if strict else 1), tile_count
        )
        deals: Integers = keys.argsort(axis=1, kind="stable")
        if strict and self._game.playing.phase.deal < MOST_DEALS:
            deals = deals[self._count(deals)]
        deals = deals[:MEAN_DEALS]
        turned = np.concatenate([deals] * seats)
        for seat in range(seats):
            rows = slice(seat * len(deals), (seat + 1) * len(deals))
            turned[rows, : size * seats] = np.roll(deals[:, : size * seats], seat * size, axis=1)
        return turned

    def _count(self, deals: Integers) -> NDArray[np.bool_]:
        """Tell which deals count: no hand is declared (C.6), and no double is missed (C.13)."""
        rules, seats = self._game.rules, self._game.seats
        pairs = np.array(set_of_tiles(rules.deal))[deals[:, : len(self._hands)]]
        hands = pairs.reshape(len(deals), seats, -1, 2)
        count = np.ones(len(deals), np.bool_)
        if rules.deal.annul_suit:
            for pip in range(rules.deal.highest_pip + 1):
                suit_sizes = (hands == pip).any(axis=3).sum(axis=2)
                count &= (suit_sizes < rules.deal.annul_suit).all(axis=1)
        method = self._game.playing.phase.method
        if rules.lead.missing == "redeal" and method in BY_DOUBLE:
            least = rules.deal.highest_pip if method == "double_six" else 0
            doubles = (hands[..., 0] == hands[..., 1]) & (hands[..., 0] >= least)
            count &= doubles.any(axis=(1, 2))
        return count


def stock_tiles(game: Game) -> Integers:
    """Return the tiles in the boneyard, ascending: nothing shows how they lie."""
    rows = game.playing.stock_rows
    return np.array(sorted(bit.bit_length() - 1 for row in rows for bit in row), np.int64)


def random_keys(label: str, count: int, tiles: int) -> NDArray[np.uint32]:
    """Return a random key of each tile for each order, in which the lowest key lies first."""
    stream = shake_256(f"boneyard luck 4|{label}".encode()).digest(4 * count * tiles)
    return np.frombuffer(stream, "<u4").reshape(count, tiles)


class _State(NamedTuple):
    """A state before or after a chance, and the tiles by which its playouts complete it."""

    game: Game
    """After a deal it is only laid out, see `lay_out`."""
    orders: Integers
    """For each playout the order of the boneyard; of a deal, the hands before it."""
    seeds: Places
    method: Method | None = None
    """The method that decides the leader of a deal; None: the round has begun."""
    draws: bool = False
    """True if the seat to move draws first."""


class _States:
    """The states of a game before and after each chance, and their values.

    All random numbers follow from the board, its commitment and the round, so that other events
    share no noise of playouts, which no interval would show. Where two games of a board come to the
    same state, their playouts are the same too; so the noise goes out by the rotation, as the luck
    does. None tells of a tile that came.
    """

    def __init__(self, logged: LoggedGame, states: list[_State]) -> None:
        """`states`: the states of all games, to which those of this one are added."""
        self.label = f"{logged.game.board}|{logged.game.commitment}"
        self._tiles = len(set_of_tiles(logged.sitting.rules.deal))
        self._states = states
        self._turn = (0, 0)
        self._orders, self._seeds = np.zeros((0, 0), np.int64), np.zeros(0, np.intp)

    def before_draw(self, game: Game) -> int:
        """Add the state in which a seat begins to draw; return its number."""
        number, stock = game.playing.number, stock_tiles(game)
        self._turn = (number, self._turn[1] + 1 if self._turn[0] == number else 1)
        size, count = len(stock), max(round(DRAW_PLAYOUTS / len(stock)), 1)
        keys = random_keys(f"{self.label}|{number}|{self._turn[1]}", count * size, self._tiles + 1)
        # Each tile lies at each place equally often: so playouts are much less noisy.
        turned = np.add.outer(np.arange(size), np.arange(size)) % size
        orders = stock[keys[:count, stock].argsort(axis=1, kind="stable")]
        self._orders = orders[:, turned].reshape(-1, size)
        self._seeds = keys[:, -1].astype(np.intp)
        return self._add(_State(game, self._orders, self._seeds, draws=True))

    def after_draw(self, game: Game, tile: int, turns: int) -> int:
        """Add the state after the seat drew this tile, a number; return the state's number.

        `turns`: those since the state before it. The tile changes places with the one that lay
        first: so most playouts before and after the draw differ by two tiles only.
        """
        lay = (self._orders == tile).argmax(axis=1)
        orders = self._orders.copy()
        orders[np.arange(len(orders)), lay] = orders[:, 0]
        self._orders = orders[:, 1:]
        self._seeds = self._seeds + A_TURN * turns
        return self._add(_State(game, self._orders, self._seeds))

    def add_deal(self, game: Game, orders: Integers) -> int:
        """Add a deal with orders of all tiles; return its number."""
        (keys,) = random_keys(f"{self.label}|{game.playing.number}|noise", 1, len(orders))
        return self._add(_State(game, orders, keys.astype(np.intp), game.playing.phase.method))

    def _add(self, state: _State) -> int:
        self._states.append(state)
        return len(self._states) - 1


def _luck(chance: _Chance, values: Sequence[Floats]) -> DrawLuck:
    """Return the luck of a chance, by the values of all states."""
    points, share = (
        tuple(
            round(float(number), LUCK_DECIMALS)
            for number in array[chance.after] - array[chance.before]
        )
        for array in values
    )
    return DrawLuck(*chance[:4], points, share)


def _values(states: Sequence[_State], policies: Sequence[Policy]) -> tuple[Floats, Floats]:
    """Return the points and the share of the game that each seat may expect in each state."""
    methods = [state.method for state in states]
    # One batch for all: so numpy is called less often.
    order = sorted(range(len(methods)), key=lambda index: methods.index(methods[index]))
    states = [states[index] for index in order]
    batch = RoundBatch.joined(
        [_completed([*group], method) for method, group in groupby(states, lambda s: s.method)]
    )
    law = law_of(states[0].game.rules, policies)
    counts = np.array([len(state.orders) for state in states])
    seeds = np.concatenate([state.seeds for state in states])
    scores = batch.scores + play_out(batch, policies, seeds)
    rounds = np.repeat([state.game.playing.number for state in states], counts)
    # Sums of integers: the same on every machine.
    points = 2 * MILLI * scores.astype(np.int64) + lead_to_come(law, scores, rounds)
    shares = share_of_scores(law, scores, rounds)
    begins, inverse = np.cumsum(counts) - counts, np.argsort(order)
    return (
        (np.add.reduceat(points, begins) / (2 * MILLI * counts[:, None]))[inverse],
        (np.add.reduceat(shares, begins) / (FULL_SHARE * counts[:, None]))[inverse],
    )


def _completed(states: Sequence[_State], method: Method | None) -> RoundBatch:
    """Return each state once for each of its orders."""
    games = [state.game for state in states]
    if method is None:
        batch = RoundBatch.in_orders(games, [state.orders for state in states])
        batch.draw(
            np.flatnonzero(np.repeat([s.draws for s in states], [len(s.orders) for s in states]))
        )
        return batch
    batch = RoundBatch.from_games(games).repeat(np.array([len(state.orders) for state in states]))
    batch.deal(np.concatenate([state.orders for state in states]), method)
    return batch


# Chances at each moment of a replay: playouts with all hands known, the boneyard's order unknown.
#
# At a draw the chances change by luck, at a choice by what the choice was worth among tiles that
# are all known. All moments share the same random orders of the tiles, which follow from public
# facts, so the chances are the same on every machine and do not jump for want of playouts.


BONEYARD_ORDERS = 128
"""Random orders of the boneyard that each moment is played out with: the standard error of a share
is at most 0.5 / √128, 4 %, and between moments, which share the orders, much smaller."""


FOUL_SCORE = -1_000_000
"""The score of a seat that has fouled: below all others."""


class Chance(Struct, frozen=True):
    """The expectation of each side at one moment of a replay, in the order of the scores."""

    shares: tuple[float, ...]
    """The expected share of the other sides that the side ends above: 0 to 1; two sides' add up
    to 1."""
    leads: tuple[float, ...]
    """The expected points that the side still gains in the round, less the others' mean."""


class ReplayMoment(NamedTuple):
    """One moment of a replay."""

    game: Game
    over: bool
    """True if the result stands: by the rules, or by fouls."""
    fouled: frozenset[int]
    """The seats that have lost by a foul."""

    @property
    def is_dealt(self) -> bool:
        """Tell whether a round is in play with tiles in hand: a guess for the lead comes before."""
        return not (self.over or engine.needs_deal(self.game)) and self.game.playing.held_mask != 0

    @property
    def orders(self) -> int:
        """Return the number of orders to play out: one if no more tile can be drawn."""
        return BONEYARD_ORDERS if self.is_dealt and self.game.playing.drawable else 1

    @property
    def rounds(self) -> int:
        """Return the number of rounds played once the one in play is over."""
        state = self.game.playing
        return state.number - (not self.is_dealt and not state.over)


def replay_chances(timeline: Timeline) -> tuple[Chance, ...]:
    """Return the chances at each moment of the replay for everybody."""
    logged, moments = timeline.logged, [*_moments(timeline)]
    if not moments:
        return ()
    sides = count_sides(logged.sitting.rules.deal.partners, len(logged.sitting.seats))
    counts = np.array([moment.orders for moment in moments])
    label, deal = f"{logged.sitting.event}|{logged.game.game}|chances", logged.sitting.rules.deal
    gains = _gains(moments, counts, random_keys(label, BONEYARD_ORDERS, len(set_of_tiles(deal))))
    # Sums of integers: the same on every machine.
    starts = np.cumsum(counts) - counts
    sums = np.add.reduceat(_shares(logged, moments, counts, gains)[:, :sides], starts)
    shares = sums / (counts[:, None] * FULL_SHARE)
    leads = _leads(np.add.reduceat(gains[:, :sides], starts) / counts[:, None])
    for index, moment in enumerate(moments):
        if moment.over and logged.result:
            shares[index] = _won(logged.result.places[:sides])
        elif moment.fouled:
            shares[index] = _beaten(shares[index], [*moment.fouled])
    return tuple(map(Chance, map(tuple, shares.tolist()), map(tuple, leads.tolist())))


def _moments(timeline: Timeline) -> Iterator[ReplayMoment]:
    logged = timeline.logged
    fouled = set(logged.game.forfeited)
    for group in join_draws(timeline.moments, None):
        records = [moment.record for moment in group]
        fouled |= {record.seat for record in records if isinstance(record, FoulRecord)}
        game = group[-1].game
        is_end = game.over or isinstance(records[-1], Result)
        over = bool(is_end or decided_by_fouls(game, logged.sitting.fouls, fouled))
        yield ReplayMoment(game, over, frozenset(fouled))


def _shares(
    logged: LoggedGame, moments: Sequence[ReplayMoment], counts: Integers, gains: Integers
) -> Integers:
    """Return each seat's expected share, in millionths, after the round in each order."""
    scores = np.repeat([moment.game.scores for moment in moments], counts, axis=0) + gains
    rounds = np.repeat([moment.rounds for moment in moments], counts)
    for seat in range(len(logged.sitting.seats)):
        scores[np.repeat([seat in moment.fouled for moment in moments], counts), seat] = FOUL_SCORE
    return share_of_scores(Law(logged.sitting.rules, scores.shape[1]), scores, rounds)


def _beaten(shares: Floats, fouled: Sequence[int]) -> Floats:
    """Return the shares if these sides end below all others, and tie with one another.

    Where two sides can win nobody plays on after a foul, so here each seat is a side. The others
    share equally in what the fouled sides were still expected to win from them.
    """
    rest, count = len(shares) - 1, len(fouled)
    tied = (count - 1) / 2 / rest
    increase = (shares[fouled].sum() - count * tied) / (len(shares) - count)
    shares = np.minimum(shares + increase, 1)
    shares[fouled] = tied
    return shares


def _gains(moments: Sequence[ReplayMoment], counts: Integers, keys: NDArray[np.uint32]) -> Integers:
    """Return the points that each seat gains until the round's end, a row an order of a moment."""
    gains = np.zeros((counts.sum(), moments[0].game.seats), np.int64)
    rows = np.repeat([moment.is_dealt for moment in moments], counts)
    dealt = [moment for moment in moments if moment.is_dealt]
    if dealt:
        orders = [_orders(moment, keys) for moment in dealt]
        gains[rows] = play_out(RoundBatch.in_orders([moment.game for moment in dealt], orders))
    return gains


def _orders(moment: ReplayMoment, keys: NDArray[np.uint32]) -> Integers:
    """Return the orders of the tiles in the boneyard, a row each."""
    tiles = stock_tiles(moment.game)
    return tiles[np.argsort(keys[: moment.orders, tiles], axis=1)]


def _leads(gains: Floats) -> Floats:
    others: Floats = (gains.sum(axis=1, keepdims=True) - gains) / (gains.shape[1] - 1)
    return gains - others


def _won(places: Sequence[int]) -> list[float]:
    """Return the share of the other sides that each side ended above; ties count half."""
    return [
        (sum((mine < place) + (mine == place) / 2 for place in places) - 0.5) / (len(places) - 1)
        for mine in places
    ]
