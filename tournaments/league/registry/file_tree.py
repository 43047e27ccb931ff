"""The files of a push or of a build as a value: their names, bounds, links and fingerprint."""

import hashlib
import os
import shutil
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from tournaments.plan.bot_catalog import BOT_FILE
from tournaments.plan.ignored import is_left_out

DEEPEST = 16
"""Folders within one another that a push may have."""
LONGEST_NAME = 100
"""Bytes of the name of a file or folder in a push."""
LONGEST_PATH = 240
"""Bytes of a path in a push: it must fit an archive's header."""
MOST_LINKS = 16
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
    shown = shown_name(path)
    if not name.isprintable() or "\\" in name:
        raise RefusedPushError(
            f"{place}: the name {shown} has a character that a page cannot show. Rename it."
        )
    if len(name.encode()) > LONGEST_NAME or len(path.encode()) > LONGEST_PATH:
        raise RefusedPushError(
            f"{place}: the path {shown} is too long. A name may have {LONGEST_NAME} bytes, a path "
            f"{LONGEST_PATH}."
        )
    if path.count("/") >= DEEPEST:
        raise RefusedPushError(f"{place}: {shown} is deeper than {DEEPEST} folders.")


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
    here: list[str] = []
    ahead, links = deque(path.split("/")), 0
    while ahead:
        part = ahead.popleft()
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                return "which leads out of the bot's folder. Copy the file itself into the folder"
            here.pop()
            continue
        item = tree.get("/".join((*here, part)))
        if item is None or (item.kind == "file" and any(ahead)):
            return "which is not there. Remove the link, or push its target too"
        if item.kind != "link":
            here.append(part)
            continue
        links += 1
        target = os.fsdecode(item.content)
        if len(item.content) > LONGEST_PATH:
            return "which is too long. Copy the file itself into the folder"
        if target.startswith("/"):
            return "which is an absolute path. Make it relative, or copy the file itself"
        if links > MOST_LINKS:
            return "which leads in a circle. Remove it"
        ahead.extendleft(reversed(target.split("/")))
    return ""


def without_ignored(tree: FileTree, patterns: Sequence[str], place: str) -> FileTree:
    """Return a tree without the files that its author's patterns leave out.

    They are in no copy of it: what no fingerprint covers must not be there to play by. Raises
    RefusedPushError for a link to one of them.
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
        path.chmod(0o555 if item.executable else 0o444)


def remove_tree(folder: Path) -> None:
    """Remove a folder that `write_tree` made, or what a kill left of it; none is no error."""
    with suppress(FileNotFoundError):
        for place, _, _ in os.walk(folder):
            Path(place).chmod(0o755)
        shutil.rmtree(folder)
