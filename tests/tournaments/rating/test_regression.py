"""Sums, shares and ways through arrays."""

import math

import numpy as np
import pytest

from tournaments.rating import regression


def test_reach_follows_arrows() -> None:
    graph = np.zeros((4, 4), np.bool_)
    graph[0, 1] = graph[1, 2] = graph[2, 3] = True
    assert (regression.reach(graph) == np.triu(np.ones((4, 4), np.bool_))).all()


def test_a_share_of_a_huge_lead_does_not_overflow() -> None:
    found = regression.expected_share(np.array([-1e4, 0.0, math.log(3), 1e4]))
    assert found.tolist() == pytest.approx([0, 0.5, 0.75, 1])


def test_sums_by_cluster() -> None:
    group, cluster = np.array([0, 0, 0, 2]), np.array([0, 0, 1, 1])
    found = regression.by_cluster(group, cluster, np.array([1, 2, 6, 5]), 3)
    assert found.size.tolist() == [3, 0, 1]
    assert found.clusters.tolist() == [2, 0, 1]
    assert found.mean.tolist() == [3, 0, 5]
    assert found.spread.tolist() == [14, 0, 0]
    assert found.clustered.tolist() == [18, 0, 0]
