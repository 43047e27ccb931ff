"""Tests of `tournaments.league.repository`: bots in git, read without a checkout."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocol.errors import UserError
from tests.support.fast_run import slow_except
from tournaments.league import repository as repositories
from tournaments.league.loop import Turns
from tournaments.league.push import RefusedPushError, TreeBounds, read_push
from tournaments.league.repository import PullError, RepositoryBots, pull
from tournaments.league.settings import LeagueFolder, LeagueSettings, parse_moment
from tournaments.league.state import Journal, read_register
from tournaments.league.update import update_register

GUIDE = Path(__file__).parents[3] / "tournaments" / "LEAGUE.md"
BOUNDS = TreeBounds(files=20, size=10_000)
COMMIT = "1" * 40
"""A commit of another repository."""
LINK, SUBMODULE, FOLDER, FILE = "120000", "160000", "040000", "100644"


def git(folder: Path, *words: str, data: bytes = b"", **environment: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(
        ("git", "-C", folder, *identity, *words),
        input=data,
        check=True,
        capture_output=True,
        env=os.environ | environment,
    )
    return done.stdout.decode().strip()


class Server:
    """A bare repository with an author's clone, and the league's repository."""

    def __init__(self, path: Path) -> None:
        self.bare, self.author, self.league = path / "bare", path / "author", path / "bots.git"
        git(path, "init", "-q", "--bare", "-b", "main", "bare")
        git(path, "clone", "-q", "bare", "author")
        self.push("greet")

    def push(self, text: str, bot: str = "mine", owner: str = "") -> None:
        """Push a bot from the author's clone."""
        (self.author / bot).mkdir(exist_ok=True)
        (self.author / bot / "main.py").write_text(text)
        git(self.author, "add", "-A")
        git(self.author, "commit", "-qm", text)
        git(self.author, "push", "-q", "origin", "HEAD:main", BOT_OWNER=owner)

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """Return a new tree object of (mode, digest, name)."""
        kinds = {FOLDER: "tree", SUBMODULE: "commit"}
        lines = (
            f"{mode} {kinds.get(mode, 'blob')} {digest}\t{name}\0" for mode, digest, name in entries
        )
        return git(self.bare, "mktree", "-z", "--missing", data="".join(lines).encode())

    def blob(self, content: bytes) -> str:
        """Return a new object with the content of a file."""
        return git(self.bare, "hash-object", "-w", "--stdin", data=content)

    def commit_entry(self, mode: str, digest: str, name: str = "bad") -> None:
        """Commit an object beside the bots on the server."""
        mine = git(self.bare, "rev-parse", "main:mine")
        tree = self.tree((FOLDER, mine, "mine"), (mode, digest, name))
        commit = git(self.bare, "commit-tree", "-m", "put", "-p", "main", tree)
        git(self.bare, "update-ref", "refs/heads/main", commit)

    def pull(self) -> str | None:
        """Pull into the league's repository."""
        return pull(self.league, f"{self.bare}")


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def bomb(server: Server) -> tuple[str, str]:
    digest = server.tree(*((FILE, server.blob(b""), f"f{number}") for number in range(20)))
    for _ in range(5):
        digest = server.tree(*((FOLDER, digest, f"f{number}") for number in range(20)))
    return FOLDER, digest


def wide(server: Server) -> tuple[str, str]:
    blob = server.blob(b"")
    return FOLDER, server.tree(*((FILE, blob, f"{number:0100}") for number in range(200)))


def tree_with(mode: str, name: str, content: bytes = b"") -> Callable[[Server], tuple[str, str]]:
    return lambda server: (FOLDER, server.tree((mode, server.blob(content), name)))


