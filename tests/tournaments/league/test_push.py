"""Tests of `tournaments.league.push`: the reading of hostile folders."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournaments.league.push import (
    ChangedPushError,
    FileTree,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    parse_bot_file,
    read_push,
    remove_tree,
    tree_fingerprint,
    write_tree,
)

BOUNDS = TreeBounds(files=20, size=10_000)
RUN = 'run = ["{python}", "main.py"]\n'


def read(folder: Path) -> FileTree:
    """Read a push and its bot.toml, as the registry does."""
    tree = read_push(folder, "bots/mine", BOUNDS)
    parse_bot_file(tree, "bots/mine", ["draw", "dutch"])
    return tree


def toml(text: str | bytes) -> Callable[[Path], object]:
    data = text if isinstance(text, bytes) else text.encode()
    return lambda folder: (folder / "bot.toml").write_bytes(data)


def sparse(folder: Path) -> None:
    with (folder / "weights").open("wb") as file:
        file.truncate(2**40)


def flood(folder: Path) -> None:
    for number in range(30):
        (folder / f"f{number}").touch()


def leftovers(folder: Path) -> None:
    for number in range(30):
        (folder / f"f{number}~").touch()


def deep(folder: Path) -> None:
    folder.joinpath(*"abcdefghijklmnopqr").mkdir(parents=True)


def folder_for_file(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").mkdir()


def link(name: str, target: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).symlink_to(target)


def bind(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        # A path of a socket is short.
        descriptor = os.open(folder, os.O_RDONLY)
        door.bind(f"/proc/self/fd/{descriptor}/door")
        os.close(descriptor)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "sparse": (sparse, "more than 0 MiB, with 'weights' of 1,099,511,627,776 bytes"),
    "many": (flood, "bots/mine has more than 20 files and folders"),
    "many leftovers": (leftovers, "bots/mine has more than 20 files and folders"),
    "deep": (deep, "is deeper than 16 folders"),
    "long name": (lambda bot: (bot / ("n" * 101)).touch(), "too long. A name may have 100 bytes"),
    "control": (lambda bot: (bot / "a\x1b[2Jb").touch(), r"the name 'a\x1b[2Jb' has a character"),
    "not UTF-8": (lambda bot: (bot / os.fsdecode(b"\xff")).touch(), r"the name '\udcff' has a"),
    "pipe": (lambda bot: os.mkfifo(bot / "pipe"), "bots/mine/pipe is a named pipe. Remove it."),
    "socket": (bind, "bots/mine/door is a socket. Remove it."),
    "link out": (link("x", "../../league.toml"), "link to '../../league.toml', which leads out"),
    "link up and back": (link("x", "../mine/main.py"), "which leads out of the bot's folder"),
    "absolute link": (link("x", "/etc/passwd"), "link to '/etc/passwd', which is an absolute path"),
    "dangling link": (link("x", "gone"), "bots/mine/x is a link to 'gone', which is not there"),
    "loop": (link("x", "x"), "which leads in a circle"),
    "no bot.toml": (lambda bot: (bot / "bot.toml").unlink(), "bots/mine has no bot.toml. Add one"),
    "capitals": (
        lambda bot: (bot / "bot.toml").rename(bot / "Bot.toml"),
        "no bot.toml, but Bot.toml. Move that to bots/mine/bot.toml",
    ),
    "UTF-16": (toml(RUN.encode("utf-16")), "bots/mine/bot.toml: The file is written in UTF-16"),
    "broken TOML": (toml("run = ["), "bots/mine/bot.toml is not TOML: "),
    "nested": (toml("a = " + "[" * 400), "bots/mine/bot.toml is not TOML: "),
    "deep key": (toml(RUN + "about" + ".a" * 4000 + " = 1"), "a line with more than 100 dots"),
    "long": (toml(RUN + "#" * 9000), "bots/mine/bot.toml is longer than 8 KiB"),
    "unknown key": (toml(RUN + 'autor = "x"'), "Unknown field autor: did you mean author"),
    "network": (toml(RUN + 'network = ["a:1"]'), "Only the organiser opens addresses"),
    "no run": (toml('about = "x"'), "bots/mine/bot.toml: run is missing"),
    "empty word": (toml('run = [""]'), "run begins with an empty word"),
    "zero": (toml('run = ["x\\u0000"]'), "run[0] must be text in quotes, without a zero character"),
    "division": (toml(RUN + 'divisions = ["duch"]'), "'duch': did you mean dutch?"),
    "placeholder": (toml('run = ["{pyton}"]'), "'{pyton}': did you mean {python}?"),
    "direction": (toml(RUN + 'about = "a\\u202eb"'), r"a page cannot show: 'a\u202eb"),
    "toml as folder": (folder_for_file, "bots/mine/bot.toml is a folder"),
}  # fmt: skip


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """Return the folder of a good push."""
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(RUN)
    (folder / "main.py").write_text("x")
    return folder


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_push_is_refused_with_its_fault(name: str, bot: Path) -> None:
    """A folder that cannot be a bot's is refused in a sentence with the file and the place."""
    spoil, sentence = HOSTILE[name]
    spoil(bot)
    with pytest.raises(RefusedPushError) as refused:
        read(bot)
    assert sentence in str(refused.value)
    assert not isinstance(refused.value, ChangedPushError)


