"""Safe access to files: in a stranger's folders, the user's cache, and temporary folders.

No link is followed, and nothing waits or fills up.

Only a path's last part must not be a link: a folder on the way may lie on another disk. Files that
a user names, a link or a pipe among them, are read by `arena.rules.load`.
"""

import errno
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from protocol.errors import UserError

if sys.platform != "win32":
    import fcntl

MAX_FILE_BYTES = 2**29
"""The most bytes that are held of one file: larger ones are read by lines or chunks."""
CHUNK_BYTES = 2**17
"""Bytes that are read at once."""
PARTIAL = re.compile(r"\.[0-9a-f]{16}\.new")
"""The name of a file until the file is whole."""
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
OPEN_FLAGS = (
    # Windows has none of the first two, and changes the ends of lines without the third.
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
"""Flags of every opening: a link is refused, and a pipe does not wait for its other end."""
sync_data = getattr(os, "fdatasync", os.fsync)
"""Waits until the disk has a file's data; macOS and Windows sync the whole file."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
"""The rights by which others than the owner could write."""


class DamagedFileError(UserError):
    """Damage in a file; the text names the file, the line, its first byte and the reason."""


def describe_error(error: BaseException) -> str:
    """Return an error in words; for one of the system: the file and the reason, but no number."""
    if not isinstance(error, OSError) or not error.strerror:
        return f"{error}".strip().rstrip(".")
    reason = error.strerror.rstrip(".")
    return f"{error.filename}: {reason}" if error.filename else reason


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o644) -> int:
    """Return the descriptor of a regular file that is no link.

    Raises DamagedFileError if it is something else, and OSError.
    """
    try:
        descriptor = os.open(path, flags | OPEN_FLAGS, mode)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise DamagedFileError(
                f"{path} is a link, which is not followed: it may lead anywhere. Put the file "
                "itself in its place."
            ) from None
        if error.errno == errno.ENXIO:  # A pipe that nobody reads, or a socket.
            raise _not_regular(path) from None
        raise
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise _not_regular(path)


def _not_regular(path: Path) -> DamagedFileError:
    return DamagedFileError(f"{path} is not a regular file. Remove it.")


def open_file(path: Path, most: int | None = None) -> io.BufferedReader:
    """Open a file of at most `most` bytes for reading. Raises DamagedFileError, OSError."""
    file = os.fdopen(open_regular(path), "rb")
    if most is not None and os.fstat(file.fileno()).st_size > most:
        file.close()
        raise DamagedFileError(f"{path} is larger than {most >> 20} MiB: it is not read.")
    return file


def refuse_link(folder: Path) -> None:
    """Refuse a link in place of a folder within another: it may lead anywhere. Raises UserError."""
    if folder.is_symlink():
        raise UserError(
            f"{folder} is a link, which is not followed: it may lead anywhere. Put the folder "
            "itself in its place; to keep it on another disk, move all of "
            f"{folder.parent} there and link that."
        )


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises DamagedFileError if it is too large, OSError."""
    with open_file(path, MAX_FILE_BYTES) as file:
        return file.read()


def has_content(path: Path, chunks: Iterable[bytes]) -> bool:
    """Tell whether a file exists and has exactly these bytes. Raises DamagedFileError, OSError."""
    if not path.exists():
        return False
    with open_file(path) as file:
        is_equal = all(file.read(len(chunk)) == chunk for chunk in chunks)
        return is_equal and not file.read(1)


def write_atomic(
    path: Path,
    chunks: Iterable[bytes],
    mode: int = 0o644,
    *,
    sync: bool = True,
    times_of: Path | None = None,
) -> None:
    """Replace a file in one step: a reader sees the old content or the new one.

    A link in its place is replaced too. `sync`: False for what can be made again after a power cut.
    `times_of`: the file whose times it gets. Raises UserError for a device or a pipe,
    OSError, and what the chunks raise; then nothing is left of the new file.
    """
    with _written_beside(path, chunks, mode, sync=sync) as copy:
        if times_of:
            times = times_of.stat()
            os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
        _move_over(copy, path)


def replace_files(files: Mapping[Path, Iterable[bytes]]) -> None:
    """Replace files when all of them are written, in their order: a full disk changes none.

    Raises UserError for a device or a pipe, OSError, and what the chunks raise.
    """
    with ExitStack() as stack:
        copies = {
            path: stack.enter_context(_written_beside(path, chunks))
            for path, chunks in files.items()
        }
        for path, copy in copies.items():
            _move_over(copy, path)


def _move_over(copy: Path, path: Path) -> None:
    """Put a written file in its place. Raises OSError, which names the place."""
    try:
        copy.replace(path)
    except OSError as error:
        raise _at_place(error, path) from None


def _at_place(error: OSError, path: Path) -> OSError:
    """Return an error of a file until it is whole as that of its place: users know no other."""
    return OSError(error.errno, error.strerror, f"{path}")


@contextmanager
def _written_beside(
    path: Path, chunks: Iterable[bytes], mode: int = 0o644, *, sync: bool = True
) -> Iterator[Path]:
    """Write a file beside its place; yield its path, and remove it if anything fails."""
    # To replace /dev/null, as root may, would break all programs of the machine.
    if _is_special(path):
        raise UserError(f"{path} is not a regular file. Name another one.")
    # By a name that nobody can foresee: a link with that name would lead the writing elsewhere.
    copy = path.with_name(f".{os.urandom(8).hex()}.new")
    try:
        descriptor = open_regular(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise _at_place(error, path) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        yield copy
    except BaseException as error:
        # Half a file only takes up space, on a full disk the last of it.
        copy.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = error.filename or f"{path}"  # No call on a descriptor names it.
        raise


def _is_special(path: Path) -> bool:
    """Tell whether a device, a pipe or a socket is there."""
    try:
        kind = path.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISLNK(kind) or stat.S_ISDIR(kind))


def remove_partial_files(folder: Path, age_s: float = 0.0) -> None:
    """Remove the partial files that a kill left in a folder. Raises OSError.

    `age_s`: their least age, where another process may be writing.
    """
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if PARTIAL.fullmatch(path.name) and path.lstat().st_mtime <= time.time() - age_s:
                path.unlink()


@contextmanager
def open_append(path: Path, mode: int = 0o644) -> Iterator[int]:
    """Open a file for appending, and make it if need be; yield its descriptor.

    Raises DamagedFileError, OSError.
    """
    descriptor = open_regular(path, APPEND, mode)
    try:
        yield descriptor
    except OSError as error:
        error.filename = error.filename or f"{path}"  # No call on a descriptor names it.
        raise
    finally:
        os.close(descriptor)


def append_atomic(descriptor: int, data: bytes) -> None:
    """Append all of the data or nothing.

    Takes back a partial write (on a full disk) before it raises the OSError.
    """
    size = os.write(descriptor, data)
    if size < len(data):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def set_mode(path: Path, mode: int) -> None:
    """Set a file's mode. Raises DamagedFileError, OSError."""
    with open_file(path) as file, suppress(AttributeError):  # Windows has no such call.
        os.fchmod(file.fileno(), mode)


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Wait for a lock of one user's processes, and hold it; it ends with its process.

    Raises DamagedFileError, OSError.
    """
    # Whoever may open a file may lock it, and for ever.
    descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        if sys.platform != "win32":  # It locks nothing: there two do the same work, to one end.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def user_cache(name: str) -> Path | None:
    """Return Boneyard's cache of this name, which may not exist yet.

    None if it would be somebody else's, as root's in another user's home.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111 - Path.home() raises where there is none
    folder = base / "boneyard" / name
    if not folder.is_absolute():
        return None
    with suppress(OSError):
        nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if is_ours(nearest.stat()):
            return folder
    return None


def make_private(folder: Path) -> None:
    """Make a folder of a cache, and those above it, which no other user may enter. Raises OSError.

    With a usual umask others of the user's group could write there: `user_cache` would refuse it.
    """
    for path in (*reversed(folder.parents), folder):
        if not path.is_dir():
            path.mkdir(mode=0o700, exist_ok=True)


def is_ours(status: os.stat_result) -> bool:
    """Tell whether a file is the user's own, and no other user may write to it."""
    if sys.platform == "win32":
        return True  # A profile's folders are its user's, which the mode does not say.
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE


# Temporary folders that end with their process, or with our next process if that was killed.
#
# A folder's owner holds a lock on it, which the kernel releases however the owner dies. In a
# temporary folder that everybody shares, other users may create anything under our names: we sweep
# only folders of ours that nobody else could have written to or moved, and that nobody holds.

TEMPORARY_PREFIX = "boneyard-tmp-"
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
    prefix = f"{TEMPORARY_PREFIX}{purpose}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=folder_above)).resolve()
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
                    if name.startswith(TEMPORARY_PREFIX):
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
