"""The causes of a seat's rounds, luck and mistakes: alike for a round, a game and an event."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.analysis.timeline import Timeline
from arena.valuation.terms import USUAL_TERMS
from tests.support.events import boneyard, copy_of, games_of, untouched
from tournaments.event.luck import luck_records
from tournaments.study.losses import RoundCauses, causes_by_round, luck_by_round, summed


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield an event of which the luck is known and no mistakes are."""
    folder = copy_of("reviewed", tmp_path_factory.mktemp("event") / "event")
    (folder / "review.jsonl").unlink()
    with untouched(folder):
        yield folder


@pytest.mark.parametrize(
    ("luck", "mistakes", "words"),
    [
        (-12.3, 9.4, "lost 12 points to bad tiles, 9 to weaker choices"),
        (-1.0, 0.2, "lost 1 point to bad tiles"),
        (3.0, 1.0, "gained 3 points by good tiles and lost 1 point to weaker choices"),
        (None, 4.0, "lost 4 points to weaker choices"),
        (0.4, -2.0, "lost nothing to bad tiles or weaker choices"),
        (0.4, None, "lost nothing to bad tiles"),
        (-1234.0, 5678.0, "lost 1,234 points to bad tiles, 5,678 to weaker choices"),
        (None, None, "lost nothing to bad tiles or weaker choices"),
    ],
)
def test_causes_are_described(luck: float | None, mistakes: float | None, words: str) -> None:
    assert RoundCauses(luck, mistakes).describe() == words


def test_the_luck_of_rounds_is_that_of_the_game(event: Path) -> None:
    logged = games_of(event)[0]
    rules, (record,) = logged.sitting.rules, luck_records([Timeline(logged)])
    for seat in (0, 1):
        causes = causes_by_round(Timeline(logged), seat, (), USUAL_TERMS)
        points = record.points[seat] - record.points[1 - seat]
        assert summed(causes).luck == pytest.approx(points, abs=0.01)
        round_luck = luck_by_round(record, rules, seat)
        for number, cause in causes.items():
            assert cause.luck == pytest.approx(round_luck[number], abs=0.01)


def test_an_event_has_causes_where_all_its_games_have_them(event: Path) -> None:
    output = boneyard("explain", str(event), "--bot", "random")
    (line,) = (line for line in output.splitlines() if line.startswith("In the lost rounds it "))
    assert "bad tiles" in line
    assert "choices" not in line
    (losses,) = json.loads(boneyard("explain", str(event), "--bot", "random", "--json"))
    assert all(row["luck"] is not None for row in losses["rounds"])
    assert all(row["mistakes"] is None for row in losses["rounds"])
