"""The progress of an event, read from its folder while a run may be writing there.

Reads only, and holds nothing. A last line that is not whole yet is left out. Results that wait in
their game logs for their turn in the ledger count here already.
"""

import os
import time
from contextlib import suppress
from itertools import chain
from math import inf
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from arena.document.blocks import Section
from arena.logs.checksummed import status_of
from arena.logs.gamelog import read_games
from arena.rules.english import duration
from arena.sandbox.cgroups import MOUNTS
from tournaments.event.book import Book, Latecomer, refuse_unplanned
from tournaments.event.folder import Folder, has_unseen
from tournaments.plan.schedule import sittings
from tournaments.rating.tables import Anchor, FoulCount, Ratings, count_fouls
from tournaments.report.event_text import (
    format_sections,
    headline,
    luck_known,
    main_result,
    question_line,
    uneven,
)
from tournaments.report.results_file import current_results, luck_used
from tournaments.report.standings import scaling_sections

# The state of an event while it is played: what `show`, `watch`, a late site and a run tell alike.


LOCKS = Path("/proc/locks")
"""The kernel's list of file locks."""
MIN_PACE_S = 1.0
"""The shortest time from which the rest is estimated, in s."""


class Counts(NamedTuple):
    """The numbers from which the state of an event follows at any later moment."""

    played: int
    """Games that had a result then."""
    planned: int
    """Games of the plan; see `tournaments.plan.schedule.count_all_games`."""
    running: bool | None
    """True if a run is playing it now; None: this machine does not tell."""
    fresh: int = 0
    """Games that this run had played."""
    began: float | None = None
    """Time at which it began, in s by any clock; None: nothing is running."""


class EventState(Struct, frozen=True, kw_only=True):
    """The progress of an event at some moment."""

    name: str
    about: str
    """The event in words."""
    played: int
    """Games that have a result."""
    planned: int
    complete: bool
    """True if nothing is left to play."""
    running: bool | None
    left_s: float | None
    """Estimated time until the end, in s; None: nothing is running, or it is too early to tell."""
    elapsed_s: float | UnsetType = UNSET
    """Time since the run began, in s; left out if nothing is running."""

    def describe(self, bound: str = "") -> str:
        """Return progress and remaining time in one line; `bound`: "at most " for upper bounds."""
        done = f"{self.played} of {self.planned} games"
        if self.complete:
            return f"finished: {done}"
        if self.running is False:
            return f"{done}: stopped; the same command continues it."
        if self.left_s is None:
            return f"{done}; too early to estimate the remaining time."
        return f"{done}, {bound}{duration(self.left_s / 60)} left."


def event_state(book: Book, counts: Counts, about: str, now: float) -> EventState:
    """Return the state of an event after the results in its book; `now`: by the counts' clock."""
    played, elapsed_s, left_s = len(book.results), None, None
    if counts.began is not None:
        elapsed_s = max(0.0, now - counts.began)
        fresh = counts.fresh + played - counts.played
        if fresh > 0 and elapsed_s > MIN_PACE_S:
            left_s = round((counts.planned - played) * elapsed_s / fresh, 1)
    is_over = played >= counts.planned
    return EventState(
        name=book.event.heading,
        about=about,
        played=played,
        planned=counts.planned,
        complete=is_over,
        running=False if is_over else counts.running,
        left_s=None if is_over else left_s,
        elapsed_s=UNSET if elapsed_s is None else round(elapsed_s, 1),
    )


def read_counts(book: Book, running: bool | None) -> Counts:
    """Read the counts of an event from its folder; `running`: see `is_running`."""
    folder, results, played = book.folder, book.results, len(book.results)
    began = None if running is False or played >= book.planned else run_time(folder)
    if began is None:
        return Counts(played, book.planned, running)
    logs = {path for path in folder.logs() if log_time(path) > began}
    plans = (plan for plan in book.sittings if folder.log(plan.name) in logs)
    fresh = sum(game in results for plan in plans for game in plan.game_names)
    # A resumed sitting has games of earlier runs; so has a ledger that waited for its turn.
    return Counts(played, book.planned, running, min(fresh, played - book.reported), began)


def run_time(folder: Folder) -> float | None:
    """Return the time at which a run last began to play, in s since 1970; None: none did."""
    return folder.lock.stat().st_mtime if folder.lock.exists() else None


def log_time(log: Path) -> float:
    """Return the time at which a log was last written to, in s since 1970."""
    with suppress(FileNotFoundError):  # It is just being compressed.
        return status_of(log).st_mtime
    return inf


def add_logged(book: Book) -> None:
    """Add the results that only the game logs have. Raises DamagedFileError."""
    results = book.results
    logs = book.folder.log_names()
    # Only later stages follow from results that are added here.
    is_static, later = book.event.format.IS_STATIC, sittings(book.event, results)
    for plan in book.sittings if is_static else chain(book.past, later):
        if plan.name in logs and any(game not in results for game in plan.game_names):
            for logged in read_games(book.folder.log(plan.name)):
                if logged.result:
                    results.add(logged.result)


def is_running(folder: Folder) -> bool | None:
    """Tell whether a process holds the folder for writing; None where the kernel does not say."""
    return is_locked(folder.lock)


def is_locked(path: Path) -> bool | None:
    """Tell whether a process has locked a file; None where the kernel does not say.

    The file is not opened: closing it would release the lock if this process holds it.
    """
    if not path.exists():
        return False
    try:
        locks = [line.split() for line in LOCKS.read_text().splitlines()]
        devices = {line.split()[2] for line in MOUNTS.read_text().splitlines()}
        file = path.stat()
        device = os.major(file.st_dev), os.minor(file.st_dev)
    except (OSError, AttributeError):  # Wine has the files, and not the calls.
        return None
    # A part of a file system may have a device of its own, by which no lock is listed.
    exact = "{}:{}".format(*device) in devices
    place = "{:02x}:{:02x}:{}".format(*device, file.st_ino) if exact else f":{file.st_ino}"
    return any(_holds(words, place) for words in locks)


def _holds(words: list[str], place: str) -> bool:
    """Tell whether a line such as `1: POSIX ADVISORY WRITE 4711 08:02:131072 0 EOF` is this lock.

    A line with `->` is a process that waits.
    """
    file_id = next((word for word in words if word.count(":") == 2), "")
    return "POSIX" in words and "->" not in words and file_id.endswith(place)


class Status(EventState, frozen=True, kw_only=True):
    """The state of an event with its standings."""

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


def read_status(folder: Folder) -> tuple[Status, list[Section]]:
    """Read the status of an event from its folder, and the tables of its format.

    Raises UserError when it holds no event, DamagedFileError.
    """
    book, running = Book(folder), is_running(folder)
    summary = None if running else current_results(book)
    # Of a thousand bots it takes a second to see what logs have, and whether the plan has it all.
    if not summary or has_unseen(folder):
        add_logged(book)
        refuse_unplanned(book)
        summary = current_results(book)
    if summary:
        book.ratings, book.planned = summary.ratings, summary.planned
    event, corrections = book.event, book.corrections
    counts = read_counts(book, running)
    state = event_state(book, counts, headline(book), time.time())
    status = Status(
        **asdict(state),
        fouls=count_fouls(book.played, forfeits=False),
        question=question_line(book),
        lead=main_result(book),
        uneven=uneven(book),
        luck=luck_known(luck_used(book.luck, corrections), state.played) if corrections else "",
        latecomers=book.latecomers,
        anchor=event.anchor,
        ratings=book.ratings.stored,
    )
    return status, [*format_sections(book), *scaling_sections(event, book.ratings.pools)]
