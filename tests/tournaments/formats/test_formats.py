"""Formats end to end, and the options that each takes."""

from pathlib import Path

import pytest

from tests.support.events import (
    FOUR,
    SHORT,
    boneyard,
    fits,
    report,
    run,
    summary,
)
from tournaments.formats.versus import Versus
from tournaments.plan.event_plan import read_plan
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import Ledger

# --- formats ---


@pytest.mark.parametrize(
    ("words", "played", "told"),
    [
        # Slow: they are played by the same loop as those beside them.
        pytest.param(
            ("--format", "gauntlet", "--challenger", "random"),
            6,
            "Gauntlet of draw, 2 seats, random against",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("--format", "ladder"),
            12,
            "Ladder of draw, 2 seats, counting against",
            marks=pytest.mark.slow,
        ),
        (("--format", "swiss", "--rounds", "2"), 8, "| # | bot | points | Buchholz |"),
        (("--format", "swiss", "--rounds", "2", "--seats", "3"), 6, "(bye)"),
        pytest.param(
            ("--format", "gauntlet", "--seats", "4"),
            4,
            "Gauntlet of draw, 4 seats, first against",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_format_is_played_told_and_verified(
    tmp_path: Path, words: tuple[str, ...], played: int, told: str
) -> None:
    run(tmp_path, *FOUR, *SHORT, "--boards", "1", *words)
    assert summary(tmp_path) == {"played": played, "planned": played}
    assert told in report(tmp_path)
    assert Ledger(Folder(tmp_path), load_event(Folder(tmp_path))).planned == played
    assert fits(tmp_path)


def test_a_knockout_is_played_and_its_bracket_told(tmp_path: Path) -> None:
    end = run(tmp_path, *FOUR[:3], *SHORT, "--boards", "2", "--format", "knockout")
    assert summary(tmp_path)["played"] >= 8
    said = report(tmp_path)
    assert "- first: bye" in said
    assert "Final:" in said
    assert "has won." in said
    assert " has won the knockout.\n" in end
    assert " has won the knockout.\n" in boneyard("show", str(tmp_path))
    assert fits(tmp_path)


# Slow: a sequential test stops at its answer or its last board.
@pytest.mark.slow
def test_versus_stops_at_the_answer_or_at_the_last_board(tmp_path: Path) -> None:
    """A lead of 300 points would be a wonder; 20 boards are the fewest that are asked about."""
    words = ("greedy", "first", *SHORT, "--format", "versus", "--measure", "points")
    run(tmp_path, *words, "--h0", "200", "--h1", "300", "--boards", "40")
    assert summary(tmp_path) == {"played": 40, "planned": 40}
    assert "**No: greedy is not" in report(tmp_path)
    assert fits(tmp_path)


# Slow: teams and a format can stand in an event file.
@pytest.mark.slow
def test_teams_and_a_format_stand_in_an_event_file(tmp_path: Path) -> None:
    written = tmp_path / "cup.toml"
    written.write_text(
        'rules = { base = "partnership", target = 30 }\nboards = 1\n'
        'teams = [["first", "greedy"], ["random", "random"], ["counting", "counting"]]\n'
        '[format]\ntype = "gauntlet"\nchallengers = ["first+greedy"]\n'
        + "".join(f'[[bots]]\nname = "{name}"\n' for name in FOUR)
    )
    run(tmp_path / "out", str(written))
    assert summary(tmp_path / "out")["played"] == 8
    assert fits(tmp_path / "out")


def test_two_bots_that_partner_themselves_meet_until_the_answer_is_known(tmp_path: Path) -> None:
    """A table turned twice is the same table: a board has two games, not four."""
    written = tmp_path / "cup.toml"
    written.write_text(
        'rules = { base = "partnership", target = 30 }\nboards = 3\n'
        'teams = [["first", "first"], ["greedy", "greedy"]]\n'
        'format = { type = "versus", sprt = { min_boards = 2 } }\n'
        '[[bots]]\nname = "first"\n[[bots]]\nname = "greedy"\n'
    )
    run(tmp_path / "out", str(written))
    assert summary(tmp_path / "out") == {"played": 6, "planned": 6}
    out = Folder(tmp_path / "out")
    assert Ledger(out, load_event(out)).planned == 6
    assert fits(tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--format", "gauntlet", "--challenger", "gredy"), "greedy"),
        (
            ("--rounds", "3"),
            "--rounds: a round-robin has no such choice; see --format, and --boards",
        ),
        (
            ("--format", "swiss", "--rounds", "1000", "--boards", "1001"),
            "at most 1,000,000 are possible",
        ),
        (("--format", "versus"), "two bots"),
        (("--format", "matches"), "Matches need tables: name them in an event file"),
        (("--format", "knockout", "--seats", "3"), "two sides"),
        (("--format", "gauntlet", *(w for n in FOUR for w in ("--challenger", n))), "a field of 1"),
    ],
)
def test_a_mistake_about_a_format_gets_one_sentence(
    tmp_path: Path, words: tuple[str, ...], part: str
) -> None:
    said = run(tmp_path / "out", *FOUR, *words, code=2)
    assert part in said
    assert len(said.strip().splitlines()) == 1


def test_versus_needs_as_many_boards_as_its_answer(tmp_path: Path) -> None:
    said = run(tmp_path / "out", "first", "greedy", "--format", "versus", "--boards", "3", code=2)
    assert "before 20 boards (min_boards): --boards must be at least 20, not 3." in said


@pytest.mark.parametrize(
    ("boards", "sprt", "words", "part"),
    [
        ("boards = 6", "", (), "before 20 boards (min_boards): boards must be at least 20, not 6."),
        ("", "max_boards = 6", (), "(min_boards), so max_boards must be from 20 to"),
        ("boards = 30", "max_boards = 200", (), "boards = 30 contradicts max_boards = 200"),
        ("", "max_boards = 200", ("--boards", "9"), "--boards must be at least 20, not 9."),
    ],
)
def test_a_file_of_versus_says_its_boards_once(
    tmp_path: Path, boards: str, sprt: str, words: tuple[str, ...], part: str
) -> None:
    written = tmp_path / "cup.toml"
    written.write_text(
        f'bots = ["first", "greedy"]\n{boards}\n'
        f'format = {{ type = "versus", sprt = {{ {sprt} }} }}\n'
    )
    assert part in run(tmp_path / "out", str(written), *words, code=2)


@pytest.mark.parametrize(
    ("boards", "sprt", "asked", "most"),
    [
        (None, 200, None, 200),
        (30, 30, None, 30),
        (30, 200, 90, 90),
        (30, 5000, None, 30),
        (None, 200, 90, 90),
    ],
)
def test_versus_plays_at_the_most_what_was_said_last(
    tmp_path: Path, boards: int | None, sprt: int, asked: int | None, most: int
) -> None:
    written = tmp_path / "cup.toml"
    said = f"boards = {boards}\n" if boards else ""
    written.write_text(
        f'bots = ["first", "greedy"]\n{said}'
        f'format = {{ type = "versus", sprt = {{ max_boards = {sprt} }} }}\n'
    )
    given = {"boards": asked} if asked else {}
    form = read_plan((str(written),), given).build(tmp_path / "build").format
    assert isinstance(form, Versus)
    assert form.sprt.max_boards == most
