"""The rounds of a league as event folders: begun at once or not at all, and closed if they fail."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from arena.files import open_regular, read_file, write_atomic
from protocol.codec import indented_json
from tournaments.formats.base import Entrant, first_version
from tournaments.formats.matches import Matches
from tournaments.league.folder import CLOSED, PLAN, LeagueFolder
from tournaments.league.read import DivisionData, write_time
from tournaments.league.records import ClosedRound, RoundPlan
from tournaments.league.settings import LeagueSettings
from tournaments.plan.event import Event
from tournaments.storage.folder import Folder
from tournaments.storage.open_event import open_event

NEW = ".new"
"""Folder of a round that is being written."""
TRIES = "private/tries"
"""File in a round's folder, while the round is played: its games at the last try, and the tries
that brought no further game."""
MOST_TRIES = 5
"""Tries without any further game after which a round is closed."""
LONGEST_NAME = 32
"""Most characters of a division's name in the name of an event."""
LONGEST_TITLE = 80
"""Most characters of an event's title."""


def round_event(
    settings: LeagueSettings, division: DivisionData, plan: RoundPlan, entrants: Sequence[Entrant]
) -> Event:
    """Return a round as an event. Raises UserError if it cannot be played."""
    own, names = division.settings, [one.name for one in entrants]
    limits = settings.limits
    if not any(first_version(name).partition("@")[0] in settings.bots for name in names):
        # Only who needs the network can be unavailable; others would only make all wait.
        limits = replace(limits, unavailable=0)
    title = f"{settings.title}: {own.title or own.name}, round {plan.number}"
    return Event(
        name=f"{own.name[:LONGEST_NAME]}-{plan.number}",
        title=title[-LONGEST_TITLE:],
        rules=division.rules,
        seats=division.seats,
        boards=plan.boards,
        boards_a_sitting=Matches.BOARDS_A_SITTING,
        format=Matches(tuple(table.entrants for table in plan.tables)),
        clock=settings.clock,
        fouls=settings.fouls,
        sandbox=settings.sandbox,
        limits=limits,
        entrants=tuple(entrants),
        anchor=settings.anchor if settings.anchor.name in names else None,
        predictable=False,
    )


def begin_round(league: LeagueFolder, plan: RoundPlan, event: Event) -> Path:
    """Write the folder of a new round, with its commitments; return it. Raises OSError, UserError.

    It appears with all its files or not at all.
    """
    place = league.round(plan.division, plan.number)
    beside = place.with_name(NEW)
    if beside.exists():
        shutil.rmtree(beside)
    open_event(Folder(beside), event, None)
    write_atomic(beside / PLAN, [indented_json(plan), b"\n"])
    _sync(beside)
    beside.rename(place)
    _sync(place.parent)
    return place


def count_tries(folder: Folder, games: int) -> int:
    """Note that a round is tried with so many games played; return the tries that got no further.

    Raises OSError.
    """
    path, tries = folder.path / TRIES, 0
    with suppress(OSError, ValueError):
        before, tries = map(int, read_file(path).split())
        tries = tries if before == games else 0
    write_atomic(path, [f"{games} {tries + 1}\n".encode()], 0o600)
    return tries


def forget_tries(folder: Folder) -> None:
    """Note that the last try does not count; needs no room on the disk. Raises OSError."""
    os.close(open_regular(folder.path / TRIES, os.O_WRONLY | os.O_TRUNC))


def is_tried(path: Path) -> bool:
    """Tell whether a round is being played, or was when this program was killed."""
    return (path / TRIES).exists()


def end_tries(folder: Folder) -> None:
    """Note that nothing is left to do for a round. Raises OSError."""
    (folder.path / TRIES).unlink(missing_ok=True)


def close_round(folder: Folder, now: datetime, why: str) -> None:
    """Close a round that cannot be played to its end. Raises OSError."""
    closed = ClosedRound(time=write_time(now), why=why)
    write_atomic(folder.path / CLOSED, [indented_json(closed), b"\n"])


def _sync(folder: Path) -> None:
    """Let the disk have the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
