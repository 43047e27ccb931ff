"""The reading of a bot's folder, whose author is hostile and may change it meanwhile.

Nothing is opened but by its own name in an opened folder, so that no link is ever followed; size
and number are looked at before a file is read.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from arena.sandbox.limits import MIB
from tournaments.league.registry.file_tree import (
    FileTree,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    check_links,
    check_path,
    is_ignored,
    shown_name,
)
from tournaments.plan.bot_catalog import BOT_FILE

FORBIDDEN = {errno.EACCES, errno.EPERM}
CHANGED = {errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.ESTALE, errno.EISDIR}
"""Errors of a path that was there a moment ago."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Without NONBLOCK, the opening of a named pipe that takes a file's place would never return.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class ChangedPushError(RefusedPushError):
    """A push that changes while it is read: it may be in its middle."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place} changed while it was read. It is read again at the next turn: push a whole "
            "folder at once, by git or by renaming it."
        )


def read_push(folder: Path, place: str, bounds: TreeBounds) -> FileTree:
    """Read all files of a bot's folder.

    `place`: the folder's name for the author, as `bots/mine`. Raises RefusedPushError, and
    OSError if the machine is short of something.
    """
    with _explained(place, place):
        kind = stat.S_IFMT(folder.lstat().st_mode)
        if kind != stat.S_IFDIR:
            what = "a link" if kind == stat.S_IFLNK else _KINDS.get(kind, "a file")
            raise RefusedPushError(
                f"{place} is {what}. Push a folder of that name, with a {BOT_FILE} in it."
            )
        root = os.open(folder, _FOLDER)
    reader = _Reader(place, bounds)
    reader.read_folder(root, "")
    check_links(reader.tree, place)
    return reader.tree


def push_time(folder: Path) -> float:
    """Return the time of the last change in a bot's folder, which its author cannot choose.

    Raises OSError.
    """
    return max(path.lstat().st_ctime for path in chain((folder,), folder.rglob("*")))


class _Reader:
    """The files, folders and links of a push, up to its bounds."""

    def __init__(self, place: str, bounds: TreeBounds) -> None:
        self.tree: dict[str, TreeItem] = {}
        self._place = place
        self._bounds = bounds
        self._count = self._size = 0

    def read_folder(self, folder: int, above: str) -> None:
        """Read an open folder and those below it; `above`: its path with a slash, or nothing."""
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._count += 1
                    if self._count > self._bounds.files:
                        raise RefusedPushError(
                            f"{self._place} has more than {self._bounds.files:,} files and "
                            "folders. Leave out what the bot does not need."
                        )
                    if not is_ignored(entry.name):
                        self._read(folder, entry, above + entry.name)
        finally:
            os.close(folder)

    def _read(self, folder: int, entry: os.DirEntry[str], path: str) -> None:
        check_path(path, self._place)
        with _explained(f"{self._place}/{path}", self._place):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self.tree[path] = TreeItem("folder")
                self.read_folder(os.open(entry.name, _FOLDER, dir_fd=folder), f"{path}/")
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(entry.name, dir_fd=folder)
                self.tree[path] = TreeItem("link", os.fsencode(target))
            else:
                self._bound(status, path)
                self.tree[path] = self._read_file(folder, entry.name, status.st_size)

    def _bound(self, status: os.stat_result, path: str) -> None:
        """Refuse what is no file, and a file that is too much."""
        if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
            raise RefusedPushError(f"{self._place}/{path} is {kind}. Remove it.")
        self._size += status.st_size
        if self._size > self._bounds.size:
            raise RefusedPushError(
                f"The files in {self._place} have more than {self._bounds.size // MIB:,} MiB, with "
                f"{shown_name(path)} of {status.st_size:,} bytes. Push less."
            )

    def _read_file(self, folder: int, name: str, size: int) -> TreeItem:
        with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(size + 1) if stat.S_ISREG(status.st_mode) else b""
        if not stat.S_ISREG(status.st_mode) or len(content) != size:
            raise ChangedPushError(self._place)
        return TreeItem("file", content, bool(status.st_mode & stat.S_IXUSR))


@contextmanager
def _explained(path: str, place: str) -> Iterator[None]:
    """Turn errors of the file system that the author can cause into sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in FORBIDDEN:
            raise RefusedPushError(
                f"{path} cannot be read: {error.strerror}. Make it readable for everybody."
            ) from None
        if error.errno in CHANGED:
            raise ChangedPushError(place) from None
        raise
