"""Checks of game logs against the seeds of their boards, the plan and the ledger, on all cores."""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import UNSET, Struct

from arena.analysis.timeline import mismatches
from arena.engine.deal import is_seed
from arena.engine.shuffle import SEED
from arena.files import DamagedFileError
from arena.logs.checksummed import actual_path
from arena.logs.gamelog import LoggedGame, is_over, read_games
from arena.rules.english import count_in_digits
from protocol.records import GameRecord, Result, Sitting
from tournaments.plan.event import Event
from tournaments.plan.schedule import PlannedSitting, forfeited, numbers, seat_clocks, seat_names


class Promises(Struct, frozen=True):
    """The published facts about the deals that are consistent."""

    commitments: dict[int, str]
    """Commitments by board; empty when they cannot be read."""
    seeds: dict[int, bytes]
    """Revealed seeds by board; only those that match their commitments."""
    revealed: frozenset[int]

    def select(self, boards: Collection[int]) -> "Promises":
        """Return the facts about these boards."""
        return Promises(
            {board: self.commitments[board] for board in boards if board in self.commitments},
            {board: self.seeds[board] for board in boards if board in self.seeds},
            self.revealed.intersection(boards),
        )


class LogTask(Struct, frozen=True):
    """A log to check, and what is published about its boards."""

    path: Path
    promises: Promises


class GameCheck(Struct, frozen=True):
    """A finished game of a log, without its moves."""

    sitting: Sitting
    game: GameRecord
    result: Result
    faults: tuple[str, ...]
    """Parts of it that do not follow from its seed, in sentences."""


class LogCheck(Struct, frozen=True):
    """The result of the check of a log."""

    path: Path
    games: tuple[GameCheck, ...]
    damage: str
    """The damage, a sentence; empty if there is none."""
    over: bool
    """True if its last line is its sitting's end."""


def check_log(task: LogTask) -> LogCheck:
    """Replay each finished game of a log, up to the first damage."""
    games: list[GameCheck] = []
    try:
        for logged in read_games(task.path):
            if logged.result:
                faults = tuple(_faults(logged, task.promises))
                games.append(GameCheck(logged.sitting, logged.game, logged.result, faults))
        over = is_over(task.path)
    except DamagedFileError as error:
        return LogCheck(task.path, tuple(games), str(error), False)
    return LogCheck(task.path, tuple(games), "", over)


def _faults(logged: LoggedGame, promises: Promises) -> Iterator[str]:
    """Yield each part of a game that contradicts its seed or the published facts."""
    board = logged.game.board
    if promises.commitments.get(board, logged.game.commitment) != logged.game.commitment:
        yield f"{logged.game.game} has a different commitment from the published one"
    elif not is_seed(logged.sitting.rules, promises.seeds.get(board, bytes(SEED))):
        yield f"{logged.game.game}: the tiles that its board's seed sets are not a set of its rules"
    elif board in promises.seeds:
        yield from mismatches(logged, promises.seeds[board])


def sitting_faults(
    check: LogCheck,
    event: Event,
    plan: PlannedSitting,
    promises: Promises,
    ledger: Mapping[str, Result],
) -> Iterator[str]:
    """Yield the faults of a sitting's log and its differences from the ledger."""
    path = check.path
    for sitting in {entry.sitting.boards: entry.sitting for entry in check.games}.values():
        yield from _misplaced(check, event, plan, sitting)
    results = yield from _games(check, plan)
    due = [game for game in plan.game_names if game in ledger]
    over = len(due) == len(plan.games) and event.retired.isdisjoint(seat_names(event, plan))
    for name in due:
        if name in results and results[name] != ledger[name]:
            yield f"{path}: the ledger has a different result of {name}"
    yield from _forfeits(check, event, plan, results)
    yield from number_faults(check, plan.names, plan.boards, promises)
    count = sum(name not in results for name in due)
    if check.damage:
        yield f"{check.damage}; nothing after it was checked: {_results(count)} not confirmed"
    elif count and not actual_path(path).exists():
        yield f"{path} is missing: {_results(count)} not confirmed"
    elif count or (over and not check.over):
        yield f"{path}: lines are missing at its end: {_results(count)} not confirmed"


def number_faults(
    check: LogCheck, name: str, boards: Iterable[int], promises: Promises
) -> Iterator[str]:
    """Yield the games whose numbers for the bots do not follow from the public seeds."""
    due = numbers(name, boards, promises.seeds.get)
    for game in (entry.game for entry in check.games):
        if game.number != due.get(game.board, game.number):
            follows = due[game.board]
            yield f"{check.path}: {game.game} has number {game.number}; it must be {follows}"


def _games(check: LogCheck, plan: PlannedSitting) -> Generator[str, None, dict[str, Result]]:
    """Yield the faults of each game by itself; return the results by game."""
    results: dict[str, Result] = {}
    for entry in check.games:
        game = entry.game
        planned_game = plan.game_on(game.board)
        if planned_game is None or planned_game.name != game.game:
            yield f"{check.path}: {game.game} does not belong in this log"
        if game.game in results:
            yield f"{check.path}: {game.game} has two results"
        yield from (f"{check.path}: {fault}" for fault in entry.faults)
        results[game.game] = entry.result
    return results


def _forfeits(
    check: LogCheck, event: Event, plan: PlannedSitting, results: Mapping[str, Result]
) -> Iterator[str]:
    """Yield the games whose forfeits do not follow from the fouls before them in the log."""
    before: dict[str, Result] = {}
    for game, result in results.items():
        forfeits = tuple(foul.seat for foul in result.fouls if foul.foul == "forfeit")
        if forfeits != forfeited(event.fouls, plan, before):
            yield f"{check.path}: the forfeits of {game} do not follow from the fouls before it"
        before[game] = result


def _misplaced(
    check: LogCheck, event: Event, plan: PlannedSitting, sitting: Sitting
) -> Iterator[str]:
    """Yield the differences between a sitting and its plan."""
    was = (sitting.event, sitting.seats, sitting.boards)
    terms = (sitting.rules, sitting.clock, sitting.clocks or (), sitting.fouls)
    # The sitting may have been played before boards were added.
    boards = tuple(game.board for game in plan.games)[: len(sitting.boards)]
    if was != (event.name, seat_names(event, plan), boards):
        yield f"{check.path}: the event, the seats or the boards differ from the plan"
    if sitting.values != (plan.values or UNSET):
        yield f"{check.path}: the values of the parameters are not those of the search"
    if terms != (event.rules, event.clock, seat_clocks(event, plan), event.fouls):
        yield f"{check.path}: the rules, the clock or the cost of a foul differ from the event's"
    if (sitting.position or "") != event.position:
        yield f"{check.path}: the position differs from the event's"


def _results(count: int) -> str:
    return count_in_digits(count, "result of the ledger is", "results of the ledger are")
