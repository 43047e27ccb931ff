"""The reading of an archive (ustar) that hostile code may have written.

Python's tarfile takes many forms, and some damaged ones have made it loop for ever. This takes one,
and of tarfile only the reading of a single header.
"""

import tarfile

from tournaments.league.registry.file_tree import (
    FileTree,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    check_links,
    check_path,
)
from tournaments.plan.ignored import is_ignored

BLOCK = 512
"""Bytes of a header, and the unit in which contents are stored."""


def archive_bound(bounds: TreeBounds) -> int:
    """Return the bytes that an archive of a tree within these bounds has at most."""
    return bounds.size + (bounds.files + 32) * 3 * BLOCK


def read_archive(data: bytes, place: str, bounds: TreeBounds) -> FileTree:
    """Return the files in an archive.

    `place`: the name of their folder for the author. Raises RefusedPushError.
    """
    tree: dict[str, TreeItem] = {}
    offset = size = 0
    while any(data[offset : offset + BLOCK]):
        path, item, offset = _read_member(data, offset, tree, place)
        parts = path.split("/")
        if not path or any(map(is_ignored, parts)):
            continue
        check_path(path, place)
        size += len(item.content)
        above = path.rpartition("/")[0]
        is_inside = not above or (above in tree and tree[above].kind == "folder")
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
    start = offset + BLOCK
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
    return path, item, start + -(-head.size // BLOCK) * BLOCK


def _plain(path: str) -> str:
    """Return a path as a tree has it: `./src/main.c` is `src/main.c`."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _damaged(place: str) -> RefusedPushError:
    return RefusedPushError(
        f"{place} disturbs the archive of its files. Let it write only to its own folder, and end "
        "all processes that it starts."
    )
