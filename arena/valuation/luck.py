"""Luck of the draw: what each drawn tile was worth, less the mean of all that could have come.

The shuffle is uniform, and no choice depends on the order of the boneyard: given all that has
happened, each tile in any of its rows is as likely to come next. So the mean over them, exactly 0
here, is what a seat may expect, whatever the playouts are worth.
"""

from collections.abc import Iterator, Sequence
from hashlib import shake_256
from itertools import chain
from math import fsum
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.analysis.timeline import Moment, Timeline, deal_of
from arena.engine import boneyard
from arena.engine.deal import lay_out
from arena.engine.state import Game
from arena.engine.structs import Dealt, Method
from arena.logs.gamelog import LoggedGame
from arena.valuation.batch import RoundBatch, mask_tables
from arena.valuation.playouts import MIXED, play_out_mixed
from arena.valuation.win_chance import WHOLE, share_of_scores
from protocol.messages import Drew, TurnedUp
from protocol.records import DealRecord
from protocol.ruleset import BY_DOUBLE, Ruleset, hand_size, set_of_tiles
from protocol.tiles import Tile

Integers = NDArray[np.int64]

ORDERS = 48
"""The orders of the boneyard in which each tile that could have come in a turn is tried, a third by
each player of `MIXED`.

In `draw` 24 divide the variance of a round's margin by 1.62, 48 by 1.73, 72 by 1.80.
"""
ORDERS_WITH_DEAL = 6
"""The same for tiles drawn with the deal: they are many, and rotated boards take their luck out."""
DIGITS = 6
"""Decimals of luck."""


class DrawLuck(Struct, frozen=True):
    """The luck of one drawn tile; `points` and `share` have a number for each seat."""

    record: int
    """The index in the game's records after which it was drawn."""
    round: int
    """The round's number in the game, from 1."""
    seat: int
    """The seat that drew it; of a tile turned up to begin the line, the seat that leads."""
    tile: Tile
    """The tile, (high, low)."""
    points: tuple[float, ...]
    """Points by which it raised what each seat may expect of the round."""
    share: tuple[float, ...]
    """The share of the game, 0 to 1, by which it raised what each seat may expect."""


class GameLuck(Struct, frozen=True):
    """The luck of a game: of each drawn tile, and its sums for each seat."""

    draws: tuple[DrawLuck, ...]
    points: tuple[float, ...]
    """Points that each seat owes to luck."""
    share: tuple[float, ...]
    """The share of the game that each seat owes to luck."""


def has_draws(rules: Ruleset, seats: int) -> bool:
    """Tell whether chance decides anything after the deal; if not there is no luck to take out.

    Raises UserError for rules without values.
    """
    mask_tables(rules, seats)
    stock = len(set_of_tiles(rules.deal)) - seats * (hand_size(rules.deal, seats) or 0)
    lead = rules.lead
    methods = {lead.first, lead.later, lead.after_blocked, lead.after_tie}
    for_lead = lead.missing == "draw_for_it" and not methods.isdisjoint(BY_DOUBLE)
    in_turn = boneyard.drawable(rules.boneyard, rules.turn, stock) > 0
    # A last tile could not have been another.
    return stock > 1 and (in_turn or for_lead or rules.deal.starter)


def game_luck(timeline: Timeline) -> GameLuck:
    """Return the luck of each tile drawn in a game, from its log alone.

    The tiles drawn before a game was cut off or decided by a foul count like all others.
    """
    seats = len(timeline.logged.sitting.seats)
    if not has_draws(timeline.logged.sitting.rules, seats):
        return GameLuck((), (0.0,) * seats, (0.0,) * seats)
    draws = tuple(_draw_lucks(list(_chances(timeline))))
    return GameLuck(
        draws,
        tuple(round(fsum(one.points[seat] for one in draws), DIGITS) for seat in range(seats)),
        tuple(round(fsum(one.share[seat] for one in draws), DIGITS) for seat in range(seats)),
    )


class _Chance(NamedTuple):
    """A drawn tile, and the tiles that could have come instead of it."""

    record: int
    round: int
    seat: int
    tile: Tile
    before: Game
    """The game before it was drawn; if that was with a deal, before any tile was, see `lay_out`."""
    stock: tuple[int, ...]
    """The numbers of all tiles that could have come, ascending: nothing here shows which did."""
    orders: Integers
    """Random orders of those tiles, a row each."""
    places: tuple[int, ...]
    """The places in the boneyard of all tiles drawn since, its own last."""
    how: Method | None = None
    """The method that found the leader, if the tile was drawn with a deal: for the lead, or to
    begin the line."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of tiles and of orders: each tile has a playout in each order."""
        return len(self.stock), len(self.orders)


def _chances(timeline: Timeline) -> Iterator[_Chance]:
    """Yield each drawn tile of a game that could have been another."""
    orders = _RandomOrders(timeline.logged)
    for moment in timeline.moments:
        if isinstance(moment.record, DealRecord):
            yield from _drawn_with_deal(moment, deal_of(moment.record), orders)
        # Whoever wins the auction gets both tiles, in whichever order they lie.
        elif moment.before.round and moment.before.round.phase.name == "play":
            yield from _drawn_in_turn(moment, orders)


