"""The user's folder for files that can be made again, which only that user writes to."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH
"""The rights by which others than the owner could write."""


def user_cache(name: str) -> Path | None:
    """Return Boneyard's cache of this name, which may not exist yet.

    None if it would be somebody else's, as root's in another user's home.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
    folder = base / "boneyard" / name
    if not folder.is_absolute():
        return None
    with suppress(OSError):
        nearest = next(one for one in (folder, *folder.parents) if one.exists())
        if is_ours(nearest.stat()):
            return folder
    return None


def is_ours(status: os.stat_result) -> bool:
    """Tell whether a file is the user's own, and no other user may write to it."""
    if sys.platform == "win32":
        return True  # A profile's folders are its user's, which the mode does not say.
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS
