"""Many results in little memory: columns of numbers, from which each is made anew when asked for.

A result takes about a kilobyte when it is read; here a game of two takes some 35 bytes.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import overload

from protocol.messages import WhyGame
from protocol.records import Result, SeatFoul

BLOCK = 32
"""Boards whose games are found together."""
MOST = 2**31
"""Every number in the columns is smaller."""
MOST_PLACES = 256
"""Every place is smaller."""
Ending = tuple[WhyGame, tuple[SeatFoul, ...]]
"""Why a game ended, and the fouls in it: there are few that differ."""


class ResultStore(Mapping[str, Result]):
    """Results by game, in the order in which they came; the first that is told of a game counts.

    It may be read while results are added.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        """Add these."""
        self._tables: dict[str, int] = {}
        self._seats: list[tuple[str, ...]] = []
        self._whos: list[str] = []
        self._endings: dict[Ending, int] = {}
        self._ended: list[Ending] = []
        # One entry for each game,
        self._table, self._board = array("I"), array("I")
        self._rounds, self._ending, self._begin = array("I"), array("I"), array("Q")
        # and one for each seat of it, from where it begins.
        self._scores, self._places = array("i"), array("B")
        self._rows: dict[tuple[int, int], array[int]] = {}
        # What is not as our own referee writes it is kept as it is, and has no numbers.
        self._odd: dict[str, int] = {}
        self._kept: dict[int, Result] = {}
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """Add a result, unless there is one of its game."""
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
        """Whether it is called as every game of an event is, and its numbers have room."""
        scores, places = result.scores, result.places
        return (
            result.game == game
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
        """Where the result of a game stands."""
        if not isinstance(game, str):
            return None
        board, _, who = game.partition(".")
        table = self._tables.get(who)
        if table is not None and board.isdecimal() and board.isascii() and len(board) < 11:
            block = self._rows.get((table, int(board) // BLOCK))
            # An odd game may be called 01.ada.bob.
            if block and block[int(board) % BLOCK] and f"{int(board)}" == board:
                return block[int(board) % BLOCK] - 1
        return self._odd.get(game)

    def at(self, row: int) -> Result:
        """The result that came after so many others."""
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
        """So many of the results that came first, or all that there are now."""
        return Rows(self, range(len(self))[:count])

    def beginning(self, count: int) -> "ResultStore":
        """So many of the results that came first, by game."""
        return self if count >= len(self) else ResultStore(self.first(count))

    def __getitem__(self, game: str) -> Result:
        """Raises KeyError."""
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
        """The results in the order in which they came."""
        return _Values(self)


class _Values(ValuesView[Result]):
    """Does not look for the place of each."""

    _mapping: ResultStore

    def __iter__(self) -> Iterator[Result]:
        return map(self._mapping.at, range(len(self._mapping)))


class Rows(Sequence[Result]):
    """Some of the results, each made when it is asked for."""

    def __init__(self, columns: ResultStore, rows: Sequence[int]) -> None:
        """Those that came after so many others."""
        self._columns = columns
        self._rows = rows

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
