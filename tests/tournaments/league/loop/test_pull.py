"""The pull of a league: it brings what was pushed, and runs nothing of it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tournaments.league.loop import pull as pulls
from tournaments.league.loop.pull import PullError, pull


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(("git", "-C", folder, *identity, *words), check=True, capture_output=True)


@pytest.fixture
def author(tmp_path: Path) -> Path:
    """Return an author's clone, and make one of the league from the same bare repository."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "bare")
    git(tmp_path, "clone", "-q", "bare", "author")
    author = tmp_path / "author"
    push(author, "one")
    git(tmp_path, "clone", "-q", "bare", "league")
    return author


def push(author: Path, text: str) -> None:
    (author / "bots").mkdir(exist_ok=True)
    (author / "bots" / "file").write_text(text)
    git(author, "add", "-A")
    git(author, "commit", "-qm", text)
    git(author, "push", "-q", "origin", "HEAD:main")


def test_a_push_is_pulled_and_no_hook_runs(author: Path, tmp_path: Path) -> None:
    """Not even a hook that is in the league's own checkout."""
    league = tmp_path / "league"
    for name in ("post-merge", "post-checkout", "reference-transaction"):
        hook = league / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    assert pull(league) is None
    push(author, "two")
    commit = pull(league)
    assert commit
    assert len(commit) == 10
    assert (league / "bots" / "file").read_text() == "two"
    assert not (tmp_path / "ran").exists()


class _Interrupted(subprocess.Popen[bytes]):
    """A process whose first wait is interrupted, if it is a merge."""

    told = False

    def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        assert isinstance(self.args, tuple)
        if "merge" in self.args and not self.told:
            self.told = True
            raise KeyboardInterrupt
        return super().communicate(input, timeout)


def test_interrupted_checkout_is_finished(
    author: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one would keep git from every later pull."""
    league, real = tmp_path / "league", shutil.which("git")
    push(author, "two")
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / "git"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *merge*) sleep 0.2;; esac\nexec {real} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(subprocess, "Popen", _Interrupted)
    with pytest.raises(KeyboardInterrupt):
        pull(league)
    assert (league / "bots" / "file").read_text() == "two"
    assert not list((league / ".git").glob("*.lock"))


def test_what_cannot_be_pulled_is_told(
    author: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A history that was written anew, no checkout, and a server that does not answer."""
    git(author, "commit", "-q", "--amend", "-m", "other")
    git(author, "push", "-qf", "origin", "HEAD:main")
    (tmp_path / "league" / "own").touch()
    git(tmp_path / "league", "add", "-A")
    git(tmp_path / "league", "commit", "-qm", "own")
    with pytest.raises(PullError, match="git merge: "):
        pull(tmp_path / "league")
    (tmp_path / "none").mkdir()
    with pytest.raises(PullError, match="not a git repository"):
        pull(tmp_path / "none")
    monkeypatch.setattr(pulls, "TIMEOUT_S", 0.0)
    with pytest.raises(PullError, match="longer than 0 s"):
        pull(tmp_path / "league")
