"""Many states of one ruleset and table side by side: what playouts start from."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.engine.state import Game
from arena.valuation.plain import settled
from arena.valuation.rows.array_rows import ArrayRows, rows_of
from arena.valuation.rows.game_rows import GameRows, Numbers
from arena.valuation.rows.mask_tables import mask_tables
from protocol.messages import Option


class States:
    """States of rounds in play, of one ruleset and number of seats, each a row; never changed.

    A tile's number is its place in `set_of_tiles` (so its bit in the engine is `1 << number`).
    """

    def __init__(self, rows: ArrayRows | GameRows) -> None:
        self.rows = rows
        """The rows as the ruleset needs them."""

    @classmethod
    def of(cls, games: Sequence[Game]) -> "States":
        """Return a row a game: all of one ruleset and number of seats, with a round begun.

        Where a deal was annulled the tiles are dealt again, the same for all; where an auction is
        open nobody bids any more.
        """
        games = [settled(game) for game in games]
        tables = mask_tables(games[0].rules, games[0].seats)
        return cls(rows_of(tables, games) if tables else GameRows.of(games))

    @staticmethod
    def joined(parts: "Sequence[States]") -> "States":
        """Return the rows of all parts, in their order."""
        rows = [part.rows for part in parts]
        arrays = [one for one in rows if isinstance(one, ArrayRows)]
        if arrays:
            return States(ArrayRows.joined(arrays))
        return States(GameRows.joined([one for one in rows if isinstance(one, GameRows)]))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of each seat in each row, those of a round that is over included."""
        return self.rows.scores

    def taken(self, rows: Numbers) -> "States":
        """Return the rows of these numbers, in their order; a number may come more than once."""
        return States(self.rows.taken(rows))

    def repeated(self, many: int | Numbers) -> "States":
        """Return each row so many times, one after the other; `many` may be a number a row."""
        return self.taken(np.repeat(np.arange(len(self)), many))

    def with_stock(self, orders: Numbers) -> "States":
        """Return the states with these tiles in the boneyard.

        `orders` has the tiles' numbers for each row, or one order for all: first those of the first
        row of the boneyard from front to back, then of the next. The rows keep their lengths;
        numbers beyond them are ignored.
        """
        return States(self.rows.with_stock(orders))

    def with_hands(self, hands: Mapping[int, Numbers]) -> "States":
        """Return the states with other tiles in the hands of these seats.

        Each seat's array has the tiles' numbers for each row, or one hand for all; -1 is no tile.
        """
        return States(self.rows.with_hands(hands))

    def led(self) -> "States":
        """Return the states in which play begins, of rounds that were only laid out.

        See `arena.engine.deal.lay_out`. The seats draw for the lead from the boneyard as it lies,
        or its front tile is turned up; all deals count, and their leaders are found by one method.
        """
        return States(self.rows.led())

    def after(self, option: Option) -> "States":
        """Return the states after the seat to move has taken this option, legal in each row.

        Raises ValueError for an option that no array of states knows: act on the games instead.
        """
        return self.after_each((option,), np.zeros(len(self), np.intp))

    def after_each(self, options: Sequence[Option], which: Numbers) -> "States":
        """Return the states after an option in each row; `which` are the options' numbers.

        Many questions are so asked at once. Raises ValueError like `after`.
        """
        return States(self.rows.after_each(options, which))

    def after_draw(self, tiles: Numbers) -> "States":
        """Return the states after the seat to move has drawn a tile of this number, one a row.

        The tile changes places with the one that would have come; so with random orders the rest
        of the boneyard is as random as it was, and the same for all tiles but these two.
        """
        return States(self.rows.after_draw(tiles))
