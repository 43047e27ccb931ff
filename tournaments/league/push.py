"""The reading of a push, whose author is hostile: archive, files, bot.toml."""

import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import tarfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Struct

from arena.rules.load import without_mark
from arena.sandbox.command import MIB
from protocol.errors import UserError, unknown_name
from protocol.validation import convert_or_explain
from tournaments.plan.bots import (
    BOT_FILE,
    BotFile,
    check_places,
    is_ignored,
    is_left_out,
    without_others_fields,
)

# The files of a push or of a build as a value: their names, bounds, links and fingerprint.


DEEPEST = 16
"""Folders within one another that a push may have."""
MAX_FILE_NAME_BYTES = 100
"""Bytes of the name of a file or folder in a push."""
LONGEST_PATH = 240
"""Bytes of a path in a push: it must fit an archive's header."""
MAX_LINK_CHAIN = 16
"""Links that may follow one another."""


class RefusedPushError(Exception):
    """A push that cannot play: its text is a sentence for the author."""


class TreeItem(Struct, frozen=True):
    """A file, folder or link of a push."""

    kind: Literal["file", "folder", "link"]
    content: bytes = b""
    """Its bytes; of a link, its target."""
    executable: bool = False
    """True for a file that can be run."""


FileTree = Mapping[str, TreeItem]
"""All files, folders and links of a push by their path in it, as `src/main.c`."""


class TreeBounds(NamedTuple):
    """The bounds of a push."""

    files: int
    size: int


def check_path(path: str, place: str) -> None:
    """Refuse a path that is too long or deep, or that a page or terminal could not show.

    `place`: the folder of the push, as `bots/mine`. Raises RefusedPushError.
    """
    name = path.rpartition("/")[2]
    label = shown_name(path)
    if not name.isprintable() or "\\" in name:
        raise RefusedPushError(
            f"{place}: the name {label} has a character that a page cannot show. Rename it."
        )
    if len(name.encode()) > MAX_FILE_NAME_BYTES or len(path.encode()) > LONGEST_PATH:
        raise RefusedPushError(
            f"{place}: the path {label} is too long. A name may have {MAX_FILE_NAME_BYTES} bytes, "
            f"a path {LONGEST_PATH}."
        )
    if path.count("/") >= DEEPEST:
        raise RefusedPushError(f"{place}: {label} is deeper than {DEEPEST} folders.")


def shown_name(text: str, most: int = 60) -> str:
    """Return a name from a push in quotes, cut, with every odd character escaped."""
    return ascii(text if len(text) <= most else f"{text[:most]}…")


def check_links(tree: FileTree, place: str) -> None:
    """Refuse links that lead out of a tree, to nothing or in a circle. Raises RefusedPushError."""
    for path, item in tree.items():
        if item.kind == "link":
            target = shown_name(os.fsdecode(item.content))
            if why := _fault_of_link(tree, path):
                raise RefusedPushError(f"{place}/{path} is a link to {target}, {why}.")


def _fault_of_link(tree: FileTree, path: str) -> str:
    """Return what is wrong with a link, as the end of a sentence; empty if it is right."""
    folders: list[str] = []
    parts, links = deque(path.split("/")), 0
    while parts:
        part = parts.popleft()
        if part in ("", "."):
            continue
        if part == "..":
            if not folders:
                return "which leads out of the bot's folder. Copy the file itself into the folder"
            folders.pop()
            continue
        item = tree.get("/".join((*folders, part)))
        if item is None or (item.kind == "file" and any(parts)):
            return "which is not there. Remove the link, or push its target too"
        if item.kind != "link":
            folders.append(part)
            continue
        links += 1
        target = os.fsdecode(item.content)
        if len(item.content) > LONGEST_PATH:
            return "which is too long. Copy the file itself into the folder"
        if target.startswith("/"):
            return "which is an absolute path. Make it relative, or copy the file itself"
        if links > MAX_LINK_CHAIN:
            return "which leads in a circle. Remove it"
        parts.extendleft(reversed(target.split("/")))
    return ""


def without_ignored(tree: FileTree, patterns: Sequence[str], place: str) -> FileTree:
    """Return a tree without ignored files and those that its author's patterns match.

    A bot must not play by files that its fingerprint leaves out. Raises RefusedPushError for a link
    to one of them.
    """
    rest = {
        path: item
        for path, item in tree.items()
        if path == BOT_FILE or not is_left_out(path, patterns)
    }
    check_links(rest, place)
    return rest


def tree_fingerprint(tree: FileTree) -> str:
    """Return the SHA-256 of all paths and contents, and of the right to run a file."""
    digest = hashlib.sha256()
    for path in sorted(tree):
        item = tree[path]
        head = f"{item.kind} {item.executable:d} {path}".encode()
        for part in (head, item.content):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def write_tree(tree: FileTree, folder: Path) -> None:
    """Write a tree to a folder that does not exist, read-only for everybody, whole or not at all.

    Raises OSError; then nothing of it is left.
    """
    new = folder.with_name(f".new-{folder.name}")
    remove_tree(new)
    try:
        new.mkdir(parents=True)
        for path in sorted(tree):
            _write_item(tree[path], new / path)
        # A folder that cannot be written to takes no more files: the deepest comes last.
        for path in sorted(tree, reverse=True):
            if tree[path].kind == "folder":
                (new / path).chmod(0o555)
        new.chmod(0o555)
        new.rename(folder)
    except BaseException:
        remove_tree(new)
        raise


