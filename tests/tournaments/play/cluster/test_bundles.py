"""Bots with their files: what is in them, under which name, and that they play elsewhere."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.errors import UserError
from tournaments.formats.base import Entrant
from tournaments.plan.event import WrittenBot
from tournaments.play.cluster import orders
from tournaments.play.cluster.orders import pack_bot, unpack_bot


def bot(**fields: object) -> WrittenBot:
    return WrittenBot(name="mine", **fields)  # type: ignore[arg-type]


def output(entrant: Entrant) -> str:
    """Return the bundle's output where it was unpacked."""
    done = subprocess.run(
        entrant.command.argv, cwd=entrant.command.folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the folder where bots are written; it is deleted before they start."""
    folder = tmp_path / "home"
    (folder / "lib").mkdir(parents=True)
    (folder / "mine.py").write_text("print('mine')")
    (folder / "lib" / "deep.py").write_text("print('deep')")
    (folder / "weights").write_text("0.5")
    (folder / "secret.key").write_text("nobody's")
    (folder / "reader.py").write_text("import sys; print(open(sys.argv[1]).read())")
    return folder


CASES = {
    "a file": (bot(run=("{python}", "mine.py")), "mine"),
    "what it reads": (bot(run=("{python}", "reader.py", "weights"), reads=("weights",)), "0.5"),
    "what it builds": (
        bot(run=("{python}", "{build}/built.py"), build=("cp", "mine.py", "{build}/built.py")),
        "mine",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bundle_plays_in_another_folder(home: Path, tmp_path: Path, case: str) -> None:
    entry, expected = CASES[case]
    bundle = pack_bot(entry, home)
    shutil.rmtree(home)
    assert output(unpack_bot(bundle, tmp_path / "worker")) == expected


def test_the_name_of_a_bundle_is_the_hash_of_its_content(home: Path) -> None:
    entry = bot(run=("{python}", "mine.py"))
    first = pack_bot(entry, home)
    os.utime(home / "mine.py", (1, 1))
    assert pack_bot(entry, home) == first
    (home / "mine.py").write_text("print('other')")
    assert pack_bot(entry, home).name != first.name
    assert pack_bot(bot(run=("{python}", "-I", "mine.py")), home).name != first.name


def test_a_bundle_left_by_a_kill_is_unpacked_again(home: Path, tmp_path: Path) -> None:
    bundle = pack_bot(bot(run=("{python}", "mine.py")), home)
    half = tmp_path / "worker" / bundle.name / "files"
    half.mkdir(parents=True)
    (half / "rubbish").touch()
    assert output(unpack_bot(bundle, tmp_path / "worker")) == "mine"
    assert not (half / "rubbish").exists()


def test_a_bundle_that_is_too_large_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "MAX_BUNDLE_BYTES", 20_000)
    (home / "weights").write_bytes(bytes(30_000))
    pack_bot(bot(run=("{python}", "mine.py")), home)
    with pytest.raises(UserError, match="too many to send"):
        pack_bot(bot(run=("{python}", "mine.py"), reads=("weights",)), home)


def test_a_file_whose_name_is_no_text_is_refused(home: Path) -> None:
    (home / os.fsdecode(b"a\xff")).touch()
    with pytest.raises(UserError, match="is not UTF-8"):
        pack_bot(bot(run=("{python}", "mine.py"), folder="."), home)


@pytest.mark.parametrize("damage", [{"files": {}}, {"name": "../../home"}, {"home": "/../../home"}])
def test_a_bundle_that_does_not_match_its_name_writes_no_file(
    home: Path, tmp_path: Path, damage: dict[str, object]
) -> None:
    bundle = replace(pack_bot(bot(run=("{python}", "mine.py")), home), **damage)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="is damaged"):
        unpack_bot(bundle, tmp_path / "deep" / "worker")
    assert sorted(tmp_path.rglob("*")) == before
