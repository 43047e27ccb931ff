"""The luck of all games of an event, computed from its logs on all cores."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from arena.logs.board_promises import published_seeds
from arena.rules.english import count_in_digits
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import past_sittings
from tournaments.storage.luck_store import LogLuck, LuckStore, LuckTask, luck_of_log
from tournaments.storage.result_store import ResultStore

if TYPE_CHECKING:
    from tournaments.verification.processes import Progress

GAMES_AT_ONCE = 5
"""Games that a process computes before it answers: about 0.2 s of its time, most of it not the
reading of their log."""


def compute_luck(
    folder: Folder, event: Event, results: ResultStore, progress: "Progress"
) -> list[str]:
    """Add to luck.jsonl the luck of each game that it lacks; return why some games have none yet.

    Luck tells hidden tiles: the games of a board wait until its seed is revealed. A kill loses the
    luck of a few games; the next call goes on. The folder must be locked.
    Raises DamagedFileError, OSError, UserError.
    """
    store = LuckStore(folder, event, writes=True)
    store.drop_stale(results.values())
    public, waiting, missing = published_seeds(folder.seeds), 0, set[str]()
    for result in results.values():
        if result.board not in public:
            waiting += 1
        elif not store.known(result):
            missing.add(result.game)
    tasks = luck_tasks(folder, event, results, missing)
    faults = list[str]()
    progress(0, len(missing))
    for _, luck in compute_tasks(tasks, len(missing), progress):
        store.add(luck.records)
        if luck.damage:
            faults.append(f"{luck.damage}; the luck of the games after it is not known.")
    faults = [*dict.fromkeys(faults)]
    if waiting:
        games = count_in_digits(waiting, "game")
        faults.append(f"The luck of {games} must wait until their boards are over: it shows tiles.")
    return faults


def luck_tasks(
    folder: Folder, event: Event, results: Mapping[str, Result], games: Iterable[str]
) -> list[LuckTask]:
    """Return the logs of these games, a few games at a time, in the order of the ledger.

    A kill may leave the luck of a block whose results only the logs have.
    """
    wanted = set(games)
    tasks: list[LuckTask] = []
    for plan in (*past_sittings(folder, event), *sittings(event, results)):
        some = [game.name for game in plan.games if game.name in wanted]
        tasks += [
            LuckTask(folder.log(plan.name), tuple(some[first : first + GAMES_AT_ONCE]))
            for first in range(0, len(some), GAMES_AT_ONCE)
        ]
    return tasks


def compute_tasks(
    tasks: list[LuckTask], games: int, progress: "Progress"
) -> Iterator[tuple[LuckTask, LogLuck]]:
    """Yield the luck of each task; show how many games are done after the caller took it."""
    done = 0
    for task, luck in zip(tasks, luck_on_all_cores(tasks), strict=True):
        yield task, luck
        done += len(task.games)
        progress(done, games)


def luck_on_all_cores(tasks: Iterable[LuckTask]) -> Iterator[LogLuck]:
    """Yield the luck of each log, in order, from as many processes as there are cores."""
    # Each run imports this module, and few need processes, whose modules take 10 ms.
    from tournaments.verification.processes import map_tasks

    return map_tasks(luck_of_log, tasks)
