"""The reading of a bot's folder, whose author is hostile and may change it meanwhile.

Nothing is opened but by its own name in an opened folder, so that no link is ever followed; sizes
and numbers are looked at before anything is read.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.sandbox.limits import MIB
from tournaments.league.registry.file_tree import (
    FileTree,
    Item,
    RefusedPushError,
    TreeBounds,
    check_links,
    check_path,
    is_ignored,
    shown_name,
)
from tournaments.plan.bot_file import BOT_FILE

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
    try:
        return _read_tree(root, place, bounds)
    finally:
        os.close(root)


def push_time(folder: Path) -> float:
    """Return the time of the last change in a bot's folder, which its author cannot choose.

    Raises OSError.
    """
    return max(
        (
            os.lstat(os.path.join(place, name)).st_ctime  # noqa: PTH118
            for place, folders, files in os.walk(folder)
            for name in ("", *folders, *files)
        ),
        default=0.0,  # Its author has just removed it.
    )


def _read_tree(root: int, place: str, bounds: TreeBounds) -> FileTree:
    listing = _Listing(place, bounds)
    listing.enter(root, "")
    tree = dict(listing.items)
    for path, size in sorted(listing.sizes.items()):
        with _explained(f"{place}/{path}", place):
            tree[path] = _read_file(root, path, size, place)
    check_links(tree, place)
    return tree


class _Listing:
    """The folders and links of a push, and the sizes of its files; nothing is read."""

    def __init__(self, place: str, bounds: TreeBounds) -> None:
        self.items: dict[str, Item] = {}
        self.sizes: dict[str, int] = {}
        self._place = place
        self._bounds = bounds
        self._count = self._size = 0

    def enter(self, folder: int, above: str) -> None:
        """Take in a folder, and those below it; `above`: its path with a slash, or nothing."""
        with os.scandir(folder) as entries:
            for entry in entries:
                self._count += 1
                if self._count > self._bounds.files:
                    raise RefusedPushError(
                        f"{self._place} has more than {self._bounds.files:,} files and folders. "
                        "Leave out what the bot does not need."
                    )
                if not is_ignored(entry.name):
                    self._take(folder, entry, above + entry.name)

    def _take(self, folder: int, entry: os.DirEntry[str], path: str) -> None:
        check_path(path, self._place)
        with _explained(f"{self._place}/{path}", self._place):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self.items[path] = Item("folder")
                below = os.open(entry.name, _FOLDER, dir_fd=folder)
                try:
                    self.enter(below, f"{path}/")
                finally:
                    os.close(below)
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(entry.name, dir_fd=folder)
                self.items[path] = Item("link", os.fsencode(target))
            else:
                self._take_file(status, path)

    def _take_file(self, status: os.stat_result, path: str) -> None:
        if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
            raise RefusedPushError(f"{self._place}/{path} is {kind}. Remove it.")
        self._size += status.st_size
        if self._size > self._bounds.size:
            raise RefusedPushError(
                f"The files in {self._place} have more than {self._bounds.size // MIB:,} MiB, with "
                f"{shown_name(path)} of {status.st_size:,} bytes. Push less."
            )
        self.sizes[path] = status.st_size


def _read_file(root: int, path: str, size: int, place: str) -> Item:
    """Read a file of a known size, through the folders on its way."""
    *folders, name = path.split("/")
    here = root
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=here)
            if here != root:
                os.close(here)
            here = below
        with os.fdopen(os.open(name, _FILE, dir_fd=here), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(size + 1) if stat.S_ISREG(status.st_mode) else b""
    finally:
        if here != root:
            os.close(here)
    if not stat.S_ISREG(status.st_mode) or len(content) != size:
        raise ChangedPushError(place)
    return Item("file", content, bool(status.st_mode & stat.S_IXUSR))


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
