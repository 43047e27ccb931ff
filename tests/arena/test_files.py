"""Files of strangers: no link is followed, nothing waits, and nothing fills the memory."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.files import (
    MAX_FILE_BYTES,
    DamagedFileError,
    append_atomic,
    describe_error,
    has_content,
    open_append,
    read_file,
    refuse_link,
    remove_partial_files,
    replace_files,
    set_mode,
    write_atomic,
)
from arena.logs.checksummed import MAX_LINE_BYTES, last_line, truncate_torn_line
from protocol.errors import UserError
from tests.support.events import boneyard, copy_of

SPARSE = 6 << 30


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    path = tmp_path / "diary.txt"
    path.write_text("one\ntwo")
    return path


def make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SPARSE)


STRANGE: dict[str, Callable[[Path], object]] = {
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
    "sparse": make_sparse,
}


def append(path: Path) -> None:
    with open_append(path) as descriptor:
        append_atomic(descriptor, b"three\n")


TOUCHES: dict[str, Callable[[Path], object]] = {
    "append": append,
    "truncate": truncate_torn_line,
    "mode": lambda path: set_mode(path, 0o777),
    "read": read_file,
    "compare": lambda path: has_content(path, [b"one"]),
    "last line": last_line,
}


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_nothing_touches_what_a_link_leads_to(
    tmp_path: Path, diary: Path, touch: Callable[[Path], object]
) -> None:
    before = diary.read_bytes(), diary.stat()
    link = tmp_path / "link"
    link.symlink_to(diary)
    with pytest.raises(DamagedFileError, match="link is a link, which is not followed"):
        touch(link)
    after = diary.stat()
    assert (diary.read_bytes(), after.st_mode, after.st_mtime_ns) == (
        before[0],
        before[1].st_mode,
        before[1].st_mtime_ns,
    )


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_a_pipe_is_refused_and_not_waited_for(
    tmp_path: Path, touch: Callable[[Path], object]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DamagedFileError, match="pipe is not a regular file"):
        touch(tmp_path / "pipe")


def test_a_whole_file_takes_the_place_of_a_link_and_not_of_its_target(
    tmp_path: Path, diary: Path
) -> None:
    # Those names were foreseen once: the writing went where they lead.
    for name in ("report.md", "report.md.new"):
        (tmp_path / name).symlink_to(diary)
    write_atomic(tmp_path / "report.md", [b"new"], 0o600)
    assert (tmp_path / "report.md").read_bytes() == b"new"
    assert (tmp_path / "report.md").lstat().st_mode & 0o777 == 0o600
    assert diary.read_text() == "one\ntwo"


def test_a_device_or_pipe_is_not_replaced(tmp_path: Path) -> None:
    """As root, `--out /dev/null` would break all programs of the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match="is not a regular file"):
        write_atomic(pipe, [b"x"])
    with pytest.raises(UserError, match="is not a regular file"):
        replace_files({pipe: [b"x"]})
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    make_sparse(path)
    with pytest.raises(DamagedFileError, match=f"larger than {MAX_FILE_BYTES >> 20} MiB"):
        read_file(path)
    for touch in (last_line, truncate_torn_line):
        with pytest.raises(
            DamagedFileError, match=f"last {2 * MAX_LINE_BYTES} bytes have no whole line"
        ):
            touch(path)
    assert path.stat().st_size == SPARSE


def test_a_folder_that_is_a_link_is_refused_with_the_way_to_mend_it(tmp_path: Path) -> None:
    (tmp_path / "games").symlink_to(tmp_path)
    with pytest.raises(UserError, match=r"games is a link.* move all of"):
        refuse_link(tmp_path / "games")


def test_only_old_partial_files_of_ours_are_removed(tmp_path: Path) -> None:
    kept_names = {"mine.new", ".0123456789abcdef.new"}
    for name in (*kept_names, ".fedcba9876543210.new"):
        (tmp_path / name).touch()
    os.utime(tmp_path / ".fedcba9876543210.new", (0, 0))
    remove_partial_files(tmp_path, 3600.0)
    assert {path.name for path in tmp_path.iterdir()} == kept_names
    remove_partial_files(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"mine.new"}


def test_a_strangers_links_lead_no_command_out_of_the_folder(tmp_path: Path, diary: Path) -> None:
    event = copy_of("round-robin", tmp_path / "event")
    for name in ("report.md.new", "results.json.new", "review.json.new"):
        (event / name).symlink_to(diary)
    boneyard("report", str(event))
    for name, words in {
        "review.jsonl": ("report", "--review"),
        ".review.lock": ("report", "--review"),
        "luck.jsonl": ("report", "--luck"),
    }.items():
        (event / name).unlink(missing_ok=True)
        (event / name).symlink_to(diary)
        assert f"{name} is a link" in boneyard(*words, str(event), code=2)
        (event / name).unlink()
    assert diary.read_text() == "one\ntwo"


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["event.json", "results.json", "times.json", "review.json"])
def test_a_strange_file_ends_a_command_in_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    event = copy_of("round-robin", tmp_path / "event")
    shutil.rmtree(event / "private")
    (event / name).unlink(missing_ok=True)
    STRANGE[kind](event / name)
    output = boneyard("report", str(event), code=2)
    assert name in output
    assert output.count("\n") == 1


def test_a_full_disk_leaves_no_new_file_beside_old_ones(tmp_path: Path) -> None:
    def raise_full() -> Iterator[bytes]:
        yield b"much"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("report.md", "results.json"):
        (tmp_path / name).write_text("old")
    with pytest.raises(OSError, match="No space"):
        replace_files({tmp_path / "report.md": [b"new"], tmp_path / "results.json": raise_full()})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "report.md": "old",
        "results.json": "old",
    }
    replace_files({tmp_path / "report.md": [b"new"], tmp_path / "results.json": [b"new"]})
    assert {path.read_text() for path in tmp_path.iterdir()} == {"new"}


def test_an_error_names_the_file_and_no_number(tmp_path: Path) -> None:
    (tmp_path / "report.md").mkdir()
    writes: list[Callable[[Path], None]] = [
        lambda path: write_atomic(path, [b"x"]),
        lambda path: replace_files({path: []}),
    ]
    for write in writes:
        with pytest.raises(IsADirectoryError) as raised:
            write(tmp_path / "report.md")
        assert describe_error(raised.value) == f"{tmp_path / 'report.md'}: Is a directory"
    with pytest.raises(FileNotFoundError) as error:
        write_atomic(tmp_path / "gone" / "report.md", [b"x"])
    assert describe_error(error.value).startswith(f"{tmp_path / 'gone' / 'report.md'}: No such")
    assert describe_error(OSError("The sandbox is gone.")) == "The sandbox is gone"
