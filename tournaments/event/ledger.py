"""The ledger: an event's results in the order of its schedule, not of their arrival."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from arena.logs import checksummed
from arena.logs.gamelog import GameLog, is_over, read_games
from protocol.codec import decode_result
from protocol.records import Result, Sitting, UsageSum
from tournaments.event.book import Book
from tournaments.event.luck import LuckStore, MapTasks
from tournaments.event.results import ResultStore
from tournaments.plan.event import Event
from tournaments.plan.schedule import (
    GameIndex,
    PlannedGame,
    PlannedSitting,
    Stage,
    count_coming_games,
    has_one_of,
    ledger_order,
    retired_games,
    sittings,
    spent_out,
    stages,
)
from tournaments.rating.tables import add_usage, sum_usage

LINES_AT_ONCE = 1000
LOGS_AT_ONCE = 100


class Ledger:
    """Results in the order of the schedule, so that the file is the same at any number of jobs.

    `stage` is the stage that can be played now, empty when the event is over; `left` counts the
    games without a result on each known board; `planned` is the number of games of the event, see
    `count_all_games`. The file holds the longest beginning of that order without a gap. A result
    that comes out of turn waits in memory, and in its game log, which survives a kill.
    """

    def __init__(self, book: Book, tasks: MapTasks = map) -> None:
        """Open the ledger of a book and add the results that only the game logs have.

        After the event was extended, rewrite the ledger in the order of the new schedule. Remove
        lines that a kill cut short; `notices` says where. `tasks` computes the luck of games
        if it decides on the next stage.
        Raises DamagedFileError, OSError.
        """
        self.notices: list[str] = []
        self.book = book
        self._folder, self._event = book.folder, book.event
        self._path = book.folder.ledger
        self._log = checksummed.SealedLog(self._path, decode_result)
        self._note(self._log.mend())
        self.results = ResultStore(
            luck=LuckStore(book.folder, book.event, writes=True, tasks=tasks)
        )
        lines = 0
        for result in self._log.read():
            self.results.add(result)
            lines += 1
        if lines != len(self.results):
            lines = 0  # A game has two: all are written again.
        for plan in book.past:
            self._recover(plan)
        self._stages = stages(self._event, self.results)
        self.left: dict[int, int] = {}
        self.stage: Stage = ()
        self._open = self.planned = 0
        self._known = len(retired_games(self._event, self.results))
        self._pending: list[Result] = []
        self._usage: dict[str, UsageSum] = {}
        self._enter()
        if self._event.limits.cents is not None:
            self._usage = sum_usage(self.results.values())
        self._skipped = self.stopped
        self._order = ledger_order(self._event, self.results)
        self._due = next(self._order, None)
        self._take_up(lines)
        self._release()

    def _enter(self) -> None:
        """Advance to the first stage that lacks results."""
        for stage in self._stages:
            self.stage = stage
            for plan in stage:
                self._known += len(plan.boards)
                if self.missing(plan):
                    self._recover(plan)
                for game in plan.games:
                    missing = game.name not in self.results
                    self.left[game.board] = self.left.get(game.board, 0) + missing
                    self._open += missing
            if self._open:
                break
        else:
            self.stage = ()
        # The value of `count_all_games`, without going through all stages again at each new one.
        self.planned = self._known + (
            count_coming_games(self._event, self.stage) if self.stage else 0
        )

    def _recover(self, plan: PlannedSitting) -> None:
        self._note(checksummed.truncate_torn_line(self._folder.log(plan.name)))
        for result in results_from_log(self._folder.log(plan.name)).values():
            self.results.add(result)

    def _note(self, notice: str | None) -> None:
        if notice:
            self.notices.append(notice)

    def _take_up(self, lines: int) -> None:
        """Continue after the ledger's lines, or rewrite them if the schedule has another order."""
        for row in range(lines):
            self._skip()
            if self.results.at(row).game != self._due:
                self._check_rest(row)
                self._rewrite()
                return
            self._due = next(self._order, None)
        if not lines and self._log.checksum:
            self._check_rest(0)
            self._rewrite()

    def _check_rest(self, lines: int) -> None:
        """Refuse a ledger of other games; a line that is dropped must be in the game logs."""
        plans = chain(self.book.past, sittings(self._event, self.results))
        index = GameIndex(plans, lambda plan, _: self._folder.log(plan.name))
        logged = lru_cache(LOGS_AT_ONCE)(results_from_log)
        for entry in islice(checksummed.read_sealed(self._path, decode_result), lines, None):
            game = entry.record.game
            if game not in index:
                why = f"game {game}, where the schedule has {self._due or 'none'}"
                raise checksummed.damaged(self._path, entry.line, why)
            if logged(index[game]).get(game) != entry.record:
                why = f"game {game} is not as in its log, {index[game].name}"
                raise checksummed.damaged(self._path, entry.line, why)

    def _rewrite(self) -> None:
        """Rewrite the whole file at once, in the order of the schedule."""
        self._order = ledger_order(self._event, self.results)
        self._due = next(self._order, None)
        self._log.rewrite(self._ready())

    def add(self, result: Result) -> None:
        """Add the result of a game that is over."""
        self.results.add(result)
        add_usage(self._usage, result)
        self.left[result.board] -= 1
        self._open -= 1
        self._release()
        if not self._open:
            self._enter()

    @property
    def has_one_open(self) -> bool:
        """True if the stage ends with the next result."""
        return self._open == 1

    @property
    def complete(self) -> bool:
        """True if the event is over."""
        return not self.stage

    @property
    def stopped(self) -> frozenset[str]:
        """Entrants that have spent what the event allows them: they begin no other game."""
        return spent_out(self._event, self._usage)

    def playable(self, plan: PlannedSitting) -> list[PlannedGame]:
        """Return the games of a sitting to play now: none if one of its entrants is stopped."""
        return [] if has_one_of(f".{plan.names}", self.stopped) else self.missing(plan)

    def skip_stopped(self) -> None:
        """Write the results after the games that stopped entrants leave, without these games."""
        self._skipped = self.stopped
        self._rewrite()

    def missing(self, plan: PlannedSitting) -> list[PlannedGame]:
        """Return the games of a sitting that have no result: schedule minus ledger."""
        return [game for game in plan.games if game.name not in self.results]

    def _ready(self) -> Iterator[Result]:
        """Yield the results whose turn has come."""
        self._skip()
        while (due := self._due) is not None and due in self.results:
            self._due = next(self._order, None)
            yield self.results[due]
            self._skip()

    def _skip(self) -> None:
        """Pass over games that nobody plays, because one of their entrants is stopped."""
        while (
            self._skipped
            and self._due is not None
            and self._due not in self.results
            and has_one_of(self._due, self._skipped)
        ):
            self._due = next(self._order, None)

    def _release(self) -> None:
        """Write every result whose turn has come, in batches."""
        ready = self._ready()
        self._pending += islice(ready, LINES_AT_ONCE)
        while self._pending:
            self._log.append(self._pending)
            self._pending = [*islice(ready, LINES_AT_ONCE)]


def results_from_log(path: Path) -> dict[str, Result]:
    """Return the results in a game log, by game.

    A kill may have come between a sitting's last result and its end: then write the end now,
    before the ledger takes the result and nobody reads this log again.
    Raises DamagedFileError, OSError.
    """
    results: dict[str, Result] = {}
    sitting: Sitting | None = None
    for logged in read_games(path):
        sitting = logged.sitting
        if logged.result:
            results[logged.game.game] = logged.result
    if sitting and len(results) == len(sitting.boards) and not is_over(path):
        GameLog(path, sitting).close()
    return results


def boards_left(event: Event, results: Mapping[str, Result]) -> dict[int, int]:
    """Count the games without a result on each known board."""
    left: dict[int, int] = {}
    for plan in sittings(event, results):
        for game in plan.games:
            left[game.board] = left.get(game.board, 0) + (game.name not in results)
    return dict(sorted(left.items()))


def finished_boards(left: dict[int, int]) -> list[int]:
    """Return the boards on which every game has a result, in order."""
    return sorted(board for board, games in left.items() if games == 0)
