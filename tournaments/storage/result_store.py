"""Compact storage of results in memory: each is encoded, and decoded on demand.

A Result takes about a kilobyte; here a game of two takes some 300 bytes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

from msgspec import msgpack

from protocol.records import Result
from tournaments.formats.base import LuckSource

_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(Result).decode


class ResultStore(Mapping[str, Result]):
    """Results by game, in the order in which they were added; the first result of a game counts.

    It may be read while results are added.
    """

    def __init__(self, results: Iterable[Result] = (), luck: LuckSource | None = None) -> None:
        """Add these results; `luck` knows the luck of their games."""
        self._rows: dict[str, int] = {}
        self._encoded: list[bytes] = []
        self.luck = luck
        if luck:
            luck.played = self.values
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """Add a result, unless its game has one."""
        if result.game not in self._rows:
            self._encoded.append(_encode(result))
            self._rows[result.game] = len(self._encoded) - 1

    def at(self, row: int) -> Result:
        """Return the result in a row; rows count from 0 in the order of arrival."""
        return _decode(self._encoded[row])

    def first(self, count: int | None = None) -> "Rows":
        """Return the first `count` results, or all results so far."""
        return Rows(self, range(len(self))[:count])

    def beginning(self, count: int) -> "ResultStore":
        """Return a store of the first `count` results."""
        return self if count >= len(self) else ResultStore(self.first(count), self.luck)

    def __getitem__(self, game: str) -> Result:
        """Return the result of a game; KeyError without one."""
        return self.at(self._rows[game])

    def __contains__(self, game: object) -> bool:
        return game in self._rows

    def __iter__(self) -> Iterator[str]:
        # A copy: results may be added meanwhile.
        return iter([*self._rows])

    def __len__(self) -> int:
        return len(self._rows)


class Rows(Sequence[Result]):
    """Some rows of a store as a sequence."""

    def __init__(self, store: ResultStore, rows: Sequence[int]) -> None:
        """Select these rows of a store."""
        self._store, self._rows = store, rows

    @property
    def luck(self) -> LuckSource | None:
        """The source of their luck."""
        return self._store.luck

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> "Rows": ...
    def __getitem__(self, place: int | slice) -> "Result | Rows":
        if isinstance(place, slice):
            return Rows(self._store, self._rows[place])
        return self._store.at(self._rows[place])

    def __iter__(self) -> Iterator[Result]:
        return map(self._store.at, self._rows)

    def __len__(self) -> int:
        return len(self._rows)
