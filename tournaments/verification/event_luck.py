"""The luck of all games of an event, computed from its logs on all cores."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arena.logs.board_promises import published_seeds
from arena.rules.english import count_in_digits
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder
from tournaments.storage.learnt_policies import Policies
from tournaments.storage.ledger import past_sittings
from tournaments.storage.luck_store import LogLuck, LuckStore, LuckTask, luck_of_log, tasks_of_log
from tournaments.storage.result_store import ResultStore

if TYPE_CHECKING:
    from tournaments.verification.processes import Progress


def compute_luck(
    folder: Folder, event: Event, results: ResultStore, progress: "Progress"
) -> list[str]:
    """Add to luck.jsonl the luck of each game that it lacks; return why some games have none yet.

    Luck tells hidden tiles: the games of a board wait until its seed is revealed. A kill loses the
    luck of a few games; the next call goes on. The folder must be locked.
    Raises DamagedFileError, OSError, UserError.
    """
    store = LuckStore(folder, event, writes=True, tasks=on_all_cores)
    store.drop_stale(results.values())
    public = published_seeds(folder.seeds)
    over = [one for one in results.values() if one.board in public]
    waiting = len(results) - len(over)
    missing = {one.game: one for one in over if not store.known(one)}
    store.played = lambda: over
    progress(0, len(missing))
    store.learn(missing.values())
    tasks = luck_tasks(folder, event, results, missing, store.policies)
    faults = list[str]()
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
    folder: Folder,
    event: Event,
    results: Mapping[str, Result],
    games: Iterable[str],
    policies: Policies,
) -> list[LuckTask]:
    """Return the logs of these games, a few games at a time, in the order of the ledger.

    A kill may leave the luck of a block whose results only the logs have.
    """
    wanted = set(games)
    tasks: list[LuckTask] = []
    for plan in (*past_sittings(folder, event), *sittings(event, results)):
        some = [game.name for game in plan.games if game.name in wanted]
        tasks += tasks_of_log(event, policies, folder.log(plan.name), some)
    return tasks


def compute_tasks(
    tasks: list[LuckTask], games: int, progress: "Progress"
) -> Iterator[tuple[LuckTask, LogLuck]]:
    """Yield the luck of each task; show how many games are done after the caller took it."""
    done = 0
    for task, luck in zip(tasks, on_all_cores(luck_of_log, tasks), strict=True):
        yield task, luck
        done += len(task.games)
        progress(done, games)


def on_all_cores(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    """Yield what comes of each task, in order, from as many processes as there are cores."""
    # Each run imports this module, and few need processes, whose modules take 10 ms.
    from tournaments.verification.processes import map_tasks

    return map_tasks(work, tasks)
