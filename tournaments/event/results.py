"""Results of an event: kept small in memory, and read from its ledger."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

from msgspec import msgpack

from arena.logs import checksummed
from protocol.codec import decode_result
from protocol.records import Result
from tournaments.formats.base import LuckSource
from tournaments.plan.event import Event

# Compact storage of results in memory: each is encoded, and decoded on demand.
#
# A Result takes about a kilobyte; here a game of two takes some 300 bytes.


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

    def reread(self, results: Iterable[Result], luck: LuckSource | None) -> "ResultStore":
        """Return a store of these results; it shares the memory of those in the same place here."""
        store, rows = ResultStore(luck=luck), iter(self._rows.items())
        for result in results:
            game, row = next(rows, ("", -1))
            shared = row == len(store) and game not in store
            if shared and self._encoded[row] == _encode(result):
                store._rows[game] = row
                store._encoded.append(self._encoded[row])
            else:
                store.add(result)
        return store

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


# The ledger: an event's results in the order of its schedule, not of their arrival.


NAME_SHOWN = 40
"""Most characters of an unknown name in an error."""


def read_ledger(path: Path) -> Iterator[Result]:
    """Yield the results of a ledger. Raises DamagedFileError."""
    for entry in checksummed.read_sealed(path, decode_result):
        yield entry.record


def results_of(path: Path, event: Event) -> Iterator[Result]:
    """Yield the results of an event's ledger; refuse other entrants, tables and boards.

    Raises DamagedFileError.
    """
    names = {entrant.name for entrant in event.entrants}
    # Two processes of one entrant may be partners, as a team of its own.
    most = max((unit.count(name) for unit in event.units for name in unit), default=1)
    boards = event.all_boards  # It asks every entrant: for each line, 7/8 of the time at 1,000.
    for entry in checksummed.read_sealed(path, decode_result):
        result = entry.record
        if strangers := [name for name in result.seats if name not in names]:
            why = f"{strangers[0][:NAME_SHOWN]!r} does not play in this event"
        elif len(result.seats) != event.seats or not 1 <= result.board <= boards:
            why = f"the event has {event.seats} seats and {boards} boards"
        elif len(set(result.seats)) * most < len(result.seats):
            why = f"{result.seats[0][:NAME_SHOWN]!r} cannot sit there against itself"
        elif result.game != (name := f"{result.board}.{'.'.join(result.seats)}"):
            why = f"game {result.game[:NAME_SHOWN]!r} should be {name!r}, after its board and seats"
        else:
            yield result
            continue
        raise checksummed.damaged(path, entry.line, why)
