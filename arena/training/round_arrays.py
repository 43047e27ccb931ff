"""Rounds side by side in arrays: their options, vectors and acts as those of an `Episode`."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.engine.state import Game
from arena.training.actions import ENDS, Mask
from arena.training.encoding import MOST, Encoding, Vector
from arena.valuation.rows.array_rows import ARRAYS, IN_PLAY, ArrayRows, rows_of
from arena.valuation.rows.game_rows import Numbers
from arena.valuation.rows.mask_tables import Flags, Ints, MaskTables, Places, mask_tables
from protocol.errors import UserError
from protocol.messages import Draw, Leads, Pass
from protocol.ruleset import Ruleset, set_of_tiles, target

LAST = np.iinfo(np.int16).max
"""The rank of what is not offered."""
GRADE = 200
"""More than the ranks of equally good plays."""


TOGETHER = 1024
"""Vectors that are made at a time: they stay in the processor's cache."""


class RoundArrays:
    """First rounds of one game, each a row; rows are replaced and played on in place."""

    def __init__(self, rules: Ruleset, seats: int, encoding: Encoding) -> None:
        """Begin without rows. Raises UserError for rules that arrays do not have."""
        self.tables = _tables(rules, seats)
        self.encoding, self.seats = encoding, seats
        self.rows: ArrayRows
        """The states."""
        self._tiles = set_of_tiles(rules.deal)
        self._bits = self.tables.bits.take(self.tables.ranks)
        self._pips = 1 << np.arange(rules.deal.highest_pip + 1, dtype=np.int32)
        self._target = target(rules, seats)
        number = encoding.actions.number
        self._draw, self._pass = number(Draw()), number(Pass())
        grades = np.array([40 * (high == low) + high + low for high, low in self._tiles])
        self._grades = np.tile(grades * GRADE, len(ENDS)).astype(np.int16)

    def begin(self, games: Sequence[Game]) -> None:
        """Take these games, in which a round has begun, as the rows."""
        rows, width = rows_of(self.tables, games), len(self._tiles)
        stock = np.zeros((len(games), width), np.int8)
        stock[:, : rows.stock.shape[1]] = rows.stock
        arrays = {name: getattr(rows, name) for name in ARRAYS}
        self.rows = ArrayRows(rows.tables, rows.how, stock=stock, **arrays)
        self._leader = np.array([_leader(game) for game in games], np.int8)
        self._played = np.zeros_like(rows.hands)
        self._passed, self._drew = np.zeros((2, *rows.hands.shape), np.int32)
        self._came = np.zeros((len(games), self.seats, width), np.int16)
        hands = [game.playing.hand_bits for game in games]
        most = max(len(hand) for of_game in hands for hand in of_game)
        # In the order in which they came; a shorter hand repeats its last tile.
        dealt = [[hand + hand[-1:] * (most - len(hand)) for hand in of_game] for of_game in hands]
        number = np.log2(np.array(dealt, np.int64)).astype(np.intp)
        np.put_along_axis(self._came, number, np.arange(most, dtype=np.int16)[None, None], axis=2)

    def replace(self, places: Places, games: Sequence[Game]) -> None:
        """Put these games in the places of rows."""
        fresh = RoundArrays(self.tables.rules, self.seats, self.encoding)
        fresh.begin(games)
        self._write(places, self.rows, fresh.rows)
        self.rows.stock[places] = fresh.rows.stock
        for name in ("_played", "_passed", "_drew"):
            getattr(self, name)[:, places] = getattr(fresh, name)
        self._leader[places], self._came[places] = fresh._leader, fresh._came

    def over(self, places: Places) -> Flags:
        """Tell which of these rounds are over."""
        over: Flags = self.rows.over[places] != IN_PLAY
        return over

    def masks(self, places: Places) -> Mask:
        """Return the mask of each seat to move; all 0 once the round is over."""
        rows, settings, tables = self.rows, self.tables.settings, self.tables
        turn, left, right = rows.turn[places], rows.left[places], rows.right[places]
        hand, must = rows.hands[turn, places], rows.must_lead[places]
        leads, bound = left < 0, (left < 0) & (must >= 0)
        able = np.zeros((len(places), len(ENDS)), hand.dtype)
        able[:, 0] = np.where(leads, 0, hand & tables.suits[left])
        able[:, 1] = np.where(leads | (left == right), 0, hand & tables.suits[right])
        able[:, 2] = np.where(leads, np.where(bound, tables.bits[must], hand), 0)
        can = able.any(axis=1)
        draws = (rows.drawable[places] > 0) & ~bound & (rows.drawn[places] < settings.draw_limit)
        if not settings.draw_when_able:
            draws &= ~can
        elif not settings.leader_may_draw:
            draws &= ~(can & leads)
        if settings.chips:
            draws &= rows.points[turn, places] + settings.chips >= settings.fee
        mask = np.zeros((len(places), len(self.encoding.actions.options)), np.int8)
        mask[:, : able.shape[1] * len(self._bits)] = self._spread(able)
        mask[:, self._draw] = draws
        mask[:, self._pass] = ~can & (~draws | settings.draw_optional)
        mask[self.over(places)] = 0
        return mask

    def vectors(self, places: Places, seat: int) -> Vector:
        """Return what a seat may know of these rounds, as `Encoding.vector`."""
        parts, order = self.encoding.parts, self._order(seat)
        seen = np.empty((len(places), self.encoding.size), np.float32)
        for begin in range(0, len(places), TOGETHER):
            part = slice(begin, begin + TOGETHER)
            self._look(places[part], seat, order, parts, seen[part])
        return seen

    def _look(
        self,
        places: Places,
        seat: int,
        order: Places,
        parts: Mapping[str, slice],
        seen: Vector,
    ) -> None:
        """Write what a seat may know of these rounds."""
        rows, tiles = self.rows.taken(places), len(self._tiles)
        seen[:, parts["hand"]] = rows.hands[seat][:, None] & self._bits != 0
        seen[:, parts["line"]] = rows.line[:, None] & self._bits != 0
        numbers = np.arange(len(self._pips), dtype=np.int8)
        seen[:, parts["left"]] = rows.left[:, None] == numbers
        seen[:, parts["right"]] = rows.right[:, None] == numbers
        by_seat = np.ix_(order, places)
        seen[:, parts["played"]] = self._spread(self._played[by_seat].T)
        for name, pips in (("passed", self._passed), ("drew", self._drew)):
            flags = pips[by_seat].T[:, :, None] & self._pips != 0
            seen[:, parts[name]] = flags.reshape(len(places), len(order) * len(self._pips))
        seen[:, parts["leader"]] = self._leader[places][:, None] == order
        seen[:, parts["tiles"]] = self.tables.sizes(rows.hands[order]).T / tiles
        scores = rows.scores
        seen[:, parts["scores"]] = np.clip(scores[:, order] / self._target, -MOST, MOST)
        stock = (rows.back - rows.front).sum(axis=0)
        seen[:, parts["boneyard"]] = np.stack([stock, rows.drawable], axis=1) / tiles
        seen[:, parts["passes"].start] = np.minimum(1.0, rows.passes / self.seats)
        seen[:, parts["round"]] = 1
        # Whoever won the round has the pot, and so has gained something.
        pot = np.where((scores != rows.points.T).any(axis=1), 0, rows.pot)
        seen[:, parts["pot"].start] = np.minimum(MOST, pot / self._target)

    def first(self, places: Places, masks: Mask) -> Numbers:
        """Return the first option of each question in its order."""
        return self._least(self._ranks(places), masks)

    def greedy(self, places: Places, masks: Mask) -> Numbers:
        """Return what the sample bot `greedy` chooses."""
        return self._least(self._ranks(places) - self._grades, masks)

    def act(self, places: Places, actions: Numbers) -> None:
        """Take an offered action in each of these rows."""
        kinds = np.where(actions == self._draw, 1, np.where(actions == self._pass, 2, 0))
        for kind, act in enumerate((self._act_play, self._act_draw, self._act_pass)):
            own = np.flatnonzero(kinds == kind)
            if own.size:
                act(places[own], actions[own])

    def _act_play(self, places: Places, actions: Numbers) -> None:
        rows = self.rows.taken(places)
        ends, tiles = np.divmod(actions, len(self._tiles))
        after = rows.after_play(self.tables.ranks[tiles], ends)
        self._played[rows.turn, places] |= self._bits[tiles]
        self._write(places, rows, after)

    def _act_draw(self, places: Places, _actions: Numbers) -> None:
        rows = self.rows.taken(places)
        seat, after, every = rows.turn, rows.after_own_draw(), np.arange(len(rows))
        self._passed[seat, places] = 0
        self._drew[seat, places] |= _ends(rows)
        tile = after.hands[seat, every] ^ rows.hands[seat, every]
        number = (tile[:, None] & self._bits != 0).argmax(axis=1)
        self._came[places, seat, number] = self._came[places, seat].max(axis=1) + 1
        self._write(places, rows, after)

    def _act_pass(self, places: Places, _actions: Numbers) -> None:
        rows = self.rows.taken(places)
        self._passed[rows.turn, places] |= _ends(rows)
        self._write(places, rows, rows.after_pass())

    def margins(self, places: Places, seat: int) -> NDArray[np.float64]:
        """Return the seat's reward for these rounds, which are over."""
        scores = self.rows.taken(places).scores
        if self.tables.rules.deal.partners:
            return (scores[:, seat] - scores[:, (seat + 1) % 2]).astype(float)
        others = scores.sum(axis=1) - scores[:, seat]
        margins: NDArray[np.float64] = scores[:, seat] - others / (self.seats - 1)
        return margins

    def _ranks(self, places: Places) -> Ints:
        """Return the place of each play among the options: by its tile, then by its end."""
        came = 2 * self._came[places, self.rows.turn[places]]
        return np.concatenate([came, came + 1, came], axis=1)

    def _least(self, ranks: Ints, masks: Mask) -> Numbers:
        """Return the play that is offered with the lowest rank; without one draw, else pass."""
        plays = masks[:, : ranks.shape[1]] != 0
        best = np.where(plays, ranks, LAST).argmin(axis=1)
        other = np.where(masks[:, self._draw], self._draw, self._pass)
        return np.where(plays.any(axis=1), best, other)

    def _spread(self, masks: Ints) -> Flags:
        """Return for some masks a row whether each tile is in them."""
        flags: Flags = masks[:, :, None] & self._bits != 0
        return flags.reshape(len(masks), masks.shape[1] * len(self._bits))

    def _order(self, seat: int) -> NDArray[np.intp]:
        return np.array(self.encoding.order(seat))

    def _write(self, places: Places, before: ArrayRows, after: ArrayRows) -> None:
        """Put rows in their places; what an act leaves as it was is the same array."""
        for name in ARRAYS:
            if (array := getattr(after, name)) is not getattr(before, name):
                getattr(self.rows, name)[..., places] = array


def _tables(rules: Ruleset, seats: int) -> MaskTables:
    tables = mask_tables(rules, seats)
    if (
        not tables
        or tables.settings.two_tiles
        or rules.boneyard.auction
        or rules.end.blocked == "call"
    ):
        raise UserError(
            f"The game {rules.name} has turns that arrays do not have: bids, calls, guesses, "
            "refused deals, pairs of tiles, or more than 61 tiles. Take SingleSeatEnv."
        )
    return tables


def _ends(rows: ArrayRows) -> Ints:
    """Return the numbers at the ends of each line as bits; none before the first tile."""
    left, right = rows.left.astype(np.int32), rows.right.astype(np.int32)
    return np.where(left >= 0, 1 << np.maximum(left, 0) | 1 << np.maximum(right, 0), 0)


def _leader(game: Game) -> int:
    leads = [event.seat for event in game.playing.history if isinstance(event, Leads)]
    return leads[-1]
