"""Tests of `boneyard league DIR status`."""

import csv
import json
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.codec import encode_json
from tests.support.events import boneyard
from tests.support.made_up import admitted, everybody_meets, league_of
from tournaments.event.facts import SameBots, Times
from tournaments.event.folder import Folder
from tournaments.league.state import AnyEntry, Refused
from tournaments.league.status import mark_of

HOSTILE = "no bot.toml\x1b[2J\n" + "x" * 1000
REGISTER: list[AnyEntry] = [
    admitted("greedy"),
    admitted("mine"),
    Refused(time="2026-11-21T10:00:00Z", bot="mine", fingerprint="", why=HOSTILE),
    Refused(time="2026-11-21T10:00:00Z", bot="good", fingerprint="", why="no"),
    admitted("good", "2026-11-22"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a league that has a register and no round."""
    (tmp_path / "league.toml").write_text('title = "Club"\nhouse = ["greedy"]\n')
    (tmp_path / "register.jsonl").write_bytes(
        b"".join(encode_json(entry) + b"\n" for entry in REGISTER)
    )
    return tmp_path


def test_status_names_what_waits_and_why(place: Path) -> None:
    """Refusals that stand are named, and news the newest first; no reason steers the terminal."""
    text = boneyard("league", str(place), "status", "--now", "2026-11-22T12:00")
    assert "Club is not running" in text
    assert "week 2026-W47" in text
    row = next(line for line in text.splitlines() if line.startswith("draw "))
    assert row.split() == ["draw", "3", "0", "0", "1,000", "1,000", "nothing"]
    refused, news = text.partition("Refused")[2].split("News")
    assert "mine: no bot.toml" in refused
    assert "good: no" not in refused
    assert news.index("admitted good") < news.index("refused good: no")
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 300


def test_grades_are_for_a_table_and_for_gradescope(place: Path) -> None:
    """Before any game each mark is open; the lowest one counts until then."""
    with (place / "league.toml").open("a") as file:
        file.write("[grades]\nnone = 1\ngreedy = 7.5\n")
    boneyard("league", str(place), "grades")
    with (place / "grades" / "grades.csv").open() as file:
        rows = {row["bot"]: row for row in csv.DictReader(file)}
    assert rows.keys() == {"good", "mine"}
    assert rows["mine"]["better_than_greedy"] == "too early"
    assert (rows["mine"]["mark"], rows["mine"]["certainty"]) == ("1", "too early: 7.5 or 1")
    results = json.loads((place / "grades" / "mine" / "results.json").read_text())
    (mark,) = results["tests"]
    assert (mark["score"], mark["max_score"]) == (1, 7.5)
    fouls = {"name": "fouls in draw", "value": 0, "order": "asc"}
    assert results["leaderboard"] == [fouls]
    (place / "league.toml").write_text('house = ["greedy"]\n[grades]\nsuit = 1\n')
    assert "greedy" in boneyard("league", str(place), "grades", code=2)


@pytest.mark.parametrize(
    ("suit", "greedy", "mark"),
    [
        (0.98, 0.98, ("A", "with 95 %")),
        (0.98, 0.02, ("B", "with 95 %")),
        (0.02, 0.02, ("F", "with 95 %")),
        (0.98, 0.97, ("B", "too early: A or B")),
        (0.97, 0.02, ("F", "too early: B or F")),
        (0.97, 0.03, ("F", "too early: A, B or F")),
    ],
)
def test_a_mark_is_certain_or_too_early(suit: float, greedy: float, mark: tuple[str, str]) -> None:
    """Neither up nor down by noise; marks may be words."""
    marks = {"none": "F", "suit": "B", "greedy": "A"}
    better = {"suit": suit, "greedy": greedy}
    assert mark_of(better, marks, 1) == mark
    assert mark_of(better, dict.fromkeys(marks, "P"), 1) == ("P", "with 95 %")


def test_who_pushes_often_needs_a_surer_mark() -> None:
    better, marks = {"suit": 0.98}, {"none": "F", "suit": "B"}
    assert mark_of(better, marks, 1) == ("B", "with 95 %")
    assert mark_of(better, marks, 20) == ("F", "too early: B or F")


def test_copies_have_answered_alike_whenever_they_met(tmp_path: Path) -> None:
    """Versions of one bot are none; a house bot's are. One round that differs acquits for ever."""
    rounds = []
    names = ("ada", "ben", "ben@2", "greedy")
    for number, group in enumerate((names, ("ada", "greedy", "ben@2")), 1):
        round = everybody_meets(random.Random(1), dict.fromkeys(names, 0.0), number, "2026-11-02")
        folder = Folder(tmp_path / f"{number}")
        folder.path.mkdir()
        times = Times(entrants=(), worst_lag_ms=0, same_bots=(SameBots(group, 60),))
        folder.times.write_bytes(encode_json(times))
        rounds.append(replace(round, folder=folder))
    copies = league_of(rounds, []).divisions["draw"].copies()
    assert {(*sorted(pair), count) for pair, count in copies.items()} == {
        ("ada", "ben@2", 120), ("ada", "greedy", 120), ("ben@2", "greedy", 120),
    }  # fmt: skip
