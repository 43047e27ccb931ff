"""The places of lines and bars in the figures, and the worth of a clean sweep."""

from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.made_up import game
from tournaments.formats.entrant import Parameter
from tournaments.formats.tune import Step, Way
from tournaments.rating.tally import collect
from tournaments.report import charts
from tournaments.report.document import Encounter, encounters

Drawn = TypeVar("Drawn", bound=charts.ChartMark)


def marks(chart: charts.Chart, kind: type[Drawn]) -> list[Drawn]:
    return [mark for mark in chart.marks if isinstance(mark, kind)]


# --- figures ---


@given(st.floats(-1e4, 1e4), st.floats(0.01, 1e4))
def test_an_axis_holds_its_values_and_round_ticks_between(low: float, size: float) -> None:
    scale = charts.axis((low, low + size))
    assert 0 < scale.share(low) < scale.share(low + size) < 1
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 2 * charts.TICKS
    assert ticks == sorted(set(ticks))
    assert all(0 <= scale.share(value) <= 1 for value in ticks)


# --- encounters ---


@pytest.mark.parametrize(("boards", "decision"), [(1, ""), (5, ""), (6, "ahead"), (20, "ahead")])
def test_a_clean_sweep_is_believed_from_six_boards_on(boards: int, decision: str) -> None:
    """Six tosses of a coin fall alike in 3 of 100 cases, five in 6."""
    results = [game(board, seats, scores) for board in range(boards)
               for seats, scores in (("ab", (9, 0)), ("ba", (0, 9)))]  # fmt: skip
    winner, loser = encounters(collect(results, partners=False), "ab")
    assert winner[1] == Encounter(2 * boards, 1.0, 0.025 ** (1 / boards), 1.0)
    assert winner[1] is not None
    assert loser[0] == Encounter(2 * boards, 0.0, 0.0, 1 - 0.025 ** (1 / boards))
    assert winner[1].decided == decision
    assert loser[0].decided == decision.replace("ahead", "behind")


def test_a_search_is_drawn_over_the_ranges_of_its_parameters() -> None:
    depth = Parameter(start=2, min=0, max=10, integer=True)
    steps = [Step({"depth": value}, ()) for value in (2, 2, 4, 6, 10)]
    way = Way({"depth": depth}, steps, [0.0, 8.0, 10.0, 12.0], 60)
    gain, line = charts.search_courses(way)
    assert line.summary == "2 → 10"
    level, (path,) = marks(line.chart, charts.Stroke)[0], marks(line.chart, charts.Curve)
    assert path.points == [(0, 0.2), (60, 0.2), (120, 0.4), (180, 0.6), (240, 1.0)]
    assert level.y == (0.2, 0.2)
    assert [label.text for label in marks(line.chart, charts.Label)] == ["10", "0"]
    assert gain.summary == "+7.5 ± 8.4 at the end"
    band, path = marks(gain.chart, charts.Curve)
    assert (len(band.points), len(path.points)) == (2, 1)
    assert [text for _, text, _ in line.chart.feet] == ["50", "100", "150", "200"]
