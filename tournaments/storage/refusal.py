"""A run that is refused leaves its folder as it was, and no folder where there was none."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.files import write_atomic
from arena.logs.compression import actual_path
from protocol.errors import UserError
from tournaments.storage.folder import Folder, content, lock_for_writing


@contextmanager
def held_unless_refused(folder: Folder, publish: Callable[[], None]) -> Iterator[None]:
    """Hold the folder for writing; after a UserError undo what was written, if nothing was played.

    `publish`: writes the reports again. Raises UserError, OSError.
    """
    made = [path for path in (folder.path, *folder.path.parents) if not os.path.lexists(path)]
    with lock_for_writing(folder):
        before = {path: content(path) for path in _plan(folder)}
        there, logs = {*folder.parts(), folder.build}, _sizes(folder)
        there -= set() if folder.build.exists() else {folder.build}
        try:
            yield
        except UserError:
            if _sizes(folder).items() <= logs.items():
                if before[folder.event]:
                    _restore(folder, before, publish)
                else:
                    _remove([one for one in (*folder.parts(), folder.build) if one not in there])
                    _remove_folders(folder, made)
            raise


def _plan(folder: Folder) -> tuple[Path, ...]:
    """Return the files that change with the plan, the plan last."""
    return folder.history, folder.commitments, folder.event


def _sizes(folder: Folder) -> dict[Path, int]:
    """Return the sizes of the game logs: a game that was played makes one larger."""
    return {path: actual_path(path).stat().st_size for path in folder.logs()}


def _restore(folder: Folder, before: dict[Path, bytes], publish: Callable[[], None]) -> None:
    if content(folder.event) == before[folder.event]:
        return
    for path, data in before.items():
        if data:
            write_atomic(path, [data])
        else:
            path.unlink(missing_ok=True)
    with suppress(UserError):
        publish()


def _remove(parts: list[Path]) -> None:
    for part in parts:
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def _remove_folders(folder: Folder, made: list[Path]) -> None:
    with suppress(OSError):
        folder.private.rmdir()
    if made:
        folder.lock.unlink(missing_ok=True)
    with suppress(OSError):
        for path in made:
            path.rmdir()
