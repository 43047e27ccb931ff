"""A bot that answers a moment too late, while the referee is often stopped, gains nothing by it."""

from pathlib import Path

import pytest

from tests.tools.twins import play


@pytest.mark.slow
def test_a_bot_that_answers_a_moment_too_late_gains_nothing_over_its_twin(tmp_path: Path) -> None:
    twin_play = play(tmp_path, boards=5, stop_ms=20)
    assert twin_play.stops > 20
    assert twin_play.games == twin_play.starts == 10, "No game is played again."
    assert twin_play.late > 0, "It was never late."
    assert twin_play.is_fair, twin_play
