"""Nothing is lost when a run is killed; `python -m tests.tools.kill_runs` kills it more often."""

from pathlib import Path

import pytest

from tests.tools.kill_runs import MANY_TABLES, ONE_TABLE, Killer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bots", "kills", "referees"),
    [(ONE_TABLE, 2, False), (MANY_TABLES, 1, False), (ONE_TABLE, 2, True)],
)
def test_killed_runs_end_with_the_bytes_of_an_uninterrupted_one(
    bots: tuple[str, ...], kills: int, referees: bool, tmp_path: Path
) -> None:
    tally = Killer(tmp_path, seed=2, bots=bots, referees=referees).kill(kills)
    assert tally.kills == kills
    assert tally.events >= 1
