"""A small soak: wild bots through the real runner lose their own games and nothing else."""

from pathlib import Path

import pytest

from tests.tools.soak import WILD, fouls, menu, soaked

GAMES, JOBS, SEED = 60, 4, 1


@pytest.mark.slow
def test_wild_bots_cost_nobody_else_anything(tmp_path: Path) -> None:
    results, faults = soaked(tmp_path, GAMES, JOBS, SEED, "auto")
    assert faults == []
    assert len(results) == GAMES
    wild = {foul for name, foul in fouls(results) if name in WILD}
    assert len(wild) >= 3, "They were hardly wild."


def test_the_menu_is_long_and_not_dangerous() -> None:
    assert len(menu()) >= 90
    assert not {"processes/fork_storm", "processes/daemon"} & {*menu()}
