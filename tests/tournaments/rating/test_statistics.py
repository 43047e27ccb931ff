"""The textbook's tables."""

import pytest

from tournaments.rating import statistics


@pytest.mark.parametrize(
    ("df", "table"),
    [(1, 12.7062), (2, 4.3027), (5, 2.5706), (10, 2.2281), (30, 2.0423), (100, 1.9840)],
)
def test_students_t_equals_the_textbooks_table(df: int, table: float) -> None:
    assert statistics.t_quantile(0.975, df) == pytest.approx(table, abs=6e-5)
    assert statistics.t_quantile(0.025, df) == -statistics.t_quantile(0.975, df)
    assert statistics.t_cdf(table, df) == pytest.approx(0.975, abs=1e-5)


@pytest.mark.parametrize(("p", "df"), [(0.0, 3), (1.0, 3), (0.9, 0)])
def test_a_quantile_that_does_not_exist_is_refused(p: float, df: int) -> None:
    with pytest.raises(ValueError, match="needs"):
        statistics.t_quantile(p, df)


def test_ranks_are_those_that_the_intervals_of_the_differences_leave_open() -> None:
    """Ranks for all pairs at once said 1 to 8 beside intervals that were far apart."""
    clear, open_ = 0.976, 0.974
    los = ((0.5, open_, clear), (1 - open_, 0.5, clear), (1 - clear, 1 - clear, 0.5))
    assert statistics.rank_intervals(los) == ((1, 2), (1, 2), (3, 3))
    assert statistics.rank_intervals(((0.5,),)) == ((1, 1),)
