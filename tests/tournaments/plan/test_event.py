"""The plan of a tournament: its heading for readers."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.errors import UserError
from tests.support.events import boneyard, run
from tests.support.planned_events import event
from tournaments.storage.folder import Folder, load_event


@pytest.mark.parametrize(
    ("name", "title", "bots", "heading"),
    [
        ("cup", "Cup of 10b", 2, "Cup of 10b"),
        ("cup", "", 2, "cup"),
        ("run", "", 3, "bot0, bot1 and bot2: draw"),
        ("event", "", 5, "5 bots: draw"),
    ],
)
def test_a_heading_is_the_title_the_name_or_who_plays(
    name: str, title: str, bots: int, heading: str
) -> None:
    assert replace(event(bots), name=name, title=title).heading == heading


def test_a_title_stays_until_it_is_changed(tmp_path: Path) -> None:
    words = ("first", "greedy", "--boards", "1")
    run(tmp_path, *words, "--title", "Friday <b>")
    assert "Friday &lt;b&gt;" in (tmp_path / "report.html").read_text()
    assert "Friday <b>" in boneyard("show", str(tmp_path))
    run(tmp_path, *words)
    assert load_event(Folder(tmp_path)).title == "Friday <b>"
    run(tmp_path, *words, "--title", "Saturday")
    assert (tmp_path / "report.md").read_text().startswith("# Saturday\n")
    said = boneyard("run", *words, "--title", "a\nb", code=2)
    assert "title must be up to 80 characters in one line" in said


@pytest.mark.parametrize("evil", ["\x1b[31m", "\u202e", "\x9b"])
def test_texts_of_a_strangers_event_steer_no_terminal(evil: str) -> None:
    one = event(2)
    with pytest.raises(UserError, match="control character"):
        replace(one, title=evil)
    with pytest.raises(UserError, match="control character"):
        replace(one, rules=replace(one.rules, name=evil))
