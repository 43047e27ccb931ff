"""The reading of an archive (ustar) that hostile code may have written.

Python's tarfile takes many forms, and some damaged ones have made it loop for ever. This takes one.
"""

from tournaments.league.registry.file_tree import (
    FileTree,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    check_links,
    check_path,
    is_ignored,
)

BLOCK = 512
"""Bytes of a header, and the unit in which contents are stored."""
MAGIC = b"ustar"
_NAME, _MODE, _SIZE, _KIND = slice(0, 100), slice(100, 108), slice(124, 136), slice(156, 157)
_TARGET, _MAGIC, _PREFIX = slice(157, 257), slice(257, 262), slice(345, 500)


def archive_bound(bounds: TreeBounds) -> int:
    """Return the bytes that an archive of a tree within these bounds has at most."""
    return bounds.size + (bounds.files + 32) * 3 * BLOCK


def read_archive(data: bytes, place: str, bounds: TreeBounds) -> FileTree:
    """Return the files in an archive.

    `place`: the name of their folder for the author. Raises RefusedPushError.
    """
    tree: dict[str, TreeItem] = {}
    offset = size = 0
    while any(head := data[offset : offset + BLOCK]):
        path, item, offset = _read_member(data, offset, head, tree, place)
        parts = path.split("/")
        if not path or any(map(is_ignored, parts)):
            continue
        check_path(path, place)
        size += len(item.content)
        if ".." in parts or path in tree or not _is_below_folder(tree, path):
            raise _damaged(place)
        tree[path] = item
        if len(tree) > bounds.files or size > bounds.size:
            raise RefusedPushError(
                f"{place} makes more files than it may: at most {bounds.files:,} with "
                f"{bounds.size >> 20:,} MiB, its sources included."
            )
    check_links(tree, place)
    return tree


def _is_below_folder(tree: FileTree, path: str) -> bool:
    above = path.rpartition("/")[0]
    return not above or (above in tree and tree[above].kind == "folder")


def _read_member(
    data: bytes, offset: int, head: bytes, tree: FileTree, place: str
) -> tuple[str, TreeItem, int]:
    """Return a member's path, the member, and the offset of the next; `tree`: those before it."""
    try:
        size, mode = _number(head[_SIZE]), _number(head[_MODE])
        prefix, name, target = (_text(head[part]) for part in (_PREFIX, _NAME, _TARGET))
    except ValueError:
        raise _damaged(place) from None
    start = offset + BLOCK
    end = start + size
    if len(head) < BLOCK or head[_MAGIC] != MAGIC or end > len(data):
        raise _damaged(place)
    path = _plain(f"{prefix}/{name}")
    match head[_KIND]:
        case b"0" | b"\0":
            item = TreeItem("file", data[start:end], bool(mode & 0o100))
        case b"5":
            item = TreeItem("folder")
        case b"2":
            item = TreeItem("link", target.encode())
        case b"1" if (other := tree.get(_plain(target))) and other.kind == "file":
            # A second name of a file is a copy of it.
            item = other
        case _:
            raise RefusedPushError(
                f"{place} leaves {path[:60]!a}, which is neither a file nor a folder nor a "
                "symbolic link. Remove it at the end of the build."
            )
    return path, item, start + -(-size // BLOCK) * BLOCK


def _plain(path: str) -> str:
    """Return a path as a tree has it: `./src/main.c` is `src/main.c`."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _number(field: bytes) -> int:
    digits = field.strip(b" \0")
    if digits and not digits.isdigit():
        raise ValueError
    return int(digits or b"0", 8)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode()


def _damaged(place: str) -> RefusedPushError:
    return RefusedPushError(
        f"{place} disturbs the archive of its files. Let it write only to its own folder, and end "
        "all processes that it starts."
    )
