"""Where the lines and bars of the figures stand, and what two took off each other."""

import random
from collections import defaultdict
from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.records import Result
from tests.support.results import STRENGTH, game, known, played
from tournaments.formats.answers.tune_text import Way
from tournaments.rating.ratings import fit
from tournaments.rating.sprt import outcomes, walk
from tournaments.rating.sprt_settings import Sprt
from tournaments.rating.statistics import t_quantile
from tournaments.rating.tally import collect
from tournaments.report.html import charts, forest
from tournaments.report.html.crosstable import Encounter, encounters
from tournaments.tuning.parameters import Parameter
from tournaments.tuning.search import Step


def number(percent: str) -> float:
    assert percent.endswith("%")
    return float(percent[:-1])


# --- figures ---


@given(st.floats(-1e4, 1e4), st.floats(0.01, 1e4))
def test_an_axis_holds_its_values_and_round_ticks_between(low: float, size: float) -> None:
    scale = forest.axis(low, low + size)
    assert 0 < number(scale.at(low)) < number(scale.at(low + size)) < 100
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 2 * forest.TICKS
    places = [number(tick.at) for tick in ticks]
    assert places == sorted(set(places))
    assert all(0 <= place <= 100 for place in places)


def test_ticks_are_called_as_people_call_them() -> None:
    assert [tick.label for tick in forest.axis(-30, 50).ticks()] == ["−20", "0", "+20", "+40"]
    assert [forest.nice(step) for step in (0.3, 1, 1.1, 4.2, 70)] == [0.5, 1, 2, 5, 100]


def test_a_forest_shows_what_the_table_says() -> None:
    (pool,) = fit(played(random.Random(1), STRENGTH, 40)).pools
    drawn = forest.place_intervals(pool)
    middles = [number(row.middle) for row in drawn.rows]
    assert middles == sorted(middles, reverse=True)
    for row, one in zip(drawn.rows, pool.entrants, strict=True):
        low, middle, high = map(number, row)
        assert 0 < low < middle < high < 100
        assert (middle > number(drawn.zero)) == (known(one.elo) > 0)
        assert middle - low == pytest.approx(high - middle, abs=0.02)


def test_a_rating_that_is_only_a_bound_has_an_open_end() -> None:
    (pool,) = fit([game(0, "zy", (1, 0)), game(0, "yz", (0, 1)), game(1, "az", (1, 0))]).pools
    assert [one.bound for one in pool.entrants] == [">", "", "<"]
    above, core, below = forest.place_intervals(pool).rows
    assert (above.middle, above.high) == ("", "100%")
    assert core.low == core.middle == core.high
    assert (below.low, below.middle) == ("0%", "")


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=60))
def test_a_histogram_counts_everything_and_mirrors(values: list[int]) -> None:
    own = np.array(values, np.float64)
    shown = charts.histograms({"a": own, "b": -own})
    one, other = shown.of["a"].bars, shown.of["b"].bars
    assert max(number(bar.height) for bar in one) == 100
    assert [(b.height, -b.side) for b in one] == [(b.height, b.side) for b in reversed(other)]
    for bar in one:
        assert number(bar.y) + number(bar.height) == pytest.approx(100, abs=0.02)
        assert (number(bar.x) + number(bar.width) / 2 > 50.5) == (bar.side > 0)
    # The heights are in proportion: together they are all games.
    unit = min(number(bar.height) for bar in one)
    counts = charts._counts(own, (float(shown.ends[1]) * 2) / (charts.BINS - 2))
    assert counts.sum() == len(values)
    assert unit == pytest.approx(100 * counts[counts > 0].min() / counts.max(), abs=0.01)


def test_the_content_of_a_histogram() -> None:
    shown = charts.histograms({"a": np.array([-10.0, 0, 10, 20, 30]), "b": np.array([7.0])})
    assert shown.of["a"].said == "5 games, half of them from +0 to +20; median +10."
    assert shown.of["b"].said == "One game: +7."
    assert shown.ends[0] == shown.ends[1].replace("+", "−")


def test_a_walk_ends_at_its_last_board() -> None:
    results = played(random.Random(3), {"a": 60.0, "b": 0.0}, 300)
    settings = Sprt(max_boards=300, h1=30)
    steps = walk(settings, outcomes(settings, results, "a", lost_by=100))
    shown = charts.sprt_walk(settings, steps)
    points = [tuple(map(int, point.split(","))) for point in shown.path.split()]
    assert len(points) <= charts.POINTS + 1
    assert points[0] == (0, shown.bounds[1])
    assert points[-1][0] == 1000
    assert all(0 <= x <= 1000 and 0 <= y <= 1000 for x, y in points)
    high, zero, low = shown.bounds
    assert high < zero < low
    assert steps[-1].llr >= settings.bounds[1]
    assert points[-1][1] <= high
    assert shown.boards == steps[-1].boards


