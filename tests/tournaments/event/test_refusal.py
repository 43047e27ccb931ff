"""A run that is refused changes nothing; an edited bot on the command line is a new version."""

import shutil
from pathlib import Path

import pytest

from tests.support.events import SHORT, boneyard, contents, copy_of, fits, run
from tests.support.tables import SAMPLES
from tournaments.event.book import read_ledger
from tournaments.event.folder import Folder, load_event

WORDS = (*SHORT, "--boards", "2")


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLES / "first.py", tmp_path / "mine.py"))


def edit(bot: Path) -> bytes:
    before = bot.read_bytes()
    bot.write_bytes(before + b"# better\n")
    return before


def test_an_edited_bot_plays_on_boards_that_nobody_has_seen(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)
    before = {line.game: line.scores for line in read_ledger(out / "ledger.jsonl")}
    source = edit(bot)
    assert "plays as mine@2" in run(out, str(bot), "greedy", *SHORT, "--boards", "1")
    assert {(line.board, *sorted(line.seats)) for line in read_ledger(out / "ledger.jsonl")} == {
        *((board, "greedy", "mine") for board in (1, 2)),
        *((board, "greedy", "mine@2") for board in (3, 4)),
    }
    after = {line.game: line.scores for line in read_ledger(out / "ledger.jsonl")}
    assert before.items() <= after.items()
    assert fits(out)
    bot.write_bytes(source)
    output = run(out, str(bot), "greedy", *WORDS)
    assert "has 2 boards already" not in output
    assert "8 of 8 games" in output
    assert {
        entrant.name for entrant in load_event(Folder(out)).entrants if not entrant.retired
    } == {*("mine", "greedy")}


# Slow: an edited bot is tested beside it.
@pytest.mark.slow
def test_a_refused_run_leaves_the_event_as_it_was(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)
    before = contents(out)
    bot.write_text("raise SystemExit")
    run(out, str(bot), "greedy", *WORDS, code=2)
    run(out, str(bot), *WORDS, code=2)
    run(out, str(bot), "greedy", "first", *WORDS, "--seed", "9", code=2)
    assert contents(out) == before


def test_a_refused_run_leaves_no_folder(
    tmp_path: Path, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = sorted(tmp_path.iterdir())
    bot.write_text("raise SystemExit")
    words = ("mine.py", "greedy", "--boards", "1", "--sandbox", "off")
    boneyard("run", *words, code=2)
    boneyard("run", *words, "--out", "a/b", code=2)
    boneyard("run", "first", "nobody", code=2)
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot be written" in boneyard("run", *words, "--out", "loop", code=2)
    (tmp_path / "loop").unlink()
    assert sorted(tmp_path.iterdir()) == files
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    boneyard("run", *words, "--out", "own", code=2)
    assert [path.name for path in folder.iterdir() if path.name != ".lock"] == ["diary.txt"]


@pytest.mark.parametrize(
    "words",
    [("--luck",), ("--format", "versus", "--measure", "points", "--h1", "5", "--without-luck")],
)
def test_luck_without_values_is_refused_at_once(tmp_path: Path, words: tuple[str, ...]) -> None:
    words = ("first", "greedy", "--set", "first=odd_even", "--boards", "20", *words)
    output = boneyard("run", *words, "--sandbox", "off", "--out", str(tmp_path / "out"), code=2)
    assert "There are no values for the rules draw: seats guess odd or even." in output
    assert not (tmp_path / "out").exists()


def test_a_folder_of_an_event_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    out, elsewhere = copy_of("round-robin", tmp_path / "out"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (out / "replays").symlink_to(elsewhere)
    for words in (("replay", "--html"), ("report",), ("verify",), ("show",)):
        assert "replays is a link, which is not followed" in boneyard(*words, str(out), code=2)
    assert not [*elsewhere.iterdir()]