def _write_item(item: TreeItem, path: Path) -> None:
    if item.kind == "folder":
        path.mkdir()
    elif item.kind == "link":
        path.symlink_to(os.fsdecode(item.content))
    else:
        with path.open("xb") as file:
            file.write(item.content)
            file.flush()
            os.fsync(file.fileno())
        if sys.platform != "win32":  # It would never remove the file.
            path.chmod(0o555 if item.executable else 0o444)


def remove_tree(folder: Path) -> None:
    """Remove a folder that `write_tree` made, or what a kill left of it; none is no error."""
    with suppress(FileNotFoundError):
        for place, _, _ in os.walk(folder):
            Path(place).chmod(0o755)
        shutil.rmtree(folder)


# The reading of an archive (ustar) that hostile code may have written.
#
# Python's tarfile takes many forms, and some damaged ones have made it loop for ever. This takes
# one, and of tarfile only the reading of a single header.


BLOCK_BYTES = 512
"""Bytes of a header, and the unit in which contents are stored."""


def archive_bound(bounds: TreeBounds) -> int:
    """Return the bytes that an archive of a tree within these bounds has at most."""
    return bounds.size + (bounds.files + 32) * 3 * BLOCK_BYTES


def read_archive(data: bytes, place: str, bounds: TreeBounds) -> FileTree:
    """Return the files in an archive.

    `place`: the name of their folder for the author. Raises RefusedPushError.
    """
    tree: dict[str, TreeItem] = {}
    offset = size = 0
    while any(data[offset : offset + BLOCK_BYTES]):
        path, item, offset = _read_member(data, offset, tree, place)
        parts = path.split("/")
        if not path or any(map(is_ignored, parts)):
            continue
        check_path(path, place)
        size += len(item.content)
        parent = path.rpartition("/")[0]
        is_inside = not parent or (parent in tree and tree[parent].kind == "folder")
        if ".." in parts or path in tree or not is_inside:
            raise _damaged(place)
        tree[path] = item
        if len(tree) > bounds.files or size > bounds.size:
            raise RefusedPushError(
                f"{place} makes more files than it may: at most {bounds.files:,} with "
                f"{bounds.size >> 20:,} MiB, its sources included."
            )
    check_links(tree, place)
    return tree


