"""The results of an event, in the order of its schedule, whatever the order they came in."""

import os
from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path

from arena.gamelog import append_whole, cut_torn_tail, read_games, read_lines
from protocol.codec import DamagedRecordError, decode_result, encode_line
from protocol.records import Result
from protocol.usage import UserError
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.schedule import PlannedGame, PlannedSitting, sittings


class DamagedLedgerError(UserError):
    """A ledger is not what was written; the text names the file, the line and the reason."""


class Ledger:
    """Results appended sitting by sitting, so that the file is the same at any number of jobs.

    What is finished out of turn waits in memory, and in its game log, which outlives a kill.
    """

    def __init__(self, folder: Folder, event: Event) -> None:
        """Open the folder's ledger and fetch from the game logs what it does not hold yet.

        Raises DamagedLedgerError, DamagedLogError.
        """
        self._path = folder.ledger
        cut_torn_tail(self._path)
        self.results = {result.game: result for result in read_ledger(self._path)}
        self._written = len(self.results)
        self._order = [game.name for plan in sittings(event) for game in plan.games]
        for plan in sittings(event):
            if any(game.name not in self.results for game in plan.games):
                self.results |= logged_results(folder.log(plan.name))
        self._release()

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
        ready = [encode_line(self.results[game]) for game in waiting]
        if ready:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                append_whole(descriptor, b"".join(ready))
            finally:
                os.close(descriptor)
            self._written += len(ready)


def read_ledger(path: Path) -> Iterator[Result]:
    """The results of a ledger.

    Raises DamagedLedgerError.
    """
    for number, line in read_lines(path):
        try:
            yield decode_result(line)
        except DamagedRecordError as error:
            raise DamagedLedgerError(f"{path}, line {number}: {error}") from error


def logged_results(path: Path) -> dict[str, Result]:
    """The results in a game log, by game.

    Raises DamagedLogError.
    """
    return {logged.game.game: logged.result for logged in read_games(path) if logged.result}


def finished_boards(event: Event, results: dict[str, Result]) -> list[int]:
    """Boards of which every game has a result, in order."""
    left: dict[int, int] = dict.fromkeys(range(1, event.boards + 1), 0)
    for plan in sittings(event):
        for game in plan.games:
            left[game.board] += game.name not in results
    return [board for board, games in left.items() if games == 0]
