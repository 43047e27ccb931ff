"""Play a league's round, or the rest of it, in its folder, by the code of `run`."""

import errno
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import trio

from arena.logs.catalog import FOLDER, remove_leftovers
from arena.sandbox.sandbox import Sandbox
from protocol.errors import UserError
from tournaments.commands.play_event import Play, play_here, play_to_end, publish_reports
from tournaments.league.rounds import MOST_TRIES, count_tries, end_tries, forget_tries
from tournaments.plan.event import Event
from tournaments.runner.exit import save_crash, stop_sentence
from tournaments.storage.folder import Folder, kept_private, load_event, lock_for_writing
from tournaments.storage.ledger import Ledger
from tournaments.storage.open_event import open_event

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a disk without room."""
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

    with lock_for_writing(folder), _not_counted_if_full(folder):
        event, _ = open_event(folder, load_event(folder), None)
        ledger = Ledger(folder, event)
        tries = count_tries(folder, len(ledger.results))
        remove_leftovers(folder.path / FOLDER)
        # The commitments are in the folder already: nothing is published before the first game.
        ready = _shown(play_here(folder, event, ledger, jobs, lambda: None, prepare), show)
        try:
            with kept_private(folder, lambda: ledger.complete):
                failure = _play(folder, event, ledger, tries, ready)
            if failure is None:
                publish_reports(folder, event, ledger)
                end_tries(folder)
        except Exception as bug:
            if find_full_disk(bug):
                raise
            failure = Failure(save_crash(folder, bug, "in a round"), tries + 1)
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
    """Play what a round lacks; `tries` have brought no game. Raises KeyboardInterrupt, OSError."""
    if tries >= MOST_TRIES:
        why = f"Boneyard ended {tries} times without playing any further game."
        return Failure(why, tries)
    if ledger.complete:
        return None
    errors, interrupted = trio.run(play_to_end, folder, event, ledger, ready)
    if interrupted:
        raise KeyboardInterrupt
    if errors:
        return _describe(folder, errors, tries + 1)
    if ledger.stage:
        why = f"{', '.join(sorted(ledger.stopped))} stopped at limits.cents."
        return Failure(why, MOST_TRIES)
    return None


@contextmanager
def _not_counted_if_full(folder: Folder) -> Iterator[None]:
    """Do not count a try that a full disk ended: waiting helps."""
    try:
        yield
    except OSError as error:
        if find_full_disk(error):
            with suppress(OSError):
                forget_tries(folder)
        raise


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


def _describe(folder: Folder, errors: BaseExceptionGroup[Exception], tries: int) -> Failure:
    """Return why a try failed. Raises OSError if the disk is full."""
    if full := find_full_disk(errors):
        raise full
    try:
        why = stop_sentence(folder, errors, "run", "between two games")
    except UserError as mistake:
        why = str(mistake)
    return Failure(why, tries)


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
