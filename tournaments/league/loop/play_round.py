"""Play a league's round, or the rest of it, in its folder, by the code of `run`."""

import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import trio

from arena.files import open_regular, read_file, write_atomic
from arena.logs.catalog import FOLDER, remove_leftovers
from arena.sandbox.sandbox import Sandbox
from arena.signals import run_async
from arena.ui.console import writing_beside
from protocol.codec import indented_json
from protocol.errors import UserError
from tournaments.commands.play_event import Play, play_here, play_to_end, publish_reports
from tournaments.league.folder import CLOSED, PLAN, TRIES, LeagueFolder
from tournaments.league.read import write_utc
from tournaments.league.records import EarlyEnd, RoundPlan
from tournaments.plan.event import Event
from tournaments.runner.exit import save_crash, stop_sentence
from tournaments.storage.folder import Folder, kept_private, load_event, lock_for_writing
from tournaments.storage.ledger import Ledger
from tournaments.storage.open_event import open_event

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a disk without room."""
NEW = ".new"
"""Folder of a round that is being written."""
MOST_TRIES = 5
"""Tries without any further game after which a round is closed."""
SHOW_EVERY_S = 3.0
"""Time between two public snapshots, in s."""


class Failure(NamedTuple):
    """The failure of a try to play a round to its end."""

    why: str
    tries: int
    """Tries, this one among them, that brought no further game."""

    @property
    def is_last(self) -> bool:
        """True if the round is to be closed: trying again would not help."""
        return self.tries >= MOST_TRIES


def play_round(
    path: Path, sandbox: Sandbox, jobs: int | None, show: Callable[[], None]
) -> Failure | None:
    """Play what a round lacks and write its reports; None if nothing is left to do.

    `show`: writes a public snapshot, now and then. Raises KeyboardInterrupt after a signal, and
    OSError if the disk is full.
    """
    folder = Folder(path)

    async def prepare() -> Sandbox:
        return sandbox

    with lock_for_writing(folder):
        event, _ = open_event(folder, load_event(folder), None)
        ledger = Ledger(folder, event)
        tries = count_tries(folder, len(ledger.results))
        remove_leftovers(folder.path / FOLDER)
        # The commitments are in the folder already: nothing is published before the first game.
        ready = _shown(play_here(folder, event, ledger, jobs, lambda: None, prepare), show)
        try:
            failure = _play(folder, event, ledger, tries, ready)
            if failure is None:
                publish_reports(folder, event, ledger)
                (folder.path / TRIES).unlink(missing_ok=True)
        except Exception as error:
            if full := find_full_disk(error):
                # The try does not count: waiting helps. This needs no room on the disk.
                with suppress(OSError):
                    os.close(open_regular(folder.path / TRIES, os.O_WRONLY | os.O_TRUNC))
                raise full from error
            failure = Failure(_describe(folder, error), tries + 1)
        if failure and failure.is_last:
            with suppress(Exception):  # A round that is closed has no reports if they are the bug.
                publish_reports(folder, event, ledger)
    return failure


def _play(
    folder: Folder,
    event: Event,
    ledger: Ledger,
    tries: int,
    ready: AbstractAsyncContextManager[Play],
) -> Failure | None:
    """Play what a round lacks; `tries` have brought no game. Raises what stops it."""
    if tries >= MOST_TRIES:
        why = f"Boneyard ended {tries} times without playing any further game."
        return Failure(why, tries)
    with kept_private(folder, lambda: ledger.complete):
        if ledger.complete:
            return None
        with writing_beside():
            errors, interrupted = run_async(play_to_end, folder, event, ledger, ready)
    if interrupted:
        raise KeyboardInterrupt
    if errors:
        raise errors
    if ledger.stage:
        why = f"{', '.join(sorted(ledger.stopped))} stopped at limits.cents."
        return Failure(why, MOST_TRIES)
    return None


@asynccontextmanager
async def _shown(
    ready: AbstractAsyncContextManager[Play], show: Callable[[], None]
) -> AsyncIterator[Play]:

    async def show_on() -> None:
        while True:
            await trio.to_thread.run_sync(show)
            await trio.sleep(SHOW_EVERY_S)

    async with ready as play, trio.open_nursery() as nursery:
        nursery.start_soon(show_on)
        yield play
        nursery.cancel_scope.cancel()


def _describe(folder: Folder, error: Exception) -> str:
    """Return why a try failed."""
    if not isinstance(error, ExceptionGroup):
        return save_crash(folder, error, "in a round")
    try:
        return stop_sentence(folder, error, "run", "between two games")
    except UserError as mistake:
        return str(mistake)


def find_full_disk(error: BaseException) -> OSError | None:
    """Return the error of a full disk from which an error came; None if it came from another."""
    return next(
        (one for one in _causes(error) if isinstance(one, OSError) and one.errno in FULL), None
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    yield error
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _causes(one)
    if error.__cause__:
        yield from _causes(error.__cause__)


# --- its folder ---


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


def close_round(folder: Folder, now: datetime, why: str) -> None:
    """Close a round that cannot be played to its end. Raises OSError."""
    closed = EarlyEnd(time=write_utc(now), why=why)
    write_atomic(folder.path / CLOSED, [indented_json(closed), b"\n"])
    (folder.path / TRIES).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Let the disk have the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
