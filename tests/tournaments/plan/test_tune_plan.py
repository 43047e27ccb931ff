"""Event files with parameters: the bots of a tune, and every mistake in one sentence."""

from pathlib import Path
from typing import Any

import pytest

from protocol.errors import UserError
from tournaments.formats.tune import GROUP, Tune
from tournaments.plan.read_plan import read_plan

BOT = """\
[[bots]]
name = "mine"
run = ["{python}", "mine.py", "--depth={depth}"]
"""
RANGE = """\
[tune]
depth = { start = 4, min = 1, max = 12, integer = true }
"""


def plan(folder: Path, text: str, **options: Any) -> tuple[list[tuple[str, ...]], Tune]:
    path = folder / "tune.toml"
    path.write_text(text)
    config = read_plan((str(path),), options).config
    assert isinstance(config.format, Tune)
    return [(bot.name, *bot.run, *bot.arguments) for bot in config.bots], config.format


def test_a_listed_bot_has_its_parameters_in_its_arguments(tmp_path: Path) -> None:
    entry = 'bots = [{ name = "suit", arguments = ["--pips", "{pips}"] }]\n'
    bots, form = plan(tmp_path, f"{entry}[tune]\npips = {{ start = 0.1, min = 0, max = 1 }}")
    assert bots[-1] == ("suit-tuned", "--pips", "0.1")
    assert form.words[-3:] == ("suit.py", "--pips", "{pips}")
    assert form.entry == 'bot = "suit"\narguments = ["--pips","{pips}"]'


def test_the_partner_of_a_tuned_bot_is_the_same_bot(tmp_path: Path) -> None:
    path = tmp_path / "tune.toml"
    path.write_text(f'rules = "partnership"\n{BOT}{RANGE}')
    config = read_plan((str(path),)).config
    assert config.teams[0] == ("mine", "mine")
    assert len(config.teams) == GROUP + 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOT + BOT.replace("mine", "other") + RANGE, "has one bot, and this event file has 2"),
        (
            BOT + RANGE.replace("depth", "deep"),
            r"tune\.deep: the command of bot mine has no {deep}",
        ),
        (BOT + RANGE.replace("min = 1", "min = 13"), "min must be below max"),
        (BOT.replace("mine", "m" * 40) + RANGE, "at most 34 characters"),
        (BOT.replace("{python}", "{depth}{python}") + RANGE, "cannot have {build} or {python}"),
        (BOT + RANGE.replace("depth", "build"), "neither python nor build"),
        (BOT + RANGE.replace("depth", '"a\\n"'), "neither python nor build"),
        (
            f'format = {{ type = "swiss" }}\n{BOT}{RANGE}',
            "no format, teams or withdrawn of its own",
        ),
        (f"boards = 59\n{BOT}{RANGE}", "at least 60 boards"),
    ],
)
def test_a_mistake_about_a_tune_is_named(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        plan(tmp_path, text)
