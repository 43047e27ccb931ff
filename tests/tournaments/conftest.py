"""The event that most tests read, and a cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.events import finished

if TYPE_CHECKING:
    from tests.support.clusters import Cluster


@pytest.fixture(scope="session")
def event() -> Path:
    """Return the event, to be read only: three bots, two boards, twelve short games in six logs."""
    return finished("round-robin")


@pytest.fixture
def cluster(tmp_path: Path) -> "Iterator[Cluster]":
    """Yield a scheduler without workers, as the README starts it."""
    pytest.importorskip("distributed")
    from tests.support.clusters import Cluster

    cluster = Cluster(tmp_path / "cluster")
    yield cluster
    cluster.close()