class _RandomOrders:
    """Random orders of the boneyard for each draw of a game, the same in all games of its board.

    Where two games of a board come to the same state, their playouts are the same too; so the noise
    of the playouts goes out by the rotation, as the luck does. No order depends on a drawn tile.
    """

    def __init__(self, logged: LoggedGame) -> None:
        self._label = f"boneyard luck 2|{logged.sitting.event}|{logged.game.board}"
        self._round = self._draws = 0

    def of(self, tiles: Sequence[int], round_number: int, many: int) -> Integers:
        """Return so many orders of these tiles for the next draw of this round."""
        self._draws = self._draws + 1 if round_number == self._round else 1
        self._round = round_number
        label = f"{self._label}|{round_number}|{self._draws}".encode()
        words = np.frombuffer(shake_256(label).digest(4 * many * len(tiles)), "<u4")
        return np.array(tiles)[words.reshape(many, -1).argsort(axis=1, kind="stable")]


def _drawn_in_turn(moment: Moment, orders: _RandomOrders) -> Iterator[_Chance]:
    """Yield the tile that a seat drew in its turn."""
    before, state = moment.before, moment.before.playing
    for event in moment.events:
        if isinstance(event, Drew) and event.tile and state.stock_size > 1:
            laid = [*chain(*state.stock_rows)]
            stock = tuple(sorted(bit.bit_length() - 1 for bit in laid))
            # After the last draw no order matters: each player plays on once.
            many = len(MIXED) if state.drawable == 1 else ORDERS
            chosen = orders.of(stock, state.number, many)
            place = laid.index(state.table.bit[event.tile])
            came = moment.index, state.number, event.seat, event.tile
            yield _Chance(*came, before, stock, chosen, (place,))


def _drawn_with_deal(moment: Moment, dealt: Dealt, orders: _RandomOrders) -> Iterator[_Chance]:
    """Yield the tiles that were drawn for the lead, or turned up to begin the line."""
    laid, bit = list(chain(*dealt.stock)), moment.game.playing.table.bit
    laid_out = moment.before.copy()
    lay_out(laid_out, dealt)
    places: tuple[int, ...] = ()
    for event in moment.events:
        if isinstance(event, Drew | TurnedUp) and event.tile:
            left = [tile for place, tile in enumerate(laid) if place not in places]
            places += (laid.index(event.tile),)
            seat = event.seat if isinstance(event, Drew) else dealt.leader
            stock = tuple(sorted(bit[tile].bit_length() - 1 for tile in left))
            if len(stock) > 1:
                chosen = orders.of(stock, dealt.round, ORDERS_WITH_DEAL)
                came = moment.index, dealt.round, seat, event.tile
                how = laid_out.playing.phase.how
                yield _Chance(*came, laid_out, stock, chosen, places, how)


def _draw_lucks(chances: Sequence[_Chance]) -> Iterator[DrawLuck]:
    if not chances:
        return
    groups: dict[Method | None, list[_Chance]] = {}
    for chance in chances:
        groups.setdefault(chance.how, []).append(chance)
    batch = RoundBatch.joined([_after_draws(some) for some in groups.values()])
    scores = batch.scores + play_out_mixed(batch)
    ordered = list(chain(*groups.values()))
    game = chances[0].before
    rounds = np.repeat([one.round for one in ordered], [one.orders.size for one in ordered])
    shares = share_of_scores(game.rules, game.seats, scores, rounds)
    lucks, begin = {}, 0
    for chance in ordered:
        rows = slice(begin, begin := begin + chance.orders.size)
        lucks[id(chance)] = _draw_luck(chance, scores[rows], shares[rows])
    yield from (lucks[id(chance)] for chance in chances)


def _draw_luck(chance: _Chance, scores: Integers, shares: Integers) -> DrawLuck:
    """Return the luck of a tile, given each seat's scores and shares after all playouts."""
    came = chance.stock.index(chance.before.settings.table.bit[chance.tile].bit_length() - 1)
    points, share = (
        excess(values.reshape(*chance.shape, -1))[came] / len(values) for values in (scores, shares)
    )
    return DrawLuck(
        *chance[:4],
        tuple(round(float(one), DIGITS) for one in points),
        tuple(round(float(one) / WHOLE, DIGITS) for one in share),
    )


def excess(values: Integers) -> Integers:
    """Return each tile's value less the mean over all tiles, times the number of playouts.

    `values` are by tile, order and seat. Over the tiles the excess adds up to exactly 0.
    """
    sums = values.sum(axis=1, dtype=np.int64)
    return np.asarray(len(sums) * sums - sums.sum(axis=0))


def _after_draws(chances: Sequence[_Chance]) -> RoundBatch:
    """Return the rounds after each tile was drawn, in each order of the rest.

    A tile that decides the lead, or begins the line, is dealt once: only what is drawn later is
    laid in different orders.
    """
    batch = RoundBatch.in_orders([one.before for one in chances], [*map(_laid, chances)])
    if how := chances[0].how:
        batch.find_leaders(how)
    else:
        batch.draw(np.arange(len(batch)))
    return batch


def _laid(chance: _Chance) -> Integers:
    """Return the boneyards from which each tile is drawn next, a row for each tile and order.

    The tile changes places with the one that lies there in this order.
    """
    *drawn, place = chance.places
    lying = [bit.bit_length() - 1 for bit in chain(*chance.before.playing.stock_rows)]
    tried, many = chance.shape
    orders = np.tile(lying, (many, 1))
    orders[:, [at for at in range(len(lying)) if at not in drawn]] = chance.orders
    laid, tiles = np.tile(orders, (tried, 1)), np.repeat(chance.stock, many)
    rows, other = np.arange(len(laid)), (laid == tiles[:, None]).argmax(axis=1)
    laid[rows, other] = laid[:, place]
    laid[:, place] = tiles
    return laid
