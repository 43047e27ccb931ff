"""The results of an event, in the order of its schedule, whatever the order they came in."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from pathlib import Path

from arena import sealed
from arena.gamelog import GameLog, read_games
from protocol.codec import decode_result
from protocol.records import Result
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.schedule import PlannedGame, PlannedSitting, sittings


class Ledger:
    """Results appended sitting by sitting, so that the file is the same at any number of jobs.

    What is finished out of turn waits in memory, and in its game log, which outlives a kill.
    """

    def __init__(self, folder: Folder, event: Event) -> None:
        """Open the folder's ledger and fetch from the game logs what it does not hold yet.

        Lines that a kill cut short are removed; `notices` says where.
        Raises DamagedFileError, OSError.
        """
        self.notices: list[str] = []
        self._path = folder.ledger
        self._order = [game.name for plan in sittings(event) for game in plan.games]
        self._mend(self._path)
        self._checksum = 0
        self.results: dict[str, Result] = {}
        for entry in sealed.read_sealed(self._path, decode_result):
            self._expect(entry)
            self.results[entry.record.game] = entry.record
            self._checksum = entry.checksum
        self._written = len(self.results)
        for plan in sittings(event):
            if self.missing(plan):
                self._mend(folder.log(plan.name))
                self.results |= recovered(folder.log(plan.name))
        self._release()

    def _mend(self, path: Path) -> None:
        notice = sealed.mend(path)
        if notice:
            self.notices.append(notice)

    def _expect(self, entry: sealed.Entry[Result]) -> None:
        """Refuse a ledger of other games: what is left to play follows from it."""
        due = self._order[len(self.results) : len(self.results) + 1]
        if [entry.record.game] != due:
            why = f"game {entry.record.game}, where the schedule has {due[0] if due else 'none'}"
            raise sealed.damaged(self._path, entry.line, why)

    def add(self, result: Result) -> None:
        """A game is over."""
        self.results[result.game] = result
        self._release()

    def missing(self, plan: PlannedSitting) -> list[PlannedGame]:
        """What is left to play of a sitting: schedule minus ledger."""
        return [game for game in plan.games if game.name not in self.results]

    @property
    def complete(self) -> bool:
        """Whether every game of the plan has a result."""
        return self._written == len(self._order)

    def _release(self) -> None:
        """Write every result whose turn has come."""
        waiting = takewhile(self.results.__contains__, islice(self._order, self._written, None))
        ready = [self.results[game] for game in waiting]
        if ready:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                self._checksum = sealed.append(descriptor, ready, self._checksum)
            finally:
                os.close(descriptor)
            self._written += len(ready)


def read_ledger(path: Path) -> Iterator[Result]:
    """The results of a ledger.

    Raises DamagedFileError.
    """
    for entry in sealed.read_sealed(path, decode_result):
        yield entry.record


def recovered(path: Path) -> dict[str, Result]:
    """The results in a game log, by game.

    A kill may have come between a sitting's last result and its end: then the end is written
    here, before the ledger takes the result and this log is not looked at again.
    Raises DamagedFileError, OSError.
    """
    games = list(read_games(path))
    results = {logged.game.game: logged.result for logged in games if logged.result}
    if games and len(results) == len(games[0].sitting.boards):
        GameLog(path, games[0].sitting).close()
    return results


def boards_left(event: Event, results: Iterable[str]) -> dict[int, int]:
    """How many games of each board have no result, by board in order."""
    left = dict.fromkeys(range(1, event.boards + 1), 0)
    known = frozenset(results)
    for plan in sittings(event):
        for game in plan.games:
            left[game.board] += game.name not in known
    return left


def finished(left: dict[int, int]) -> list[int]:
    """Boards of which every game has a result, in order."""
    return [board for board, games in left.items() if games == 0]
