"""Replays of an event's games, to which its report leads: all of them, made side by side."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from arena.files import refuse_link
from arena.logs.catalog import FOLDER
from arena.ui.progress import track
from arena.ui.replay_files import REPORT, ReplayTask, make_replays, write
from arena.ui.replay_page import event_replay_page
from tournaments.plan.event import Event
from tournaments.runner.machine import cores
from tournaments.storage.folder import Folder
from tournaments.storage.luck_store import terms_of_game
from tournaments.verification.processes import map_tasks

LOGS_A_PROCESS = 8
"""Logs for which a process is started: it takes 0.3 s, as long as some 80 games."""


def make_all_replays(
    folder: Folder, event: Event, logs: Sequence[Path], *, reviewed: bool = False
) -> int:
    """Write the replays of these logs that are not there or out of date; return their number.

    Raises DamagedFileError, OSError, UserError.
    """
    make_folder(folder)
    names = [entrant.name for entrant in event.entrants]
    write(folder.replay_page, event_replay_page(names, [REPORT]))
    terms_of = partial(terms_of_game, folder.path)
    tasks = (ReplayTask(log, folder.replays, folder.luck, terms_of, reviewed) for log in logs)
    # A review takes ten times as long as a replay.
    most = cores() if reviewed else max(1, min(len(logs) // LOGS_A_PROCESS, cores()))
    return sum(track(map_tasks(make_replays, tasks, most), "Replays of logs made", len(logs)))


def make_folder(folder: Folder) -> None:
    """Make the folder of replays for those who may read the logs. Raises OSError, UserError."""
    refuse_link(folder.replays)
    if not folder.replays.exists():
        folder.replays.mkdir(0o700)
        folder.replays.chmod((folder.path / FOLDER).stat().st_mode & 0o777)