def test_a_byte_order_mark_is_no_fault(bot: Path) -> None:
    toml(RUN.encode("utf-8-sig"))(bot)
    assert read(bot)


def test_fingerprint_sees_every_change_but_no_time(bot: Path) -> None:
    """Content, name, right to run, an empty folder and a link's target each count."""
    fingerprints = {tree_fingerprint(read(bot))}
    os.utime(bot / "main.py", (1, 1))
    assert {tree_fingerprint(read(bot))} == fingerprints
    for change in (
        lambda: (bot / "main.py").write_text("z"),
        lambda: (bot / "main.py").chmod(0o755),
        lambda: (bot / "empty").mkdir(),
        lambda: (bot / "one").symlink_to("main.py"),
        lambda: (bot / "main.py").rename(bot / "two"),
    ):
        change()
        if (bot / "two").exists():
            (bot / "one").unlink()
        fingerprints.add(tree_fingerprint(read(bot)))
    assert len(fingerprints) == 6


def change_before_opening(
    name: str, change: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Change a push after it was looked at, when a file or folder in it is opened."""
    real = os.open

    def change_and_open(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
        if path == name:
            change()
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", change_and_open)


def test_file_that_grows_is_read_to_its_bound(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another size had when it was looked at is a push in its middle."""
    main = bot / "main.py"
    change_before_opening("main.py", lambda: os.truncate(main, 2**40), monkeypatch)
    with pytest.raises(ChangedPushError, match="bots/mine changed while it was read"):
        read(bot)


@pytest.mark.parametrize("swap", ["file", "folder", "pipe", "gone"])
def test_link_in_place_of_a_file_is_not_followed(
    swap: str, bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An author who swaps a file for a link to the secret, after it was looked at, gets nothing."""
    secret, key = tmp_path / "private", bot / "private" / "key"
    for folder in (secret, key.parent):
        folder.mkdir()
        (folder / "key").write_text("x")

    def change() -> None:
        key.unlink()
        if swap == "file":
            key.symlink_to(secret / "key")
        elif swap == "folder":
            key.parent.rmdir()
            key.parent.symlink_to(secret)
        elif swap == "pipe":
            os.mkfifo(key)

    change_before_opening("private" if swap == "folder" else "key", change, monkeypatch)
    with pytest.raises(ChangedPushError):
        read(bot)


NAMES = st.sampled_from(["a", "b", "c"])
TREES = st.recursive(
    st.one_of(
        st.builds(TreeItem, st.just("file"), st.binary(max_size=3), st.booleans()),
        st.builds(TreeItem, st.just("link"), st.sampled_from([b"a", b"../b", b"c/a", b"../../x"])),
    ),
    lambda children: st.dictionaries(NAMES, children, max_size=3),
)


def flat(tree: object, prefix: str = "") -> dict[str, TreeItem]:
    """Return a nested tree by path."""
    items: dict[str, TreeItem] = {}
    for name, node in tree.items() if isinstance(tree, dict) else ():
        items[prefix + name] = node if isinstance(node, TreeItem) else TreeItem("folder")
        items |= flat(node, f"{prefix}{name}/")
    return items


def leads_in(link: Path, folder: Path) -> bool:
    """Tell whether the kernel finds a link's target in the folder."""
    try:
        return link.resolve(strict=True).is_relative_to(folder)
    except (OSError, RuntimeError):
        return False


@given(TREES)
def test_a_copy_equals_the_push(tmp_path_factory: pytest.TempPathFactory, nested: object) -> None:
    """A tree is read as it was written; it is refused if the kernel follows a link out of it."""
    folder = tmp_path_factory.mktemp("push") / "copy"
    tree = flat(nested)
    write_tree(tree, folder)
    links = [folder / path for path, item in tree.items() if item.kind == "link"]
    if all(leads_in(link, folder.resolve()) for link in links):
        assert read_push(folder, "bots/copy", BOUNDS) == tree
    else:
        with pytest.raises(RefusedPushError):
            read_push(folder, "bots/copy", BOUNDS)
    remove_tree(folder)
