"""Rows of states as arrays: hands as masks, the boneyard as an order with pointers, and the rest.

What a row's options do is here; rounds are played on by `array_playouts`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from arena.engine import scoring
from arena.engine.state import Game, Round
from arena.engine.structs import Method
from arena.valuation.rows.array_scores import BLANK, CAPICU, parties, round_gains, seats_of
from arena.valuation.rows.game_rows import Numbers
from arena.valuation.rows.mask_tables import FREE, TILES, Ints, MaskTables, Places
from protocol.messages import Call, Draw, End, GoOn, Option, Pass, Play, PlayTwo
from protocol.ruleset import BY_DOUBLE, count_sides
from protocol.tiles import Tile

ENDS: tuple[End, ...] = ("left", "right", "lead")
IN_PLAY, OVER, SCORED = range(3)
"""A round in play; one that is over; one whose points the state had already."""


class ArrayRows(Struct, frozen=True, eq=False):
    """States of which each is a place in every array: the last axis, but the first of `stock`."""

    tables: MaskTables
    """The tables of the ruleset."""
    how: Method
    """The method that decided the leader of the first row's round."""
    hands: Ints
    """The tiles of each seat, as masks."""
    stock: NDArray[np.int8]
    """The ranks of the tiles of the boneyard: its rows one after the other."""
    front: NDArray[np.int8]
    """The place of the first tile of each row of the boneyard."""
    back: NDArray[np.int8]
    """The place after the last tile of each row of the boneyard."""
    drawable: NDArray[np.int8]
    """The number of tiles that may still be drawn."""
    left: NDArray[np.int8]
    """The number at the left end of the line; -1 before the first tile."""
    right: NDArray[np.int8]
    """The number at the right end."""
    must_lead: NDArray[np.int8]
    """The rank of the only tile that may be led; -1: any."""
    line: Ints
    """The tiles in the line, as a mask."""
    turn: NDArray[np.int8]
    """The seat to move; while seats are asked for a call, the seat that moves after that."""
    asked: NDArray[np.int8]
    """The number of seats that are still to be asked whether they call the round blocked."""
    drawn: NDArray[np.int8]
    """Tiles drawn in this turn."""
    passes: NDArray[np.int8]
    """Passes since the last play or draw."""
    last_seat: NDArray[np.int8]
    """The seat that played last; -1: none did."""
    last_tile: NDArray[np.int8]
    """The facts about the last tile that bring extra points: see `CAPICU` and `BLANK`."""
    over: NDArray[np.int8]
    """The end of the round: see `IN_PLAY`."""
    bonus: NDArray[np.int32]
    """Extra points for winning a round of this number."""
    pot: NDArray[np.int32]
    """Points in the pot."""
    points: NDArray[np.int32]
    """Points of each seat, fees paid, but without those of a round that is `OVER`."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.turn)

    @staticmethod
    def joined(parts: "Sequence[ArrayRows]") -> "ArrayRows":
        """Return the rows of all parts, in their order."""
        width = max(part.stock.shape[1] for part in parts)
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ARRAYS
        }
        stock, begin = np.zeros((len(arrays["turn"]), width), np.int8), 0
        for part in parts:
            stock[begin : begin + len(part), : part.stock.shape[1]] = part.stock
            begin += len(part)
        return ArrayRows(parts[0].tables, parts[0].how, stock=stock, **arrays)

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of each seat; see `States.scores`."""
        ended, points = np.flatnonzero(self.over == OVER), self.points.copy()
        if ended.size:
            own = self.taken(ended)
            points[:, ended] += round_gains(
                self.tables, own.hands, own.last_seat, own.last_tile, own.bonus, own.pot
            )
        return points.T

    def taken(self, rows: Numbers) -> "ArrayRows":
        """Return the rows of these numbers."""
        arrays: dict[str, Any] = {name: getattr(self, name).take(rows, axis=-1) for name in ARRAYS}
        return ArrayRows(self.tables, self.how, stock=self.stock.take(rows, axis=0), **arrays)

    def with_stock(self, orders: Numbers) -> "ArrayRows":
        """Lay each row's boneyard anew; see `States.with_stock`."""
        lengths = self.back - self.front
        if orders.shape[-1] < lengths.sum(axis=0).max(initial=0):
            raise ValueError("An order has fewer tiles than the boneyard. Name all of them.")
        back = np.cumsum(lengths, axis=0, dtype=np.int8)
        stock = self.tables.ranks.take(np.broadcast_to(orders, (len(self), orders.shape[-1])))
        return replace(self, stock=stock, front=back - lengths, back=back)

    def with_hands(self, hands: Mapping[int, Numbers]) -> "ArrayRows":
        """Replace hands; see `States.with_hands`."""
        masks, tables = self.hands.copy(), self.tables
        bits = np.append(tables.bits.take(tables.ranks), tables.dtype(0))
        for seat, tiles in hands.items():
            masks[seat] = np.bitwise_or.reduce(bits[tiles], axis=-1)
        return replace(self, hands=masks)

    def led(self) -> "ArrayRows":
        """Find each round's leader; see `States.led`."""
        tables, lead, starter = self.tables, self.tables.rules.lead, self.tables.rules.deal.starter
        rows, tile = self, np.zeros(len(self), tables.dtype)
        if self.how in BY_DOUBLE:
            if lead.missing == "draw_for_it":
                rows = self._drew_for(
                    tables.bits[0] if self.how == "double_six" else tables.doubles
                )
            held = np.bitwise_or.reduce(rows.hands, axis=0)
            tile = held & -held
            leader = (rows.hands & tile != 0).argmax(axis=0).astype(np.int8)
            rows = replace(rows, turn=leader)
        if lead.tile == "highest":
            hands = rows.hands[rows.turn, np.arange(len(self))]
            tile = hands & -hands
        if lead.tile != "any":
            rows = replace(rows, must_lead=(tables.places_of(tile) - FREE + 1).astype(np.int8))
        return (rows._turned_up() if starter else rows)._opened()

    def _drew_for(self, wanted: np.signedinteger) -> "ArrayRows":
        """Let the seats draw a tile each in turn until one has a tile of these (C.3)."""
        rows, numbers = self, np.arange(len(self))
        parts, places = [], []
        while len(rows):
            held = np.bitwise_or.reduce(rows.hands, axis=0) & wanted != 0
            for chosen in (held, ~held):
                parts.append(rows.taken(np.flatnonzero(chosen)))
                places.append(numbers[chosen])
            rows, numbers = parts.pop()._took(), places.pop()
            rows = replace(rows, turn=rows._next_seats())
        return ArrayRows.joined(parts).taken(np.argsort(np.concatenate(places)))

    def _turned_up(self) -> "ArrayRows":
        """Begin each line with the front tile of the first row that has any (E deal)."""
        states = np.arange(len(self))
        of = (self.front < self.back).argmax(axis=0)
        front = self.front.copy()
        rank = self.stock[states, front[of, states]]
        front[of, states] += 1
        high, low = self.tables.pairs[rank].T
        drawable = np.maximum(self.drawable - np.int8(1), 0)
        line = self.tables.bits[rank]
        return replace(self, front=front, drawable=drawable, left=high, right=low, line=line)

    def _opened(self) -> "ArrayRows":
        """Begin play: the seats pay their antes."""
        tables, stakes, points, pot = self.tables, self.tables.rules.stakes, self.points, self.pot
        if stakes.ante:
            paid = np.full_like(points, stakes.ante)
            if stakes.chips:
                paid = np.minimum(paid, points + stakes.chips)
            points = points - paid
            pot = pot + paid[: count_sides(tables.rules.deal.partners, tables.seats)].sum(axis=0)
        return replace(self, points=points, pot=pot.astype(np.int32))._settled(turn_ended=True)

    def after_each(self, options: Sequence[Option], which: Numbers) -> "ArrayRows":
        """Take an option in each row; see `States.after_each`."""
        parts, taken = [], []
        for kind in dict.fromkeys(map(type, options)):
            place = np.cumsum([type(one) is kind for one in options]) - 1
            own = np.flatnonzero(np.array([type(one) is kind for one in options]).take(which))
            same = [one for one in options if type(one) is kind]
            parts.append(self.taken(own)._after(same, place.take(which.take(own))))
            taken.append(own)
        if len(parts) == 1:
            return parts[0]
        return ArrayRows.joined(parts).taken(np.argsort(np.concatenate(taken)))

    def _after(self, options: Sequence[Option], which: Numbers) -> "ArrayRows":
        """Take an option in each row; all are of one kind."""
        match options[0]:
            case Play():
                plays = [one for one in options if isinstance(one, Play)]
                ends = np.array([ENDS.index(one.end) for one in plays])
                return self.after_play(self._ranks([one.tile for one in plays], which), ends[which])
            case PlayTwo():
                pairs = [one for one in options if isinstance(one, PlayTwo)]
                left, right = zip(*[(one.left, one.right) for one in pairs], strict=True)
                at_left = np.zeros_like(which)
                after = self._put(self._ranks(left, which), at_left)
                return after.after_play(self._ranks(right, which), at_left + 1)
            case Draw():
                return self.after_own_draw()
            case Pass():
                return self.after_pass()
            case Call():
                return replace(self, over=np.full_like(self.over, OVER))
            case GoOn():
                return replace(self, asked=self.asked - np.int8(1))
            case _:
                raise ValueError(f"Arrays of states know no such option: {options[0]}.")

    def _ranks(self, tiles: Sequence[Tile], which: Numbers) -> Numbers:
        ranks: Numbers = np.array([self.tables.tiles.index(tile) for tile in tiles])[which]
        return ranks

    def after_draw(self, tiles: Numbers) -> "ArrayRows":
        """Draw these tiles; see `States.after_draw`."""
        drawn = self.tables.ranks.take(np.broadcast_to(tiles, len(self)))
        rows, stock, place = np.arange(len(self)), self.stock.copy(), self._place_of(drawn)
        _, at = self._next_tile()
        stock[rows, place] = stock[rows, at]
        stock[rows, at] = drawn
        return replace(self, stock=stock).after_own_draw()

    def _place_of(self, ranks: NDArray[np.int8]) -> Places:
        """Return the place of a tile in each boneyard. Raises ValueError."""
        found = self.stock == ranks[:, None]
        for _ in range(self.stock.shape[1]):
            place: Places = found.argmax(axis=1)
            lies = ((place >= self.front) & (place < self.back)).any(axis=0)
            rows = np.flatnonzero(~(lies & found.any(axis=1)))
            if not rows.size:
                return place
            # Drawn tiles are left where they lay, before the front and behind the back.
            found[rows, place[rows]] = False
        raise ValueError("The tile does not lie in the boneyard.")

    def _next_tile(self) -> tuple[Places, Places]:
        """Return the row of the boneyard from which each seat to move draws, and the place."""
        settings = self.tables.settings
        of = np.array(settings.own_row).take(self.turn)
        states = np.arange(len(self))
        for _ in range(len(self.front) - 1):
            empty = self.front[of, states] == self.back[of, states]
            of = np.where(empty, (of + 1) % len(self.front), of)
        from_back = np.array(settings.from_back).take(self.turn)
        return of, np.where(from_back, self.back[of, states] - 1, self.front[of, states])

    def _took(self) -> "ArrayRows":
        """Move the tile that each seat to move draws into its hand."""
        states, settings = np.arange(len(self)), self.tables.settings
        of, at = self._next_tile()
        front, back, hands = self.front.copy(), self.back.copy(), self.hands.copy()
        from_back = np.array(settings.from_back).take(self.turn)
        front[of, states] += ~from_back
        back[of, states] -= from_back
        hands[self.turn, states] += self.tables.bits[self.stock[states, at]]
        drawable = np.maximum(self.drawable - np.int8(1), 0)
        return replace(self, hands=hands, front=front, back=back, drawable=drawable)

    def after_own_draw(self) -> "ArrayRows":
        """Draw in each row the tile that lies next in its boneyard."""
        settings, points, pot = self.tables.settings, self.points, self.pot
        if settings.fee:
            paid = np.zeros_like(points)
            paid[self.turn, np.arange(len(self))] = settings.fee
            points = points - seats_of(self.tables, parties(self.tables, paid))
            pot = pot + np.int32(settings.fee * self.tables.rules.stakes.pot)
        after = replace(
            self._took(), drawn=self.drawn + np.int8(1), passes=np.zeros_like(self.passes),
            points=points, pot=pot,
        )  # fmt: skip
        return after._next_turn() if settings.draw_ends_turn else after._settled()

    def after_play(self, ranks: Numbers, ends: Numbers) -> "ArrayRows":
        """Play a tile of these ranks in each row, at these places in `ENDS`."""
        tables, before, after = self.tables, self.ends, self._put(ranks, ends)
        tile = after.line ^ self.line
        capicu = np.where(tables.both[before] & tile != 0, CAPICU, 0)
        facts = np.where(tile & tables.blank != 0, BLANK, 0) | capicu
        return replace(after, last_seat=self.turn, last_tile=facts.astype(np.int8))._next_turn()

    def _put(self, ranks: Numbers, ends: Numbers) -> "ArrayRows":
        """Move a tile from the hand of the seat to move to an end of the line."""
        tile, (high, low) = self.tables.bits[ranks], self.tables.pairs[ranks].T
        hands = self.hands.copy()
        hands[self.turn, np.arange(len(self))] ^= tile
        left = np.choose(ends, (high + low - self.left, self.left, high))
        right = np.choose(ends, (self.right, high + low - self.right, low))
        return replace(self, hands=hands, left=left, right=right, line=self.line | tile)

    def after_pass(self) -> "ArrayRows":
        """Pass in each row."""
        return self._next_turn(passes=self.passes + np.int8(1))

    def _next_turn(self, passes: NDArray[np.int8] | None = None) -> "ArrayRows":
        """End a turn: the seat went out, or the next seat moves."""
        out = self.hands[self.turn, np.arange(len(self))] == 0
        passes = np.zeros_like(self.passes) if passes is None else passes
        return replace(
            self,
            turn=self._next_seats(),
            drawn=np.zeros_like(self.drawn),
            passes=passes,
            over=np.where(out, np.int8(OVER), self.over),
        )._settled(turn_ended=True)

    def _next_seats(self) -> NDArray[np.int8]:
        return np.array(self.tables.settings.after, np.int8).take(self.turn)

    def _settled(self, *, turn_ended: bool = False) -> "ArrayRows":
        """End the rounds that are blocked; after a turn ask the seats for a call."""
        settings = self.tables.settings
        held = np.bitwise_or.reduce(self.hands, axis=0)
        fitting = self.tables.fitting[self.ends]
        stuck = held & fitting == 0
        if settings.two_tiles:
            stuck |= ~self.tables.can_end_two(self.hands, self.ends).any(axis=0)
        blocked = stuck & (self.drawable == 0)
        if settings.draw_optional:
            blocked |= (self.passes >= self.tables.seats) & (self.left >= 0)
        if settings.dead_ends_to_end or settings.dead_ends_to_call:
            dead = self.tables.dead_ends(self.ends, self.line)
        if settings.dead_ends_to_end:
            blocked |= dead >= settings.dead_ends_to_end
        over = np.where(blocked & (self.over == IN_PLAY), np.int8(OVER), self.over)
        asked = self.asked
        if turn_ended and settings.dead_ends_to_call:
            asks = (over == IN_PLAY) & (dead >= settings.dead_ends_to_call)
            asked = np.where(asks, np.int8(self.tables.seats), asked)
        return replace(self, over=over, asked=asked)

    @property
    def ends(self) -> Places:
        """The ends of each line, as places in the tables."""
        tables = self.tables
        return np.where(
            self.left >= 0,
            tables.ends[self.left, self.right],
            tables.empty + (self.must_lead.astype(np.intp) + 1) * TILES,
        )


