"""Temporary folders that end with their process, or with our next process if that was killed.

A folder's owner holds a lock on it, which the kernel releases however the owner dies. In a
temporary folder that everybody shares, other users may create anything under our names: we sweep
only folders of ours that nobody else could have written to or moved, and that nobody holds.
"""

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.files import OTHERS_WRITE, is_ours

if sys.platform != "win32":
    import fcntl

PREFIX = "boneyard-tmp-"
YOUNG_S = 60.0
"""The age in s up to which a folder may not have its owner's lock yet."""


@contextmanager
def temporary_folder(purpose: str, parent: Path | None = None, *, shared: bool) -> Iterator[Path]:
    """Make a folder that is removed when the block ends; sweep those of killed processes.

    `parent`: the folder in which it is made, if not the machine's for temporary files. `shared`:
    others may enter it, as bots with users of their own must; never list it. Raises OSError.
    """
    folder_above = Path(parent or tempfile.gettempdir())
    sweep(folder_above)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-", dir=folder_above)).resolve()
    try:
        with _held(folder):
            folder.chmod(0o711 if shared else 0o700)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":  # It opens no folder, and locks none: there nobody sweeps.
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # If a file system has no locks, nobody sweeps either.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def sweep(parent: Path) -> None:
    """Remove what killed processes of ours left there; keep everything that may not be ours."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        descriptor = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if _holds_still(descriptor):
                for name in os.listdir(descriptor):  # noqa: PTH208 - a Path takes no descriptor
                    if name.startswith(PREFIX):
                        _remove_left(name, descriptor)
        finally:
            os.close(descriptor)


def _holds_still(folder: int) -> bool:
    """Tell whether nobody but us or root can replace our entry in a folder."""
    status = os.fstat(folder)
    keeps = not status.st_mode & OTHERS_WRITE or bool(status.st_mode & stat.S_ISVTX)
    return keeps and status.st_uid in (0, os.geteuid())


def _remove_left(name: str, parent: int) -> None:
    with suppress(OSError):
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        try:
            status = os.fstat(descriptor)
            if time.time() - status.st_ctime > YOUNG_S and is_ours(status):
                # Raises while its owner lives.
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(name, ignore_errors=True, dir_fd=parent)
        finally:
            os.close(descriptor)