def _read_member(data: bytes, offset: int, tree: FileTree, place: str) -> tuple[str, TreeItem, int]:
    """Return a member's path, the member, and the offset of the next; `tree`: those before it."""
    start = offset + BLOCK_BYTES
    try:
        head = tarfile.TarInfo.frombuf(data[offset:start], "utf-8", "strict")
    except (tarfile.HeaderError, ValueError):
        raise _damaged(place) from None
    end = start + head.size
    if not start <= end <= len(data):
        raise _damaged(place)
    path = _plain(head.name)
    match head.type:
        case b"0" | b"\0":
            item = TreeItem("file", data[start:end], bool(head.mode & 0o100))
        case b"5":
            item = TreeItem("folder")
        case b"2":
            item = TreeItem("link", head.linkname.encode())
        case b"1" if (other := tree.get(_plain(head.linkname))) and other.kind == "file":
            # A second name of a file is a copy of it.
            item = other
        case _:
            raise RefusedPushError(
                f"{place} leaves {path[:60]!a}, which is neither a file nor a folder nor a "
                "symbolic link. Remove it at the end of the build."
            )
    return path, item, start + -(-head.size // BLOCK_BYTES) * BLOCK_BYTES


def _plain(path: str) -> str:
    """Return a path as a tree has it: `./src/main.c` is `src/main.c`."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _damaged(place: str) -> RefusedPushError:
    return RefusedPushError(
        f"{place} disturbs the archive of its files. Let it write only to its own folder, and end "
        "all processes that it starts."
    )


# The file bot.toml of a push, which hostile authors write.


MAX_BOT_TOML_BYTES = 8192
"""Bytes of the file."""
MOST_DOTS = 100
"""Dots in a line, outside quotes: Python takes a minute to read a key of 30,000 parts."""
_QUOTED = re.compile(rb"""\"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
MOST_WORDS = 4096
"""Characters of a command."""


def parse_bot_file(tree: FileTree, place: str, divisions: list[str]) -> BotFile:
    """Read the bot.toml of a push.

    `place`: the folder's name for the author. `divisions`: those of the league. Raises
    RefusedPushError with the file, the path inside it and the nearest name.
    """
    item = tree.get(BOT_FILE)
    path = f"{place}/{BOT_FILE}"
    if item is None:
        raise RefusedPushError(_missing(tree, place))
    if item.kind != "file":
        raise RefusedPushError(f"{path} is a {item.kind}. It must be a file of its own.")
    if len(item.content) > MAX_BOT_TOML_BYTES:
        raise RefusedPushError(f"{path} is longer than {MAX_BOT_TOML_BYTES >> 10} KiB.")
    try:
        content = without_mark(item.content, "The file")
        bot = _decoded(content, path)
        _check(bot, divisions)
    except UserError as error:
        raise RefusedPushError(f"{path}: {error}") from None
    return bot


def _missing(tree: FileTree, place: str) -> str:
    if near := [path for path in sorted(tree) if path.rpartition("/")[2].lower() == BOT_FILE]:
        return f"{place} has no {BOT_FILE}, but {near[0]}. Move that to {place}/{BOT_FILE}."
    return (
        f'{place} has no {BOT_FILE}. Add one with a line such as: run = ["{{python}}", "main.py"]'
    )


def _decoded(content: bytes, path: str) -> BotFile:
    if any(line.count(b".") > MOST_DOTS for line in _QUOTED.sub(b"", content).split(b"\n")):
        raise RefusedPushError(f"{path} has a line with more than {MOST_DOTS} dots. Write less.")
    try:
        fields = msgspec.toml.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RefusedPushError(f"{path} is not TOML: {f'{error}'[:200]}.") from None
    return cast(BotFile, convert_or_explain(without_others_fields(fields), BotFile))


def _check(bot: BotFile, divisions: list[str]) -> None:
    for name in bot.divisions:
        if name not in divisions:
            raise unknown_name("division in divisions:", name, divisions)
    for field, text in (("about", bot.about), ("author", bot.author)):
        if not text.isprintable():
            raise UserError(f"{field} has a character that a page cannot show: {text!a}.")
    for field, words in (("run", bot.run), ("build", bot.build)):
        if sum(map(len, words)) > MOST_WORDS:
            raise UserError(f"{field} is longer than {MOST_WORDS} characters.")
        if words and not words[0]:
            raise UserError(f"{field} begins with an empty word. Name the program first.")
    check_places((*bot.run, *bot.build))


# The reading of a bot's folder, whose author is hostile and may change it meanwhile.
#
# Nothing is opened but by its own name in an opened folder, so that no link is ever followed; size
# and number are looked at before a file is read.


FORBIDDEN = {errno.EACCES, errno.EPERM}
CHANGED = {errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.ESTALE, errno.EISDIR}
"""Errors of a path that was there a moment ago."""
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class ChangedPushError(RefusedPushError):
    """A push that changes while it is read: it may be unfinished."""

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

    def close(self) -> None:
        """Do nothing: only those in a repository have a process."""

    def names(self) -> set[str]:
        """Return the names of the bots' folders. Raises UserError."""
        try:
            with os.scandir(self._folder) as entries:
                return bot_names((e.name, e.is_file(follow_symlinks=False)) for e in entries)
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
        root = _open(f"{folder}", None, is_folder=True)
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

    def read_folder(self, folder: Any, prefix: str) -> None:
        """Read an open folder and those below it; `prefix`: its path with a slash, or nothing."""
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if self.takes(entry.name):
                        self._read(folder, entry, prefix + entry.name)
        finally:
            if isinstance(folder, int):
                os.close(folder)

    def _read(self, folder: Any, entry: os.DirEntry[str], path: str) -> None:
        check_path(path, self.place)
        with _explained(f"{self.place}/{path}", self.place):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self.tree[path] = TreeItem("folder")
                self.read_folder(_open(entry.name, folder, is_folder=True), f"{path}/")
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(entry.path, dir_fd=None if sys.platform == "win32" else folder)
                self.tree[path] = TreeItem("link", os.fsencode(target))
            else:
                if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
                    raise RefusedPushError(f"{self.place}/{path} is {kind}. Remove it.")
                self.add_size(status.st_size, path)
                self.tree[path] = self._read_file(folder, entry.name, status.st_size)

    def _read_file(self, folder: Any, name: str, size: int) -> TreeItem:
        with os.fdopen(_open(name, folder, is_folder=False), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(size + 1) if stat.S_ISREG(status.st_mode) else b""
        if not stat.S_ISREG(status.st_mode) or len(content) != size:
            raise ChangedPushError(self.place)
        return TreeItem("file", content, bool(status.st_mode & stat.S_IXUSR))


def _open(name: str, folder: Any, *, is_folder: bool) -> Any:
    """Open an entry of an open folder.

    Windows opens no folder: there its path stands for it, and the author must not change it now.
    """
    if sys.platform == "win32":
        path = Path(folder or "", name)
        return f"{path}" if is_folder else os.open(path, os.O_RDONLY | os.O_BINARY)
    # Without NONBLOCK, the opening of a named pipe that takes a file's place would never return.
    kind = os.O_DIRECTORY if is_folder else os.O_NONBLOCK
    return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=folder)


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