ARRAYS = tuple(
    name for name in ArrayRows.__struct_fields__ if name not in ("tables", "how", "stock")
)
"""The arrays of which the last axis is the row."""


def rows_of(tables: MaskTables, games: Sequence[Game]) -> ArrayRows:
    """Return a row a game; tiles have been dealt in each."""
    states = [game.playing for game in games]
    rank = tables.rank_of_bit.__getitem__
    bit = dict(zip(tables.rank_of_bit, tables.bits.tolist(), strict=True)).__getitem__
    stock = [[rank(tile) for row in state.stock_rows for tile in row] for state in states]
    width = max(map(len, stock))
    lengths = np.array([[len(row) for row in state.stock_rows] for state in states], np.int8).T
    back = np.cumsum(lengths, axis=0, dtype=np.int8)
    held = [[sum(map(bit, hand)) for hand in state.hand_bits] for state in states]
    hands: Ints = np.array(held, tables.dtype).T.copy()
    lying = [sum(map(bit, chain(*state.stock_rows))) for state in states]

    def small(fact: Callable[[Round], int]) -> NDArray[np.int8]:
        return np.array([fact(state) for state in states], np.int8)

    return ArrayRows(
        tables,
        states[0].aside.how,
        hands=hands,
        stock=np.array([order + [0] * (width - len(order)) for order in stock], np.int8),
        front=back - lengths,
        back=back,
        drawable=small(lambda state: state.drawable),
        left=small(lambda state: state.ends.left),
        right=small(lambda state: state.ends.right),
        must_lead=small(lambda state: _must_lead(tables, state)),
        line=tables.bits.sum(dtype=tables.dtype)
        - hands.sum(axis=0, dtype=tables.dtype)
        - np.array(lying, tables.dtype),
        turn=small(lambda state: state.aside.then if state.aside.phase == "call" else state.turn),
        asked=small(lambda state: len(state.aside.queue)),
        drawn=small(lambda state: state.drawn),
        passes=small(lambda state: state.passes),
        last_seat=small(_last_seat),
        last_tile=np.zeros(len(states), np.int8),
        over=small(lambda state: SCORED if state.over else IN_PLAY),
        bonus=np.array([_bonus(tables, state) for state in states], np.int32),
        pot=np.array([game.pot for game in games], np.int32),
        points=np.array([game.scores for game in games], np.int32).T.copy(),
    )


def _must_lead(tables: MaskTables, state: Round) -> int:
    tile = state.aside.must_lead
    return -1 if tile is None else tables.tiles.index(tile)


def _last_seat(state: Round) -> int:
    last = scoring.last_play(state)
    return last.seat if last else -1


def _bonus(tables: MaskTables, state: Round) -> int:
    bonus = tables.rules.score.bonus
    return bonus[state.number - 1] if state.number <= len(bonus) else 0
