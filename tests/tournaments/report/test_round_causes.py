"""What luck and mistakes did to a seat's rounds: told alike for a round, a game and an event."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.analysis.timeline import Timeline
from arena.valuation.weights import weight_of
from tests.support.events import boneyard, games_of, run, small_event, untouched
from tournaments.report.round_causes import RoundCauses, causes_by_round, luck_by_round, summed
from tournaments.storage.folder import Folder
from tournaments.storage.log_luck import luck_of_game
from tournaments.storage.review_log import read_seats


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = small_event(tmp_path_factory.mktemp("event") / "event")
    boneyard("report", str(folder), "--luck")
    with untouched(folder):
        yield folder


@pytest.mark.parametrize(
    ("luck", "mistakes", "words"),
    [
        (-12.3, 9.4, "lost 12 points to bad draws, 9 to weaker choices"),
        (-1.0, 0.2, "lost 1 point to bad draws"),
        (3.0, 1.0, "gained 3 points by good draws and lost 1 point to weaker choices"),
        (None, 4.0, "lost 4 points to weaker choices"),
        (0.4, -2.0, "lost nothing to bad draws or weaker choices"),
        (0.4, None, "lost nothing to bad draws"),
        (-1234.0, 5678.0, "lost 1,234 points to bad draws, 5,678 to weaker choices"),
        (None, None, "lost nothing to bad draws or weaker choices"),
    ],
)
def test_causes_in_words(luck: float | None, mistakes: float | None, words: str) -> None:
    assert RoundCauses(luck, mistakes).describe() == words


def test_the_luck_of_rounds_is_that_of_the_game(played: Path) -> None:
    logged = games_of(played)[0]
    rules, record = logged.sitting.rules, luck_of_game(logged)
    weight = weight_of(rules, 2).points
    for seat in (0, 1):
        causes = causes_by_round(Timeline(logged), seat)
        own = record.points[seat] - record.points[1 - seat]
        assert summed(causes).luck == pytest.approx(weight * own, abs=0.01)
        kept = luck_by_round(record, rules, seat)
        for number, one in causes.items():
            assert one.luck == pytest.approx(kept[number], abs=0.01)


# Slow: causes are counted beside it.
@pytest.mark.slow
def test_a_game_and_its_rounds_tell_them(played: Path) -> None:
    shown = boneyard("explain", str(played), "1.first.random", "--seat", "1")
    assert "mistakes\n" in shown
    assert "In the whole game it " in shown
    told = json.loads(boneyard("explain", str(played), "1.first.random", "--json"))
    rounds = told["result"]["rounds"]
    assert len(told["causes"]) <= rounds
    one = boneyard("explain", str(played), "1.first.random", "--round", "1", "--seat", "1")
    assert "In this round it " in one


def test_an_event_tells_them_where_they_are_known_of_all_games(played: Path) -> None:
    shown = boneyard("explain", str(played), "--bot", "random")
    (said,) = (line for line in shown.splitlines() if line.startswith("In the lost rounds it "))
    assert "bad draws" in said
    assert "mistakes" not in said
    (told,) = json.loads(boneyard("explain", str(played), "--bot", "random", "--json"))
    assert all(one["luck"] is not None for one in told["rounds"])
    assert all(one["mistakes"] is None for one in told["rounds"])


def test_the_mistakes_of_a_bot_that_is_its_own_partner_are_those_of_both_seats(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    path = tmp_path / "own.toml"
    path.write_text(
        'bots = ["first", "greedy"]\nteams = [["first", "first"], ["greedy", "greedy"]]\n'
        'boards = 1\nrules = { base = "draw-partners", target = 10 }\n'
    )
    run(out, str(path))
    boneyard("explain", "--review", str(out), "--deals", "2")
    (told,) = json.loads(boneyard("explain", str(out), "--bot", "first", "--json"))
    seats = [one for one in read_seats(Folder(out)) if one.entrant == "first"]
    lost = sum(one.loss for seat in seats for one in seat.decisions)
    assert sum(one["mistakes"] for one in told["rounds"]) == pytest.approx(lost, abs=0.01)


def test_where_nothing_is_drawn_only_mistakes_are_told(tmp_path: Path) -> None:
    run(tmp_path / "out", "first", "greedy", "--rules", "block", "--boards", "1")
    shown = boneyard("explain", str(tmp_path / "out"), "1.first.greedy")
    assert "luck" not in shown.replace(str(tmp_path), "")
    assert "mistakes" in shown
