"""The folder of a run that names none: its name states what is played; no other event has it."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.events import boneyard
from tests.support.tables import FIRST_BOT
from tournaments.event.grow import choose_folders
from tournaments.plan.read_plan import read_plan

OFF = ("--boards", "1", "--set", "target=1", "--sandbox", "off")


@pytest.mark.parametrize(
    ("words", "options", "seed", "name"),
    [
        (("suit", "greedy"), {}, None, "suit-greedy-draw"),
        (("greedy", "suit"), {"rules": "dutch"}, None, "greedy-suit-dutch"),
        (
            ("greedy", "suit", "first", "random", "counting"),
            {"format": {"type": "swiss"}},
            None,
            "greedy-suit-first-and-2-more-draw-swiss",
        ),
        (
            ("greedy", "suit"),
            {"choices": ("draw_limit=2",)},
            7,
            "greedy-suit-draw-draw_limit-2-seed-7",
        ),
        (
            ("greedy", "suit"),
            {"clock": {"move_ms": 10, "forced": "ask"}},
            None,
            "greedy-suit-draw-10-ms-ask-forced",
        ),
    ],
)
def test_a_folders_name_states_what_is_played(
    words: tuple[str, ...], options: dict[str, Any], seed: int | None, name: str
) -> None:
    choices = options.get("choices", ())
    fields = {name: value for name, value in options.items() if name != "choices"}
    plan = read_plan(words, fields, choices=choices, predictable=seed is not None)
    assert next(choose_folders(plan, seed))[0] == Path("runs", name)


# Slow: the names of folders are tested beside it.
@pytest.mark.slow
def test_an_event_file_has_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cup = tmp_path / "cups" / "cup.toml"
    cup.parent.mkdir()
    for head, folder in (
        ("", "runs/cup"),
        ('name = "friday"\n', "runs/friday"),
        ('out = "results"\n', "cups/results"),
    ):
        cup.write_text(f'{head}bots = ["first", "greedy"]\n')
        boneyard("run", str(cup), *OFF)
        assert (tmp_path / folder / "event.json").is_file()
    cup.write_text('bots = ["first", "suit"]\n')
    assert "bot greedy cannot be removed" in boneyard("run", str(cup), *OFF, code=2)


@pytest.mark.slow
def test_another_bot_of_the_same_name_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files that are both there are two bots; one that was moved or edited is a version."""
    monkeypatch.chdir(tmp_path)
    for name in ("\u65e5\u672c.py", "alice/idea.py", "bob/idea.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{FIRST_BOT}# {name}\n")
    for number, name in enumerate(("alice/idea.py", "bob/idea.py", "\u65e5\u672c.py"), 1):
        boneyard("run", name, "greedy", *OFF)
        assert len([*(tmp_path / "runs").glob("*/event.json")]) == number
    (tmp_path / "alice").rename(tmp_path / "ann")
    (tmp_path / "ann" / "idea.py").write_text(f"{FIRST_BOT}# better\n")
    boneyard("run", "ann/idea.py", "greedy", *OFF)
    # bob's is idea@2 wherever a bot is named.
    assert (
        "idea@3"
        in (tmp_path / "runs" / "idea-greedy-draw-target-1-sandbox-off" / "event.json").read_text()
    )
    assert len([*(tmp_path / "runs").glob("*/event.json")]) == 3
