"""A worker's processes: one for each sitting's core, and none when the worker is gone."""

import pytest

from arena.machine import cores
from tests.support.clusters import Cluster, kill, until
from tests.support.tables import alive


@pytest.mark.slow
@pytest.mark.skipif(cores() == 1, reason="one core has one process")
def test_a_worker_plays_on_several_cores_and_takes_its_processes_along(cluster: Cluster) -> None:
    worker = cluster.add("w", jobs=2)
    cluster.wait_for_output("w", "connected", times=2)
    assert all(f"Worker w.{number}: connected" in cluster.output("w") for number in (1, 2))
    tag = f'"folder":"{cluster.bots}"'
    assert alive(tag)
    kill(worker)
    until(lambda: not alive(tag), "the processes leave")
