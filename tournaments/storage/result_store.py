"""Compact storage of results in memory, as columns of numbers; each Result is rebuilt on demand.

A Result takes about a kilobyte; here a game of two takes some 35 bytes.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, overload

from msgspec import UNSET

from protocol.messages import WhyGame
from protocol.records import Result, SeatFoul

if TYPE_CHECKING:
    from tournaments.storage.luck_store import LuckStore

BLOCK = 32
"""Boards whose games share a block of the index."""
MOST = 2**31
"""Every number in the columns is smaller."""
MOST_PLACES = 256
"""Every place is smaller."""
Ending = tuple[WhyGame, tuple[SeatFoul, ...]]
"""Reason why a game ended, and its fouls: few of them differ."""


class ResultStore(Mapping[str, Result]):
    """Results by game, in the order in which they were added; the first result of a game counts.

    It may be read while results are added.
    """

    def __init__(self, results: Iterable[Result] = (), luck: "LuckStore | None" = None) -> None:
        """Add these results; `luck` knows the luck of their games."""
        self._tables: dict[str, int] = {}
        self._seats: list[tuple[str, ...]] = []
        self._whos: list[str] = []
        self._endings: dict[Ending, int] = {}
        self._ended: list[Ending] = []
        # One entry for each game,
        self._table, self._board = array("I"), array("I")
        self._rounds, self._ending, self._begin = array("I"), array("I"), array("Q")
        # and one for each of its seats, starting at the game's `_begin`.
        self._scores, self._places = array("i"), array("B")
        self._rows: dict[tuple[int, int], array[int]] = {}
        # A result unlike those of our own referee is stored as it is, outside the columns.
        self._odd: dict[str, int] = {}
        self._kept: dict[int, Result] = {}
        self.luck = luck
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """Add a result, unless its game has one."""
        row, board, who = len(self._table), result.board, ".".join(result.seats)
        table = self._tables.setdefault(who, len(self._seats))
        if table == len(self._seats):
            self._seats.append(result.seats)
            self._whos.append(who)
        if not self._fits(result, f"{board}.{who}", self._seats[table]):
            if result.game not in self:
                self._odd[result.game], self._kept[row] = row, result
                self._append(0, 0, 0, 0)
            return
        block = self._rows.get((table, board // BLOCK))
        if block is None:
            block = self._rows[table, board // BLOCK] = array("I", bytes(4 * BLOCK))
        if block[board % BLOCK] == 0:
            block[board % BLOCK] = row + 1
            self._append(table, board, result.rounds, self._ending_of(result))
            self._scores.extend(result.scores)
            self._places.extend(result.places)

    def _append(self, table: int, board: int, rounds: int, ending: int) -> None:
        self._begin.append(len(self._scores))
        self._table.append(table)
        self._board.append(board)
        self._rounds.append(rounds)
        self._ending.append(ending)

    @staticmethod
    def _fits(result: Result, game: str, seats: tuple[str, ...]) -> bool:
        """Tell whether the game's name has the usual form, its numbers fit into the columns, and no
        bot stated what its answers cost.
        """
        scores, places = result.scores, result.places
        return (
            result.game == game
            and result.usage is UNSET
            and result.seats == seats
            and len(seats) == len(scores) == len(places) > 0
            and 0 <= result.board < MOST > result.rounds
            and -MOST < min(scores) <= max(scores) < MOST
            and 0 <= min(places) <= max(places) < MOST_PLACES
        )

    def _ending_of(self, result: Result) -> int:
        ending = result.why, result.fouls
        number = self._endings.setdefault(ending, len(self._ended))
        if number == len(self._ended):
            self._ended.append(ending)
        return number

    def _row(self, game: object) -> int | None:
        """Return the row of a game; None without a result."""
        if not isinstance(game, str):
            return None
        board, _, who = game.partition(".")
        table = self._tables.get(who)
        if table is not None and board.isdecimal() and board.isascii() and len(board) < 11:
            block = self._rows.get((table, int(board) // BLOCK))
            # A game outside the columns may be called 01.ada.bob.
            if block and block[int(board) % BLOCK] and f"{int(board)}" == board:
                return block[int(board) % BLOCK] - 1
        return self._odd.get(game)

    def at(self, row: int) -> Result:
        """Return the result in a row; rows count from 0 in the order of arrival."""
        if row in self._kept:
            return self._kept[row]
        table, board, begin = self._table[row], self._board[row], self._begin[row]
        seats, who = self._seats[table], self._whos[table]
        why, fouls = self._ended[self._ending[row]]
        own = slice(begin, begin + len(seats))
        return Result(
            game=f"{board}.{who}",
            board=board,
            seats=seats,
            scores=tuple(self._scores[own]),
            places=tuple(self._places[own]),
            rounds=self._rounds[row],
            why=why,
            fouls=fouls,
        )

    def first(self, count: int | None = None) -> "Rows":
        """Return the first `count` results, or all results so far."""
        return Rows(self, range(len(self))[:count])

    def beginning(self, count: int) -> "ResultStore":
        """Return a store of the first `count` results."""
        return self if count >= len(self) else ResultStore(self.first(count), self.luck)

    def __getitem__(self, game: str) -> Result:
        """Return the result of a game; KeyError without one."""
        if (row := self._row(game)) is None:
            raise KeyError(game)
        return self.at(row)

    def __contains__(self, game: object) -> bool:
        return self._row(game) is not None

    def __iter__(self) -> Iterator[str]:
        return (self.at(row).game for row in range(len(self)))

    def __len__(self) -> int:
        return len(self._table)

    def values(self) -> ValuesView[Result]:
        """Return the results in the order in which they were added."""
        return _Values(self)


class _Values(ValuesView[Result]):
    """A view that reads the rows in order, without an index lookup for each."""

    _mapping: ResultStore

    @property
    def luck(self) -> "LuckStore | None":
        """The source of their luck."""
        return self._mapping.luck

    def __iter__(self) -> Iterator[Result]:
        return map(self._mapping.at, range(len(self._mapping)))


class Rows(Sequence[Result]):
    """Some rows of a store as a sequence; each Result is rebuilt on demand."""

    def __init__(self, columns: ResultStore, rows: Sequence[int]) -> None:
        """Select these rows of a store."""
        self._columns = columns
        self._rows = rows

    @property
    def luck(self) -> "LuckStore | None":
        """The source of their luck."""
        return self._columns.luck

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> "Rows": ...
    def __getitem__(self, place: int | slice) -> "Result | Rows":
        if isinstance(place, slice):
            return Rows(self._columns, self._rows[place])
        return self._columns.at(self._rows[place])

    def __iter__(self) -> Iterator[Result]:
        return map(self._columns.at, self._rows)

    def __len__(self) -> int:
        return len(self._rows)
