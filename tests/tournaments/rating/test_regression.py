"""Sums, shares and ways through arrays."""

import numpy as np

from tournaments.rating import regression


def test_sums_by_cluster() -> None:
    group, cluster = np.array([0, 0, 0, 2]), np.array([0, 0, 1, 1])
    found = regression.by_cluster(group, cluster, np.array([1, 2, 6, 5]), 3)
    assert found.size.tolist() == [3, 0, 1]
    assert found.clusters.tolist() == [2, 0, 1]
    assert found.mean.tolist() == [3, 0, 5]
    assert found.spread.tolist() == [14, 0, 0]
    assert found.clustered.tolist() == [18, 0, 0]
