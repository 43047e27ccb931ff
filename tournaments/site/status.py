"""Progress of an event, read from its folder while a run may be writing there.

Reads only, and holds nothing. A last line that is not whole yet is left out. Results that wait in
their game logs for their turn in the ledger count here already.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from arena.document.blocks import Section
from arena.logs.compression import actual_path
from arena.logs.gamelog import read_games
from protocol.codec import DamagedRecordError
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.rating.game_result import FoulCount, count_fouls
from tournaments.rating.tables import Anchor, Corrections, Ratings
from tournaments.report.event_text import (
    format_sections,
    headline,
    luck_known,
    main_result,
    question_line,
    uneven,
)
from tournaments.report.missing_data import refuse_unplanned, reported
from tournaments.report.ratings.standings import scaling_sections
from tournaments.report.results_file import current_results, luck_used
from tournaments.schedule.schedule import PlannedSitting, count_all_games, sittings, stages
from tournaments.schedule.spending import stopped_entrants
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import load_results, past_sittings
from tournaments.storage.luck_store import LuckStore
from tournaments.storage.public_deals import Latecomer, latecomers, read_history
from tournaments.storage.result_store import ResultStore

LOCKS = Path("/proc/locks")
"""The kernel's list of file locks."""
MOUNTS = Path("/proc/self/mountinfo")
"""The kernel's list of mounted file systems and their devices."""
ENOUGH_S = 2.0
"""The shortest time from which the rest is estimated, in s."""


class Status(Struct, frozen=True, kw_only=True):
    """Progress of an event."""

    name: str
    about: str
    """The event in words: its game, its format and its progress."""
    played: int
    """Games that have a result."""
    planned: int
    """Games of the plan; see `tournaments.schedule.schedule.count_all_games`."""
    complete: bool
    """True if nothing is left to play."""
    running: bool | None
    """True if a run is playing it now; None: this machine does not tell."""
    left_s: float | None
    """Estimated time until the end, in s; None: nothing is running, or it is too early to tell."""
    fouls: tuple[FoulCount, ...]
    """Fouls that were committed, by entrant and class."""
    question: str
    """State of the sequential test of versus; empty in other formats."""
    lead: str
    """The main result so far, in a sentence or two; `**` marks what is strong."""
    uneven: str
    """Pairings whose rotations were not all played equally often; empty if there are none."""
    luck: str
    """The number of games whose luck is known; empty if of all, or if nobody asked."""
    latecomers: tuple[Latecomer, ...]
    """Entrants that have since met boards whose deals were public when they came."""
    anchor: Anchor | None
    """The entrant with a fixed rating."""
    ratings: Ratings


def read_status(folder: Folder) -> Status:
    """Read the progress of an event from its folder.

    Raises UserError when it holds no event, DamagedFileError.
    """
    return read_whole_status(folder)[0]


def read_whole_status(folder: Folder) -> tuple[Status, list[Section]]:
    """Read the progress of an event from its folder, and the tables of its format.

    Raises UserError when it holds no event, DamagedFileError.
    """
    event = load_event(folder)
    results, complete = so_far(folder, event)
    refuse_unplanned(folder, event, results)
    played, planned = len(results), count_all_games(event, results)
    running = False if complete else is_running(folder)
    pace = None if complete or running is False else _pace(folder, event, results)
    found = results.first()
    luck = LuckStore(folder, event)
    corrections = luck.corrections(found)
    kept = current_results(folder, event, played)
    ratings = kept.ratings if kept else _fitted(event, found, corrections, complete=complete)
    status = Status(
        name=event.heading,
        about=headline(event, played, planned),
        played=played,
        planned=planned,
        complete=complete,
        running=running,
        left_s=round((planned - played) / pace, 1) if pace else None,
        fouls=count_fouls(found, forfeits=False),
        question=question_line(event, found),
        lead=main_result(event, found, planned, ratings),
        uneven=uneven(event, found, planned),
        luck=luck_known(luck_used(luck, corrections), played) if corrections else "",
        latecomers=latecomers(list(read_history(folder)), event.entrants, found),
        anchor=event.anchor,
        ratings=ratings,
    )
    return status, [*format_sections(event, found), *scaling_sections(event, ratings.pools)]


def _fitted(
    event: Event, results: Sequence[Result], corrections: Corrections, *, complete: bool
) -> Ratings:
    from tournaments.rating.ratings import fit_both  # It needs numpy, which takes 0.1 s to import.

    rated = event.rated(results)
    stopped = stopped_entrants(event, results, is_over=complete)
    return fit_both(
        rated,
        partners=event.rules.deal.partners,
        anchor=event.anchor,
        corrections=corrections or None,
        stopped=stopped,
    )


def so_far(folder: Folder, event: Event) -> tuple[ResultStore, bool]:
    """Return every result so far, by game, and whether nothing is left to play.

    Raises DamagedFileError.
    """
    results = load_results(folder, event)
    for plan in past_sittings(folder, event):
        _add(results, folder, plan)
    complete = False
    for stage in stages(event, results):
        for plan in stage:
            _add(results, folder, plan)
        complete = not any(_missing(results, plan) for plan in stage)
    return results, complete


def _missing(results: Mapping[str, Result], plan: PlannedSitting) -> bool:
    return any(game.name not in results for game in plan.games)


def _add(results: ResultStore, folder: Folder, plan: PlannedSitting) -> None:
    if _missing(results, plan):
        for logged in read_games(folder.log(plan.name)):
            if logged.result:
                results.add(logged.result)


def is_running(folder: Folder) -> bool | None:
    """Tell whether a process holds the folder for writing; None where the kernel does not say."""
    return is_locked(folder.lock)


def is_locked(path: Path) -> bool | None:
    """Tell whether a process has locked a file; None where the kernel does not say.

    The file is not opened: a run that asked this of its own folder would lose its lock.
    """
    if not path.exists():
        return False
    try:
        locks = [line.split() for line in LOCKS.read_text().splitlines()]
        devices = {line.split()[2] for line in MOUNTS.read_text().splitlines()}
    except OSError:
        return None
    file = path.stat()
    device = os.major(file.st_dev), os.minor(file.st_dev)
    # A part of a file system may have a device of its own, by which no lock is listed.
    exact = "{}:{}".format(*device) in devices
    place = "{:02x}:{:02x}:{}".format(*device, file.st_ino) if exact else f":{file.st_ino}"
    return any(_holds(words, place) for words in locks)


def _holds(words: list[str], place: str) -> bool:
    """Tell whether a line such as `1: POSIX ADVISORY WRITE 4711 08:02:131072 0 EOF` is this lock.

    A line with `->` is a process that waits.
    """
    held = next((word for word in words if word.count(":") == 2), "")
    return "POSIX" in words and "->" not in words and held.endswith(place)


def _pace(folder: Folder, event: Event, results: Mapping[str, Result]) -> float | None:
    """Return games per second of this run, which began when results.json was published."""
    with suppress(OSError, DamagedRecordError):
        began = folder.results.stat().st_mtime
        lasted = time.time() - began
        fresh = sum(
            sum(game.name in results for game in plan.games)
            for plan in sittings(event, results)
            if _written(folder.log(plan.name)) > began
        )
        # A resumed sitting has games of earlier runs; so has a ledger that waited for its turn.
        made = min(fresh, len(results) - reported(folder))
        return made / lasted if made > 0 and lasted > ENOUGH_S else None
    return None


def _written(path: Path) -> float:
    return actual_path(path).stat().st_mtime if actual_path(path).exists() else 0.0
