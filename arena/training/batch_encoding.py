"""Rounds side by side, with what their seats saw: vectors and masks as those of an `Episode`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.analysis.line import PassesAndDraws
from arena.engine.state import Game
from arena.training.actions import ENDS, Mask
from arena.training.encoding import MOST, Encoding, Vector
from arena.training.episode import round_margins
from arena.valuation.batch import Flags, Ints, Numbers, Places, RoundBatch, mask_tables
from protocol.errors import UserError
from protocol.messages import Draw, Leads, Pass
from protocol.ruleset import Ruleset, set_of_tiles, target

NEVER = np.iinfo(np.int16).max
GRADE = 200
"""More than the ranks of equally good plays."""
TOGETHER = 1024
"""Vectors that are made at a time: they stay in the processor's cache."""


class SeenRounds:
    """First rounds of one game, each a row; rows are replaced and played on in place."""

    def __init__(self, rules: Ruleset, seats: int, encoding: Encoding) -> None:
        """Begin without rows. Raises UserError for rules that arrays do not have."""
        self.tables = mask_tables(rules, seats)
        if rules.turn.tiles > 1 or rules.boneyard.auction or rules.end.blocked == "call":
            raise UserError(
                f"The game {rules.name} has turns that arrays do not have: bids, calls, or pairs "
                "of tiles. Take SingleSeatEnv."
            )
        self.rules, self.seats, self.encoding = rules, seats, encoding
        self.batch: RoundBatch
        tiles = set_of_tiles(rules.deal)
        self._bits = self.tables.bits.take(self.tables.ranks)
        self._pips = 1 << np.arange(rules.deal.highest_pip + 1, dtype=np.int32)
        self._target = target(rules, seats)
        self._draw, self._pass = (encoding.actions.numbers[one] for one in (Draw(), Pass()))
        grades = np.array([40 * (high == low) + high + low for high, low in tiles])
        self._grades = np.tile(grades * GRADE, len(ENDS)).astype(np.int16)

    def begin(self, games: Sequence[Game]) -> None:
        """Take these games, in which a round has begun, as the rows."""
        self.batch = RoundBatch.of(games)
        leaders = (
            [event.seat for event in game.playing.history if isinstance(event, Leads)][-1]
            for game in games
        )
        self._leader = np.fromiter(leaders, np.int8)
        self._played = np.zeros_like(self.batch.hands)
        self._acts = PassesAndDraws(*np.zeros((2, *self._played.shape), np.int32))
        self._came = np.zeros((len(games), self.seats, len(self._bits)), np.int16)
        hands = [game.playing.hand_bits for game in games]
        most = max(len(hand) for of_game in hands for hand in of_game)
        # In the order in which they came; a shorter hand repeats its last tile.
        dealt = [[hand + hand[-1:] * (most - len(hand)) for hand in of_game] for of_game in hands]
        number = np.log2(np.array(dealt, np.int64)).astype(np.intp)
        np.put_along_axis(self._came, number, np.arange(most, dtype=np.int16)[None, None], axis=2)

    def replace(self, rows: Places, games: Sequence[Game]) -> None:
        """Put these games in the places of rows."""
        fresh = SeenRounds(self.rules, self.seats, self.encoding)
        fresh.begin(games)
        self.batch.replace(rows, fresh.batch)
        facts = zip((self._played, *self._acts), (fresh._played, *fresh._acts), strict=True)
        for own, new in facts:
            own[:, rows] = new
        self._leader[rows], self._came[rows] = fresh._leader, fresh._came

    def masks(self, rows: Places) -> Mask:
        """Return the mask of each seat to move; all 0 once the round is over."""
        able, draws = self.batch.legal(rows)
        mask = np.zeros((len(rows), len(self.encoding.actions.options)), np.int8)
        mask[:, : len(self._grades)] = self._spread(self.batch.by_end(rows, able).T)
        mask[:, self._draw] = draws
        mask[:, self._pass] = self.batch.may_pass(able, draws)
        mask[self.batch.ended[rows]] = 0
        return mask

    def vectors(self, rows: Places, seat: int) -> Vector:
        """Return what a seat may know of these rounds, as `Encoding.vector`."""
        seen = np.empty((len(rows), self.encoding.size), np.float32)
        for begin in range(0, len(rows), TOGETHER):
            part = slice(begin, begin + TOGETHER)
            self._look(rows[part], seat, seen[part])
        return seen

    def _look(self, rows: Places, seat: int, seen: Vector) -> None:
        """Write what a seat may know of these rounds."""
        batch, parts, tiles = self.batch, self.encoding.parts, len(self._bits)
        order = np.array(self.encoding.order(seat))
        seen[:, parts["hand"]] = batch.hands[seat][rows][:, None] & self._bits != 0
        seen[:, parts["line"]] = batch.line[rows][:, None] & self._bits != 0
        numbers = np.arange(len(self._pips))
        for name, pips in zip(("left", "right"), batch.numbers(rows), strict=True):
            seen[:, parts[name]] = pips[:, None] == numbers
        by_seat = np.ix_(order, rows)
        seen[:, parts["played"]] = self._spread(self._played[by_seat].T)
        for name, pips in (("passed", self._acts.passed), ("drew", self._acts.drew)):
            flags = pips[by_seat].T[:, :, None] & self._pips != 0
            seen[:, parts[name]] = flags.reshape(len(rows), len(order) * len(self._pips))
        seen[:, parts["leader"]] = self._leader[rows][:, None] == order
        seen[:, parts["tiles"]] = self.tables.sizes(batch.hands[by_seat]).T / tiles
        points, scores = batch.points[:, rows].T, batch.scores_of(rows)
        seen[:, parts["scores"]] = np.clip(scores[:, order] / self._target, -MOST, MOST)
        stock = (batch.back[:, rows] - batch.front[:, rows]).sum(axis=0)
        seen[:, parts["boneyard"]] = np.stack([stock, batch.drawable[rows]], axis=1) / tiles
        seen[:, parts["passes"].start] = np.minimum(1.0, batch.passes[rows] / self.seats)
        seen[:, parts["round"]] = 1
        # Whoever won the round has the pot, and so has gained something.
        pot = np.where((scores != points).any(axis=1), 0, batch.pot[rows])
        seen[:, parts["pot"].start] = np.minimum(MOST, pot / self._target)

    def margins(self, rows: Places, seat: int) -> NDArray[np.float64]:
        """Return the seat's reward for these rounds, which are over."""
        margins = round_margins(self.rules, (0,) * self.seats, [*self.batch.scores_of(rows).T])
        return np.asarray(margins[seat], np.float64)

    def choose(self, rows: Places, masks: Mask, *, greedy: bool) -> Numbers:
        """Return the first option of each question in its order, or what `greedy` chooses."""
        came = 2 * self._came[rows, self.batch.turn[rows]]
        ranks = np.concatenate([came, came + 1, came], axis=1) - greedy * self._grades
        plays = masks[:, : ranks.shape[1]] != 0
        best = np.where(plays, ranks, NEVER).argmin(axis=1)
        other = np.where(masks[:, self._draw], self._draw, self._pass)
        return np.where(plays.any(axis=1), best, other)

    def act(self, rows: Places, actions: Numbers) -> None:
        """Take an offered action in each of these rows."""
        batch, seat = self.batch, self.batch.turn[rows]
        draws, passes = actions == self._draw, actions == self._pass
        left, right = (pips.astype(np.int32) for pips in batch.numbers(rows))
        ends = np.where(left >= 0, 1 << np.maximum(left, 0) | 1 << np.maximum(right, 0), 0)
        self._acts.add_draw((seat[draws], rows[draws]), ends[draws])
        self._acts.add_pass((seat[passes], rows[passes]), ends[passes])
        end, number = np.divmod(np.where(draws | passes, 0, actions), len(self._bits))
        tile = np.where(draws | passes, 0, self._bits[number])
        self._played[seat, rows] |= tile
        batch.play(rows[~draws], (tile[~draws], end[~draws]))
        rows, seat = rows[draws], seat[draws]
        before = batch.hands[seat, rows]
        batch.draw(rows)
        tile = batch.hands[seat, rows] ^ before
        number = (tile[:, None] & self._bits != 0).argmax(axis=1)
        self._came[rows, seat, number] = self._came[rows, seat].max(axis=1) + 1

    def _spread(self, masks: Ints) -> Flags:
        """Return for some masks a row whether each tile is in them."""
        flags: Flags = masks[:, :, None] & self._bits != 0
        return flags.reshape(len(masks), masks.shape[1] * len(self._bits))
