"""The textbook's tables."""

import math

import numpy as np
import pytest

from tournaments.rating import statistics as stats


@pytest.mark.parametrize(
    ("df", "table"),
    [(1, 12.7062), (2, 4.3027), (5, 2.5706), (10, 2.2281), (30, 2.0423), (100, 1.9840)],
)
def test_student_s_t_is_the_table_s(df: int, table: float) -> None:
    assert stats.t_quantile(0.975, df) == pytest.approx(table, abs=6e-5)
    assert stats.t_quantile(0.025, df) == -stats.t_quantile(0.975, df)
    assert stats.t_cdf(table, df) == pytest.approx(0.975, abs=1e-5)


def test_more_degrees_of_freedom_join_without_a_step() -> None:
    exact, near = stats.t_quantile(0.975, 200), stats.t_quantile(0.975, 201)
    assert 0 < exact - near < 3e-5
    assert stats.t_quantile(0.975, 1000) == pytest.approx(1.962339, abs=2e-6)
    assert stats.t_quantile(0.975, 10**6) == pytest.approx(stats.Z, abs=1e-5)


def test_the_middle_of_t_is_nothing() -> None:
    assert all(stats.t_cdf(0, df) == 0.5 for df in (1, 2, 7, 8, 500))
    assert stats.t_quantile(0.5, 3) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("p", "df"), [(0.0, 3), (1.0, 3), (0.9, 0)])
def test_a_quantile_that_does_not_exist_is_refused(p: float, df: int) -> None:
    with pytest.raises(ValueError, match="needs"):
        stats.t_quantile(p, df)


def test_ranks_are_those_that_the_intervals_of_the_differences_leave_open() -> None:
    """Ranks for all pairs at once said 1 to 8 beside intervals that were far apart."""
    sure, open_ = 0.976, 0.974
    los = ((0.5, open_, sure), (1 - open_, 0.5, sure), (1 - sure, 1 - sure, 0.5))
    assert stats.rank_intervals(los) == ((1, 2), (1, 2), (3, 3))
    assert stats.rank_intervals(((0.5,),)) == ((1, 1),)


def test_reach_follows_arrows() -> None:
    graph = np.zeros((4, 4), np.bool_)
    graph[0, 1] = graph[1, 2] = graph[2, 3] = True
    assert (stats.reach(graph) == np.triu(np.ones((4, 4), np.bool_))).all()


def test_a_share_of_a_huge_lead_does_not_overflow() -> None:
    found = stats.expected_share(np.array([-1e4, 0.0, math.log(3), 1e4]))
    assert found.tolist() == pytest.approx([0, 0.5, 0.75, 1])


def test_sums_by_cluster() -> None:
    group, cluster = np.array([0, 0, 0, 2]), np.array([0, 0, 1, 1])
    found = stats.by_cluster(group, cluster, np.array([1, 2, 6, 5]), 3)
    assert found.size.tolist() == [3, 0, 1]
    assert found.clusters.tolist() == [2, 0, 1]
    assert found.mean.tolist() == [3, 0, 5]
    assert found.spread.tolist() == [14, 0, 0]
    assert found.clustered.tolist() == [18, 0, 0]
