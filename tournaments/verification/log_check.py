"""Checks of game logs against the seeds of their boards: many at once, on all cores."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from arena.analysis.replay import mismatches
from arena.engine.deal import is_seed
from arena.engine.shuffle import SEED
from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import LoggedGame, is_over, read_games
from protocol.records import GameRecord, Result, Sitting

GAMES_AT_ONCE = 100
"""Games that a process checks before it answers: about 0.5 s of its time."""


class Promises(Struct, frozen=True):
    """The published facts about the deals that are consistent."""

    commitments: dict[int, str]
    """Commitments by board; empty when they cannot be read."""
    seeds: dict[int, bytes]
    """Revealed seeds by board; only those that match their commitments."""
    revealed: frozenset[int]
    """Boards with a published seed, valid or not."""

    def about(self, boards: Collection[int]) -> "Promises":
        """Return the facts about these boards."""
        return Promises(
            {board: self.commitments[board] for board in boards if board in self.commitments},
            {board: self.seeds[board] for board in boards if board in self.seeds},
            self.revealed.intersection(boards),
        )


class LogTask(Struct, frozen=True):
    """A log to check, and what is published about its boards."""

    path: Path
    games: int
    """Games that it should have: a measure of the work."""
    promises: Promises
    """The facts about its boards."""


class GameCheck(Struct, frozen=True):
    """A finished game of a log, without its moves."""

    sitting: Sitting
    game: GameRecord
    """Its first record."""
    result: Result
    faults: tuple[str, ...]
    """Parts of it that do not follow from its seed, in sentences."""


class LogCheck(Struct, frozen=True):
    """The result of the check of a log."""

    path: Path
    games: tuple[GameCheck, ...]
    """The finished games, up to the first damage."""
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


def check_logs(tasks: Iterable[LogTask], cores: int | None = None) -> Iterator[LogCheck]:
    """Yield the check of each log, in order. `cores`: processes to use; None: all cores of ours.

    A few games are checked here: to start processes would take longer.
    """
    batches = [*_batches(tasks)]
    count = min(len(batches), cores or usable_cores())
    if count < 2:
        for batch in batches:
            yield from map(check_log, batch)
        return
    from tournaments.verification.processes import map_batches  # It takes 20 ms.

    yield from map_batches(check_log, batches, count)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _batches(tasks: Iterable[LogTask]) -> Iterator[list[LogTask]]:
    batch: list[LogTask] = []
    for task in tasks:
        batch.append(task)
        if sum(one.games for one in batch) >= GAMES_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