# --- encounters ---


def by_hand(results: Sequence[Result], one: str, other: str) -> tuple[int, float, float]:
    """Pairs, share and error of a two-seat pairing, board by board."""
    boards: dict[int, list[float]] = defaultdict(list)
    for result in results:
        if {one, other} == set(result.seats):
            own, its = (result.places[result.seats.index(name)] for name in (one, other))
            boards[result.board].append(0.5 + 0.5 * (own < its) - 0.5 * (own > its))
    games = sum(map(len, boards.values()))
    share = sum(map(sum, boards.values())) / games
    spread = sum((sum(board) - share * len(board)) ** 2 for board in boards.values())
    many = len(boards)
    return games, share, sqrt(many / (many - 1) * spread) / games * t_quantile(0.975, many - 1)


def test_an_interval_is_that_of_the_boards() -> None:
    results = played(random.Random(2), STRENGTH, 200, deal=80)
    names = sorted(STRENGTH, reverse=True)
    found = encounters(collect(results, partners=False), names)
    for row, one in zip(found, names, strict=True):
        for met, other in zip(row, names, strict=True):
            if one == other:
                assert met is None
                continue
            assert met is not None
            assert met.low is not None
            assert met.high is not None
            games, share, width = by_hand(results, one, other)
            assert met.games == games
            assert met.share == pytest.approx(share)
            assert met.low == pytest.approx(max(0, share - width))
            assert met.high == pytest.approx(min(1, share + width))
            assert met.decided == ("ahead" if met.low > 0.5 else "behind" if met.high < 0.5 else "")


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_shares_are_those_of_the_crosstable(seats: int) -> None:
    results = played(random.Random(seats), STRENGTH, 60, seats)
    for partners in {False, seats == 4}:
        (pool,) = fit(results, partners=partners).pools
        names = [one.name for one in pool.entrants]
        found = encounters(collect(results, partners), names)
        for row, cells in zip(found, pool.crosstable, strict=True):
            for met, cell in zip(row, cells, strict=True):
                assert (met.games if met else 0) == cell.games
                assert (met.share * met.games if met else 0) == pytest.approx(cell.wins)


@pytest.mark.parametrize(("boards", "decided"), [(1, ""), (5, ""), (6, "ahead"), (20, "ahead")])
def test_a_clean_sweep_is_believed_from_six_boards_on(boards: int, decided: str) -> None:
    """Six tosses of a coin fall alike in 3 of 100 cases, five in 6."""
    results = [game(board, seats, scores) for board in range(boards)
               for seats, scores in (("ab", (9, 0)), ("ba", (0, 9)))]  # fmt: skip
    won, lost = encounters(collect(results, partners=False), "ab")
    assert won[1] == Encounter(2 * boards, 1.0, 0.025 ** (1 / boards), 1.0)
    assert won[1] is not None
    assert lost[0] == won[1].turned()
    assert won[1].decided == decided
    assert lost[0].decided == decided.replace("ahead", "behind")


def test_boards_that_were_all_alike_prove_nothing() -> None:
    results = [game(board, seats, (9, 0)) for board in range(30) for seats in ("ab", "ba")]
    met = encounters(collect(results, partners=False), "ab")[0][1]
    assert met == Encounter(60, 0.5, None, None)
    assert met.decided == ""


def test_a_bot_on_both_sides_does_not_meet_itself() -> None:
    results = [game(n, "aaba", (9 - n, 0, 9 - n, 0)) for n in range(4)]
    found = encounters(collect(results, partners=True), "ab")
    assert found[0][0] is None
    assert found[0][1] is not None


def test_a_search_is_drawn_over_the_ranges_of_its_parameters() -> None:
    depth = Parameter(start=2, min=0, max=10, integer=True)
    steps = [Step({"depth": value}, ()) for value in (2, 2, 4, 6, 10)]
    way = Way({"depth": depth}, steps, [0.0, 8.0, 10.0, 12.0], 60)
    lines = charts.tuning_lines(way)
    (line,) = lines.parameters
    assert line.said == "2 → 10"
    assert line.path == "0,800 250,800 500,600 750,400 1000,0"
    assert (line.level, line.ends) == (800, ("10", "0"))
    assert lines.gain.said == "+7.5 ± 8.4 at the end"
    assert len(lines.gain.path.split()) == 1
    assert len(lines.gain.band.split()) == 2
    assert [tick.label for tick in lines.ticks] == ["50", "100", "150", "200"]
