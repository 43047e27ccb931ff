"""Options of `run` are fields of the event file: with their bounds, and laid over the file's."""

from pathlib import Path
from typing import Any

import pytest

from protocol.errors import UserError
from tests.support.events import boneyard
from tournaments.cli.options import event_options, take_event_fields
from tournaments.plan.event import WrittenEvent, written_event

FILE = """
bots = ["first", "greedy"]
boards = 30
clock = { move_ms = 500, start_ms = 9000 }
format = { type = "versus", sprt = { measure = "points", h1 = 9 } }
"""


def fields_of(**values: Any) -> dict[str, Any]:
    """Return the fields of options, as click gives them: None, False or () where not given."""
    nothing = {
        f"{option.name}": () if option.multiple else False if option.is_flag else None
        for option in event_options()
    }
    return take_event_fields(nothing | values)


def lay_over_file(tmp_path: Path, **values: Any) -> WrittenEvent:
    path = tmp_path / "cup.toml"
    path.write_text(FILE)
    return written_event(path, fields_of(**values))


def test_omitted_options_set_no_field() -> None:
    assert fields_of() == {}
    assert fields_of(h0=0.0, ask_forced=True) == {
        "format": {"sprt": {"h0": 0.0}},
        "clock": {"forced": "ask"},
    }


def test_another_format_replaces_the_files_format(tmp_path: Path) -> None:
    event = lay_over_file(tmp_path, format="swiss", rounds=3)
    form: Any = event.format
    assert (form.name, form.rounds) == ("swiss", 3)
    with pytest.raises(UserError, match="--h0, --h1, --measure, --without-luck: a swiss has no"):
        lay_over_file(tmp_path, format="swiss", h1=3.0)


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        (("--boards", "0"), "1<=x<=1000000"),
        (("--seats", "9"), "2<=x<=8"),
        (("--rounds", "1001"), "1<=x<=1000"),
        (("--move-ms", "0"), "1<=x<=86400000"),
        (("--measure", "pips"), "'elo', 'nelo', 'points'"),
        (("--sandbox", "on"), "'auto', 'off', 'require'"),
    ],
)
def test_an_option_has_the_bounds_of_its_field(words: tuple[str, ...], bounds: str) -> None:
    assert bounds in boneyard("run", "first", "greedy", *words, code=2)


def test_start_ms_overrides_the_files_start_time(tmp_path: Path) -> None:
    assert lay_over_file(tmp_path).clock.start_ms == 9000
    assert lay_over_file(tmp_path, start_ms=60_000).clock.start_ms == 60_000
    assert "1<=x<=" in boneyard("run", "first", "greedy", "--start-ms", "0", code=2)
