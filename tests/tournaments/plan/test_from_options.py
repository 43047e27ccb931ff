"""The way from the command line to the plan: no file on it is entered from several sides."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.support.events import boneyard
from tournaments.commands import run

ROOT = Path(__file__).parents[3]
PLAN = """
name = "cup"
boards = 3
bots = ["greedy", "first"]
rules = { base = "dutch", draw_limit = 3 }
"""
WAY = {
    "tournaments/commands/run.py": {"tournaments/cli/events.py"},
    "tournaments/plan/from_options.py": {"tournaments/commands/run.py"},
    "tournaments/plan/event_file.py": {
        "tournaments/plan/from_options.py",
        "arena/rules/toml_file.py",  # for the short forms of an event file
    },
    "tournaments/rating/anchor.py": {"tournaments/plan/from_options.py"},
    "arena/rules/load.py": {"tournaments/plan/from_options.py"},
    "tournaments/plan/bot_command.py": {"tournaments/plan/from_options.py"},
    "tournaments/plan/bot_catalog.py": {"tournaments/plan/bot_command.py"},
    "tournaments/plan/bot_files.py": {"tournaments/plan/bot_command.py"},
    "tournaments/plan/bot_clocks.py": {"tournaments/plan/from_options.py"},
    "tournaments/plan/event.py": {"tournaments/plan/from_options.py"},
}
"""The files from the options to the event, each with the files that call it."""


def arrived(*_: object, **__: object) -> None:
    """Stop where the plan is there, and its folder is about to be written."""
    sys.exit(0)


@cache
def file_of(code: CodeType) -> str | None:
    """Return our file of some code; None for other people's, and for what runs at an import."""
    path = Path(code.co_filename)
    ours = path.is_relative_to(ROOT) and ".venv" not in path.parts
    return f"{path.relative_to(ROOT)}" if ours and code.co_name != "<module>" else None


@contextmanager
def calls(found: dict[str, set[str]]) -> Iterator[None]:
    """Note each file of ours that is called from another one, with its callers."""

    def note(frame: FrameType, event: str, _: object) -> None:
        callee = file_of(frame.f_code) if event == "call" else None
        back = frame.f_back if callee else None
        while back and not file_of(back.f_code):
            back = back.f_back
        if callee and back:
            found[callee].add(file_of(back.f_code) or "")

    before: Callable[..., Any] | None = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def test_no_file_on_the_way_to_the_plan_is_entered_from_several_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "open_event", arrived)
    (tmp_path / "cup.toml").write_text(PLAN)
    found: dict[str, set[str]] = defaultdict(set)
    words = (f"{tmp_path / 'cup.toml'}", "--out", f"{tmp_path / 'out'}", "--anchor", "greedy=1500")
    with calls(found):
        boneyard("run", *words, "--set", "hand=2:7,3:7,4:5")
    callers = {file: found[file] - {file} for file in WAY}
    assert callers == WAY
