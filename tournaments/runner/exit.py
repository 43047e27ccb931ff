"""Ends of a run: the sentence and exit code that say why it stopped."""

import traceback
from contextlib import suppress
from typing import Any, Literal

from arena.files import describe_error, write_atomic
from arena.match.clock import LagError
from arena.match.piped_process import CannotStartError
from protocol.errors import UserError
from tournaments.storage.folder import Folder, make_private

STOPPED = 1
"""Exit code if the machine, or a bug of ours, stopped the run."""
UNMET = 3
"""Exit code if a versus did not give the answer that the user requires."""
MACHINE = (OSError, MemoryError, CannotStartError, LagError)
"""Failures of the machine: the run stops, and can go on later."""


class RunStoppedError(Exception):
    """A stop of the run, which can go on later; played games are stored. The text is the reason."""


def save_crash(folder: Folder, bug: BaseException | str, where: str) -> str:
    """Save the traceback of a bug of ours, or a worker's; return a sentence for the user."""
    trace = bug if isinstance(bug, str) else "".join(traceback.format_exception(bug))
    with suppress(OSError):
        make_private(folder)
        write_atomic(folder.crash, [trace.encode()])
    return (
        f"Boneyard itself failed {where}; the unfinished games do not count. "
        f"Please report {folder.crash}."
    )


def root_cause(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return the original error under the groups of the nurseries it passed through."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def stop_sentence(
    folder: Folder, ended: BaseExceptionGroup[Exception], stopped: Literal["run", "game"], when: str
) -> str:
    """Say why a run, or a game with a person, stopped; a bug of ours is kept in the folder.

    Raises UserError if it is the user's doing.
    """
    error = root_cause(ended)
    if isinstance(error, UserError):
        raise error
    if isinstance(error, RunStoppedError):
        return str(error)
    if isinstance(error, MACHINE):
        return f"The {stopped} stopped: {describe_error(error)}."
    return save_crash(folder, ended, when)
