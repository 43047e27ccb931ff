"""Rows of states as games of the engine: slow, but every ruleset has them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena import engine
from arena.engine import deal
from arena.engine.state import Game
from arena.engine.tile_table import Bit
from arena.valuation.plain import play_on
from protocol.messages import Draw, Option

Numbers = NDArray[np.integer]
"""Numbers of tiles, seats or rows. A tile's number is its place in `set_of_tiles`."""


class GameRows:
    """States of which each is a game of its own."""

    def __init__(self, games: Sequence[Game]) -> None:
        self.games = games
        """The games; no method changes one of them, so rows may share a game."""

    @classmethod
    def of(cls, games: Sequence[Game]) -> "GameRows":
        """Return a row a game."""
        return cls([game.copy() for game in games])

    @staticmethod
    def joined(parts: "Sequence[GameRows]") -> "GameRows":
        """Return the rows of all parts, in their order."""
        return GameRows([game for part in parts for game in part.games])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.games)

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of each seat; see `States.scores`."""
        return np.array([game.scores for game in self.games], np.int32)

    def taken(self, rows: Numbers) -> "GameRows":
        """Return the rows of these numbers."""
        return GameRows([self.games[row] for row in rows])

    def with_stock(self, orders: Numbers) -> "GameRows":
        """Lay each row's boneyard anew; see `States.with_stock`."""
        games = [game.copy() for game in self.games]
        for game, order in zip(
            games, np.broadcast_to(orders, (len(games), orders.shape[-1])), strict=True
        ):
            rows, bits, begin = game.playing.stock_rows, _bits(order), 0
            for row in rows:
                row[:] = bits[begin : begin + len(row)]
                begin += len(row)
        return GameRows(games)

    def with_hands(self, hands: Mapping[int, Numbers]) -> "GameRows":
        """Replace hands; see `States.with_hands`."""
        games = [game.copy() for game in self.games]
        for seat, tiles in hands.items():
            for game, held in zip(
                games, np.broadcast_to(tiles, (len(games), tiles.shape[-1])), strict=True
            ):
                state = game.playing
                state.hand_bits[seat] = _bits(held)
                state.hand_masks[seat] = sum(state.hand_bits[seat])
                state.held_mask = sum(state.hand_masks)
        return GameRows(games)

    def led(self) -> "GameRows":
        """Find each round's leader; see `States.led`."""
        games = [game.copy() for game in self.games]
        for game in games:
            deal.find_leader(game)
        return GameRows(games)

    def after_each(self, options: Sequence[Option], which: Numbers) -> "GameRows":
        """Take an option in each row; see `States.after_each`."""
        games = [game.copy() for game in self.games]
        for game, number in zip(games, which, strict=True):
            engine.act_unchecked(game, options[number])
        return GameRows(games)

    def after_draw(self, tiles: Numbers) -> "GameRows":
        """Draw these tiles; see `States.after_draw`."""
        games = [game.copy() for game in self.games]
        for game, tile in zip(games, np.broadcast_to(tiles, len(games)), strict=True):
            _bring(game, 1 << int(tile))
            engine.act_unchecked(game, Draw())
        return GameRows(games)

    def play_out(self) -> NDArray[np.int32]:
        """Play each row's round to its end; see `play_out`."""
        gains = np.zeros((len(self.games), self.games[0].seats if self.games else 0), np.int32)
        for row, start in enumerate(self.games):
            game = start.copy()
            play_on(game)
            gains[row] = np.subtract(game.scores, start.scores)
        return gains


def _bits(numbers: Numbers) -> list[Bit]:
    return [1 << int(number) for number in numbers if number >= 0]


def _bring(game: Game, tile: Bit) -> None:
    """Let a tile change places with the one that the seat to move would draw."""
    state, settings = game.playing, game.settings
    rows = state.stock_rows
    at = settings.own_row[state.turn]
    while not rows[at]:
        at = (at + 1) % len(rows)
    place = len(rows[at]) - 1 if settings.from_back[state.turn] else 0
    for row in rows:
        if tile in row:
            row[row.index(tile)], rows[at][place] = rows[at][place], tile
            return
    raise ValueError("The tile does not lie in the boneyard.")
