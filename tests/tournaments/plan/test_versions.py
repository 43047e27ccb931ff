"""The files of each version that played in runs/ are kept, and play again under its number."""

import shutil
from pathlib import Path

import pytest

from protocol.errors import UserError
from tests.support.events import boneyard
from tests.support.tables import FIRST_BOT
from tournaments.event.folder import Folder, load_event
from tournaments.formats.versus import Versus
from tournaments.plan import bots
from tournaments.plan.bots import VERSIONS, keep_version, parse_bots, prepare_word
from tournaments.rating.sprt import Sprt

SMALL = ("--boards", "1", "--set", "target=1", "--sandbox", "off")
BOT_TOML = 'run = ["{python}", "bot.py"]\nignore = ["*.log"]\n'


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with the folder of a bot, whose program is returned."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(BOT_TOML)
    (folder / "bot.py").write_text(FIRST_BOT)
    return folder / "bot.py"


def keep(word: str) -> str:
    """Keep what plays as a word now, and return the note."""
    return keep_version(prepare_word(word, Path("build")))


def test_a_version_that_played_plays_again_with_its_files(mine: Path) -> None:
    boneyard("run", "mine", "greedy", *SMALL)
    mine.write_text(f"{FIRST_BOT}# better\n")
    boneyard("run", "mine", "mine@1", *SMALL)
    event = load_event(Folder(Path("runs/mine-mine-v1-draw-target-1-sandbox-off")))
    (old,) = [bot for bot in event.entrants if bot.name == "mine-v1"]
    assert (Path(old.command.folder) / "bot.py").read_text() == FIRST_BOT
    first = Folder(Path("runs/mine-greedy-draw-target-1-sandbox-off"))
    assert old.fingerprint in {bot.fingerprint for bot in load_event(first).entrants}
    assert sorted(path.name for path in VERSIONS.glob("*/*")) == ["mine-v1", "mine-v2"]
    # In the first event a new version has the number of its files.
    mine.write_text(f"{FIRST_BOT}# best\n")
    boneyard("run", "mine", "greedy", *SMALL)
    assert {bot.name for bot in load_event(first).entrants} == {"mine", "mine@3", "greedy"}


def test_before_is_the_last_version_with_other_files(mine: Path) -> None:
    keep("mine")
    with pytest.raises(UserError, match="No version of mine with other files has played here"):
        bots.version_before("mine")
    (mine.parent / "notes.log").write_text("It is ignored.")
    for number in (2, 3):
        mine.write_text(f"{FIRST_BOT}# {number}\n")
        assert bots.version_before("mine") == f"mine@{number - 1}"
        assert keep("mine") == f"The files of mine are kept as mine@{number}."
    assert bots.version_before("mine") == "mine@2"
    mine.write_text(FIRST_BOT)
    assert bots.version_before("mine") == "mine@3"


# Slow: it plays until the test decides.
@pytest.mark.slow
def test_before_tests_points_with_luck_taken_out(mine: Path) -> None:
    keep("mine")
    mine.write_text(f"{FIRST_BOT}# better\n")
    boneyard("run", "mine", "--before", "--boards", "20", "--sandbox", "off")
    event = load_event(Folder(Path("runs/mine-mine-v1-draw-versus-sandbox-off")))
    assert isinstance(event.format, Versus)
    assert event.format.sprt == Sprt("points", h1=5.0, max_boards=20, without_luck=True)
    boneyard("run", "mine", "--before", "--h1", "9", "--boards", "20", "--sandbox", "off",
             "--out", "other")  # fmt: skip
    event = load_event(Folder(Path("other")))
    assert isinstance(event.format, Versus)
    assert event.format.sprt == Sprt("points", h1=9.0, max_boards=20, without_luck=True)
    assert "takes one bot" in boneyard("run", "mine", "greedy", "--before", code=2)


def test_a_kill_while_files_are_copied_leaves_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copy2", kill)
        with pytest.raises(KeyboardInterrupt):
            keep("mine")
    with pytest.raises(UserError, match=r"not the files of mine@1, but of: no version"):
        parse_bots(["mine@1"])
    keep("mine")
    assert parse_bots(["mine@1"])[0].name == "mine-v1"


def test_versions_are_bounded_in_number_and_size(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "MOST_KEPT_VERSIONS", 2)
    for number in range(1, 5):
        mine.write_text(f"{FIRST_BOT}# {number}\n")
        keep("mine")
    assert sorted(path.name for path in VERSIONS.glob("*/*")) == ["mine-v3", "mine-v4"]
    with (mine.parent / "model.bin").open("wb") as file:
        file.truncate(bots.LARGEST_VERSION + 1)
    assert "are not kept for later: they are more than" in keep("mine")


def test_a_bot_of_one_file_is_kept_and_our_own_are_not() -> None:
    Path("alone.py").write_text(FIRST_BOT)
    keep("alone.py")
    for word in ("greedy", "alone@1", "mine@200ms"):
        keep(word)
    assert sorted(path.name for path in VERSIONS.glob("*/*")) == ["alone-v1", "mine-v1"]
    words = ["alone.py", "alone@1", "mine@1@100ms"]
    assert [bot.name for bot in parse_bots(words)] == ["alone", "alone-v1", "mine-v1"]


def test_a_file_is_called_as_its_folder_where_its_own_name_tells_nothing() -> None:
    for folder in ("old", "new"):
        Path(folder).mkdir()
        for name in ("bot.py", "idea.py"):
            Path(folder, name).write_text(FIRST_BOT)
    words = ["old/bot.py", "old/idea.py", "new/idea.py"]
    assert [bot.name for bot in parse_bots(words)] == ["old", "idea", "new"]


def test_what_another_run_kept_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    home = VERSIONS / prepare_word("mine", Path("build")).fingerprint / "mine-v1"

    def copy_late(source: Path, copy: Path, **_: object) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / "whole").touch()
        Path(copy).write_bytes(Path(source).read_bytes())

    monkeypatch.setattr("shutil.copy2", copy_late)
    assert keep("mine") == ""
    assert [path.name for path in home.iterdir()] == ["whole"]
    assert [path.name for path in VERSIONS.iterdir()] == [home.parent.name]


def test_neither_arguments_nor_the_seal_are_kept(mine: Path) -> None:
    assert keep("mine --depth 4") == ""
    (mine.parent / "bot.toml").write_text('run = ["{python}", "bot.py", "--depth", "4"]\n')
    assert keep("mine@sealed") == ""
    assert not [*VERSIONS.glob("*")]
    assert keep("mine") == ""
    assert [path.name for path in VERSIONS.glob("*/*")] == ["mine-v1"]
