"""The reading of a bot's folder, whose author is hostile and may change it meanwhile.

Nothing is opened but by its own name in an opened folder, so that no link is ever followed; size
and number are looked at before a file is read.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Self

from arena.sandbox.limits import MIB
from protocol.errors import UserError
from tournaments.league.registry.file_tree import (
    FileTree,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    check_links,
    check_path,
    shown_name,
)
from tournaments.plan.bot_catalog import BOT_FILE
from tournaments.plan.ignored import is_ignored

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


ROOT_FAULT = f"{{place}} is {{kind}}. Push a folder of that name, with a {BOT_FILE} in it."


class FolderBots:
    """The bots in a folder, as their authors put them there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def names(self) -> set[str]:
        """Return the names of the bots' folders. Raises UserError."""
        try:
            with os.scandir(self._folder) as entries:
                return bot_names((one.name, one.is_file(follow_symlinks=False)) for one in entries)
        except OSError as error:
            raise UserError(f"{self._folder} cannot be read: {error.strerror}.") from error

    def read(self, bot: str, place: str, bounds: TreeBounds) -> FileTree:
        """Read all files of a bot: see `read_push`."""
        return read_push(self._folder / bot, place, bounds)

    def time(self, bot: str) -> float:
        """Return the time of the last change in a bot's folder, which its author cannot choose.

        Raises OSError.
        """
        folder = self._folder / bot
        return max(path.lstat().st_ctime for path in chain((folder,), folder.rglob("*")))


def bot_names(entries: Iterable[tuple[str, bool]]) -> set[str]:
    """Return the names that are bots, without notes such as README.md.

    `entries`: the name of each entry, and whether it is a file.
    """
    return {
        name
        for name, is_file in entries
        if not name.startswith((".", "README")) and not ("." in name and is_file)
    }


def read_push(folder: Path, place: str, bounds: TreeBounds) -> FileTree:
    """Read all files of a bot's folder.

    `place`: the folder's name for the author, as `bots/mine`. Raises RefusedPushError, and
    OSError if the machine is short of something.
    """
    with _explained(place, place):
        kind = stat.S_IFMT(folder.lstat().st_mode)
        if kind != stat.S_IFDIR:
            words = "a link" if kind == stat.S_IFLNK else _KINDS.get(kind, "a file")
            raise RefusedPushError(ROOT_FAULT.format(place=place, kind=words))
        root = os.open(folder, _FOLDER)
    reader = _FolderReader(place, bounds)
    reader.read_folder(root, "")
    return reader.finish()


class PushReader:
    """The tree of a push while it is read, up to its bounds."""

    def __init__(self, place: str, bounds: TreeBounds) -> None:
        self.tree: dict[str, TreeItem] = {}
        self.place = place
        self.bounds = bounds
        self._count = self._size = 0

    def takes(self, name: str) -> bool:
        """Count an entry; tell whether it is part of the push. Raises RefusedPushError."""
        self._count += 1
        if self._count > self.bounds.files:
            raise self.too_many()
        return not is_ignored(name)

    def too_many(self) -> RefusedPushError:
        """Return the refusal of a push with too many entries."""
        return RefusedPushError(
            f"{self.place} has more than {self.bounds.files:,} files and folders. Leave out what "
            "the bot does not need."
        )

    def check_path(self, path: str) -> None:
        """Refuse a path that is too long or deep, or odd. Raises RefusedPushError."""
        check_path(path, self.place)

    def add_size(self, size: int, path: str) -> None:
        """Count the bytes of a file before it is read. Raises RefusedPushError."""
        self._size += size
        if self._size > self.bounds.size:
            raise RefusedPushError(
                f"The files in {self.place} have more than {self.bounds.size // MIB:,} MiB, with "
                f"{shown_name(path)} of {size:,} bytes. Push less."
            )

    def finish(self) -> FileTree:
        """Return the whole tree. Raises RefusedPushError for its links."""
        check_links(self.tree, self.place)
        return self.tree


class _FolderReader(PushReader):
    """The files, folders and links of a push in a folder."""

    def read_folder(self, folder: int, above: str) -> None:
        """Read an open folder and those below it; `above`: its path with a slash, or nothing."""
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if self.takes(entry.name):
                        self._read(folder, entry, above + entry.name)
        finally:
            os.close(folder)

    def _read(self, folder: int, entry: os.DirEntry[str], path: str) -> None:
        self.check_path(path)
        with _explained(f"{self.place}/{path}", self.place):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self.tree[path] = TreeItem("folder")
                self.read_folder(os.open(entry.name, _FOLDER, dir_fd=folder), f"{path}/")
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(entry.name, dir_fd=folder)
                self.tree[path] = TreeItem("link", os.fsencode(target))
            else:
                if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
                    raise RefusedPushError(f"{self.place}/{path} is {kind}. Remove it.")
                self.add_size(status.st_size, path)
                self.tree[path] = self._read_file(folder, entry.name, status.st_size)

    def _read_file(self, folder: int, name: str, size: int) -> TreeItem:
        with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(size + 1) if stat.S_ISREG(status.st_mode) else b""
        if not stat.S_ISREG(status.st_mode) or len(content) != size:
            raise ChangedPushError(self.place)
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