ATTACKS: dict[str, tuple[Callable[[Server], tuple[str, str]], str]] = {
    "bomb": (bomb, "bots/bad has more than 20 files and folders"),
    "wide": (wide, "bots/bad has more than 20 files and folders"),
    "long name": (tree_with(FILE, "n" * 300), "the path 'n.*' is too long"),
    "newline": (tree_with(FILE, "a\nb"), r"'a\\nb' has a character that a page"),
    "size": (tree_with(FILE, "big", b"x" * 10_001), "with 'big' of 10,001 bytes"),
    "link": (tree_with(LINK, "out", b"../mine/main.py"), "leads out of the bot's"),
    "absolute": (tree_with(LINK, "etc", b"/etc/passwd"), "an absolute path"),
    "far": (tree_with(LINK, "far", b"./" * 999 + b"far"), "a link to .*too long"),
    "submodule": (
        lambda server: (FOLDER, server.tree((SUBMODULE, COMMIT, "lib"))),
        "bots/bad/lib is a submodule",
    ),
    "root": (lambda server: (LINK, server.blob(b"mine")), "bots/bad is a link"),
    "module": (lambda _: (SUBMODULE, COMMIT), "is a submodule"),
    "file": (lambda server: (FILE, server.blob(b"")), "bots/bad is a file"),
}


# Slow: others of the same bounds.
@pytest.mark.parametrize(
    "attack", slow_except(["bomb", "size", "link", "submodule", "file"], ATTACKS)
)
def test_bad_push_is_refused_in_words_and_other_bots_play_on(server: Server, attack: str) -> None:
    """Without a file on the disk: a checkout would make 64,000,000 of them."""
    make, words = ATTACKS[attack]
    server.commit_entry(*make(server))
    assert server.pull()
    with closing(RepositoryBots(server.league)) as bots:
        assert bots.names() == {"mine", "bad"}
        with pytest.raises(RefusedPushError, match=words):
            bots.read("bad", "bots/bad", BOUNDS)
        assert bots.read("mine", "bots/mine", BOUNDS) == read_push(
            server.author / "mine", "bots/mine", BOUNDS
        )
    assert sum(1 for _ in server.league.rglob("*")) < 100


def test_forged_tree_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git's own check finds `..` and equal names; without it the reader does."""
    blob = bytes.fromhex(server.blob(b"x"))
    for raw in (b"100644 ..\0" + blob, b"100644 a/b\0" + blob, (b"100644 a\0" + blob) * 2):
        words = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
        digest = git(server.bare, *words, data=raw)
        server.commit_entry(FOLDER, digest)
        with pytest.raises(PullError, match="fsck error"):
            server.pull()
        with monkeypatch.context() as patch:
            patch.setattr(repositories, "GIT_SETTINGS", repositories.GIT_SETTINGS[:-6])
            server.pull()
        with (
            closing(RepositoryBots(server.league)) as bots,
            pytest.raises(RefusedPushError, match="damage"),
        ):
            bots.read("bad", "bots/bad", BOUNDS)


def test_push_is_mended_by_the_next_pull(server: Server) -> None:
    server.commit_entry(*bomb(server))
    server.pull()
    server.commit_entry(FOLDER, server.tree((FILE, server.blob(b"good"), "main.py")))
    assert server.pull()
    assert server.pull() is None
    with closing(RepositoryBots(server.league)) as bots:
        assert bots.read("bad", "bots/bad", BOUNDS)["main.py"].content == b"good"


def test_time_of_a_bot_is_that_of_the_pull_that_brought_its_files(server: Server) -> None:
    """Dates in commits and pushes of other bots do not change it."""
    for date, bot in (("1000000001", "mine"), ("1000000002", "other"), ("1000000003", "other")):
        server.push(date, bot)
        os.environ["GIT_COMMITTER_DATE"] = f"{date} +0000"
        try:
            server.pull()
        finally:
            del os.environ["GIT_COMMITTER_DATE"]
    with closing(RepositoryBots(server.league)) as bots:
        assert (bots.time("mine"), bots.time("other")) == (1_000_000_001, 1_000_000_003)


def test_no_hook_runs_in_a_pull(server: Server, tmp_path: Path) -> None:
    """A hook in the league's own repository does not run either."""
    server.pull()
    (server.league / "hooks").mkdir()
    hook = server.league / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    server.push("again")
    commit = server.pull()
    assert commit
    assert len(commit) == 10
    assert not (tmp_path / "ran").exists()


