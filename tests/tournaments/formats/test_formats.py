"""Formats end to end, and the options that each takes."""

from pathlib import Path

import pytest

from tests.support.events import FOUR, run

# --- formats ---


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
    output = run(tmp_path / "out", *FOUR, *words, code=2)
    assert part in output
    assert len(output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("boards", "sprt", "words", "part"),
    [
        ("boards = 6", "", (), "before 20 boards (min_boards): boards must be at least 20, not 6."),
        ("", "max_boards = 6", (), "(min_boards), so max_boards must be from 20 to"),
        ("boards = 30", "max_boards = 200", (), "boards = 30 contradicts max_boards = 200"),
        ("", "max_boards = 200", ("--boards", "9"), "--boards must be at least 20, not 9."),
    ],
)
def test_a_versus_file_with_contradictory_boards_is_refused(
    tmp_path: Path, boards: str, sprt: str, words: tuple[str, ...], part: str
) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(
        f'bots = ["first", "greedy"]\n{boards}\n'
        f'format = {{ type = "versus", sprt = {{ {sprt} }} }}\n'
    )
    assert part in run(tmp_path / "out", str(path), *words, code=2)
