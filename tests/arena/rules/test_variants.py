"""The named games, and rules as users write them: files, inline tables, CHOICE=VALUE."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.rules.load import (
    find_overrides,
    load_ruleset,
    rules_command,
    ruleset_title,
    with_overrides,
)
from arena.rules.variants import VARIANTS, choices, derive, find_variant
from protocol.errors import UserError
from protocol.ruleset import HandSizes, Ruleset, Targets, playable_seat_counts
from tournaments.cli.main import main
from tournaments.plan.event import written_event
from tournaments.plan.read_plan import read_plan


@pytest.mark.parametrize("name", VARIANTS)
def test_a_named_game_can_be_played_and_says_only_how_it_differs(name: str) -> None:
    rules, variant = find_variant(name), VARIANTS[name]
    assert rules.name == name
    assert playable_seat_counts(rules)
    assert variant.about.endswith(".")
    assert len(variant.about) < 90
    assert variant.sources
    if variant.base:
        assert list(VARIANTS).index(variant.base) < list(VARIANTS).index(name)
    assert set(variant.differs) <= set(choices())


def write_file(folder: Path, text: str, name: str = "my.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# --- files ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('bass = "dutch"', "did you mean base"),
        ('base = "duthc"', "did you mean dutch"),
        ("draw_limti = 2", "did you mean draw_limit"),
        ("hand = 15", "take double-nine (highest_pip = 9) or deal 14 at most (hand)."),
        ("tiles = 2", "set starter = true"),
        ('name = "dutch"', "Give yours another name"),
        ("name = 3", "name must be a line"),
        ('name = ""', "name must be a line"),
        ("draw_limit =", "is not TOML"),
        ('base = "my.toml"', "is its own base"),
        ('base = "gone.toml"', "gone.toml cannot be read: No such file"),
        ("base = 3", "Unknown game '3'"),
    ],
)
def test_a_mistake_in_a_file_names_it(tmp_path: Path, text: str, message: str) -> None:
    path = write_file(tmp_path, text)
    with pytest.raises(UserError) as caught:
        load_ruleset("my.toml", tmp_path)
    assert message in str(caught.value)
    at_fault = tmp_path / "gone.toml" if "gone" in text else path
    assert str(caught.value).startswith(str(at_fault))
    assert str(caught.value).count(".toml") <= 2


# --- CHOICE=VALUE ---


@pytest.mark.parametrize(
    ("word", "group", "value"),
    [
        ("draw_limit=2", "turn", 2),
        ("draw_limit=unlimited", "turn", "unlimited"),
        (" draw_limit = 2 ", "turn", 2),
        ("starter=yes", "deal", True),
        ("draw_when_able=false", "turn", False),
        ("bonus=100,75", "score", (100, 75)),
        ("bonus=100", "score", (100,)),
        ("bonus=", "score", ()),
        ("hand=5", "deal", 5),
        ("hand=eight_minus_seats", "deal", "eight_minus_seats"),
        ("hand=2:7,3:7,4:6", "deal", HandSizes(two=7, three=7, four=6)),
        ("hand=two:9, three:7", "deal", HandSizes(two=9, three=7)),
        ("target=2:100,3:61,4:50", "game", Targets(two=100, three=61, four=50)),
        (
            "target=2:100,3:61,4:50,partners:70",
            "game",
            Targets(two=100, three=61, four=50, partners=70),
        ),
    ],
)
def test_an_override_sets_a_choice(word: str, group: str, value: Any) -> None:
    rules = with_overrides(find_variant("draw"), (word,))
    assert getattr(getattr(rules, group), word.split("=")[0].strip()) == value
    assert rules.name == "draw"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("draw_limit", "CHOICE=VALUE"),
        ("darw_limit=2", "did you mean draw_limit"),
        ("base=dutch", "--set cannot change base"),
        ("tiles=2", "set starter = true"),
        ("hand=2:x", "hand.two must be a whole number from 1 to"),
        ("hand=9:7", "Unknown field hand.9: "),
        ("target=2:100", "target.three is missing."),
        ("bonus=many", "bonus[0] must be"),
    ],
)
def test_a_mistake_in_an_override_is_explained(word: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        with_overrides(find_variant("draw"), (word,))
    assert message in str(caught.value)


# --- in events ---

EVENT = 'name = "cup"\n{rules}\n[[bots]]\nname = "first"\n[[bots]]\nname = "greedy"\n'


def rules_of(tmp_path: Path, source: Path, rules: str | None = None, *words: str) -> Ruleset:
    options = {"rules": rules} if rules else {}
    return read_plan((str(source),), options, choices=words).build(tmp_path / "build").rules


@pytest.mark.parametrize(
    "rules", ['rules = "my.toml"', 'rules = { base = "my.toml" }', "[rules]\nbase = 'my.toml'"]
)
def test_an_event_file_finds_rules_beside_it(tmp_path: Path, rules: str) -> None:
    write_file(tmp_path, "draw_limit = 3\n")
    event = write_file(tmp_path, EVENT.format(rules=rules), "cup.toml")
    assert written_event(event).name == "cup"
    ruleset = rules_of(tmp_path, event)
    assert ruleset == derive(find_variant("draw"), "my", {"draw_limit": 3})


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ('rules = "duthc"', "cup.toml: rules: Unknown game 'duthc': did you mean dutch"),
        ("rules = { draw_limti = 2 }", "cup.toml: rules: Unknown choice of rules"),
        ('rules = "gone.toml"', "gone.toml cannot be read"),
    ],
)
def test_a_mistake_in_an_event_names_it(tmp_path: Path, rules: str, message: str) -> None:
    event = write_file(tmp_path, EVENT.format(rules=rules), "cup.toml")
    result = CliRunner().invoke(main, ("run", str(event), "--out", str(tmp_path / "out")))
    assert result.exit_code == 2
    assert message in result.output


# --- what differs from a named game ---


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("highest_pip=9",),
        ("draw_limit=3", "draw_when_able=no", "bonus=5,4"),
        ("bonus=5",),
        ("hand=2:7,3:7,4:5",),
        ("target=2:100,3:61,4:61,partners:50",),
    ],
)
def test_overrides_are_recovered_from_a_ruleset(words: tuple[str, ...]) -> None:
    rules = with_overrides(find_variant("draw"), words)
    overrides = find_overrides(rules)
    assert overrides is not None
    assert sorted(overrides) == sorted(words)
    command = rules_command("draw", overrides)
    result = CliRunner().invoke(main, command.split()[1:])
    assert result.exit_code == 0, result.output
    assert ruleset_title("draw", overrides) in result.output
