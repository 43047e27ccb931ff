"""Clocks of bots' own: their text, the names of their entrants, and what makes no sense."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import UserError
from protocol.messages import Clock
from tests.support.fast_run import examples
from tournaments.formats.entrant import MAX_CLOCK_MS, OwnClock, parse_clock, split_clock
from tournaments.formats.tables import Gauntlet, Ladder
from tournaments.plan.event import Event
from tournaments.plan.read_plan import read_plan


def plan_event(build: Path, *words: str, **options: Any) -> Event:
    return read_plan(words, options).build(build)


def clocks_of(event: Event) -> dict[str, tuple[int, int]]:
    clocks = {bot.name: event.clock_of(n) for n, bot in enumerate(event.entrants)}
    return {name: (clock.move_ms, clock.bank_ms) for name, clock in clocks.items()}


@examples(60)
@given(st.integers(1, MAX_CLOCK_MS), st.none() | st.integers(0, MAX_CLOCK_MS))
def test_the_text_of_a_clock_is_read_back(move: int, bank: int | None) -> None:
    clock = OwnClock(move, bank)
    assert parse_clock(clock.name(Clock()), "") == clock
    assert split_clock(f"a bot@{clock.name(Clock())}") == ("a bot", clock)


def test_a_bot_is_called_after_its_clock(tmp_path: Path) -> None:
    """Its bank is in proportion to the event's, so that the odds hold for it too."""
    event = plan_event(tmp_path, "greedy@100ms", "first@2s-bank0", "first", anchor="greedy=9")
    assert clocks_of(event) == {
        "greedy@100ms": (100, 500),
        "first@2s-bank0": (2000, 0),
        "first": (1000, 5000),
    }
    assert event.anchor
    assert event.anchor.name == "greedy@100ms"
    clock_event = plan_event(tmp_path, "greedy@50ms", "greedy@200ms", "greedy@1s", "first")
    names = [bot.name for bot in clock_event.entrants]
    assert names == ["greedy@50ms", "greedy@200ms", "greedy@1s", "first"]
    assert len({bot.fingerprint for bot in clock_event.entrants}) == 2
    for form in (Gauntlet, Ladder):
        name = form().name
        fields = {"type": name, "challengers": ["greedy"]}
        event = plan_event(tmp_path, "greedy@50ms", "greedy@1s", "first", "random", format=fields)
        assert event.format == form(challengers=("greedy@50ms", "greedy@1s"))


def test_an_event_file_has_clocks_in_its_bots(tmp_path: Path) -> None:
    """Teams and challengers may name a bot without its clock."""
    file = tmp_path / "cup.toml"
    file.write_text(
        'rules = "partnership"\nteams = [["a", "b"], ["c", "c"]]\n'
        '[format]\ntype = "gauntlet"\nchallengers = ["a+b"]\n'
        '[[bots]]\nname = "a"\nbot = "greedy"\n[bots.clock]\nmove_ms = 100\n'
        '[[bots]]\nname = "b"\nbot = "greedy"\n'
        '[[bots]]\nname = "c"\nbot = "first"\nclock = { move_ms = 50, bank_ms = 1000 }\n'
    )
    event = plan_event(tmp_path, str(file))
    assert clocks_of(event) == {
        "a@100ms": (100, 500),
        "b": (1000, 5000),
        "c@50ms-bank1s": (50, 1000),
    }
    assert event.teams == (("a@100ms", "b"), ("c@50ms-bank1s", "c@50ms-bank1s"))


@pytest.mark.parametrize(
    ("words", "options", "text"),
    [
        (("wrong.toml",), {}, "wrong.toml: first@0ms"),
        (("greedy@fast", "first"), {}, "did you mean greedy"),
        (("greedy@0ms", "first"), {}, "a clock is"),
        (("greedy@0.5ms", "first"), {}, "a clock is"),
        (("greedy@2000m", "first"), {}, "up to a day"),
        (("greedy@1s@2s", "first"), {}, "two clocks"),
        (("empty.toml",), {}, "The clock of bot greedy is empty"),
    ],
)
def test_a_clock_that_makes_no_sense_is_refused(
    words: tuple[str, ...],
    options: dict[str, Any],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup.toml").write_text('bots = ["greedy", "first"]\n')
    Path("wrong.toml").write_text('bots = ["first@0ms", "greedy"]')
    Path("empty.toml").write_text('[[bots]]\nname = "greedy"\nclock = {}\n[[bots]]\nname = "first"')
    with pytest.raises(UserError, match=text):
        plan_event(tmp_path, *words, **options)