def test_pull_that_fails_says_why(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A history that was written anew, no repository, a server that does not answer."""
    server.pull()
    git(server.author, "commit", "-q", "--amend", "-m", "other")
    git(server.author, "push", "-qf", "origin", "HEAD:main")
    with pytest.raises(PullError, match="non-fast-forward"):
        server.pull()
    with pytest.raises(PullError, match=r"does not exist|not appear to be a git repository"):
        pull(server.league, "nowhere")
    monkeypatch.setattr(repositories, "TIMEOUT_S", 0.0)
    with pytest.raises(PullError, match="longer than 0 s"):
        server.pull()
    monkeypatch.setattr(repositories, "TIMEOUT_S", 120.0)
    (server.league / "config.lock").touch()  # As a git that was killed leaves it.
    with pytest.raises(PullError, match="non-fast-forward"):
        server.pull()


def test_the_first_pull_after_the_end_is_the_last(server: Server) -> None:
    """A new process keeps to it too; while the pull fails no final is due."""
    folder = LeagueFolder(server.league.parent)
    lines = f'pull = "{server.bare}"', 'sandbox = "off"', 'closes = "2026-11-22T18:00"'
    folder.settings.write_text("\n".join([*lines, 'house = ["greedy"]']))
    moved_bare = server.bare.with_name("away")

    def look(time: str) -> tuple[set[str], bool]:
        now = parse_moment(f"2026-11-22T{time}", UTC, "")
        journal = Journal(folder.log, lambda: now, lambda _: None)
        turns = Turns(folder, journal, lambda: now, None, ends=True, confirmed=True)
        turns.admit()
        has_all = turns.settings.has_closed(turns._seen)
        return {line.bot for line in read_register(folder.register)}, has_all

    server.push("x", "before")
    assert look("17:59") == ({"greedy", "mine", "before"}, False)
    server.push("x", "last")
    server.bare.rename(moved_bare)
    assert look("18:00") == ({"greedy", "mine", "before"}, False)
    moved_bare.rename(server.bare)
    assert look("18:01") == ({"greedy", "mine", "before", "last"}, True)
    server.push("x", "late")
    assert look("18:02") == ({"greedy", "mine", "before", "last"}, True)


def test_repository_without_a_commit_withdraws_nobody(server: Server) -> None:
    git(server.bare, "init", "-q", "--bare", f"{server.league}")
    with pytest.raises(OSError, match="no object"):
        RepositoryBots(server.league)
    server.pull()
    settings = LeagueSettings(pull=f"{server.bare}", house=())
    shutil.rmtree(server.league)
    with pytest.raises(UserError, match=r"bots\.git has no bots, perhaps because no pull"):
        list(update_register(LeagueFolder(server.league.parent), settings, datetime.now(UTC)))


def test_server_hook_lets_an_account_change_only_its_own_folder(server: Server) -> None:
    """The hook of LEAGUE.md: no other bot is replaced, removed or added, and nothing beside."""
    (text,) = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", GUIDE.read_text(), re.S)
    server.push("theirs", "theirs")
    hook = server.bare / "hooks" / "update"
    hook.write_text(text)
    hook.chmod(0o755)
    server.push("better", owner="mine")
    commit = git(server.bare, "rev-parse", "main")

    def is_refused(owner: str, target: str = "HEAD:main") -> bool:
        with pytest.raises(subprocess.CalledProcessError) as refusal:
            git(server.author, "push", "-q", "origin", target, BOT_OWNER=owner)
        git(server.author, "reset", "-q", "--hard", commit)
        return b"remote: " in refusal.value.stderr

    for owner, change in (
        ("mine", ("rm", "-qr", "theirs")),
        ("mine", ("mv", "theirs", "mine/theirs")),
        ("mine", ("mv", "mine", "new")),
        ("", ("mv", "mine/main.py", "mine/bot.py")),
        ("min", ("mv", "mine/main.py", "mine/bot.py")),
        ("*", ("mv", "mine/main.py", "mine/bot.py")),
    ):
        git(server.author, *change)
        git(server.author, "commit", "-qm", "bad")
        assert is_refused(owner), change
    assert is_refused("mine", "HEAD:refs/heads/other")
    assert is_refused("mine", ":main")
    assert git(server.bare, "rev-parse", "main") == commit
    git(server.bare, "update-ref", "-d", "refs/heads/main")
    assert is_refused("mine"), "what cannot be compared is refused"
