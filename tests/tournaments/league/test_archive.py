"""Tests of `tournaments.league.push`: archives that a hostile build leaves."""

import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournaments.league.push import RefusedPushError, TreeBounds, TreeItem, read_archive

BOUNDS = TreeBounds(files=10, size=2000)
Change = Callable[[tarfile.TarInfo], object]


def archive(*members: tuple[str, bytes, Change], form: int = tarfile.USTAR_FORMAT) -> bytes:
    """Return an archive with these members, each changed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, content, change in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            change(info)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def as_is(info: tarfile.TarInfo) -> None:
    info.mode = 0o755


def kind(letter: bytes, target: str = "") -> Change:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = letter, target

    return change


def test_files_folders_and_links_are_read() -> None:
    """Every member comes with its path, its content and the right to run it."""
    data = archive(
        ("./", b"", kind(tarfile.DIRTYPE)),
        ("./bin", b"", kind(tarfile.DIRTYPE)),
        ("./bin/mine", b"x" * 700, as_is),
        ("./run", b"", kind(tarfile.SYMTYPE, "bin/mine")),
        ("./again", b"", kind(tarfile.LNKTYPE, "./bin/mine")),
        ("./.git", b"", kind(tarfile.DIRTYPE)),
        ("./.git/index", b"z", as_is),
    )
    assert read_archive(data, "build:", BOUNDS) == {
        "bin": TreeItem("folder"),
        "bin/mine": TreeItem("file", b"x" * 700, executable=True),
        "run": TreeItem("link", b"bin/mine"),
        "again": TreeItem("file", b"x" * 700, executable=True),
    }


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (archive(("../x", b"y", as_is)), "disturbs"),
        (archive(("a/x", b"y", as_is)), "disturbs"),
        (archive(("x", b"", as_is), ("x/y", b"", as_is)), "disturbs"),
        (archive(("l", b"", kind(b"2", "d")), ("l/y", b"", as_is)), "disturbs"),
        (archive(("x", b"", as_is), ("x", b"", as_is)), "disturbs"),
        (archive(("x", b"y" * 600, as_is))[:900], "disturbs"),
        (archive(("x" * 150, b"", as_is), form=tarfile.PAX_FORMAT), "neither a file"),
        (b"hello\n", "disturbs"),
        (archive(("l", b"", kind(b"2", "../../key"))), "leads out"),
        (archive(("l", b"", kind(b"2", "/etc/passwd"))), "absolute"),
        (archive(("h", b"", kind(b"1", "x"))), "neither a file"),
        (archive(("p", b"", kind(b"6"))), "neither a file"),
        (archive(("d", b"", kind(b"3"))), "neither a file"),
        (archive(("x", b"y" * 2001, as_is)), "more files than it may"),
        (archive(*((f"{n}", b"", as_is) for n in range(11))), "more files than it may"),
    ],
)  # fmt: skip
def test_archives_that_hold_no_tree_are_refused(data: bytes, sentence: str) -> None:
    """A path out of the folder, a strange kind, too much, or no archive at all: one sentence."""
    with pytest.raises(RefusedPushError, match=sentence):
        read_archive(data, "build:", BOUNDS)


@given(st.binary(max_size=600), st.integers(0, 511), st.binary(max_size=12))
def test_damage_raises_only_a_refusal(junk: bytes, offset: int, bytes_: bytes) -> None:
    """No bytes raise another error."""
    intact = archive(("a", b"xy", as_is))
    for data in (junk, intact[:offset] + bytes_ + intact[offset + len(bytes_) :]):
        try:
            read_archive(data, "build:", BOUNDS)
        except RefusedPushError:
            continue
