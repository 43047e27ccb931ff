"""The bots in a git repository, read from its objects: nothing of it is checked out or executed.

Six levels of a tree whose 20 entries are all the next tree make 64,000,000 files in 849 bytes: a
checkout fills the disk's inodes, and git cannot fetch the push that mends it. Each bot is read
from the objects, up to its bounds: such a push is refused, and the other bots play on.
"""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from tournaments.league.push import (
    MAX_FILE_NAME_BYTES,
    ROOT_FAULT,
    FileTree,
    PushReader,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    bot_names,
    check_path,
    shown_name,
)

TIMEOUT_S = 120.0
"""Time that the server of a pull may take, in s."""
GIT_CLEANUP_S = 5.0
"""Time that git has to clean up, in s."""
LONGEST_COMPLAINT = 300
"""Most characters of git's complaint that are shown."""
BRANCH = "refs/heads/main"
LARGEST_ROOT = 1 << 20
"""Bytes of the tree with all bots: some 20,000 folders."""
ENTRY = MAX_FILE_NAME_BYTES + 64
"""Bytes of an entry of a tree object: its mode, name and digest, and some more, so that a name that
is a little too long is refused by its own words."""
DIGEST = 20
LOOKED_BACK = 1_000
"""Pulls in which the first one with a bot's present files is sought."""
GIT_SETTINGS = (
    # Hooks and monitors are programs that a repository's settings may name.
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    # Transports of other kinds lead to programs.
    *("-c", "protocol.ext.allow=never", "-c", "core.logAllRefUpdates=true"),
    *("-c", "fetch.fsckObjects=true", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
)
"""Settings under which git executes no program that authors could choose."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFLNK: "a link",
    0o160000: "a submodule",
}


class PullError(Exception):
    """The failure of a pull; the text says why."""


def pull(repository: Path, address: str) -> str | None:
    """Fetch the bots from a git server into a bare repository, which is made if need be.

    Return the new commit, or None if there is nothing new. Raises PullError, also for a history
    that was written anew.
    """
    # A git that was killed leaves locks, which would keep it from every later pull. They are
    # nobody's: only one process runs a league.
    for lock in repository.rglob("*.lock"):
        lock.unlink()
    # Again and again: a kill may have come in the middle of the first time.
    _git(repository, "init", "--quiet", "--bare", "--object-format=sha1", "--template=")
    before = _head(repository)
    source = f"{Path(address).expanduser()}" if address.startswith("~") else address
    words = ("--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    _git(repository, "fetch", *words, "--", source, f"HEAD:{BRANCH}")
    after = _head(repository)
    return None if after == before else after[:10]


def _head(repository: Path) -> str:
    return _git(repository, "for-each-ref", "--format=%(objectname)", BRANCH)


def _git(repository: Path, *words: str) -> str:
    """Run git in a repository; return what it writes. Raises PullError."""
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "LC_ALL": "C"}
    quiet |= {"GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")}
    try:
        process = subprocess.Popen(
            ("git", f"--git-dir={repository}", *GIT_SETTINGS, *words),
            # An address that is a relative path starts in the league's folder.
            cwd=repository.parent,
            env=os.environ | quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise PullError(f"git cannot be started: {error.strerror}") from error
    with process:
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise PullError(f"git {words[0]} took longer than {TIMEOUT_S:g} s") from None
        finally:
            _end(process)
    text = output.decode(errors="replace").strip()
    if process.returncode:
        raise PullError(f"git {words[0]}: {text[-LONGEST_COMPLAINT:] or process.returncode}")
    return text


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and its helpers: a transport may wait for ever."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        if process.poll() is None:
            # It removes its locks, which would keep it from every later pull.
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(GIT_CLEANUP_S)
        os.killpg(process.pid, signal.SIGKILL)


class TreeEntry(NamedTuple):
    """An entry of a tree object."""

    mode: int
    name: str
    digest: str

    @property
    def kind(self) -> str:
        """Its kind in words, as `a file`."""
        return _KINDS.get(stat.S_IFMT(self.mode), "of an unknown kind")


class RepositoryBots:
    """The bots in the commit that was pulled last; see `push.FolderBots`."""

    def __init__(self, repository: Path) -> None:
        """Open a repository. Raises OSError if it has no commit, or git cannot be started."""
        self._repository = repository
        self._objects = _Objects(repository)
        try:
            root = self._objects.look_up(f"{BRANCH}^{{tree}}", LARGEST_ROOT)
            self._folders = {entry.name: entry for entry in self._objects.read_tree(root)}
        except BaseException:
            self._objects.close()
            raise

    def close(self) -> None:
        """End git."""
        self._objects.close()

    def names(self) -> set[str]:
        """Return the names of the bots' folders."""
        return bot_names((name, "file" in entry.kind) for name, entry in self._folders.items())

    def read(self, bot: str, place: str, bounds: TreeBounds) -> FileTree:
        """Read all files of a bot. Raises RefusedPushError, OSError."""
        folder = self._folders[bot]
        if folder.kind != "a folder":
            raise RefusedPushError(ROOT_FAULT.format(place=place, kind=folder.kind))
        reader = _TreeReader(place, bounds, self._objects)
        reader.read_folder(folder.digest, "")
        return reader.finish()

    def time(self, bot: str) -> float:
        """Return the time of the pull that brought a bot's present files.

        The log of our own branch has it: the dates in commits are their authors' choice.
        """
        digest, time = self._folders[bot].digest, 0.0
        log = (self._repository / "logs" / BRANCH).read_bytes().splitlines()[-LOOKED_BACK:]
        for line in reversed(log):
            words = line.partition(b"\t")[0].decode(errors="replace").split(" ")
            commit, seconds = words[1], words[-2]
            if self._objects.digest_of(f"{commit}:{bot}") != digest:
                break
            time = float(seconds)
        return time


class _TreeReader(PushReader):
    """The files, folders and links of a push in a repository, up to its bounds."""

    def __init__(self, place: str, bounds: TreeBounds, objects: "_Objects") -> None:
        super().__init__(place, bounds)
        self._objects = objects

    def read_folder(self, digest: str, prefix: str) -> None:
        """Read a tree object and those below it; `prefix`: its path with a slash, or nothing."""
        try:
            tree = self._objects.look_up(digest, (self.bounds.files + 1) * ENTRY)
        except TooLargeError:
            raise self.too_many() from None
        for entry in self._objects.read_tree(tree):
            if self.takes(entry.name):
                self._read(entry, prefix + entry.name)

    def _read(self, entry: TreeEntry, path: str) -> None:
        # Nobody's git makes such a tree; `write_tree` must not meet one.
        if entry.name in ("", ".", "..") or "/" in entry.name or path in self.tree:
            raise RefusedPushError(f"{self.place} has a damaged tree at {shown_name(path)}.")
        check_path(path, self.place)
        match entry.kind:
            case "a folder":
                self.tree[path] = TreeItem("folder")
                self.read_folder(entry.digest, f"{path}/")
            case "a file":
                content = self._content(entry, path)
                self.tree[path] = TreeItem("file", content, bool(entry.mode & stat.S_IXUSR))
            case "a link":
                self.tree[path] = TreeItem("link", self._content(entry, path))
            case kind:
                raise RefusedPushError(
                    f"{self.place}/{path} is {kind}. Push its files themselves in a folder."
                )

    def _content(self, entry: TreeEntry, path: str) -> bytes:
        size = self._objects.size_of(entry.digest)
        self.add_size(size, path)
        return self._objects.content_of(entry.digest, size)


class TooLargeError(OSError):
    """An object with more bytes than are read."""


class _Objects:
    """The objects of a repository, asked from git one by one: first the size, then the content."""

    def __init__(self, repository: Path) -> None:
        self._processes = [
            subprocess.Popen(
                ("git", f"--git-dir={repository}", *GIT_SETTINGS, "cat-file", mode),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Ctrl-C is for us alone: these end when their input does.
                start_new_session=True,
            )
            for mode in ("--batch-check", "--batch")
        ]

    def close(self) -> None:
        """End git."""
        for process in self._processes:
            process.kill()
            # What git did not read any more cannot be flushed.
            with suppress(BrokenPipeError), process:
                pass

    def digest_of(self, name: str) -> str:
        """Return the digest of what has a name such as `main:mine`; empty if nothing has."""
        digest, *others = self._ask(0, name)[0]
        return digest if others != ["missing"] else ""

    def size_of(self, name: str) -> int:
        """Return the bytes of an object. Raises OSError if there is none."""
        *_, size = self._ask(0, name)[0]
        if not size.isdecimal():
            raise OSError(f"the git repository has no object {name}")
        return int(size)

    def look_up(self, name: str, most: int) -> bytes:
        """Return the content of an object. Raises TooLargeError, OSError."""
        if (size := self.size_of(name)) > most:
            raise TooLargeError(f"the object {name} has {size:,} bytes, more than {most:,}")
        return self.content_of(name, size)

    def content_of(self, name: str, size: int) -> bytes:
        """Return the content of an object whose size is known. Raises OSError."""
        _, answers = self._ask(1, name)
        content = answers.read(size + 1)[:-1]
        if len(content) != size:
            raise OSError(f"git ended while it read {name}")
        return content

    def read_tree(self, content: bytes) -> Iterator[TreeEntry]:
        """Yield the entries of a tree object: mode, space, name, NUL, digest. Raises OSError."""
        start = 0
        while start < len(content):
            end = content.find(b"\0", start)
            mode, _, name = content[start:end].partition(b" ")
            if end < 0 or not mode.isdigit() or b"8" in mode or b"9" in mode:
                raise OSError("a tree object in the git repository is damaged")
            start = end + 1 + DIGEST
            yield TreeEntry(int(mode, 8), os.fsdecode(name), content[end + 1 : start].hex())

    def _ask(self, number: int, name: str) -> tuple[Sequence[str], IO[bytes]]:
        process = self._processes[number]
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{name}\n".encode())
        process.stdin.flush()
        words = process.stdout.readline().decode(errors="replace").split()
        if not words:
            raise OSError("git ended while the bots were read")
        return words, process.stdout
