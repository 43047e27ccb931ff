"""Nothing is lost whenever a run is killed; `python -m tests.kills 50` kills it more often."""

from pathlib import Path

import pytest

from tests.kills import Killer


@pytest.mark.slow
def test_killed_runs_end_with_the_bytes_of_an_uninterrupted_one(tmp_path: Path) -> None:
    tally = Killer(tmp_path, seed=2).kill(6)
    assert tally.kills == 6
    assert tally.events >= 1
